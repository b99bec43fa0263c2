# SPDX-License-Identifier: Apache-2.0
# To be sourced (bash, zsh, sh): sets what call sites of the vendor's toolkit look for to the prefix that holds this file.

if [ -n "${BASH_VERSION:-}" ]; then
    _aclnn_modulate_file=${BASH_SOURCE[0]}
elif [ -n "${ZSH_VERSION:-}" ]; then
    eval '_aclnn_modulate_file=${(%):-%x}'
else
    # A plain sh does not tell where a sourced file lies: name the prefix before, or stand in it.
    _aclnn_modulate_file=${ASCEND_HOME_PATH:-$PWD}/set_env.sh
fi
_aclnn_modulate_prefix=$(cd "$(dirname "$_aclnn_modulate_file")" && pwd)

export ASCEND_HOME_PATH="$_aclnn_modulate_prefix"
export ASCEND_TOOLKIT_HOME="$_aclnn_modulate_prefix"
export ASCEND_CUSTOM_PATH="$_aclnn_modulate_prefix"
export ASCEND_CANN_PACKAGE_PATH="$_aclnn_modulate_prefix"

# Once each, however often this is sourced; no empty entries, which would mean the current directory.
case ":${LD_LIBRARY_PATH:-}:" in
*":$_aclnn_modulate_prefix/lib64:"*) ;;
*) export LD_LIBRARY_PATH="$_aclnn_modulate_prefix/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ;;
esac
case ":${PKG_CONFIG_PATH:-}:" in
*":$_aclnn_modulate_prefix/lib64/pkgconfig:"*) ;;
*) export PKG_CONFIG_PATH="$_aclnn_modulate_prefix/lib64/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}" ;;
esac
case ":${CMAKE_PREFIX_PATH:-}:" in
*":$_aclnn_modulate_prefix:"*) ;;
*) export CMAKE_PREFIX_PATH="$_aclnn_modulate_prefix${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}" ;;
esac
unset _aclnn_modulate_file _aclnn_modulate_prefix
