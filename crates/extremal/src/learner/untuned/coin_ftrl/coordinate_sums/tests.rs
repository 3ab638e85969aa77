//! Rows of every shape, numbers of every size.

use crate::learner::untuned::coin_ftrl::coordinate_sums::*;

const DIM: usize = 40;

/// Rows of up to 12 entries at rising indices, and factors for them.
fn rows(sizes: &[f64]) -> Vec<(f64, Vec<u32>, Vec<f64>)> {
    (0..400_usize)
        .map(|t| {
            let indices: Vec<u32> = (0..t % 13).map(|j| (j * 3 + t % 4) as u32).collect();
            let values = indices
                .iter()
                .map(|i| (f64::from(*i) + t as f64 * 0.7).sin());
            let values = values
                .map(|v| if v.abs() < 0.1 { 0.0 } else { v })
                .collect();
            (sizes[t % sizes.len()], indices, values)
        })
        .collect()
}

fn bits(sums: &CoordinateSums) -> Vec<[u64; 4]> {
    let cells = sums.cells.items.iter();
    cells
        .map(|cell| [cell.y, cell.c, cell.square, cell.top].map(f64::to_bits))
        .collect()
}

#[test]
fn a_row_is_taken_alike_in_every_shape_and_met_as_it_was_before() {
    for sizes in [
        &[1.0, -0.3][..],
        &[1e-99, 1e-90],
        &[1e95, 1e99],
        &[0.0, 1e-99],
    ] {
        let mut all = [0, 1, 2].map(|_| CoordinateSums::new(DIM));
        for (k, indices, values) in rows(sizes) {
            let mut written = [0.0; DIM];
            for (i, v) in indices.iter().zip(&values) {
                written[*i as usize] = *v;
            }
            let shapes = [
                Row::Sparse {
                    indices: &indices,
                    values: &values,
                },
                Row::Dense(&written),
                Row::Entries {
                    width: DIM,
                    rows: &vec![0; indices.len()],
                    columns: &indices,
                    values: &values,
                },
            ];
            for (sums, row) in all.iter_mut().zip(&shapes) {
                let dots = sums.dot(row);
                assert_eq!(sums.absorb(0.0, k, row), dots);
            }
            let [one, two, three] = &all;
            assert!(bits(one) == bits(two) && bits(one) == bits(three));
            let (here, there) = (one.products(), one.summed_up());
            let unit = sizes[1].abs();
            for (a, b, size) in [
                (here.yy, there.yy, 1.0),
                (here.yc, there.yc, unit),
                (here.cc, there.cc, unit * unit),
            ] {
                assert!(
                    (a - b).abs() <= 1e-11 * b.abs() + 1e-13 * size,
                    "{sizes:?}: {a} {b}"
                );
            }
        }
    }
}

#[test]
fn a_cell_does_not_mind_the_size_of_its_gradients() {
    for size in [1e-130, 1e-100, 1.0, 1e100] {
        let mut cell = Cell::default();
        let (mut sum, mut squares, mut top) = (0.0, 0.0, 0.0_f64);
        for t in 0..50 {
            let g = (f64::from(t) * 1.3).sin() + 0.2;
            (sum, squares, top) = (sum + g, squares + g * g, top.max(g.abs()));
            cell = cell.after(g * size);
        }
        let y = -sum / (squares + top * top).sqrt();
        assert!((cell.y - y).abs() <= 1e-13, "{size:e}: {} {y}", cell.y);
    }
    let cell = Cell::default().after(1e-200);
    assert_eq!([cell.y, cell.c, cell.square, cell.top], [0.0; 4]);
}
