//! Dumping tensors to files.

use std::ffi::c_char;

use super::types::{aclTensor, aclnnStatus, aclrtStream};
use super::{guard, ptr};
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::runtime::{dump, stream};
use crate::tensor::Shown;

/// Writes an operator's tensors to files once the stream gets there, if dumping is on: if the file given to aclInit has a
/// key dump.dump_path, a directory; dump.dump_mode is input, output (as without it) or all. Otherwise nothing is written.
///
/// The files are called opType.opName.input.0.npy and so on; an older file is replaced. A name with other characters than
/// A-Z, a-z, 0-9, _ and -, or with more than 80, is made fit and gets a checksum of the whole name at its end. bf16 is written
/// as its bits, with a .json file beside it that says so.
///
/// @param [in] opType kind of the operator, for the file names
/// @param [in] opName name of the operator, for the file names
/// @param [in] tensors the inputs, then the outputs; NULL for those that are absent. They may be destroyed at once
/// @param [in] inputTensorNum how many inputs
/// @param [in] outputTensorNum how many outputs
/// @param [in] stream NULL for the default stream of the thread's current context
/// @retval 0 success
/// @retval 161001 opType or opName is NULL, or tensors is NULL while there are some
/// @retval 161002 a tensor is not live, has no data, leaves its block, or is of a type that no .npy file can hold
/// @retval 361001 the thread has no current context (call aclrtSetDevice in it), or the stream is not one of its own
///
/// A file that can't be written makes the stream's next aclrtSynchronizeStream return 507035.
///
/// # Safety
///
/// `opType` and `opName` must be C strings, `tensors` readable for `inputTensorNum` + `outputTensorNum` elements, and the
/// data of the tensors readable until the stream has done this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclDumpOpTensors(
    opType: *const c_char,
    opName: *const c_char,
    tensors: *mut *mut aclTensor,
    inputTensorNum: usize,
    outputTensorNum: usize,
    stream: aclrtStream,
) -> aclnnStatus {
    let count = (inputTensorNum as u64).saturating_add(outputTensorNum as u64);
    // SAFETY: the caller's promise; the names and the array outlive the call.
    let (shown_type, shown_name, shown_tensors) = unsafe {
        (
            ptr::shown_text(opType),
            ptr::shown_text(opName),
            ptr::shown_array(tensors.cast_const(), count, |tensor| Shown(Handle::from_ptr(tensor))),
        )
    };
    guard::aclnn(
        "aclDumpOpTensors",
        format_args!(
            "opType={shown_type}, opName={shown_name}, tensors={shown_tensors}, inputTensorNum={inputTensorNum}, \
             outputTensorNum={outputTensorNum}, stream={stream:p}"
        ),
        || {
            // SAFETY: the caller's promise.
            let op_type = unsafe { name(opType, "opType") }?;
            // SAFETY: the caller's promise.
            let op_name = unsafe { name(opName, "opName") }?;
            let count = inputTensorNum.checked_add(outputTensorNum).ok_or_else(|| {
                Error::InvalidArgument("inputTensorNum + outputTensorNum is more than memory can hold".into())
            })?;
            // SAFETY: the caller's promise.
            let tensors = unsafe { ptr::array(tensors.cast_const(), count as u64, "tensors") }?;
            let handles: Vec<_> = tensors.into_iter().map(|tensor| Handle::from_ptr(tensor)).collect();
            let stream = stream::resolve(Handle::from_ptr(stream))?;
            // SAFETY: the caller's promise.
            unsafe { dump::queue((&op_type, &op_name), &handles, inputTensorNum, &stream) }
        },
    )
}

/// # Safety
///
/// `text` must be a C string or NULL.
unsafe fn name(text: *const c_char, argument: &'static str) -> Result<String> {
    // SAFETY: the caller's promise.
    unsafe { ptr::string(text) }.ok_or(Error::NullArgument { argument, expected: "a name" })
}
