# SPDX-License-Identifier: Apache-2.0
# To be sourced (bash, zsh, sh): sets what call sites of the vendor's toolkit look for to the prefix that holds this file.

# The prefix that $1 lies in, if it is this library's.
_aclnn_modulate_prefix_of() {
    _aclnn_modulate_prefix=$(CDPATH= cd -- "$(dirname -- "$1")" >/dev/null 2>&1 && pwd) &&
        [ -e "$_aclnn_modulate_prefix/lib64/libaclnn_modulate.so" ]
}

# The list $2 with $1 at its front, once, however often this file is sourced; with no empty entry of ours, which would mean the
# current directory.
_aclnn_modulate_first() {
    _aclnn_modulate_rest=":$2:"
    while :; do
        case $_aclnn_modulate_rest in
        *":$1:"*) _aclnn_modulate_rest=${_aclnn_modulate_rest%%":$1:"*}:${_aclnn_modulate_rest#*":$1:"} ;;
        *) break ;;
        esac
    done
    _aclnn_modulate_rest=${_aclnn_modulate_rest#:}
    _aclnn_modulate_rest=${_aclnn_modulate_rest%:}
    printf "%s\n" "$1${_aclnn_modulate_rest:+:$_aclnn_modulate_rest}"
}

if [ -n "${BASH_VERSION:-}" ]; then
    _aclnn_modulate_prefix_of "${BASH_SOURCE[0]}"
elif [ -n "${ZSH_VERSION:-}" ]; then
    eval '_aclnn_modulate_prefix_of "${(%):-%x}"'
else
    # A plain sh does not tell where a sourced file lies: stand in the prefix, or name it before.
    _aclnn_modulate_prefix_of ./set_env.sh || _aclnn_modulate_prefix_of "${ASCEND_HOME_PATH:-.}/set_env.sh"
fi || {
    echo "set_env.sh: can't tell which prefix it lies in, nothing was set: cd to the prefix first, then '. ./set_env.sh'" >&2
    unset _aclnn_modulate_prefix
    unset -f _aclnn_modulate_prefix_of _aclnn_modulate_first
    return 1
}

export ASCEND_HOME_PATH="$_aclnn_modulate_prefix"
export ASCEND_TOOLKIT_HOME="$_aclnn_modulate_prefix"
export ASCEND_CUSTOM_PATH="$_aclnn_modulate_prefix"
export ASCEND_CANN_PACKAGE_PATH="$_aclnn_modulate_prefix"
export LD_LIBRARY_PATH="$(_aclnn_modulate_first "$_aclnn_modulate_prefix/lib64" "${LD_LIBRARY_PATH:-}")"
export PKG_CONFIG_PATH="$(_aclnn_modulate_first "$_aclnn_modulate_prefix/lib64/pkgconfig" "${PKG_CONFIG_PATH:-}")"
export CMAKE_PREFIX_PATH="$(_aclnn_modulate_first "$_aclnn_modulate_prefix" "${CMAKE_PREFIX_PATH:-}")"

unset _aclnn_modulate_prefix
unset -f _aclnn_modulate_prefix_of _aclnn_modulate_first
