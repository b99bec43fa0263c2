//! The gradient of adaptive layer-norm modulation.
//!
//! Phase one is [`plan`]: `check` validates the seven tensors, and what they describe is parked in an [`Executor`]. Phase
//! two is [`launch`]: it takes the executor up again, judges addresses and workspace, and gives a [`Run`] to a stream.

mod check;
mod executor;
mod launch;
mod operand;
mod run;

pub use executor::{Executor, Slots, destroy, plan, set_address, set_repeatable};
pub(crate) use executor::{check_live, hold, live_executors};
pub use launch::launch;
pub use run::Run;

/// The tensor arguments in the prototype's order: four inputs, three outputs.
pub const ARGUMENTS: [&str; 7] = ["grad_output", "input", "scale", "shift", "grad_input", "grad_scale", "grad_shift"];

const GRAD_OUTPUT: usize = 0;
const INPUT: usize = 1;
const SCALE: usize = 2;
const SHIFT: usize = 3;
const GRAD_INPUT: usize = 4;
const GRAD_SCALE: usize = 5;
const GRAD_SHIFT: usize = 6;

/// The arguments that were given, with their numbers.
fn given<T>(arguments: &[Option<T>; 7]) -> impl Iterator<Item = (usize, &T)> {
    arguments.iter().enumerate().filter_map(|(argument, given)| Some((argument, given.as_ref()?)))
}
