#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh CASE STAGE WORK: builds and runs a stranger's program against the installed tree STAGE, in the way that CASE
# names, below the new directory WORK. Ends with 77 where a tool for that way is missing.
set -euo pipefail

case=$1 stage=$2 work=$3
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
program=$here/../link/linked.c
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$source/Cargo.toml" | head -n 1)
cc=${CC:-cc}

rm -rf "$work"
mkdir -p "$work"
unset LD_LIBRARY_PATH DESTDIR CMAKE_PREFIX_PATH PKG_CONFIG_PATH
unset ASCEND_HOME_PATH ASCEND_TOOLKIT_HOME ASCEND_CUSTOM_PATH ASCEND_CANN_PACKAGE_PATH

by_cmake() { # PROJECT OPTION...
    local project=$1
    shift
    cmake -S "$here/$project" -B "$work/build" -DPROGRAM="$program" "$@" >"$work/log" 2>&1 &&
        cmake --build "$work/build" >>"$work/log" 2>&1 || {
        cat "$work/log"
        return 1
    }
    "$work/build/stranger"
}

# With nothing but what set_env.sh says.
by_environment() { # SHELL PREFIX
    (
        cd "$2" # where a plain sh must stand
        "$1" -c '. ./set_env.sh && . ./set_env.sh &&
            [ "$LD_LIBRARY_PATH" = "$ASCEND_HOME_PATH/lib64" ] &&
            cd "$3" && "$1" "$2" -o stranger -I"$ASCEND_HOME_PATH/include" -L"$ASCEND_TOOLKIT_HOME/lib64" \
                -lascendcl -lnnopbase -lopapi_nn && ./stranger' "$1" "$cc" "$program" "$work"
    )
}

case $case in
cmake_package)
    by_cmake package -DCMAKE_PREFIX_PATH="$stage"
    ;;
vendor_style)
    ASCEND_CUSTOM_PATH=$stage by_cmake vendor_style
    ;;
add_subdirectory)
    # What cargo has built for the other tests serves here too, if the caller says where it is.
    by_cmake subdirectory -DSOURCE="$source" ${CARGO_TARGET:+-DACLNN_MODULATE_CARGO_DIR="$CARGO_TARGET"}
    cmake --install "$work/build" --prefix "$work/installed" >"$work/log"
    [ -e "$work/installed/lib64/libascendcl.so" ] && [ -e "$work/installed/include/acl/acl.h" ]
    ;;
pkg_config)
    command -v pkg-config >/dev/null || { echo "skipped: no pkg-config here"; exit 77; }
    export PKG_CONFIG_PATH=$stage/lib64/pkgconfig
    [ "$(pkg-config --modversion aclnn_modulate)" = "$version" ]
    # shellcheck disable=SC2046
    "$cc" "$program" -o "$work/stranger" $(pkg-config --cflags --libs aclnn_modulate) -Wl,-rpath,"$stage/lib64"
    "$work/stranger"
    ;;
set_env_bash)
    by_environment bash "$stage"
    ;;
set_env_sh)
    by_environment sh "$stage"
    ;;
relocated_package)
    archive=$("$source/scripts/package.sh" "$(readlink -f "$stage/lib64/libaclnn_modulate.so")" "$version" "$work/made")
    mkdir "$work/somewhere else" # a space in the path is no excuse
    tar -xzf "$archive" -C "$work/somewhere else"
    moved=$(echo "$work/somewhere else"/aclnn-modulate-*)
    if grep -rIl "$work/made" "$moved"; then
        echo "these files name the place where the package was made"
        exit 1
    fi
    by_environment bash "$moved"
    by_cmake package -DCMAKE_PREFIX_PATH="$moved"
    ;;
old_binary)
    # An executable that was linked with another library of these names runs with ours through LD_LIBRARY_PATH.
    for name in ascendcl nnopbase opapi_nn; do
        echo "int aclInit(void);" >"$work/$name.c"
        sed 's/.*/int &(void) { return 1; }/' "$source/exports.txt" >>"$work/$name.c"
        "$cc" -w -shared -fPIC "$work/$name.c" -o "$work/lib$name.so" -Wl,-soname,lib$name.so
    done
    "$cc" "$program" -o "$work/stranger" -I"$stage/include" -L"$work" -lascendcl -lnnopbase -lopapi_nn
    # With the library it was linked with it fails: that is what the stand-in answers.
    if LD_LIBRARY_PATH=$work "$work/stranger"; then exit 1; fi
    LD_LIBRARY_PATH=$stage/lib64 "$work/stranger"
    ;;
uninstall)
    mkdir -p "$work/prefix/include/acl" "$work/prefix/lib64"
    echo mine >"$work/prefix/include/acl/mine.h"
    echo mine >"$work/prefix/lib64/libopapi.so" # replaced by the installation: an alias is ours to set
    ln -s /nowhere "$work/prefix/lib64/libother.so"
    "$source/scripts/install.sh" "$(readlink -f "$stage/lib64/libaclnn_modulate.so")" "$version" "$work/prefix"
    [ -L "$work/prefix/lib64/libopapi.so" ]
    "$source/scripts/uninstall.sh" "$work/prefix"
    left=$(cd "$work/prefix" && find . ! -type d | sort | tr '\n' ' ')
    [ "$left" = "./include/acl/mine.h ./lib64/libother.so " ] || { echo "left: $left"; exit 1; }
    ;;
*)
    echo "no such case: $case" >&2
    exit 2
    ;;
esac
