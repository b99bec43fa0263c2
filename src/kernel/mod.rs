//! The arithmetic: what runs on a stream's worker.
//!
//! Shapes, strides and addresses arrive checked; nothing here validates, allocates or blocks.

use crate::dtype::FloatType;

/// A three-dimensional view [B, L, D]: address of element (0, 0, 0) and element strides.
///
/// The address needs no alignment.
#[derive(Clone, Copy, Debug)]
pub struct View3 {
    /// Address of the first element.
    pub base: *mut u8,
    /// Strides of batch, sequence and hidden, in elements.
    pub stride: [usize; 3],
}

/// A two-dimensional view [B, D]: address of element (0, 0) and element strides.
#[derive(Clone, Copy, Debug)]
pub struct View2 {
    /// Address of the first element.
    pub base: *mut u8,
    /// Strides of batch and hidden, in elements.
    pub stride: [usize; 2],
}

/// One backward pass, ready to run: dims B, L, D (all at least 1), one element type, and the views.
///
/// - `grad_input[b,l,d] = grad_output[b,l,d] * scale[b,d]`, or a copy of grad_output where `scale` is `None`;
/// - `grad_scale[b,d] = sum over l of grad_output[b,l,d] * input[b,l,d]`, where given; `input` is read only then;
/// - `grad_shift[b,d] = sum over l of grad_output[b,l,d]`, where given.
///
/// `grad_input` may be exactly the view of `grad_output` or of `input`; `grad_scale` or `grad_shift` exactly the view of
/// `scale`. No other output shares memory with anything that is read or written.
#[derive(Clone, Copy, Debug)]
pub struct ModulateBackward {
    /// Element type of all seven tensors.
    pub dtype: FloatType,
    /// Batch, sequence, hidden.
    pub dims: [usize; 3],
    /// Gradient of the loss after the modulation.
    pub grad_output: View3,
    /// What was modulated. `Some` exactly where `grad_scale` is.
    pub input: Option<View3>,
    /// The factor of the modulation.
    pub scale: Option<View2>,
    /// Gradient with respect to `input`.
    pub grad_input: View3,
    /// Gradient with respect to `scale`.
    pub grad_scale: Option<View2>,
    /// Gradient with respect to `shift`.
    pub grad_shift: Option<View2>,
}

// SAFETY: the addresses are the caller's; who runs a problem promises (see `run`) that they may be used there.
unsafe impl Send for ModulateBackward {}
