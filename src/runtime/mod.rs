//! Devices, contexts, memory, streams and events, the thread's messages, and the log.

pub mod callback;
pub mod check;
mod clock;
pub mod context;
mod copies;
pub mod device;
pub mod dump;
pub mod event;
mod fault;
pub mod float16;
pub mod fork;
mod gate;
#[cfg(test)]
mod gate_tests;
pub mod init;
pub mod log;
pub mod memory;
pub mod messages;
pub mod parameters;
pub mod pool;
mod record;
mod spin;
pub mod stream;
pub mod thread;
pub mod version;
