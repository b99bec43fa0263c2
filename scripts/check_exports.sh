#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# check_exports.sh LIBRARY: does the library export exactly the functions that exports.txt lists?
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
symbols=$(nm -D --defined-only "$1")
if ! printf '%s\n' "$symbols" | awk '{ print $NF }' | LC_ALL=C sort | diff -u "$here/exports.txt" - >&2; then
    echo "$1 does not export what exports.txt lists: above, - is missing, + is too much" >&2
    exit 1
fi
if printf '%s\n' "$symbols" | awk '$(NF-1) != "T" { bad = 1; print } END { exit !bad }' >&2; then
    echo "exported, but not a plain function: see above" >&2
    exit 1
fi
