//! `aclInit` and `aclFinalize`: counting, and the configuration file.

use std::path::Path;

use serde_json::Value;

use super::fork::Held;
use super::{check, device, dump, log, messages};
use crate::error::{Error, Result};
use crate::sync::Mutex;

#[derive(Debug)]
struct State {
    /// Calls of `aclInit` that were not undone.
    count: u64,
    /// Whether `aclFinalize` undid any: one without any init before is harmless, a second one is not.
    finalized: bool,
}

static STATE: Mutex<State> = Mutex::new(State { count: 0, finalized: false });

/// What the file may say; other keys are ignored.
#[derive(Debug, Default, PartialEq, Eq)]
struct Configuration {
    process_wide_messages: bool,
    default_device: Option<i32>,
    dump: Option<dump::Settings>,
}

/// Initialises, from a file where one is given.
pub fn init(path: Option<&Path>) -> Result<()> {
    let mut state = STATE.lock();
    if state.count > 0 {
        state.count += 1;
        return Err(Error::AlreadyInitialized);
    }
    let configuration = path.map_or(Ok(Configuration::default()), read)?;
    if let Some(id) = configuration.default_device {
        device::check_id(id)?;
    }
    messages::set_process_wide(configuration.process_wide_messages);
    device::set_default(configuration.default_device);
    dump::configure(configuration.dump);
    *state = State { count: 1, finalized: false };
    log::info(format_args!("aclInit: initialised"));
    Ok(())
}

/// Undoes every `init`.
pub fn finalize() -> Result<()> {
    let mut state = STATE.lock();
    if state.count == 0 && state.finalized {
        return Err(Error::AlreadyFinalized);
    }
    if state.count > 0 {
        end(&mut state);
    }
    Ok(())
}

/// Undoes one `init`; returns how many are left.
pub fn finalize_one() -> Result<u64> {
    let mut state = STATE.lock();
    match state.count {
        0 => return Err(Error::AlreadyFinalized),
        1 => end(&mut state),
        _ => state.count -= 1,
    }
    Ok(state.count)
}

fn end(state: &mut State) {
    *state = State { count: 0, finalized: true };
    check::list_live_objects();
    messages::set_process_wide(false);
    device::set_default(None);
    dump::configure(None);
    log::info(format_args!("aclFinalize: finalised"));
}

/// Keeps the state as it is until a fork is over.
pub(super) fn hold(held: &mut Held) {
    held.push(Box::new(STATE.lock()));
    dump::hold(held);
}

/// In a forked child: it may initialise for itself.
pub(super) fn start_afresh() {
    *STATE.lock() = State { count: 0, finalized: false };
}

/// Whether `aclInit` is in effect. Everything works without, with a warning in the log.
pub fn warn_if_missing(function: &str) {
    if log::enabled(log::Level::Warning) && STATE.lock().count == 0 {
        log::warning(format_args!("{function} without aclInit: works here, may fail on the device"));
    }
}

fn read(path: &Path) -> Result<Configuration> {
    let bytes = std::fs::read(path)
        .map_err(|error| Error::UnreadableFile(format!("configPath is {}: {error}", path.display())))?;
    let json: Value = serde_json::from_slice(&bytes)
        .map_err(|error| Error::UnparsableFile(format!("configPath is {}: not JSON: {error}", path.display())))?;
    let in_file = |what| format!("configPath is {}: {what}", path.display());
    let mut configuration = parse(&json).map_err(|what| Error::UnparsableFile(in_file(what)))?;
    configuration.dump = dump::settings(&json).map_err(|what| Error::InvalidDumpSettings(in_file(what)))?;
    Ok(configuration)
}

fn parse(json: &Value) -> std::result::Result<Configuration, String> {
    if !json.is_object() {
        return Err(format!("the file holds {json}, expected an object: {{ ... }}"));
    }
    let process_wide_messages = match number(&json["err_msg_mode"], "err_msg_mode")? {
        None | Some(0) => false,
        Some(1) => true,
        Some(other) => return Err(format!("err_msg_mode is {other}, expected 0 or 1")),
    };
    let default_device = number(&section(json, "defaultDevice")?["default_device"], "defaultDevice.default_device")?
        .map(|id| i32::try_from(id).map_err(|_| format!("defaultDevice.default_device is {id}, expected a device id")))
        .transpose()?;
    Ok(Configuration { process_wide_messages, default_device, dump: None })
}

/// An object in the file; null where it is missing.
pub(super) fn section<'a>(json: &'a Value, key: &str) -> std::result::Result<&'a Value, String> {
    let section = &json[key];
    if section.is_object() || section.is_null() {
        return Ok(section);
    }
    Err(format!("{key} is {section}, expected an object"))
}

/// A number, or a number in a string as the vendor's documents write it; `None` where the key is missing.
fn number(value: &Value, key: &str) -> std::result::Result<Option<i64>, String> {
    let number = match value {
        Value::Null => return Ok(None),
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.map(Some).ok_or_else(|| format!("{key} is {value}, expected a whole number"))
}
