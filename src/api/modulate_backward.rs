//! The operator's two phases.

use std::ffi::c_void;

use super::guard;
use super::ptr::Out;
use super::types::{aclOpExecutor, aclTensor, aclnnStatus, aclrtStream};
use crate::handle::Handle;
use crate::op::modulate_backward;
use crate::tensor::Shown;

/// Phase one of the gradient of y = x * scale + shift: checks the tensors and plans the call. No data is read or written.
///
/// With B, L, D the dims of grad_output, phase two computes
///   grad_input[b,l,d] = grad_output[b,l,d] * scale[b,d]        (a copy of grad_output without scale)
///   grad_scale[b,d]   = sum over l of grad_output[b,l,d] * input[b,l,d]
///   grad_shift[b,d]   = sum over l of grad_output[b,l,d]
/// The factor is scale itself, not 1 + scale: for the gradient of x * (1 + s) + t pass 1 + s.
///
/// All tensors have one type, ACL_FLOAT, ACL_FLOAT16 or ACL_BF16, and the format ACL_FORMAT_ND. Any strides and offsets
/// are taken. Outputs may not share elements with each other or with what is read, except that grad_input may be exactly
/// the view of grad_output or of input, and grad_scale or grad_shift exactly the view of scale.
///
/// @param [in] grad_output gradient of the loss with respect to y, [B, L, D]
/// @param [in] input x, [B, L, D]
/// @param [in] scale [B, D], or NULL
/// @param [in] shift [B, D], or NULL; its values are never read
/// @param [in] grad_input result, [B, L, D]
/// @param [in] grad_scale result, [B, D]; NULL where it is not wanted, must be NULL without scale
/// @param [in] grad_shift result, [B, D]; NULL where it is not wanted, must be NULL without shift
/// @param [out] workspaceSize bytes that phase two needs besides the tensors, often 0
/// @param [out] executor the planned call, for one phase two; it keeps what it needs, the tensors may be destroyed
/// @retval 0 success
/// @retval 161001 a required pointer is NULL
/// @retval 161002 a tensor is not what it must be; aclGetRecentErrMsg says which and why
///
/// On failure workspaceSize and executor keep their values. Any thread may call this, with or without a device.
///
/// # Safety
///
/// `workspaceSize` and `executor` must be writable.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // the vendor's prototype
pub unsafe extern "C" fn aclnnModulateBackwardGetWorkspaceSize(
    grad_output: *const aclTensor,
    input: *const aclTensor,
    scale: *const aclTensor,
    shift: *const aclTensor,
    grad_input: *const aclTensor,
    grad_scale: *const aclTensor,
    grad_shift: *const aclTensor,
    workspaceSize: *mut u64,
    executor: *mut *mut aclOpExecutor,
) -> aclnnStatus {
    guard::aclnn(
        "aclnnModulateBackwardGetWorkspaceSize",
        format_args!(
            "grad_output={}, input={}, scale={}, shift={}, grad_input={}, grad_scale={}, grad_shift={}, \
             workspaceSize={workspaceSize:p}, executor={executor:p}",
            Shown(Handle::from_ptr(grad_output)),
            Shown(Handle::from_ptr(input)),
            Shown(Handle::from_ptr(scale)),
            Shown(Handle::from_ptr(shift)),
            Shown(Handle::from_ptr(grad_input)),
            Shown(Handle::from_ptr(grad_scale)),
            Shown(Handle::from_ptr(grad_shift))
        ),
        || {
            // SAFETY: the caller's promise.
            let workspaceSize = unsafe { Out::new(workspaceSize, "workspaceSize") }?;
            // SAFETY: the caller's promise.
            let executor = unsafe { Out::new(executor, "executor") }?;
            let tensors = [grad_output, input, scale, shift, grad_input, grad_scale, grad_shift];
            let (bytes, handle) = modulate_backward::plan(tensors.map(Handle::from_ptr))?;
            workspaceSize.set(bytes);
            executor.set(handle.to_ptr());
            Ok(())
        },
    )
}

/// Phase two: queues the planned call on a stream. aclrtSynchronizeStream waits for the results.
///
/// The executor of one phase one serves one phase two, also one that fails; after aclSetAclOpExecutorRepeatable it serves
/// any number. Memory of tensors and workspace may be freed with aclrtFree as soon as this returns.
///
/// @param [in] workspace memory of workspaceSize bytes that nothing else uses until the work is done; NULL with size 0
/// @param [in] workspaceSize at least what phase one asked for
/// @param [in] executor from phase one
/// @param [in] stream where to run; NULL for the default stream of the thread's current context
/// @retval 0 the work is queued, or done
/// @retval 161001 executor is NULL, or workspace is NULL while workspaceSize is not 0
/// @retval 161002 the workspace is too small or in the wrong place; a tensor's address is NULL or was freed
/// @retval 361001 the thread has no current context (call aclrtSetDevice in it), or the stream is not one of its own
/// @retval 561103 the executor is not live: used up, destroyed, or never made
///
/// A failure while running comes back from the stream's next aclrtSynchronizeStream. Any thread may call this.
///
/// # Safety
///
/// `workspace` and the data of the tensors must be readable and writable as the tensors describe them, until the work is
/// done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclnnModulateBackward(
    workspace: *mut c_void,
    workspaceSize: u64,
    executor: *mut aclOpExecutor,
    stream: aclrtStream,
) -> aclnnStatus {
    guard::aclnn(
        "aclnnModulateBackward",
        format_args!(
            "workspace={workspace:p}, workspaceSize={workspaceSize}, executor={executor:p}, stream={stream:p}"
        ),
        || {
            let (executor, stream) = (Handle::from_ptr(executor), Handle::from_ptr(stream));
            modulate_backward::launch(workspace.cast(), workspaceSize, executor, stream)
        },
    )
}
