//! Executors: repeatable use, new addresses, destruction.

use std::ffi::c_void;

use super::guard;
use super::types::{aclOpExecutor, aclTensor, aclTensorList, aclnnStatus};
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::op::modulate_backward::{self, Slots};
use crate::tensor::Shown;

/// Lets phase two run any number of times on an executor, also from several threads at once with workspaces of their own.
///
/// @param [in] executor from phase one, not used yet
/// @retval 0 success; aclDestroyAclOpExecutor must end it
/// @retval 561103 executor is NULL or not live
#[unsafe(no_mangle)]
pub extern "C" fn aclSetAclOpExecutorRepeatable(executor: *mut aclOpExecutor) -> aclnnStatus {
    guard::aclnn("aclSetAclOpExecutorRepeatable", format_args!("executor={executor:p}"), || {
        modulate_backward::set_repeatable(not_null(Handle::from_ptr(executor), "executor")?)
    })
}

/// Ends an executor that is repeatable, or that was never run. Runs that are queued already finish.
///
/// @param [in] executor from phase one
/// @retval 0 success
/// @retval 561103 executor is NULL or not live (a one-shot executor ends by its run)
#[unsafe(no_mangle)]
pub extern "C" fn aclDestroyAclOpExecutor(executor: *mut aclOpExecutor) -> aclnnStatus {
    guard::aclnn("aclDestroyAclOpExecutor", format_args!("executor={executor:p}"), || {
        modulate_backward::destroy(not_null(Handle::from_ptr(executor), "executor")?)
    })
}

/// Points an input of a repeatable executor at other storage, for the runs that are launched from now on.
///
/// The tensor decides: every argument that had it in phase one takes the new address, and the tensor itself does.
///
/// @param [in] executor repeatable
/// @param [in] index 0 grad_output, 1 input, 2 scale, 3 shift (absent ones are counted)
/// @param [in] tensor one of the tensors of phase one
/// @param [in] addr address of the storage; the view must lie inside the block that it is in
/// @retval 0 success
/// @retval 161002 index, tensor or addr is wrong, or the executor is not repeatable; nothing changes
/// @retval 561103 executor or tensor is NULL, or executor is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclSetInputTensorAddr(
    executor: *mut aclOpExecutor,
    index: usize,
    tensor: *mut aclTensor,
    addr: *mut c_void,
) -> aclnnStatus {
    guard::aclnn(
        "aclSetInputTensorAddr",
        format_args!("executor={executor:p}, index={index}, tensor={}, addr={addr:p}", Shown(Handle::from_ptr(tensor))),
        || set_address(executor, Slots::Inputs, index, tensor, addr),
    )
}

/// Points an output of a repeatable executor at other storage. See aclSetInputTensorAddr.
///
/// @param [in] executor repeatable
/// @param [in] index 0 grad_input, 1 grad_scale, 2 grad_shift (absent ones are counted)
/// @param [in] tensor one of the tensors of phase one
/// @param [in] addr address of the storage; the view must lie inside the block that it is in
/// @retval 0 success
/// @retval 161002 index, tensor or addr is wrong, or the executor is not repeatable; nothing changes
/// @retval 561103 executor or tensor is NULL, or executor is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclSetOutputTensorAddr(
    executor: *mut aclOpExecutor,
    index: usize,
    tensor: *mut aclTensor,
    addr: *mut c_void,
) -> aclnnStatus {
    guard::aclnn(
        "aclSetOutputTensorAddr",
        format_args!("executor={executor:p}, index={index}, tensor={}, addr={addr:p}", Shown(Handle::from_ptr(tensor))),
        || set_address(executor, Slots::Outputs, index, tensor, addr),
    )
}

/// Points an input or output of a repeatable executor at other storage. See aclSetInputTensorAddr.
///
/// @param [in] executor repeatable
/// @param [in] index 0 to 3 the inputs, 4 to 6 the outputs (absent ones are counted)
/// @param [in] tensor one of the tensors of phase one
/// @param [in] addr address of the storage; the view must lie inside the block that it is in
/// @retval 0 success
/// @retval 161002 index, tensor or addr is wrong, or the executor is not repeatable; nothing changes
/// @retval 561103 executor or tensor is NULL, or executor is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclSetTensorAddr(
    executor: *mut aclOpExecutor,
    index: usize,
    tensor: *mut aclTensor,
    addr: *mut c_void,
) -> aclnnStatus {
    guard::aclnn(
        "aclSetTensorAddr",
        format_args!("executor={executor:p}, index={index}, tensor={}, addr={addr:p}", Shown(Handle::from_ptr(tensor))),
        || set_address(executor, Slots::All, index, tensor, addr),
    )
}

