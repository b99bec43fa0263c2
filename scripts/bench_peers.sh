#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bench_peers.sh LIBRARY BUILD_DIR: measures the library against the peers that are installed, with one thread and with as
# many as there are cores, and draws docs/peers.svg. Peers that are missing are skipped, each with a line that says so.
set -euo pipefail

library=$1 build=$2
here=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
peers=$here/benches/peers
mkdir -p "$build"

if ! "$python" -c 'import numpy' 2>/dev/null; then
    echo "numpy is needed to measure peers. Run: $python -m pip install numpy (and torch, jax, matplotlib for the rest)," >&2
    echo "or set PYTHON to an interpreter that has them." >&2
    exit 1
fi
flags="-O3 -march=native -fopenmp -ffast-math -shared -fPIC"
# shellcheck disable=SC2086
${CC:-cc} $flags "$peers/plain.c" -o "$build/plain.so"
# shellcheck disable=SC2086
${CC:-cc} -O2 -shared -fPIC -I"$here/include" "$peers/ours.c" -o "$build/ours.so"
eigen=()
if [ -d /usr/include/eigen3 ] && command -v c++ >/dev/null; then
    # shellcheck disable=SC2086
    ${CXX:-c++} $flags -I/usr/include/eigen3 "$peers/eigen.cpp" -o "$build/eigen.so"
    eigen=(--eigen "$build/eigen.so")
fi
dnnl=()
if [ -f /usr/include/dnnl.hpp ] && command -v c++ >/dev/null; then
    ${CXX:-c++} -O2 -shared -fPIC "$peers/dnnl.cpp" -o "$build/dnnl.so" -ldnnl
    dnnl=(--dnnl "$build/dnnl.so")
fi

all=$(nproc)
results=()
for threads in $(printf '1\n%s\n' "$all" | sort -nu); do
    result=$build/peers-$threads.json
    # An affinity bounds the peers that have no switch of their own.
    OMP_NUM_THREADS=$threads ACLCPU_THREADS=$threads taskset -c "0-$((threads - 1))" "$python" "$peers/peers.py" \
        --library "$library" --driver "$build/ours.so" --plain "$build/plain.so" "${eigen[@]}" "${dnnl[@]}" --threads "$threads" --json "$result" "${@:3}"
    results+=("$result")
done
if "$python" -c 'import matplotlib' 2>/dev/null; then
    "$python" "$peers/plot.py" "${results[@]}" --output "$here/docs/peers.svg"
    echo "drew docs/peers.svg; the numbers are in ${results[*]}"
else
    echo "skipped: the picture needs matplotlib (pip install matplotlib); the numbers are in ${results[*]}"
fi
