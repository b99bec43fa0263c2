//! System parameters (`aclSysParamOpt`): kept for the process and for each context. This library computes the same bits in
//! every case, so none has an effect.

use crate::error::{Error, Result};
use crate::runtime::context;
use crate::runtime::fork::Held;
use crate::sync::Mutex;

/// `ACL_OPT_DETERMINISTIC` to `ACL_OPT_ENABLE_KERNEL_EARLY_START`.
const COUNT: usize = 4;

/// The values that were set.
pub type Parameters = [Option<i64>; COUNT];

static PROCESS: Mutex<Parameters> = Mutex::new([None; COUNT]);

/// Keeps the values as they are until a fork is over.
pub(super) fn hold(held: &mut Held) {
    held.push(Box::new(PROCESS.lock()));
}

fn index(option: i32) -> Result<usize> {
    usize::try_from(option).ok().filter(|index| *index < COUNT).ok_or_else(|| {
        Error::InvalidValue(format!("opt is {option}, expected an aclSysParamOpt from 0 to {}", COUNT - 1))
    })
}

fn checked(value: i64) -> Result<i64> {
    if value == 0 || value == 1 {
        Ok(value)
    } else {
        Err(Error::InvalidValue(format!("value is {value}, expected 0 (off) or 1 (on)")))
    }
}

fn or_not_set(value: Option<i64>, function: &str) -> Result<i64> {
    value.ok_or_else(|| Error::ParameterNotSet(format!("opt was never set: call {function} first")))
}

/// Sets a parameter of the process.
pub fn set(option: i32, value: i64) -> Result<()> {
    PROCESS.lock()[index(option)?] = Some(checked(value)?);
    Ok(())
}

/// What a parameter of the process was set to.
pub fn get(option: i32) -> Result<i64> {
    or_not_set(PROCESS.lock()[index(option)?], "aclrtSetSysParamOpt")
}

/// Sets a parameter of the current context.
pub fn set_in_context(option: i32, value: i64) -> Result<()> {
    let (index, value) = (index(option)?, checked(value)?);
    context::with_current(|context| {
        context.parameters.lock()[index] = Some(value);
        Ok(())
    })
}

/// What a parameter of the current context was set to.
pub fn get_in_context(option: i32) -> Result<i64> {
    let index = index(option)?;
    context::with_current(|context| or_not_set(context.parameters.lock()[index], "aclrtCtxSetSysParamOpt"))
}
