#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh CASE STAGE WORK: builds and runs a stranger's program against the installed tree STAGE, in the way that CASE
# names, below the new directory WORK. Ends with 77 where a tool for that way is missing. kept_binary_runs takes the program
# that kept_binary_is_made has left in its own directory.
set -euo pipefail

case=$1 stage=$2 work=$3
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
program=$here/../link/linked.c
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$source/Cargo.toml" | head -n 1)
major=${version%%.*}
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

# A library with this name for the loader that has all functions, whose answer is always 1.
stand_in() { # SONAME FILE
    sed 's/.*/int &(void) { return 1; }/' "$source/exports.txt" >"$work/stand_in.c"
    "$cc" -w -shared -fPIC "$work/stand_in.c" -o "$2" -Wl,-soname,"$1"
}

# What a program or library records in its dynamic section under TAG.
recorded() { # TAG FILE
    readelf -dW "$2" | sed -n "s/.*($1).*\[\(.*\)\]/\1/p"
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
top_level)
    # Built, tested and installed with nothing but CMake, then used by a stranger. Of the tests a few only: this is one of them.
    cmake -S "$source" -B "$work/ours" ${CARGO_TARGET:+-DACLNN_MODULATE_CARGO_DIR="$CARGO_TARGET"} \
        -DACLNN_MODULATE_C_TESTS='^case_25_link_' >"$work/log" 2>&1 &&
        cmake --build "$work/ours" >>"$work/log" 2>&1 &&
        ctest --test-dir "$work/ours" --show-only >"$work/tests" &&
        ctest --test-dir "$work/ours" -R '^c$' --verbose >"$work/ran" 2>&1 &&
        cmake --install "$work/ours" --prefix "$work/installed here" >>"$work/log" 2>&1 || {
        cat "$work"/log "$work"/ran
        exit 1
    }
    grep -q ': rust$' "$work/tests"
    grep -q 'case_25_link_usual_order .*Passed' "$work/ran"
    by_cmake package -DCMAKE_PREFIX_PATH="$work/installed here"
    by_environment sh "$work/installed here"
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
set_env_elsewhere)
    # Whatever the shell has set before, the right prefix comes first; where it can't be told, nothing is set.
    mkdir "$work/parent" "$work/other"
    ln -s "$stage" "$work/parent/prefix"
    lib=$work/parent/prefix/lib64
    set_by() { # EXPECTED-LD_LIBRARY_PATH SHELL FILE
        local found
        found=$("$2" -euc '. "$1"; echo "$ASCEND_HOME_PATH/lib64 $LD_LIBRARY_PATH"' "$2" "$3")
        [ "$found" = "$lib $1" ] || { echo "$2 with $3: $found"; exit 1; }
    }
    cd "$work/parent"
    CDPATH=$work:$work/parent set_by "$lib" bash prefix/set_env.sh
    export LD_LIBRARY_PATH=/toolkit:$lib:/more:$lib
    set_by "$lib:/toolkit:/more" bash prefix/set_env.sh
    cd prefix
    for toolkit in /nowhere "$work/other"; do
        ASCEND_HOME_PATH=$toolkit set_by "$lib:/toolkit:/more" sh ./set_env.sh
    done
    cd "$work"
    ASCEND_HOME_PATH=$work/parent/prefix set_by "$lib:/toolkit:/more" sh parent/prefix/set_env.sh
    # A plain sh that stands elsewhere; bash tells.
    if [ -z "$(sh -c 'echo "${BASH_VERSION:-}"')" ]; then
        for toolkit in "" "$work/other"; do
            export ASCEND_HOME_PATH=$toolkit
            sh -c 'old=$(env | grep -v ^_=); . parent/prefix/set_env.sh; echo "$?"; [ "$(env | grep -v ^_=)" = "$old" ] && echo same' \
                >"$work/answer" 2>"$work/log"
            [ "$(tr '\n' ' ' <"$work/answer")" = "1 same " ] || { cat "$work/answer"; exit 1; }
            grep -q "cd to the prefix first" "$work/log"
        done
    fi
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
        stand_in "lib$name.so" "$work/lib$name.so"
    done
    "$cc" "$program" -o "$work/stranger" -I"$stage/include" -L"$work" -lascendcl -lnnopbase -lopapi_nn
    # With the library it was linked with it fails: that is what the stand-in answers.
    if LD_LIBRARY_PATH=$work "$work/stranger"; then exit 1; fi
    LD_LIBRARY_PATH=$stage/lib64 "$work/stranger"
    ;;
