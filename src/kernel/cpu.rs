//! What the machine offers: instruction sets, processors, and the sizes of its caches.

use once_cell::race::{OnceBox, OnceNonZeroUsize};
use std::num::NonZeroUsize;

use crate::config;
use crate::runtime::log;

/// An instruction set that the kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Plain Rust: every CPU.
    Scalar,
    /// AVX2 with FMA and F16C.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, BW, DQ and VL.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// NEON.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Tier {
    /// Tiers of this architecture, slowest first, whether or not the CPU has them.
    pub const ALL: &[Self] = &[
        Self::Scalar,
        #[cfg(target_arch = "x86_64")]
        Self::Avx2,
        #[cfg(target_arch = "x86_64")]
        Self::Avx512,
        #[cfg(target_arch = "aarch64")]
        Self::Neon,
    ];

    /// The name that `ACLCPU_ISA` takes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "avx512",
            #[cfg(target_arch = "aarch64")]
            Self::Neon => "neon",
        }
    }

    /// Whether this CPU has it.
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                // With AVX-512 come the other three; but a virtual machine may hide any bit, and the code is compiled for
                // all of them.
                Self::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(target_arch = "aarch64")]
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
        }
    }
}

/// The tiers that this CPU has, slowest first.
pub fn available_tiers() -> Vec<Tier> {
    Tier::ALL.iter().copied().filter(|tier| tier.is_available()).collect()
}

/// The tier that this process computes with: the fastest that the CPU has, or what `ACLCPU_ISA` says.
pub fn active_tier() -> Tier {
    static ACTIVE: OnceBox<Tier> = OnceBox::new();
    *ACTIVE.get_or_init(|| {
        let fastest = Tier::ALL.iter().copied().rfind(|tier| tier.is_available()).unwrap_or(Tier::Scalar);
        let tier = match config::isa() {
            Some(forced) if forced.is_available() => forced,
            Some(forced) => {
                let (forced, used) = (forced.name(), fastest.name());
                log::warning(format_args!("ACLCPU_ISA={forced} is ignored: this CPU lacks it; using {used}"));
                fastest
            }
            None => fastest,
        };
        log::info(format_args!("kernels use {}", tier.name()));
        Box::new(tier)
    })
}

/// Threads that one launch may use: `ACLCPU_THREADS`, or what affinity and the cgroup's quota allow.
pub fn thread_limit() -> usize {
    static LIMIT: OnceNonZeroUsize = OnceNonZeroUsize::new();
    LIMIT.get_or_init(|| config::threads().and_then(NonZeroUsize::new).unwrap_or_else(usable_processors)).get()
}

/// Processors that this process may use, by affinity and the cgroup's quota.
pub fn processors() -> usize {
    static PROCESSORS: OnceNonZeroUsize = OnceNonZeroUsize::new();
    PROCESSORS.get_or_init(usable_processors).get()
}

fn usable_processors() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Bytes of a core's second-nearest cache.
pub(crate) fn second_cache() -> usize {
    /// For a system that doesn't tell.
    const USUAL: NonZeroUsize = NonZeroUsize::new(1 << 20).unwrap();
    static SIZE: OnceNonZeroUsize = OnceNonZeroUsize::new();
    SIZE.get_or_init(|| caches().find(|&(level, _)| level == 2).map_or(USUAL, |(_, size)| size)).get()
}

/// Bytes of the last-level cache that this CPU's cores share.
pub(crate) fn last_level_cache() -> usize {
    /// For a system that doesn't tell.
    const USUAL: NonZeroUsize = NonZeroUsize::new(32 << 20).unwrap();
    static SIZE: OnceNonZeroUsize = OnceNonZeroUsize::new();
    SIZE.get_or_init(|| caches().max().map_or(USUAL, |(_, size)| size)).get()
}

/// Level and bytes of each cache of the first processor, as the kernel lists them.
fn caches() -> impl Iterator<Item = (u32, NonZeroUsize)> {
    let read = |index: usize, what: &str| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{what}");
        std::fs::read_to_string(path).ok()
    };
    (0..8).filter_map(move |index| {
        let level: u32 = read(index, "level")?.trim().parse().ok()?;
        let size = read(index, "size")?;
        let kib: usize = size.trim().strip_suffix('K')?.parse().ok()?;
        Some((level, NonZeroUsize::new(kib * 1024)?))
    })
}
