//! From a tier and a type to compiled loops.

use super::cpu::Tier;
use super::plan::{Plan, Residence};
use super::scalar;
use super::scratch::Scratch;
use super::vector::{Lanes, Set};
use crate::dtype::FloatType;

#[cfg(target_arch = "aarch64")]
use super::neon;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};

/// One unit of a plan.
pub(crate) type RunUnit = unsafe fn(&Plan, usize, &mut Scratch);
/// The last step of a plan that splits L.
pub(crate) type Reduce = unsafe fn(&Plan, &mut Scratch);

/// The loops of one tier and type.
#[derive(Clone, Copy)]
pub(crate) struct Kernel {
    /// Columns of a block.
    pub block: usize,
    /// By whether grad_scale is wanted, for which input is read.
    pub units: [RunUnit; 2],
    pub reduce: Reduce,
}

/// The loops for a tier, which the CPU must have, and a type.
///
/// From memory, FLOAT is as fast in half of an AVX-512 register or up to a fifth faster: widening 8 columns takes more than twice
/// what 4 do, and 4 may be widened straight from memory. In the caches whole registers are faster by as much, since they
/// take fewer instructions.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
pub(crate) fn kernel(tier: Tier, dtype: FloatType, residence: Residence) -> Kernel {
    macro_rules! compiled {
        ($lanes:ty) => {
            Kernel {
                block: <$lanes>::BLOCK,
                units: [<$lanes as Lanes>::Set::unit::<$lanes, false>, <$lanes as Lanes>::Set::unit::<$lanes, true>],
                reduce: <$lanes as Lanes>::Set::reduce::<$lanes>,
            }
        };
    }
    match (tier, dtype) {
        (Tier::Scalar, FloatType::F32) => compiled!(scalar::F32),
        (Tier::Scalar, FloatType::F16) => compiled!(scalar::F16),
        (Tier::Scalar, FloatType::Bf16) => compiled!(scalar::Bf16),
        #[cfg(target_arch = "x86_64")]
        (Tier::Avx2, FloatType::F32) => compiled!(avx2::F32<avx2::Avx2>),
        #[cfg(target_arch = "x86_64")]
        (Tier::Avx2, FloatType::F16) => compiled!(avx2::F16),
        #[cfg(target_arch = "x86_64")]
        (Tier::Avx2, FloatType::Bf16) => compiled!(avx2::Bf16),
        #[cfg(target_arch = "x86_64")]
        (Tier::Avx512, FloatType::F32) if residence == Residence::Memory => compiled!(avx2::F32<avx512::Avx512>),
        #[cfg(target_arch = "x86_64")]
        (Tier::Avx512, FloatType::F32) => compiled!(avx512::F32),
        #[cfg(target_arch = "x86_64")]
        (Tier::Avx512, FloatType::F16) => compiled!(avx512::F16),
        #[cfg(target_arch = "x86_64")]
        (Tier::Avx512, FloatType::Bf16) => compiled!(avx512::Bf16),
        #[cfg(target_arch = "aarch64")]
        (Tier::Neon, FloatType::F32) => compiled!(neon::F32),
        #[cfg(target_arch = "aarch64")]
        (Tier::Neon, FloatType::F16) => compiled!(neon::F16),
        #[cfg(target_arch = "aarch64")]
        (Tier::Neon, FloatType::Bf16) => compiled!(neon::Bf16),
    }
}