kept_binary_is_made)
    # Compiled and linked once, in a tree that has a stand-in for the library, and that is gone afterwards. It makes the
    # calls of the vendor's samples, and refers to every function there is.
    stand_in "libaclnn_modulate.so.$major" "$work/libaclnn_modulate.so"
    "$source/scripts/install.sh" "$work/libaclnn_modulate.so" "$version" "$work/first"
    {
        echo '#include "acl/acl.h"'
        echo '#include "aclnnop/aclnn_modulate_backward.h"'
        echo 'void (*every_function[])(void) = {'
        sed 's/.*/    (void (*)(void))&,/' "$source/exports.txt"
        echo '};'
    } >"$work/every.c"
    "$cc" -std=c11 -D_GNU_SOURCE -O1 -ffp-contract=off -I"$work/first/include" -I"$here/.." "$here/../flows.c" "$work/every.c" \
        -o "$work/kept" -L"$work/first/lib64" -lascendcl -lnnopbase -lopapi_nn -lm -lpthread -Wl,-z,now
    recorded NEEDED "$work/kept" | grep -qx "libaclnn_modulate.so.$major"
    [ -z "$(recorded RPATH "$work/kept")$(recorded RUNPATH "$work/kept")" ]
    if LD_LIBRARY_PATH=$work/first/lib64 "$work/kept" 2>"$work/log"; then
        echo "it passed with the stand-in"
        exit 1
    fi
    rm -rf "$work/first" "$work"/*.so "$work"/*.c
    # Without any library it doesn't even start.
    if "$work/kept" 2>"$work/log"; then exit 1; fi
    grep -q "libaclnn_modulate.so.$major: cannot open" "$work/log"
    ;;
kept_binary_runs)
    kept=$(dirname "$work")/consumer_kept_binary_is_made/kept
    "$source/scripts/install.sh" "$(readlink -f "$stage/lib64/libaclnn_modulate.so")" "$version" "$work/later"
    export LD_LIBRARY_PATH=$work/later/lib64
    LD_TRACE_LOADED_OBJECTS=1 "$kept" >"$work/log"
    grep "aclnn_modulate" "$work/log" | grep -q "=> $work/later/lib64/libaclnn_modulate.so.$major "
    "$kept"
    ;;
soname)
    # What the README says about versions.
    soname=$(recorded SONAME "$stage/lib64/libaclnn_modulate.so")
    [ "$soname" = "libaclnn_modulate.so.$major" ]
    grep -q "SONAME carries the major version (\`$soname\`)" "$source/README.md"
    [ "$(readlink "$stage/lib64/$soname")" = "libaclnn_modulate.so.$version" ]
    # A program of another major version does not run with this one by mistake.
    other=libaclnn_modulate.so.$((major + 1))
    stand_in "$other" "$work/libascendcl.so"
    "$cc" "$program" -o "$work/stranger" -I"$stage/include" -L"$work" -lascendcl
    if LD_LIBRARY_PATH=$stage/lib64 "$work/stranger" 2>"$work/log"; then exit 1; fi
    grep -q "$other: cannot open" "$work/log"
    ;;
make_targets)
    # `make install`, `make package` and `make uninstall` as the README gives them, into a new prefix with a space in its name.
    (
        [ -z "${CARGO_TARGET:-}" ] || export CARGO_TARGET_DIR=$CARGO_TARGET
        unset MAKEFLAGS MFLAGS MAKELEVEL
        prefix="$work/new prefix"
        make -C "$source" install PREFIX="$prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
        by_environment bash "$prefix"
        make -C "$source" uninstall PREFIX="$prefix" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
        [ ! -e "$prefix" ] || { find "$prefix"; exit 1; }
        make --no-print-directory -C "$source" package >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
        mkdir "$work/unpacked"
        tar -xzf "$(tail -n 1 "$work/log")" -C "$work/unpacked"
        by_environment bash "$work/unpacked"/aclnn-modulate-*
    )
    ;;
link_errors)
    # What docs/porting.md says about the three usual ones is what linker and loader say.
    said() { # TEXT
        grep -qF -- "$1" "$work/log" || { echo "not said: $1"; cat "$work/log"; exit 1; }
        grep -qF -- "| \`$2" "$source/docs/porting.md" || { echo "docs/porting.md has no row for: $2"; exit 1; }
    }
    if "$cc" "$program" -o "$work/stranger" -I"$stage/include" -lascendcl 2>"$work/log"; then exit 1; fi
    said "cannot find -lascendcl" "cannot find -lascendcl\`"
    echo 'int aclnnAddGetWorkspaceSize(void); int main(void) { return aclnnAddGetWorkspaceSize(); }' >"$work/other.c"
    if "$cc" "$work/other.c" -o "$work/stranger" -L"$stage/lib64" -lopapi 2>"$work/log"; then exit 1; fi
    grep -q 'undefined reference to .aclnnAddGetWorkspaceSize' "$work/log"
    said "undefined reference to" "undefined reference to aclnnXxx\`"
    "$cc" "$program" -o "$work/stranger" -I"$stage/include" -L"$stage/lib64" -lascendcl
    if "$work/stranger" 2>"$work/log"; then exit 1; fi
    said "error while loading shared libraries: libaclnn_modulate.so.$major" \
        "error while loading shared libraries: libaclnn_modulate.so.$major\`"
    # And what it says helps.
    by_environment bash "$stage"
    ;;
every_function)
    # Every function with 0 and NULL for all that it takes: before there is a context, with one, and when all is over. None
    # crashes or hangs, and the log shows each when it begins and when it ends.
    calls() { sed -e '/^aclAppLog$/d' -e 's/.*/    &(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);/' "$source/exports.txt"; }
    {
        sed 's/.*/long &();/' "$source/exports.txt"
        printf 'static void all(void)\n{\n%s\n}\n' "$(calls)"
        echo 'int main(void) { all(); aclrtSetDevice(0); aclInit(0); all(); aclFinalize(); all(); return 0; }'
    } >"$work/every.c"
    "$cc" -std=c11 -w "$work/every.c" -o "$work/every" -L"$stage/lib64" -lascendcl -Wl,-rpath,"$stage/lib64"
    ASCEND_GLOBAL_LOG_LEVEL=0 timeout 60 "$work/every" 2>"$work/log" || { tail "$work/log"; exit 1; }
    while read -r function; do
        case $function in
        aclAppLog) continue ;;
        aclFloatToFloat16 | aclFloat16ToFloat) expected=3 shown=" $function(value=" ;;
        *) expected=6 shown=" $function(" ;;
        esac
        found=$(grep -cF -- "$shown" "$work/log" || true)
        [ "$found" -ge "$expected" ] || { echo "$function is $found times in the log"; exit 1; }
    done <"$source/exports.txt"
    # Nobody may find a failure without a message.
    if grep -E '\) = [1-9][0-9]{5}, ' "$work/log" | sed 's/.* \([A-Za-z0-9]*\)(.*/\1/' | sort -u | while read -r function; do
        grep -q "^\[Error\].* $function: " "$work/log" || echo "$function failed and said nothing"
    done | grep .; then exit 1; fi
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
