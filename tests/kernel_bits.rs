//! Every output bit of the kernels against the plain reference: types, shapes, layouts, tiers, threads, where the tensors are.

mod kernel_support;

use aclnn_modulate::kernel::{Residence, Tuning, available_tiers};
use kernel_support::{Case, Layout, Random, TYPES, Values, Wanted, check, expected};

/// Every tier, with one thread and three, as in the caches and as in memory.
fn check_all_ways(case: &Case) {
    let expected = expected(case);
    for tier in available_tiers() {
        for threads in [1, 3] {
            for residence in Residence::ALL {
                check(case, &Tuning { tier, threads, residence }, &expected);
            }
        }
    }
}

#[test]
fn lengths_around_groups_chunks_and_blocks() {
    for dtype in TYPES {
        for l in [1, 2, 7, 8, 9, 16, 383, 1023, 1024, 1025, 2048, 2049, 3333] {
            for d in [1, 2, 7, 8, 16, 33, 65] {
                check_all_ways(&Case { seed: (l * d) as u64, ..Case::plain(dtype, [2, l, d]) });
            }
        }
    }
}

#[test]
fn widths_around_steps_blocks_and_tiles() {
    for dtype in TYPES {
        for d in
            [15, 17, 31, 32, 63, 64, 127, 129, 255, 511, 1023, 1024, 1151, 2048, 4097, 5120, 5121, 5183, 8193, 12345]
        {
            for l in [1, 3, 17] {
                check_all_ways(&Case { seed: d as u64, ..Case::plain(dtype, [1, l, d]) });
            }
        }
    }
}

/// What is larger than the nearest caches is walked in other ways: rows that lie apart in a page all at once, others by passes.
#[test]
fn more_than_the_nearest_caches_hold() {
    let plain = [Layout::Contiguous; 3];
    for dtype in TYPES {
        let wide = 16_000 / dtype.size();
        for (dims, layouts) in [
            ([2, 121, 1152], plain),
            ([1, 243, 1133], plain),
            ([1, 243, 1133], [Layout::RowPitch(19); 3]),
            ([2, 93, 1024], plain),
            ([1, 1021, 160], [Layout::Contiguous, Layout::RowPitch(16), Layout::RowPitch(32)]),
            ([3, 61, 1152], [Layout::ExpandedAll, Layout::Contiguous, Layout::Contiguous]),
            ([1, 29, wide], plain),
            ([1, 27, wide + 200], plain),
            ([700, 5, 160], plain),
        ] {
            check_all_ways(&Case { layouts, seed: dims[2] as u64, ..Case::plain(dtype, dims) });
        }
    }
}

#[test]
fn batches() {
    for dtype in TYPES {
        for b in [3, 5, 33, 1000] {
            for (l, d) in [(1, 1), (1, 5), (8, 1), (4, 64), (9, 3), (13, 40)] {
                check_all_ways(&Case { seed: b as u64, ..Case::plain(dtype, [b, l, d]) });
            }
        }
    }
}

/// Samples of a group each are walked in one loop where whole blocks lie side by side: every tensor has a step of its own.
#[test]
fn short_samples_with_gaps_between_them() {
    for dtype in TYPES {
        for l in [1, 2, 5, 8] {
            for (d, layouts) in [
                (64, [Layout::RowPitch(16), Layout::RowPitch(1), Layout::Contiguous]),
                (256, [Layout::Contiguous, Layout::RowPitch(32), Layout::RowPitch(64)]),
                (128, [Layout::ExpandedBatch, Layout::Contiguous, Layout::RowPitch(16)]),
            ] {
                for wanted in Wanted::ALL {
                    let gaps = [3, 32, 64];
                    check_all_ways(&Case { layouts, gaps, wanted, seed: d as u64, ..Case::plain(dtype, [5, l, d]) });
                }
            }
        }
    }
}

#[test]
fn optional_arguments() {
    for dtype in TYPES {
        for wanted in Wanted::ALL {
            for dims in [[2, 9, 50], [1, 3000, 20], [3, 1, 7], [40, 3, 1]] {
                check_all_ways(&Case { wanted, ..Case::plain(dtype, dims) });
            }
        }
    }
}

#[test]
fn any_values() {
    for dtype in TYPES {
        for values in [Values::Any, Values::Extreme, Values::Nans] {
            for seed in 0..6 {
                for dims in [[1, 1, 1000], [2, 2, 300], [1, 8, 200], [1, 1100, 33]] {
                    check_all_ways(&Case { values, seed, ..Case::plain(dtype, dims) });
                }
            }
        }
    }
}

/// Where L is 1, gradients are as large as grad_input and written as it is, from a line's begin: either of them, both, none.
#[test]
fn a_row_alone_and_gradients_off_lines() {
    for dtype in TYPES {
        for dims in [[1, 1, 1000], [1, 1, 4096], [3, 1, 1024]] {
            for [grad_scale, grad_shift] in [[64, 64], [64, 68], [68, 64], [68, 68]] {
                for wanted in Wanted::ALL {
                    let starts = [64, 64, 64, 64, grad_scale, grad_shift];
                    check_all_ways(&Case { starts, wanted, values: Values::Nans, ..Case::plain(dtype, dims) });
                }
            }
        }
    }
}

