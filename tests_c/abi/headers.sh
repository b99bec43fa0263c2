#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# headers.sh INCLUDE_DIR CC CXX: does each header compile alone, as each standard that we promise, without a warning?
set -euo pipefail

include=$1 cc=$2 cxx=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
strict="-Wall -Wextra -Wpedantic -Werror -Wunused -Wundef -Wshadow -fsyntax-only"
failed=0

headers=$(cd "$include" && find . -name '*.h' -printf '%P\n' | sort)
[ -n "$headers" ]
for header in $headers all; do
    file=$dir/$(echo "$header" | tr / _)
    if [ "$header" = all ]; then
        # Each twice: the guards hold.
        for each in $headers $headers; do echo "#include \"$each\""; done >"$file.c"
    else
        echo "#include \"$header\"" >"$file.c"
    fi
    echo 'int main(void) { return 0; }' >>"$file.c"
    cp "$file.c" "$file.cpp"
    for std in c99 c11 c17; do
        # Not -isystem, which would silence them; -Wstrict-prototypes finds a declaration without arguments.
        # shellcheck disable=SC2086
        "$cc" -std=$std $strict -Wstrict-prototypes -I"$include" "$file.c" || failed=1
    done
    for std in c++11 c++14 c++17 c++20; do
        # shellcheck disable=SC2086
        "$cxx" -std=$std $strict -I"$include" "$file.cpp" || failed=1
    done
done
exit $failed
