//! Callbacks that a thread of the caller's serves: subscribe, launch, process.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use once_cell::sync::Lazy;

use super::fork::{self, Held};
use super::record::Record;
use super::stream::{self, HostFunc, Task, Work};
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::sync::{Condvar, Mutex};

/// Which thread serves which stream.
static SUBSCRIPTIONS: Lazy<Mutex<HashMap<Handle, Arc<Server>>>> = Lazy::new(Mutex::default);
/// Whether there ever was one: most programs have none.
static USED: AtomicBool = AtomicBool::new(false);

/// A thread that serves callbacks.
#[derive(Debug)]
pub struct Server {
    /// `pthread_self` of the thread.
    thread: u64,
    inbox: Mutex<Inbox>,
    changed: Condvar,
}

/// What a server has to do.
#[derive(Debug, Default)]
struct Inbox {
    calls: VecDeque<Call>,
    /// The streams that it serves. Who serves none any more, or again under another subscription, is not to wait here.
    streams: usize,
}

/// A callback on its way to the thread that serves it.
#[derive(Debug)]
struct Call {
    stream: Handle,
    function: HostFunc,
    /// Reached when the callback has returned, or never will.
    done: Arc<Record>,
}

impl Drop for Call {
    fn drop(&mut self) {
        self.done.abandon();
    }
}

/// A callback in a stream's queue.
#[derive(Debug)]
pub struct Delivery {
    server: Arc<Server>,
    stream: Handle,
    function: HostFunc,
    /// The stream waits until the callback has returned.
    blocks: bool,
    done: Arc<Record>,
}

impl Delivery {
    /// What the stream waits for while it runs this.
    pub fn awaited(&self) -> Option<Arc<Record>> {
        self.blocks.then(|| self.done.clone())
    }

    /// The server without which the stream does not go on.
    pub fn needs(&self) -> Option<&Arc<Server>> {
        self.blocks.then_some(&self.server)
    }

    /// Hands the callback to the thread that serves the stream.
    pub fn execute(&self, give_up: impl Fn() -> bool) {
        let call = Call { stream: self.stream, function: self.function, done: self.done.clone() };
        {
            // Whoever unsubscribes empties the inbox under both locks: a call is either dropped there or not put in.
            let subscriptions = SUBSCRIPTIONS.lock();
            if !subscriptions.get(&self.stream).is_some_and(|server| Arc::ptr_eq(server, &self.server)) {
                return;
            }
            self.server.inbox.lock().calls.push_back(call);
        }
        self.server.changed.notify_all();
        if self.blocks {
            self.done.wait(None, give_up);
        }
    }
}

/// Makes a thread serve a stream's callbacks.
pub fn subscribe(thread: u64, stream: Handle) -> Result<()> {
    let stream = stream::resolve(stream)?.handle();
    let mut subscriptions = SUBSCRIPTIONS.lock();
    if subscriptions.contains_key(&stream) {
        return Err(Error::StreamSubscription(
            "stream is served by a thread already: call aclrtUnSubscribeReport first".into(),
        ));
    }
    let known = subscriptions.values().find(|server| server.thread == thread).cloned();
    let server =
        known.unwrap_or_else(|| Arc::new(Server { thread, inbox: Mutex::default(), changed: Condvar::default() }));
    server.inbox.lock().streams += 1;
    subscriptions.insert(stream, server);
    USED.store(true, Ordering::Relaxed);
    Ok(())
}

/// Ends what `subscribe` began. Callbacks that were not processed are dropped.
pub fn unsubscribe(thread: u64, stream: Handle) -> Result<()> {
    let stream = stream::resolve(stream)?.handle();
    {
        let subscriptions = SUBSCRIPTIONS.lock();
        match subscriptions.get(&stream) {
            Some(server) if server.thread == thread => (),
            Some(_) => {
                return Err(Error::ThreadSubscription(format!(
                    "threadId is {thread}, but another thread serves this stream: pass the one of aclrtSubscribeReport"
                )));
            }
            None => {
                return Err(Error::StreamSubscription(
                    "stream is served by no thread: call aclrtSubscribeReport first".into(),
                ));
            }
        }
    }
    forget(stream);
    Ok(())
}

/// Ends a stream's subscription, if it has one.
pub(super) fn forget(stream: Handle) {
    let mut subscriptions = SUBSCRIPTIONS.lock();
    let Some(server) = subscriptions.remove(&stream) else { return };
    let mut inbox = server.inbox.lock();
    inbox.streams -= 1;
    let (dropped, kept): (VecDeque<Call>, _) = inbox.calls.drain(..).partition(|call| call.stream == stream);
    inbox.calls = kept;
    drop((inbox, subscriptions));
    server.changed.notify_all();
    drop(dropped);
}

/// Queues a callback; `blocks`: the stream waits until it has returned.
pub fn launch(function: HostFunc, blocks: bool, stream: Handle) -> Result<()> {
    let stream = stream::resolve(stream)?;
    let server = SUBSCRIPTIONS.lock().get(&stream.handle()).cloned().ok_or_else(|| {
        Error::NoSubscriber(
            "stream is served by no thread: call aclrtSubscribeReport before launching callbacks".into(),
        )
    })?;
    let delivery = Delivery { server, stream: stream.handle(), function, blocks, done: Arc::default() };
    stream.submit(Task::without_memory(Work::Callback(delivery)), || Ok(()))
}

/// Waits for a callback for this thread, and calls it.
pub fn process(deadline: Option<Instant>) -> Result<()> {
    let thread = this_thread();
    let not_serving = || {
        Error::ThreadSubscription(
            "this thread serves no stream's callbacks: call aclrtSubscribeReport with its pthread_self() first".into(),
        )
    };
    let found = SUBSCRIPTIONS.lock().values().find(|server| server.thread == thread).cloned();
    let server = found.ok_or_else(not_serving)?;
    let mut inbox = server.inbox.lock();
    let call = loop {
        if let Some(call) = inbox.calls.pop_front() {
            break call;
        }
        if inbox.streams == 0 {
            return Err(not_serving());
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Error::CallbackTimeout("no callback came in time".into()));
        }
        inbox = server.changed.wait_until(inbox, deadline);
    };
    drop(inbox);
    let parent = fork::process();
    stream::as_callback_of(call.stream, || call.function.call());
    if fork::process() != parent {
        // The callback has forked and this is the child: who waits is in the parent.
        std::mem::forget(call);
    }
    Ok(())
}

/// Keeps the subscriptions as they are until a fork is over.
pub(super) fn hold(held: &mut Held) {
    held.push(Box::new(SUBSCRIPTIONS.lock()));
}

/// In a forked child: nobody is served. What is on its way to the parent's threads is forgotten, not dropped: to tell that
/// it is over would take locks that those threads may have held.
pub(super) fn start_afresh() {
    std::mem::forget(std::mem::take(&mut *SUBSCRIPTIONS.lock()));
}

/// Whether there ever was a subscription.
pub(super) fn are_used() -> bool {
    USED.load(Ordering::Relaxed)
}

/// This thread as the one that serves a stream's callbacks, if it does.
pub(super) fn this_server_of(stream: Handle) -> Option<Arc<Server>> {
    if !are_used() {
        return None;
    }
    SUBSCRIPTIONS.lock().get(&stream).filter(|server| server.thread == this_thread()).cloned()
}

/// `pthread_self` of this thread.
pub(super) fn this_thread() -> u64 {
    // SAFETY: takes nothing and can't fail.
    unsafe { libc::pthread_self() }
}
