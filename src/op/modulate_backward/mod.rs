//! The gradient of adaptive layer-norm modulation.

mod run;

pub use run::Run;
