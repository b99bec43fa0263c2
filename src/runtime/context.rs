//! Contexts: what a thread works under. Each has a device and a default stream.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, OnceLock};

use super::{device, event, fork, stream};
use crate::error::{Error, Result};
use crate::handle::{Handle, Kind, Table};
use crate::sync::Mutex;

static CONTEXTS: Table<Arc<Context>> = Table::new(Kind::Context);

thread_local! {
    static CURRENT: Current = const { Current(RefCell::new(None)) };
}

/// What a thread that is past its locals works under: exit handlers run in such a thread, and C++ programs destroy their
/// last objects there.
static AFTER_LOCALS: Mutex<Option<Arc<Context>>> = Mutex::new(None);

/// This thread's current context.
struct Current(RefCell<Option<Arc<Context>>>);

impl Drop for Current {
    fn drop(&mut self) {
        // The thread that runs the exit handlers is the last to come here.
        *AFTER_LOCALS.lock() = self.0.take();
    }
}

/// Reads or changes this thread's current context.
fn with_slot<R>(body: impl FnOnce(&RefCell<Option<Arc<Context>>>) -> R) -> R {
    let mut body = Some(body);
    let mut run = |slot: &RefCell<_>| body.take().map(|body| body(slot));
    let answer = CURRENT.try_with(|current| run(&current.0)).unwrap_or_else(|_| {
        let slot = RefCell::new(AFTER_LOCALS.lock().clone());
        let answer = run(&slot);
        *AFTER_LOCALS.lock() = slot.into_inner();
        answer
    });
    answer.unwrap_or_else(|| unreachable!("the body is run once"))
}

/// A context. Threads may keep one that has ended.
#[derive(Debug)]
pub struct Context {
    handle: Handle,
    device: i32,
    is_default: bool,
    live: AtomicBool,
    process: u32,
    /// Set before anybody knows the context: the stream carries the context's handle, so it comes second.
    default_stream: OnceLock<Handle>,
    /// What `aclrtCtxSetSysParamOpt` set.
    pub(super) parameters: Mutex<super::parameters::Parameters>,
}

impl Context {
    /// Its handle.
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// Its device's id.
    pub fn device(&self) -> i32 {
        self.device
    }

    /// The stream that NULL stands for.
    pub fn default_stream(&self) -> Result<Handle> {
        self.default_stream.get().copied().ok_or_else(|| self.dead())
    }

    /// Whether it has not ended.
    pub fn is_live(&self) -> bool {
        self.live.load(Ordering::Acquire) && self.process == fork::process()
    }

    /// What to say where it has ended.
    pub fn dead(&self) -> Error {
        let why = if self.process == fork::process() {
            "was destroyed, or its device was reset"
        } else {
            "belongs to the parent process"
        };
        Error::DeadContext(format!(
            "the current context of this thread {why}: call aclrtSetDevice in this thread, or aclrtSetCurrentContext"
        ))
    }
}

/// Creates a context, and makes nothing current.
fn create(device: i32, is_default: bool) -> Result<Arc<Context>> {
    let handle = CONTEXTS.insert_with(|handle| {
        Arc::new(Context {
            handle,
            device,
            is_default,
            live: AtomicBool::new(true),
            process: fork::process(),
            default_stream: OnceLock::new(),
            parameters: Mutex::default(),
        })
    });
    let full = || Error::OutOfResources("the process has all the contexts that it can have".into());
    let context = CONTEXTS.cloned(handle.ok_or_else(full)?).ok_or_else(full)?;
    let stream = stream::create_default(context.handle, device).inspect_err(|_| {
        CONTEXTS.remove(context.handle);
    })?;
    let _ = context.default_stream.set(stream.handle());
    Ok(context)
}

/// Creates a device's default context.
pub(super) fn create_default(device: i32) -> Result<Arc<Context>> {
    create(device, true)
}

/// Creates a context on a device and makes it this thread's current one.
pub fn create_explicit(device: i32) -> Result<Handle> {
    device::check_id(device)?;
    let context = create(device, false)?;
    let handle = context.handle;
    set_current(Some(context));
    Ok(handle)
}

/// The live context behind a handle.
fn find(handle: Handle) -> Result<Arc<Context>> {
    CONTEXTS
        .cloned(handle)
        .filter(|context| context.is_live())
        .ok_or_else(|| Error::DeadContext(format!("context {}", handle.why_not(Kind::Context))))
}

/// Ends a context that `aclrtCreateContext` made, with its streams and events. Where it was this thread's current one, the
/// thread has none then.
pub fn destroy(handle: Handle) -> Result<()> {
    if handle.is_null() {
        return Err(Error::NullArgument { argument: "context", expected: "a context from aclrtCreateContext" });
    }
    let context = find(handle)?;
    if context.is_default {
        return Err(Error::DeadContext(
            "context is the default context of a device, which ends with aclrtResetDevice: it can't be destroyed"
                .into(),
        ));
    }
    stream::refuse_endless("destroying the context", None, |stream| stream.context() == handle)?;
    // Of several threads that destroy it one wins.
    if CONTEXTS.remove(handle).is_none() {
        return find(handle).map(|_| ());
    }
    end(&context)?;
    if current_is(&context) {
        set_current(None);
    }
    Ok(())
}

/// Ends a context: waits for its work, ends its streams and events.
pub(super) fn end(context: &Context) -> Result<()> {
    context.live.store(false, Ordering::Release);
    // A stream that is created meanwhile is either found here, or its creator finds the context ended.
    fence(Ordering::SeqCst);
    CONTEXTS.remove(context.handle);
    let outcome = stream::end_all_of(context);
    event::end_all_of(context.handle);
    outcome
}

/// Makes a context this thread's current one; NULL is an error.
pub fn set_current_handle(handle: Handle) -> Result<()> {
    if handle.is_null() {
        return Err(Error::NullArgument { argument: "context", expected: "a context from aclrtCreateContext" });
    }
    set_current(Some(find(handle)?));
    Ok(())
}

/// Makes a context (or none) this thread's current one.
pub(super) fn set_current(context: Option<Arc<Context>>) {
    // The old one is dropped outside the borrow.
    drop(with_slot(|current| current.replace(context)));
}

fn current_is(context: &Context) -> bool {
    with_slot(|current| current.borrow().as_ref().is_some_and(|current| current.handle == context.handle))
}

/// Calls `body` with this thread's current context.
pub fn with_current<R>(body: impl FnOnce(&Context) -> Result<R>) -> Result<R> {
    let mut body = Some(body);
    let attempt = with_slot(|current| {
        let current = current.borrow();
        let context = current.as_ref()?;
        let body = body.take()?;
        Some(if context.is_live() { body(context) } else { Err(context.dead()) })
    });
    match (attempt, body) {
        (Some(answer), _) => answer,
        // The first call of a thread without a context, in a process whose configuration has a default device.
        (None, Some(body)) if device::adopt_default()? => body(&*current()?),
        _ => Err(Error::NoContext),
    }
}

/// This thread's current context.
pub fn current() -> Result<Arc<Context>> {
    let context = with_slot(|current| current.borrow().clone());
    match context {
        Some(context) if context.is_live() => Ok(context),
        Some(context) => Err(context.dead()),
        None if device::adopt_default()? => current(),
        None => Err(Error::NoContext),
    }
}

/// Refuses where this thread has no current context.
pub fn require() -> Result<()> {
    with_current(|_| Ok(()))
}

/// Keeps the table as it is until a fork is over.
pub(super) fn hold(held: &mut fork::Held) {
    CONTEXTS.hold(held);
    held.push(Box::new(AFTER_LOCALS.lock()));
}