/// Sets the address of a tensor in an input list. The operator of this library takes no list: always an error.
///
/// @param [in] executor repeatable
/// @param [in] irIndex argument
/// @param [in] relativeIndex position in the list
/// @param [in] tensors the list
/// @param [in] addr address of the storage
/// @retval 161002 there is no list argument
/// @retval 561103 executor or tensors is NULL, or executor is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclSetDynamicInputTensorAddr(
    executor: *mut aclOpExecutor,
    irIndex: usize,
    relativeIndex: usize,
    tensors: *mut aclTensorList,
    addr: *mut c_void,
) -> aclnnStatus {
    guard::aclnn(
        "aclSetDynamicInputTensorAddr",
        format_args!(
            "executor={executor:p}, irIndex={irIndex}, relativeIndex={relativeIndex}, tensors={tensors:p}, addr={addr:p}"
        ),
        || refuse_list(executor, irIndex, relativeIndex, tensors, addr),
    )
}

/// Sets the address of a tensor in an output list. The operator of this library takes no list: always an error.
///
/// @param [in] executor repeatable
/// @param [in] irIndex argument
/// @param [in] relativeIndex position in the list
/// @param [in] tensors the list
/// @param [in] addr address of the storage
/// @retval 161002 there is no list argument
/// @retval 561103 executor or tensors is NULL, or executor is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclSetDynamicOutputTensorAddr(
    executor: *mut aclOpExecutor,
    irIndex: usize,
    relativeIndex: usize,
    tensors: *mut aclTensorList,
    addr: *mut c_void,
) -> aclnnStatus {
    guard::aclnn(
        "aclSetDynamicOutputTensorAddr",
        format_args!(
            "executor={executor:p}, irIndex={irIndex}, relativeIndex={relativeIndex}, tensors={tensors:p}, addr={addr:p}"
        ),
        || refuse_list(executor, irIndex, relativeIndex, tensors, addr),
    )
}

/// Sets the address of a tensor in a list. The operator of this library takes no list: always an error.
///
/// @param [in] executor repeatable
/// @param [in] irIndex argument
/// @param [in] relativeIndex position in the list
/// @param [in] tensors the list
/// @param [in] addr address of the storage
/// @retval 161002 there is no list argument
/// @retval 561103 executor or tensors is NULL, or executor is not live
#[unsafe(no_mangle)]
pub extern "C" fn aclSetDynamicTensorAddr(
    executor: *mut aclOpExecutor,
    irIndex: usize,
    relativeIndex: usize,
    tensors: *mut aclTensorList,
    addr: *mut c_void,
) -> aclnnStatus {
    guard::aclnn(
        "aclSetDynamicTensorAddr",
        format_args!(
            "executor={executor:p}, irIndex={irIndex}, relativeIndex={relativeIndex}, tensors={tensors:p}, addr={addr:p}"
        ),
        || refuse_list(executor, irIndex, relativeIndex, tensors, addr),
    )
}

/// Older name of aclSetInputTensorAddr.
#[unsafe(no_mangle)]
pub extern "C" fn AclSetInputTensorAddr(
    executor: *mut aclOpExecutor,
    index: usize,
    tensor: *mut aclTensor,
    addr: *mut c_void,
) -> aclnnStatus {
    guard::aclnn(
        "AclSetInputTensorAddr",
        format_args!("executor={executor:p}, index={index}, tensor={}, addr={addr:p}", Shown(Handle::from_ptr(tensor))),
        || set_address(executor, Slots::Inputs, index, tensor, addr),
    )
}

/// Older name of aclSetOutputTensorAddr.
#[unsafe(no_mangle)]
pub extern "C" fn AclSetOutputTensorAddr(
    executor: *mut aclOpExecutor,
    index: usize,
    tensor: *mut aclTensor,
    addr: *mut c_void,
) -> aclnnStatus {
    guard::aclnn(
        "AclSetOutputTensorAddr",
        format_args!("executor={executor:p}, index={index}, tensor={}, addr={addr:p}", Shown(Handle::from_ptr(tensor))),
        || set_address(executor, Slots::Outputs, index, tensor, addr),
    )
}

