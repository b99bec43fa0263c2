#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# install.sh LIBRARY VERSION PREFIX: lays out PREFIX as call sites expect the vendor's toolkit to be: include/, lib64/
# with the library under its own name and, as links, under the six names that they link or open. Links, never copies: a
# second copy would have a second state.
set -euo pipefail

library=$1 version=$2 prefix=${DESTDIR:-}$3
here=$(cd "$(dirname "$0")/.." && pwd)
aliases="libascendcl libacl_rt libnnopbase libopapi libopapi_nn libopapi_math"
major=${version%%.*}

# CMake looks into share/ on every distribution, into lib64/ not on Debian.
cmake=share/cmake/aclnn_modulate

mkdir -p "$prefix/lib64/pkgconfig" "$prefix/$cmake"
for header in $(cd "$here/include" && find . -name '*.h' | sort); do
    install -D -m 644 "$here/include/$header" "$prefix/include/$header"
done

# Beside the old file, then renamed over it: programs that run with the old one keep it whole.
install -m 755 "$library" "$prefix/lib64/libaclnn_modulate.so.$version.new"
mv -f "$prefix/lib64/libaclnn_modulate.so.$version.new" "$prefix/lib64/libaclnn_modulate.so.$version"
ln -sfn "libaclnn_modulate.so.$version" "$prefix/lib64/libaclnn_modulate.so.$major"
ln -sfn "libaclnn_modulate.so.$major" "$prefix/lib64/libaclnn_modulate.so"
for name in $aliases; do
    ln -sfn "libaclnn_modulate.so.$major" "$prefix/lib64/$name.so"
done

install -D -m 644 "$here/packaging/tsan.supp" "$prefix/share/aclnn_modulate/tsan.supp"

fill() {
    sed -e "s|@VERSION@|$version|g" -e "s|@MAJOR@|$major|g" "$here/packaging/$1" >"$prefix/$2"
    chmod 644 "$prefix/$2"
}
fill set_env.sh set_env.sh
fill aclnn_modulate.pc.in lib64/pkgconfig/aclnn_modulate.pc
fill aclnn_modulate-config.cmake.in "$cmake"/aclnn_modulate-config.cmake
fill aclnn_modulate-config-version.cmake.in "$cmake"/aclnn_modulate-config-version.cmake
