//! Arithmetic on dims and strides that cannot overflow, and how shapes read in messages.

use std::fmt;

/// The most dims that a tensor may have.
pub const MAX_DIMS: usize = 25;

/// Number of elements of a shape; `None` where it does not fit 63 bits. A shape without dims has one element.
pub fn element_count(dims: &[i64]) -> Option<i64> {
    if dims.contains(&0) {
        return Some(0);
    }
    dims.iter().try_fold(1_i64, |count, dim| count.checked_mul(*dim))
}

/// Strides of a row-major contiguous tensor. They saturate where they don't fit, which only a tensor without elements
/// can reach.
pub fn contiguous_strides(dims: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; dims.len()];
    for axis in (1..dims.len()).rev() {
        strides[axis - 1] = i64::saturating_mul(strides[axis], dims[axis].max(1));
    }
    strides
}

/// How far a view reaches from its first element, in elements: 1 for a single element, 0 for none. `None` where it does
/// not fit 63 bits.
pub fn extent(dims: &[i64], strides: &[i64]) -> Option<i64> {
    if dims.contains(&0) {
        return Some(0);
    }
    // The stride of a dim of length 1 is never taken.
    dims.iter()
        .zip(strides)
        .try_fold(1_i64, |extent, (dim, stride)| extent.checked_add((dim - 1).checked_mul(*stride)?))
}

/// Whether each stride steps over all that the smaller ones reach: then no two elements are at the same place. The usual
/// case; others may still have no two.
pub fn is_nested(dims: &[i64], strides: &[i64]) -> bool {
    let mut steps = [(0, 0); MAX_DIMS];
    let mut count = 0;
    for (dim, stride) in dims.iter().zip(strides).filter(|(dim, _)| **dim > 1) {
        steps[count] = (*stride, *dim);
        count += 1;
    }
    let steps = &mut steps[..count];
    steps.sort_unstable();
    let mut reach = 1_i64;
    steps.iter().all(|(stride, dim)| {
        let steps_over = *stride >= reach;
        reach = reach.saturating_add((dim - 1).saturating_mul(*stride));
        steps_over
    })
}

/// A shape as messages show it: `[2, 8]`.
pub struct Shape<'a>(pub &'a [i64]);

impl fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (axis, dim) in self.0.iter().enumerate() {
            let separator = if axis == 0 { "" } else { ", " };
            write!(f, "{separator}{dim}")?;
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_extents_notice_overflow() {
        assert_eq!(element_count(&[]), Some(1));
        assert_eq!(element_count(&[3, 0, i64::MAX, 2]), Some(0));
        assert_eq!(element_count(&[1 << 32, 1 << 31]), None);
        assert_eq!(extent(&[2, 3], &[10, 2]), Some(15));
        assert_eq!(extent(&[1, 3], &[i64::MAX, 0]), Some(1));
        assert_eq!(extent(&[2, 2], &[i64::MAX, 1]), None);
        assert_eq!(extent(&[0, 2], &[i64::MAX, 1]), Some(0));
    }

    #[test]
    fn nested_strides_step_over_the_smaller_ones() {
        for (dims, strides) in [
            (&[2, 3, 4][..], &[12, 4, 1][..]),
            (&[2, 3, 4], &[1, 2, 6]),
            (&[2, 3, 1], &[9, 3, 0]),
            (&[1, 1], &[0, 0]),
            (&[], &[]),
            (&[2, 3], &[i64::MAX, 2]),
        ] {
            assert!(is_nested(dims, strides), "{dims:?} {strides:?}");
        }
        for (dims, strides) in [(&[2, 3][..], &[2, 1][..]), (&[2], &[0]), (&[3, 3], &[2, 3])] {
            assert!(!is_nested(dims, strides), "{dims:?} {strides:?}");
        }
    }

    #[test]
    fn contiguous_strides_are_row_major() {
        assert_eq!(contiguous_strides(&[2, 3, 4]), [12, 4, 1]);
        assert_eq!(contiguous_strides(&[]), [0_i64; 0]);
        assert_eq!(contiguous_strides(&[0, i64::MAX, 3]), [i64::MAX, 3, 1]);
    }

    #[test]
    fn shapes_read_as_lists() {
        assert_eq!(Shape(&[2, 8]).to_string(), "[2, 8]");
        assert_eq!(Shape(&[]).to_string(), "[]");
    }
}
