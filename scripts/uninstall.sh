#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# uninstall.sh PREFIX: removes what install.sh put there, and directories that are empty then. Files of others that share
# the prefix stay: an alias is removed only where it is a link to our library.
set -euo pipefail

prefix=${DESTDIR:-}$1
here=$(cd "$(dirname "$0")/.." && pwd)

for header in $(cd "$here/include" && find . -name '*.h'); do
    rm -f "$prefix/include/$header"
done
for link in "$prefix"/lib64/*.so; do
    case "$(readlink "$link" || true)" in libaclnn_modulate.so*) rm -f "$link" ;; esac
done
rm -f "$prefix"/lib64/libaclnn_modulate.so.* "$prefix/lib64/pkgconfig/aclnn_modulate.pc" "$prefix/set_env.sh"
rm -rf "$prefix/share/cmake/aclnn_modulate" "$prefix/share/aclnn_modulate"
for dir in include lib64 share; do
    [ ! -d "$prefix/$dir" ] || find "$prefix/$dir" -depth -type d -empty -delete
done
rmdir "$prefix" 2>/dev/null || true # it may hold what is not ours
