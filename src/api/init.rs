//! Initialisation of the operator library, which has nothing to initialise.

use std::ffi::c_char;

use super::guard;
use super::types::aclnnStatus;

/// Initialises the operator library. There is nothing to do here: it may be called any number of times, or not at all.
///
/// @param [in] configPath ignored, may be NULL
/// @retval 0 always
#[unsafe(no_mangle)]
pub extern "C" fn aclnnInit(configPath: *const c_char) -> aclnnStatus {
    guard::aclnn("aclnnInit", format_args!("configPath={configPath:p}"), || Ok(()))
}

/// Ends the use of the operator library. There is nothing to do here: it may be called any number of times, or not at all.
///
/// @retval 0 always
#[unsafe(no_mangle)]
pub extern "C" fn aclnnFinalize() -> aclnnStatus {
    guard::aclnn("aclnnFinalize", format_args!(""), || Ok(()))
}
