#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# need.sh TOOL...: makes sure that each tool (cmake, cxx, doxygen, rustfmt, clippy) is here. Says nothing where it is; otherwise
# installs it if that can be done without asking, or prints the command and fails.
set -euo pipefail

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        sudo -n "$@"
    else
        return 1
    fi
}

# package NAME: by apt, without questions.
package() {
    if ! command -v apt-get >/dev/null; then
        echo "Install $1 with your system's package manager, then run this again." >&2
        exit 1
    fi
    echo "Installing $1 ..." >&2
    # The lists of a fresh machine are empty or old: look again only if the first try fails.
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$1" >&2 ||
        { as_root apt-get update -q >&2 &&
            as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$1" >&2; } ||
        {
            echo "Could not install $1. Run: sudo apt-get update && sudo apt-get install -y $1" >&2
            exit 1
        }
}

# component NAME: of the Rust toolchain.
component() {
    if ! { command -v rustup >/dev/null && rustup component add "$1" >&2; }; then
        echo "Could not install $1. Run: rustup component add $1" >&2
        exit 1
    fi
}

for tool in "$@"; do
    case "$tool" in
    cmake) command -v cmake >/dev/null || package cmake ;;
    cxx) command -v c++ >/dev/null || package g++ ;;
    doxygen) command -v doxygen >/dev/null || package doxygen ;;
    rustfmt) cargo fmt --version >/dev/null 2>&1 || component rustfmt ;;
    clippy) cargo clippy --version >/dev/null 2>&1 || component clippy ;;
    *)
        echo "need.sh: unknown tool '$tool'" >&2
        exit 2
        ;;
    esac
done
