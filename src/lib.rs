//! `aclnnModulateBackward` on the CPU: the gradient of adaptive layer-norm modulation, behind the two-phase C ABI of
//! Huawei's CANN, with the tensor, executor, device, memory and stream functions that its call sites use.
//!
//! One call goes top to bottom through these modules and never back up:
//!
//! - [`api`] holds every `extern "C"` function: it checks the caller's pointers, catches panics and turns errors into
//!   status codes and messages;
//! - phase one continues in [`op`]: `check` validates the seven tensors, `plan` turns shapes into loops and a workspace
//!   size, and the result is parked behind an executor handle of [`handle`];
//! - phase two takes the executor back, and hands the run to a stream of [`runtime`];
//! - the stream's worker ends in [`kernel`]: one loop nest, written once over a vector trait, compiled once per
//!   instruction set.
//!
//! [`tensor`], [`dtype`] and [`shape`] describe data without touching it.

pub mod api;
pub mod config;
pub mod dtype;
pub mod epoch;
pub mod error;
pub mod handle;
pub mod kernel;
pub mod op;
pub mod runtime;
pub mod shape;
pub mod status;
pub mod sync;
pub mod tensor;
pub mod tsan;
