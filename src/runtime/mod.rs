//! Devices, contexts, memory, streams and events, the thread's messages, and the log.

pub mod log;
pub mod messages;
pub mod pool;
