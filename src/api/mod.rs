//! The C ABI: every `extern "C"` function, and nothing else that C can see.
//!
//! An entry reads and writes the caller's memory through [`ptr`], calls safe code, and is wrapped in one of the guards of
//! [`guard`], which catch panics, store the message for `aclGetRecentErrMsg` and yield the status. Nothing is computed
//! here.
//!
//! # Safety
//!
//! The functions are `unsafe` since C passes bare addresses. What every one of them asks of its caller:
//!
//! - *readable*: a non-NULL input pointer points to as many initialised elements as the parameters say;
//! - *writable*: a non-NULL output pointer may be written with as many elements as the parameters say.
//!
//! NULL, and any value at all in place of a handle, are always allowed: they are detected.

// Parameters carry the vendor's names, so that the generated headers do.
#![allow(non_snake_case)]
// Their comments are written for the headers and doxygen, where [in] and [B, L, D] are no links.
#![allow(rustdoc::broken_intra_doc_links)]

pub mod base;
pub mod dump;
pub mod event;
pub mod executor;
pub mod guard;
pub mod init;
pub mod list;
pub mod memory;
pub mod modulate_backward;
pub mod ptr;
pub mod runtime;
pub mod scalar;
pub mod stream;
pub mod tensor;
pub mod types;
