#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# demo.sh PREFIX BUILD: compiles the examples as a stranger would, who has the installed tree and nothing else of ours,
# and runs them.
set -euo pipefail

prefix=$1 build=$2
examples=$(cd "$(dirname "$0")/../examples" && pwd)
libraries="-L$prefix/lib64 -lascendcl -lnnopbase -lopapi_nn -Wl,-rpath,$prefix/lib64"

mkdir -p "$build"
# shellcheck disable=SC2086
c++ -std=c++17 -O2 -Wall -Wextra "$examples/demo/demo.cpp" -o "$build/demo" -I"$prefix/include" $libraries
# shellcheck disable=SC2086
c++ -std=c++11 -Wall -Wextra "$examples/call.cpp" -o "$build/call_cpp" -I"$prefix/include" $libraries
# shellcheck disable=SC2086
cc -std=c99 -Wall -Wextra "$examples/call.c" -o "$build/call_c" -I"$prefix/include" $libraries

echo "-- examples/call.cpp"
"$build/call_cpp"
echo "-- examples/call.c"
"$build/call_c"
echo "-- examples/demo"
"$build/demo" "$examples/data/dit_digits"
