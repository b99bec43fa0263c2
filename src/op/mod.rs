//! What the operators mean: validation and planning.

pub mod modulate_backward;
pub mod overlap;
