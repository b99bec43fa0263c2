//! Whether strided views share memory.
//!
//! Two views overlap where an element of one shares a byte with an element of the other: views that interleave (columns of
//! one parent, say) don't. The tests go from cheap to exact: byte ranges, then a search over index differences, largest
//! stride first, that skips what the remaining strides can't reach (by range and by greatest common divisor). Nested
//! strides, the usual case, leave one candidate per dim. A search that takes too long counts as overlap.

use arrayvec::ArrayVec;

/// Steps of the exact search before it gives up.
const STEP_LIMIT: u32 = 1 << 16;

/// The memory of a view of up to three dims. All fit 63 bits: who makes one has checked the extent.
#[derive(Clone, Debug)]
pub struct Footprint {
    start: i128,
    end: i128,
    element: i128,
    /// Length and stride in bytes of the dims that are longer than 1, outermost first.
    dims: ArrayVec<(i128, i128), 3>,
}

/// `factor` times any whole number from `low` to `high`.
#[derive(Clone, Copy)]
struct Term {
    factor: i128,
    low: i128,
    high: i128,
}

impl Footprint {
    /// The memory of a view with elements: address of the first one, bytes per element, and (length, stride in elements)
    /// of each dim.
    pub fn new(start: usize, element: usize, dims: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let element = element as i128;
        let dims: ArrayVec<_, 3> = dims
            .into_iter()
            .filter(|(length, _)| *length > 1)
            .map(|(length, stride)| (i128::from(length), i128::from(stride) * element))
            .collect();
        let start = start as i128;
        let last: i128 = dims.iter().map(|(length, stride)| (length - 1) * stride).sum();
        Self { start, end: start + last + element, element, dims }
    }

    /// Whether two views of one shape have the same address for every index.
    pub fn is_exactly(&self, other: &Self) -> bool {
        self.start == other.start && self.element == other.element && self.dims == other.dims
    }

    /// Whether two elements of this view share memory.
    pub fn overlaps_itself(&self) -> bool {
        let mut dims = self.dims.clone();
        dims.sort_unstable_by_key(|(_, stride)| std::cmp::Reverse(*stride));
        // Nested strides, the usual case: each steps over all that the smaller ones reach.
        let mut reach = self.element;
        let nested = dims.iter().rev().all(|(length, stride)| {
            let steps_over = *stride >= reach;
            reach += (length - 1) * stride;
            steps_over
        });
        if nested {
            return false;
        }
        let mut steps = STEP_LIMIT;
        // Two elements that share memory differ first in some dim, going from the largest stride down.
        (0..dims.len()).any(|first| {
            let (length, stride) = dims[first];
            let mut terms = ArrayVec::<Term, 6>::new();
            terms.push(Term { factor: stride, low: 1, high: length - 1 });
            for (length, stride) in &dims[first + 1..] {
                terms.push(Term { factor: *stride, low: 1 - length, high: length - 1 });
            }
            reaches(&terms, 1 - self.element, self.element - 1, &mut steps)
        })
    }

    /// Whether an element of this view shares memory with one of another.
    pub fn overlaps(&self, other: &Self) -> bool {
        if self.end <= other.start || other.end <= self.start {
            return false;
        }
        // Sum of own strides times indices, minus the other's, within an element's size of the distance of the starts.
        let mut terms = ArrayVec::<Term, 6>::new();
        for (length, stride) in &self.dims {
            add_term(&mut terms, *stride, 0, length - 1);
        }
        for (length, stride) in &other.dims {
            add_term(&mut terms, *stride, 1 - length, 0);
        }
        terms.sort_unstable_by_key(|term| std::cmp::Reverse(term.factor));
        let distance = other.start - self.start;
        let mut steps = STEP_LIMIT;
        reaches(&terms, distance + 1 - self.element, distance + other.element - 1, &mut steps)
    }
}