#[test]
fn layouts_each_and_mixed() {
    let mut random = Random::new(11);
    for dtype in TYPES {
        for round in 0..3 {
            for g in Layout::ALL {
                for o in Layout::OUTPUTS {
                    // Mixed, or all tensors alike.
                    let x = if round == 0 { g } else { random.pick(&Layout::ALL) };
                    let dims = [
                        random.pick(&[1, 2, 3]),
                        random.pick(&[1, 5, 8, 33, 70, 1030]),
                        random.pick(&[1, 3, 16, 40, 150, 600, 1100]),
                    ];
                    let case = Case {
                        layouts: [g, x, o],
                        steps: [random.pick(&[1, 2]), random.pick(&[1, 6]), random.pick(&[1, 3])],
                        gaps: std::array::from_fn(|_| random.pick(&[0, 7, 64])),
                        starts: std::array::from_fn(|_| 64 + random.pick(&[0, 1, 2, 4, 12, 32, 62])),
                        wanted: random.pick(&Wanted::ALL),
                        seed: random.next(),
                        ..Case::plain(dtype, dims)
                    };
                    let expected = expected(&case);
                    for tier in available_tiers() {
                        let (threads, residence) = (random.pick(&[1, 2, 4]), random.pick(&Residence::ALL));
                        check(&case, &Tuning { tier, threads, residence }, &expected);
                    }
                }
            }
        }
    }
}

/// Tensors along L are walked in stretches of 64 to 256 rows, at most a chunk of them at a time, eight columns together. Where
/// input lies otherwise, tiles have 256 rows of 64 or 128 columns; where there are chunks, they have 16 or 32.
#[test]
fn lengths_and_widths_around_the_parts_of_views_along_l() {
    for dtype in TYPES {
        for l in [9, 15, 63, 64, 65, 127, 128, 129, 255, 256, 257, 520, 1024, 1029, 2312] {
            for d in [1, 7, 8, 9, 17, 33, 64, 130] {
                let mut random = Random::new((l * d) as u64);
                let pitch = random.pick(&[0, 3, 16]);
                let along = Layout::Transposed(pitch);
                let x = if d == 33 || d == 130 { random.pick(&Layout::ALL) } else { along };
                check_all_ways(&Case {
                    layouts: [along, x, along],
                    wanted: if l == 257 || l == 1029 { random.pick(&Wanted::ALL) } else { Wanted::ALL[0] },
                    values: match l {
                        128 | 520 => Values::Any,
                        65 | 1029 => Values::Zeros,
                        _ => Values::Usual,
                    },
                    seed: random.next(),
                    ..Case::plain(dtype, [2, l, d])
                });
            }
        }
    }
}

/// Columns of a single group that follow each other are one stream, 4 to 32 of them at a time; a tile has 5120.
#[test]
fn columns_of_one_group() {
    for dtype in TYPES {
        for columns in [1, 2, 7, 8, 9, 31, 32, 33, 71, 5120, 5153] {
            for (dims, layout) in [([columns, 8, 1], Layout::Contiguous), ([2, 8, columns], Layout::Transposed(0))] {
                for wanted in Wanted::ALL {
                    let values = if columns == 71 { Values::Any } else { Values::Usual };
                    let starts = if columns == 33 { [72; 6] } else { [64; 6] };
                    let (seed, layouts) = (columns as u64, [layout; 3]);
                    check_all_ways(&Case { layouts, wanted, values, starts, seed, ..Case::plain(dtype, dims) });
                }
            }
        }
    }
}

/// Samples of one column are columns of one sample: here input runs along L, but its rows are apart.
#[test]
fn columns_of_one_element_whose_rows_are_apart() {
    for dtype in TYPES {
        for dims in [[2, 1030, 1], [70, 600, 1], [5200, 270, 1]] {
            for layouts in [
                [Layout::Transposed(5), Layout::RowPitch(16), Layout::Contiguous],
                [Layout::Contiguous, Layout::RowPitch(1), Layout::Contiguous],
                [Layout::RowPitch(1), Layout::Contiguous, Layout::RowPitch(16)],
            ] {
                check_all_ways(&Case { layouts, ..Case::plain(dtype, dims) });
            }
        }
    }
}

#[test]
fn any_number_of_threads() {
    for dtype in TYPES {
        for dims in [[1, 5000, 40], [3, 2100, 300], [7, 30, 500], [1, 20, 9000]] {
            let case = Case::plain(dtype, dims);
            let expected = expected(&case);
            for tier in available_tiers() {
                for threads in 1..=8 {
                    check(&case, &Tuning { tier, threads, residence: Residence::BySize }, &expected);
                }
            }
        }
    }
}
