#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# test_aarch64.sh TARGET_DIR: builds for 64-bit Arm with Debian's cross compiler and runs, in qemu's user mode:
#
#   - the tests of the kernels' bits (scalar and NEON, all types) for any values, optional arguments and all layouts: the
#     whole of kernel_bits takes many minutes there, and the rest of it varies shapes only;
#   - the operator's values through its exported functions, but for the test that starts itself again, which qemu can't;
#   - the vendor's flows and the known values, and the log with its variadic function, from C.
#
# Where the Rust target, the cross compiler or qemu can't be had it says so in one line and succeeds.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1/test_aarch64
triple=aarch64-unknown-linux-gnu
root=/usr/aarch64-linux-gnu

skip() {
    echo "skipped: no aarch64 tests, $1"
    exit 0
}

# By apt, without questions; a machine without apt may have them anyway.
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo -n)
tools() { command -v aarch64-linux-gnu-gcc && command -v qemu-aarch64 && [ -e "$root/lib/libc.so.6" ]; }
install() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
        gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
}
if ! tools >/dev/null; then
    { install || { "${as_root[@]}" apt-get update -q && install; }; } >/dev/null 2>&1 || true
    tools >/dev/null || skip "gcc-aarch64-linux-gnu, libc6-dev-arm64-cross or qemu-user can't be installed"
fi
has_target() { [ -d "$(rustc --print sysroot)/lib/rustlib/$triple/lib" ]; }
if ! has_target; then
    rustup target add "$triple" >/dev/null 2>&1 || true
    has_target || skip "the Rust target $triple can't be installed"
fi

mkdir -p "$out"
export CARGO_TARGET_DIR=$1
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L $root"

echo "== aarch64: kernels"
cargo test --locked --target "$triple" --test kernel_bits -- any_values optional_arguments layouts_each_and_mixed
echo "== aarch64: values"
cargo test --locked --target "$triple" --test operator_values -- --skip the_same_on_every_tier_and_thread_count

echo "== aarch64: call sites in C"
# The library that the tests were linked with.
cp "$1/$triple/debug/deps/libaclnn_modulate.so" "$out/libaclnn_modulate.so.0"
c_test() {
    local name=$1 test
    shift
    aarch64-linux-gnu-gcc -std=c11 -D_GNU_SOURCE -O1 -ffp-contract=off -Wall -Wextra -Werror -Iinclude \
        "tests_c/$name.c" -o "$out/$name" "$out/libaclnn_modulate.so.0" -lm -lpthread
    for test in "$@"; do
        if ! qemu-aarch64 -L "$root" -E LD_LIBRARY_PATH="$out" "$out/$name" "$test"; then
            echo "aarch64: $name $test failed" >&2
            exit 1
        fi
        echo "ok: $name $test"
    done
}
# shellcheck disable=SC2046 # one word for each test
c_test flows $(sed -n 's/^TEST(\([A-Za-z0-9_]*\)).*/\1/p' tests_c/flows.c)
c_test errors log_is_off_by_default log_goes_to_stderr log_goes_to_stdout log_levels log_long_line
echo "aarch64: all passed"
