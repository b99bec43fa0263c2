//! What went wrong in this thread: the messages of `aclGetRecentErrMsg`, and the last error code.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::{CString, c_char};
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use super::clock::Now;
use super::fork::Held;
use super::log;
use crate::error::Error;
use crate::status;
use crate::sync::Mutex;

/// The newest messages that are kept until they are asked for.
const KEPT: usize = 32;

/// Whether failures of all threads go to one list (`err_msg_mode` of aclInit's file).
static PROCESS_WIDE: AtomicBool = AtomicBool::new(false);
static SHARED: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

thread_local! {
    static OWN: RefCell<VecDeque<String>> = const { RefCell::new(VecDeque::new()) };
    /// What the last `aclGetRecentErrMsg` of this thread returned: it lives until the next one.
    static HANDED_OUT: RefCell<Option<CString>> = const { RefCell::new(None) };
    static LAST_ERROR: Cell<i32> = const { Cell::new(0) };
}

/// Chooses between one list per thread (the default) and one for the process.
pub fn set_process_wide(process_wide: bool) {
    PROCESS_WIDE.store(process_wide, Ordering::Relaxed);
}

/// Keeps the message of a failed call, and logs it.
pub fn push(function: &str, error: &Error) {
    let prefix = status::of(error).prefix;
    log::write(log::Level::Error, format_args!("{function}: {error}"));
    let line = format!("{prefix}: [PID: {}] {} {function}: {error}", std::process::id(), Now::local());
    with_list(|list| {
        list.truncate(KEPT - 1);
        list.push_front(line);
    });
}

/// Hands out the messages since the last call, newest first, one a line, and forgets them; NULL where there is none.
pub fn take() -> *const c_char {
    let mut text = String::new();
    with_list(|list| {
        for line in list.drain(..) {
            let _ = writeln!(text, "{line}");
        }
    });
    text.pop();
    let text = (!text.is_empty()).then(|| CString::new(text.replace('\0', "")).unwrap_or_default());
    // A thread that is past its locals can't own the text: it gets none.
    HANDED_OUT.try_with(|slot| slot.replace(text)).ok();
    HANDED_OUT
        .try_with(|slot| slot.borrow().as_ref().map_or(std::ptr::null(), |text| text.as_ptr()))
        .unwrap_or(std::ptr::null())
}

/// Keeps the lists as they are until a fork is over.
pub(super) fn hold(held: &mut Held) {
    held.push(Box::new(SHARED.lock()));
}

fn with_list(change: impl FnOnce(&mut VecDeque<String>)) {
    if PROCESS_WIDE.load(Ordering::Relaxed) {
        change(&mut SHARED.lock());
    } else {
        // In a thread whose locals are gone already (exit handlers) there is nobody to read it.
        let _ = OWN.try_with(|list| change(&mut list.borrow_mut()));
    }
}

/// Notes a non-zero status of an `acl` function.
pub fn set_last_error(status: i32) {
    let _ = LAST_ERROR.try_with(|last| last.set(status));
}

/// The last non-zero status of an `acl` function in this thread; 0 where there is none.
pub fn last_error() -> i32 {
    LAST_ERROR.try_with(Cell::get).unwrap_or(0)
}
