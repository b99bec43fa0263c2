#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# docs.sh VERSION DIRECTORY: makes the reference of the C side in DIRECTORY (index.html), by doxygen from the comments in
# include/. A comment that says something wrong about its function is an error, and so is a function without a page. Where
# doxygen can't be had it says so in one line and succeeds.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$1 directory=$2

scripts/need.sh doxygen || {
    echo "skipped: no reference of the C side, since doxygen can't be installed"
    exit 0
}

rm -rf "$directory"
mkdir -p "$directory"
{
    cat docs/Doxyfile
    echo "PROJECT_NUMBER = $version"
    echo "OUTPUT_DIRECTORY = \"$directory\""
    echo "GENERATE_TAGFILE = \"$directory/functions.tag\""
} | doxygen -

documented=$(sed -n '/<member kind="function">/,/<\/member>/s|.*<name>\(.*\)</name>.*|\1|p' "$directory/functions.tag")
if ! printf '%s\n' "$documented" | LC_ALL=C sort -u | diff -u exports.txt - >&2; then
    echo "the reference does not have the functions of exports.txt: above, - is missing, + is too much" >&2
    exit 1
fi
echo "the reference of the C side: $directory/index.html"
