//! The floating-point mode of the calling thread: default while a kernel runs, then as it was.
//!
//! A caller may have flush-to-zero, another rounding direction or unmasked exceptions set, and new threads inherit their
//! creator's mode. The contract's bits hold regardless.

/// Restores the thread's mode when dropped.
#[must_use]
pub(crate) struct DefaultMode {
    saved: Control,
}

#[cfg(target_arch = "x86_64")]
type Control = u32;
#[cfg(target_arch = "aarch64")]
type Control = u64;

/// MXCSR after reset: all exceptions masked, round to nearest, subnormals kept.
#[cfg(target_arch = "x86_64")]
const DEFAULT: Control = 0x1f80;
/// FPCR: round to nearest, subnormals kept, no traps.
#[cfg(target_arch = "aarch64")]
const DEFAULT: Control = 0;

impl DefaultMode {
    /// Sets the default mode.
    #[inline]
    pub(crate) fn enter() -> Self {
        let saved = read();
        write(DEFAULT);
        Self { saved }
    }
}

impl Drop for DefaultMode {
    #[inline]
    fn drop(&mut self) {
        write(self.saved);
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
fn read() -> Control {
    let mut value: u32 = 0;
    // SAFETY: stores the 32-bit register to a local of that size.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags)) };
    value
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
fn write(value: Control) {
    // SAFETY: the value is the reset value or one that was read from the register, so no reserved bit is set. Between the
    // two writes only this crate's kernels run, and those want exactly the default mode.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags, readonly)) };
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
#[inline]
fn read() -> Control {
    let value: u64;
    // SAFETY: reads a register.
    unsafe { std::arch::asm!("mrs {}, fpcr", out(reg) value, options(nomem, nostack, preserves_flags)) };
    value
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
#[inline]
fn write(value: Control) {
    // SAFETY: the value is the default or one that was read from the register. Without `nomem` no memory access, and so no
    // arithmetic that reads its operands from memory, moves across.
    unsafe { std::arch::asm!("msr fpcr, {}", in(reg) value, options(nostack, preserves_flags)) };
}

// Miri has no such register, and always the default mode.
#[cfg(miri)]
fn read() -> Control {
    DEFAULT
}
#[cfg(miri)]
fn write(_value: Control) {}
