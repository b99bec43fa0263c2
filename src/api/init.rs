//! Initialisation of the operator library, which has nothing to initialise.

use std::ffi::c_char;

use super::types::aclnnStatus;
use crate::status;

/// Initialises the operator library. There is nothing to do here: it may be called any number of times, or not at all.
///
/// @param [in] configPath ignored, may be NULL
/// @retval 0 always
#[unsafe(no_mangle)]
pub extern "C" fn aclnnInit(configPath: *const c_char) -> aclnnStatus {
    let _ = configPath;
    status::SUCCESS
}

/// Ends the use of the operator library. There is nothing to do here: it may be called any number of times, or not at all.
///
/// @retval 0 always
#[unsafe(no_mangle)]
pub extern "C" fn aclnnFinalize() -> aclnnStatus {
    status::SUCCESS
}
