#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# test_races.sh TARGET_DIR: looks for races.
#
#   - The pool's seats and bell, and the gates that events are waited for with, in every interleaving, by loom (also part of
#     `cargo test`).
#   - The queues, the registry of blocks, the tables of handles, events and the pool as they are, under ThreadSanitizer: the
#     unit tests of src/runtime and src/handle, and the tests of streams, events and memory through the exported functions.
#
# ThreadSanitizer has to be compiled into the standard library, too: that takes the component rust-src, and switches that the
# stable compiler has, but only shows to those who ask for them. Where rust-src can't be had it says so in one line and
# succeeds.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1/test_races

echo "== races: models of the pool and of gates"
cargo test --locked --test pool_models --test gate_models

skip() {
    echo "skipped: no tests under ThreadSanitizer, $1"
    exit 0
}
case "$(uname -m)" in
x86_64 | aarch64) triple=$(uname -m)-unknown-linux-gnu ;;
*) skip "which rustc has not for $(uname -m)" ;;
esac
has_source() { [ -e "$(rustc --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" ]; }
if ! has_source; then
    rustup component add rust-src >/dev/null 2>&1 || true
    has_source || skip "the component rust-src can't be installed"
fi

echo "== races: under ThreadSanitizer"
# A child of fork in a process with threads goes on, as it does without ThreadSanitizer.
export TSAN_OPTIONS="die_after_fork=0 ${TSAN_OPTIONS:-}"
export RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR="$out"
export RUSTFLAGS="-Zsanitizer=thread --cfg watched_by_tsan"
under_tsan() { cargo test --locked -Zbuild-std --target "$triple" "$@"; }
under_tsan --lib -- runtime:: handle::
under_tsan --test runtime_streams --test runtime_events --test runtime_memory
echo "races: none found"
