//! The arithmetic: what runs on a stream's worker.
//!
//! Shapes, strides and addresses arrive checked; nothing here validates, allocates or blocks.
//!
//! - `plan` cuts a problem into units that can run in any order;
//! - `unit` runs one of them: it walks chunks and groups of rows; `source` gathers what is not contiguous (`pack`);
//! - `walk` says how a group's rows are taken, and which lines are asked for ahead; `rows` is the inner loop by passes of two,
//!   `at_once` the one over all rows of a group; `narrow` puts groups side by side where rows are shorter than a line; `line`
//!   has what does not fill a line;
//! - `along` makes grad_input where it runs along L;
//! - `vector` is what these need from an instruction set, and `scalar`, `avx2`, `avx512` and `neon` provide it (`halves`: the
//!   16-bit types of the last three); each loop is compiled once for every one of them, and `dispatch` picks the copy for
//!   the CPU that `cpu` found;
//! - `reference` is the operator in its plainest form.

mod along;
mod at_once;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod cpu;
mod dispatch;
pub mod element;
mod fp_mode;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod halves;
mod line;
mod narrow;
#[cfg(target_arch = "aarch64")]
mod neon;
mod one_group;
mod pack;
mod plan;
pub mod reference;
mod rows;
mod scalar;
mod scratch;
mod source;
mod unit;
mod vector;
mod walk;

pub use cpu::{Tier, active_tier, available_tiers, processors, thread_limit};
pub use plan::Residence;
pub use scratch::Scratch;

use crate::runtime::pool::{self, Owner, Terms, Wake};
use fp_mode::DefaultMode;
use plan::Plan;

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

/// Bytes of the three large tensors below which the launching thread does everything, with helpers that are awake at best.
const SMALL_BYTES: usize = 2 << 20;
/// Bytes of the three large tensors for each thread, where helpers that are awake are worth it.
const SHARED_BYTES: usize = 128 << 10;
/// The same where threads have to share rows.
const SHARED_ROWS_BYTES: usize = 512 << 10;
/// Bytes that one thread moves in some ten microseconds.
const BRIEF_BYTES: usize = 1 << 20;

/// Bytes of workspace that a run wants for these dims: 0 for most.
///
/// Where batch times hidden is too small to keep threads busy (below 8192) and L is longer than a chunk of 1024 rows, each
/// chunk's sums are kept until all are there: 8 bytes for each gradient, sample, chunk and column. The size depends on
/// nothing else, so a plan made on one machine holds on another. The workspace's address needs no alignment.
pub fn workspace_bytes(dims: [usize; 3], grad_scale: bool, grad_shift: bool) -> usize {
    plan::workspace_bytes(dims, grad_scale, grad_shift)
}

/// Whether a run is over by the time that a sleeping thread would have come: some ten microseconds.
pub fn is_small(problem: &ModulateBackward) -> bool {
    problem.traffic() < SMALL_BYTES
}

/// Runs with the process's tier and as many threads as pay. `owner`: those who wait for it may help.
///
/// # Safety
///
/// All views must be usable, for reading and writing as [`ModulateBackward`] says, until this returns, and nothing else may
/// write what it reads or touch what it writes. `workspace` holds [`workspace_bytes`], or is null where that is 0.
pub unsafe fn run(problem: &ModulateBackward, workspace: *mut u8, owner: Owner) {
    let tuning = Tuning { tier: active_tier(), threads: threads_for(problem), residence: Residence::BySize };
    // SAFETY: as the caller promises; the process's tier is one that the CPU has.
    unsafe { run_for(owner, &tuning, problem, workspace) }
}

/// When to wake helpers for a job of some units that moves so many bytes.
pub fn wake_for(bytes: usize, units: usize) -> Wake {
    match () {
        () if bytes < SMALL_BYTES => Wake::ForNext,
        () if bytes / units <= BRIEF_BYTES => Wake::AfterUnit,
        () => Wake::AtOnce,
    }
}

/// Threads that pay.
fn threads_for(problem: &ModulateBackward) -> usize {
    let bytes = problem.traffic();
    match () {
        () if bytes < 2 * SHARED_BYTES || processors() == 1 => 1,
        () if bytes >= SMALL_BYTES => thread_limit(),
        () => {
            let most = thread_limit().min(bytes / SHARED_BYTES);
            if problem.has_rows_for(most) { most } else { most.min(bytes / SHARED_ROWS_BYTES).max(1) }
        }
    }
}

/// Runs with a tier and a number of threads, for tests and benchmarks. The bits are those of [`run`].
///
/// # Safety
///
/// As for [`run`], and the CPU has the tier.
pub unsafe fn run_with(tier: Tier, threads: usize, problem: &ModulateBackward, workspace: *mut u8) {
    // SAFETY: as the caller promises.
    unsafe { run_tuned(&Tuning { tier, threads, residence: Residence::BySize }, problem, workspace) }
}

/// What decides how a problem runs, but not what comes out.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// The instruction set.
    pub tier: Tier,
    /// Threads, the calling one included.
    pub threads: usize,
    /// Where the large tensors are taken to be.
    pub residence: Residence,
}

/// Runs as told. The bits are those of [`run`].
///
/// # Safety
///
/// As for [`run_with`].
pub unsafe fn run_tuned(tuning: &Tuning, problem: &ModulateBackward, workspace: *mut u8) {
    // SAFETY: as the caller promises.
    unsafe { run_for(Owner::default(), tuning, problem, workspace) }
}

/// # Safety
///
/// As for [`run_with`].
unsafe fn run_for(owner: Owner, tuning: &Tuning, problem: &ModulateBackward, workspace: *mut u8) {
    let residence = tuning.residence.of(problem, tuning.threads);
    let kernel = dispatch::kernel(tuning.tier, problem.dtype, residence);
    let plan = Plan::new(problem, workspace, tuning.threads, residence, kernel.block);
    let unit = kernel.units[usize::from(problem.grad_scale.is_some())];
    let run_unit = |index: usize, scratch: &mut Scratch| {
        let _mode = DefaultMode::enter();
        // SAFETY: the caller's promise covers the plan; the pool runs each unit once.
        unsafe { unit(&plan, index, scratch) }
    };
    if tuning.threads > 1 && plan.units > 1 {
        let wake = wake_for(problem.traffic(), plan.units);
        pool::run(plan.units, Terms { threads: tuning.threads, owner, wake }, &run_unit);
    } else {
        Scratch::with(|scratch| (0..plan.units).for_each(|index| run_unit(index, scratch)));
    }
    if !plan.workspace.is_null() {
        let _mode = DefaultMode::enter();
        // SAFETY: as above, and all units have run.
        Scratch::with(|scratch| unsafe { (kernel.reduce)(&plan, scratch) });
    }
}