/// Older name of aclSetTensorAddr.
#[unsafe(no_mangle)]
pub extern "C" fn AclSetTensorAddr(
    executor: *mut aclOpExecutor,
    index: usize,
    tensor: *mut aclTensor,
    addr: *mut c_void,
) -> aclnnStatus {
    guard::aclnn(
        "AclSetTensorAddr",
        format_args!("executor={executor:p}, index={index}, tensor={}, addr={addr:p}", Shown(Handle::from_ptr(tensor))),
        || set_address(executor, Slots::All, index, tensor, addr),
    )
}

/// Older name of aclSetDynamicInputTensorAddr.
#[unsafe(no_mangle)]
pub extern "C" fn AclSetDynamicInputTensorAddr(
    executor: *mut aclOpExecutor,
    irIndex: usize,
    relativeIndex: usize,
    tensors: *mut aclTensorList,
    addr: *mut c_void,
) -> aclnnStatus {
    guard::aclnn(
        "AclSetDynamicInputTensorAddr",
        format_args!(
            "executor={executor:p}, irIndex={irIndex}, relativeIndex={relativeIndex}, tensors={tensors:p}, addr={addr:p}"
        ),
        || refuse_list(executor, irIndex, relativeIndex, tensors, addr),
    )
}

/// Older name of aclSetDynamicOutputTensorAddr.
#[unsafe(no_mangle)]
pub extern "C" fn AclSetDynamicOutputTensorAddr(
    executor: *mut aclOpExecutor,
    irIndex: usize,
    relativeIndex: usize,
    tensors: *mut aclTensorList,
    addr: *mut c_void,
) -> aclnnStatus {
    guard::aclnn(
        "AclSetDynamicOutputTensorAddr",
        format_args!(
            "executor={executor:p}, irIndex={irIndex}, relativeIndex={relativeIndex}, tensors={tensors:p}, addr={addr:p}"
        ),
        || refuse_list(executor, irIndex, relativeIndex, tensors, addr),
    )
}

/// Older name of aclSetDynamicTensorAddr.
#[unsafe(no_mangle)]
pub extern "C" fn AclSetDynamicTensorAddr(
    executor: *mut aclOpExecutor,
    irIndex: usize,
    relativeIndex: usize,
    tensors: *mut aclTensorList,
    addr: *mut c_void,
) -> aclnnStatus {
    guard::aclnn(
        "AclSetDynamicTensorAddr",
        format_args!(
            "executor={executor:p}, irIndex={irIndex}, relativeIndex={relativeIndex}, tensors={tensors:p}, addr={addr:p}"
        ),
        || refuse_list(executor, irIndex, relativeIndex, tensors, addr),
    )
}

fn set_address(
    executor: *mut aclOpExecutor,
    slots: Slots,
    index: usize,
    tensor: *mut aclTensor,
    addr: *mut c_void,
) -> Result<()> {
    let executor = not_null(Handle::from_ptr(executor), "executor")?;
    let tensor = not_null(Handle::from_ptr(tensor), "tensor")?;
    modulate_backward::set_address(executor, slots, index, tensor, addr.cast())
}

fn refuse_list(
    executor: *mut aclOpExecutor,
    irIndex: usize,
    relativeIndex: usize,
    tensors: *mut aclTensorList,
    _addr: *mut c_void,
) -> Result<()> {
    let executor = not_null(Handle::from_ptr(executor), "executor")?;
    not_null(Handle::from_ptr(tensors), "tensors")?;
    modulate_backward::check_live(executor)?;
    Err(Error::InvalidArgument(format!(
        "irIndex {irIndex}, relativeIndex {relativeIndex} is no tensor of a list: aclnnModulateBackward takes no list, use \
         aclSetInputTensorAddr or aclSetOutputTensorAddr"
    )))
}

/// The vendor calls a NULL here an inner error, not a bad parameter.
fn not_null(handle: Handle, argument: &str) -> Result<Handle> {
    if handle.is_null() {
        Err(Error::DeadExecutor(format!("{argument} is NULL, expected a handle")))
    } else {
        Ok(handle)
    }
}
