//! The boundary: no panic crosses it, every failure leaves a message and a status.

use std::any::Any;
use std::fmt::{Arguments, Debug};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use crate::error::{Error, Result};
use crate::runtime::{log, messages};
use crate::status;

/// Runs an `aclnn` function. A panic yields 561000. The arguments are for the log, and formatted for it alone.
pub fn aclnn(function: &'static str, arguments: Arguments<'_>, body: impl FnOnce() -> Result<()>) -> i32 {
    let call = Call::begin(function, arguments);
    let status = match caught(body) {
        Ok(()) => status::SUCCESS,
        Err(error) => {
            messages::push(function, &error);
            status::of(&error).aclnn
        }
    };
    call.end(function, &status);
    status
}

/// Runs an `acl` or `aclrt` function. A panic yields 507000. The status also becomes the thread's last error.
pub fn acl(function: &'static str, arguments: Arguments<'_>, body: impl FnOnce() -> Result<()>) -> i32 {
    let call = Call::begin(function, arguments);
    let status = match caught(body) {
        Ok(()) => status::SUCCESS,
        Err(error) => {
            messages::push(function, &error);
            let status = status::of(&error).acl;
            messages::set_last_error(status);
            status
        }
    };
    call.end(function, &status);
    status
}

/// Runs a function that returns a value instead of a status: `otherwise` where it fails or panics.
pub fn value<T: Debug>(
    function: &'static str,
    arguments: Arguments<'_>,
    otherwise: T,
    body: impl FnOnce() -> Result<T>,
) -> T {
    let call = Call::begin(function, arguments);
    let value = caught(body).unwrap_or_else(|error| {
        messages::push(function, &error);
        otherwise
    });
    call.end(function, &value);
    value
}

/// Runs what is about the log itself, and leaves no trace in it: `otherwise` where it fails or panics.
pub fn quiet<T>(otherwise: T, body: impl FnOnce() -> Result<T>) -> T {
    caught(body).unwrap_or(otherwise)
}

/// A call that is timed, if the log wants to know: its arguments as they were when it began, and when that was.
struct Call(Option<(String, Instant)>);

impl Call {
    fn begin(function: &str, arguments: Arguments<'_>) -> Self {
        if !log::enabled(log::Level::Info) {
            return Self(None);
        }
        // Now: a handle may be dead when the call is over.
        let arguments = arguments.to_string();
        log::debug(format_args!("{function}({arguments}) begins"));
        Self(Some((arguments, Instant::now())))
    }

    fn end(self, function: &str, result: &dyn Debug) {
        if let Some((arguments, start)) = self.0 {
            let took = start.elapsed();
            log::info(format_args!("{function}({arguments}) = {result:?}, {took:?}"));
        }
    }
}

fn caught<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    // What a panic may leave half-done is behind locks and tables that stay consistent: every change to them is one
    // exchange or happens last.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| Err(Error::Panic(panic_text(&*panic))))
}

/// The text that a panic carries.
pub fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a text").to_owned()
}
