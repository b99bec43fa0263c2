#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# package.sh LIBRARY VERSION DIRECTORY: makes DIRECTORY/aclnn-modulate-VERSION-linux-ARCH.tar.gz, a tree that works where it
# is unpacked (source its set_env.sh, or point -I, -L or CMAKE_PREFIX_PATH at it). Prints the file's name.
set -euo pipefail

library=$1 version=$2 directory=$3
here=$(cd "$(dirname "$0")/.." && pwd)
name=aclnn-modulate-$version-linux-$(uname -m)

mkdir -p "$directory"
stage=$(mktemp -d "$directory/package.XXXXXX")
trap 'rm -rf "$stage"' EXIT
DESTDIR='' "$here/scripts/install.sh" "$library" "$version" "$stage/$name"
for text in LICENSE README.md CHANGELOG.md; do
    [ ! -f "$here/$text" ] || install -m 644 "$here/$text" "$stage/$name/$text"
done
# The same input gives the same archive, but for the times of the files.
tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner -czf "$directory/$name.tar.gz" "$name"
echo "$directory/$name.tar.gz"
