//! Threads of our own, as the arithmetic and the caller's program need them.

use std::mem::MaybeUninit;

/// Starts a thread that nobody joins. It takes no signals, which are for the caller's threads, and computes in the
/// default floating-point mode: a new thread inherits its creator's, which may flush subnormals to zero.
pub fn start(name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let old = block_signals();
    let started = std::thread::Builder::new().name(name.to_owned()).spawn(|| {
        default_float_mode();
        body();
    });
    restore_signals(&old);
    started.map(drop)
}

fn block_signals() -> libc::sigset_t {
    let mut all = MaybeUninit::uninit();
    let mut old = MaybeUninit::uninit();
    // SAFETY: both sets are locals; `sigfillset` fills the first before it is read, and `pthread_sigmask` the second.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), old.as_mut_ptr());
        old.assume_init()
    }
}

fn restore_signals(old: &libc::sigset_t) {
    // SAFETY: the set is initialised, and the old one is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, old, std::ptr::null_mut()) };
}

#[cfg(target_arch = "x86_64")]
fn default_float_mode() {
    let default: u32 = 0x1F80;
    // SAFETY: the default MXCSR (exceptions masked, round to nearest, subnormals kept) is what Rust code expects.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const default, options(nostack, readonly)) };
}

#[cfg(target_arch = "aarch64")]
fn default_float_mode() {
    // SAFETY: the default FPCR (round to nearest, subnormals kept) is what Rust code expects.
    unsafe { std::arch::asm!("msr fpcr, xzr", options(nostack, nomem)) };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn default_float_mode() {}