/// Adds a term; those of one factor are one term.
fn add_term(terms: &mut ArrayVec<Term, 6>, factor: i128, low: i128, high: i128) {
    match terms.iter_mut().find(|term| term.factor == factor) {
        Some(term) => {
            term.low += low;
            term.high += high;
        }
        None => terms.push(Term { factor, low, high }),
    }
}

/// Whether the terms (largest factor first) can sum up to a value from `low` to `high`. True where the steps run out.
fn reaches(terms: &[Term], low: i128, high: i128, steps: &mut u32) -> bool {
    let Some((first, rest)) = terms.split_first() else { return low <= 0 && 0 <= high };
    let divisor = terms.iter().fold(0, |divisor, term| gcd(divisor, term.factor));
    if divisor == 0 {
        return low <= 0 && 0 <= high;
    }
    if high.div_euclid(divisor) * divisor < low {
        return false;
    }
    let rest_low: i128 = rest.iter().map(|term| term.factor * term.low).sum();
    let rest_high: i128 = rest.iter().map(|term| term.factor * term.high).sum();
    if first.factor == 0 {
        // Only strides of zero are left, and they reach nothing but zero.
        return low <= 0 && 0 <= high;
    }
    let from = first.low.max(-(rest_high - low).div_euclid(first.factor));
    let to = first.high.min((high - rest_low).div_euclid(first.factor));
    let mut value = from;
    while value <= to {
        if *steps == 0 {
            return true;
        }
        *steps -= 1;
        let taken = first.factor * value;
        if reaches(rest, low - taken, high - taken, steps) {
            return true;
        }
        value += 1;
    }
    false
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn elements(start: usize, element: usize, dims: &[(u64, u64)]) -> Vec<usize> {
        dims.iter().fold(vec![start], |starts, (length, stride)| {
            starts
                .iter()
                .flat_map(|base| (0..*length).map(move |index| base + (index * stride) as usize * element))
                .collect()
        })
    }

    fn bytes(start: usize, element: usize, dims: &[(u64, u64)]) -> HashSet<usize> {
        elements(start, element, dims).iter().flat_map(|base| *base..base + element).collect()
    }

    fn dims() -> impl Strategy<Value = Vec<(u64, u64)>> {
        proptest::collection::vec((1_u64..5, 0_u64..14), 0..=3)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn agrees_with_sets_of_bytes(a in dims(), b in dims(), start in 0_usize..80, wide in any::<bool>()) {
            let element = if wide { 4 } else { 2 };
            let view = |start, dims: &[(u64, u64)]| Footprint::new(start, element, dims.iter().copied());
            let shared = !bytes(40, element, &a).is_disjoint(&bytes(start, element, &b));
            prop_assert_eq!(view(40, &a).overlaps(&view(start, &b)), shared);
            prop_assert_eq!(view(start, &b).overlaps(&view(40, &a)), shared);
            let all = elements(40, element, &a);
            let distinct: HashSet<_> = all.iter().copied().collect();
            prop_assert_eq!(view(40, &a).overlaps_itself(), distinct.len() < all.len());
        }
    }

    #[test]
    fn chunks_of_one_parent_do_not_overlap() {
        let (b, d) = (64_u64, 1152_u64);
        let chunk = |index: usize| Footprint::new(4096 + index * d as usize * 2, 2, [(b, 6 * d), (d, 1)]);
        for (one, other) in [(0, 1), (1, 5), (4, 2)] {
            assert!(!chunk(one).overlaps(&chunk(other)));
            assert!(chunk(one).overlaps(&chunk(one)));
        }
        assert!(!chunk(0).overlaps_itself());
    }

    #[test]
    fn huge_views_are_judged_quickly() {
        let big = 1_u64 << 30;
        let even = Footprint::new(0, 4, [(big, 2 * big), (big, 2)]);
        let odd = Footprint::new(4, 4, [(big, 2 * big), (big, 2)]);
        assert!(!even.overlaps_itself());
        assert!(!even.overlaps(&odd));
        assert!(even.overlaps(&Footprint::new(4, 4, [(big, 2 * big), (big, 3)])));
    }
}
