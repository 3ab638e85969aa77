//! Rows of every shape, numbers of every size.

use super::*;

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
    let cells = sums.cells.iter();
    cells
        .map(|cell| [cell.y, cell.c, cell.size, cell.top].map(f64::to_bits))
        .collect()
}

#[test]
fn a_row_is_taken_alike_in_every_shape_and_met_as_it_was_before() {
    for sizes in [
        &[1.0, -0.3][..],
        &[1e-150, 1e-140],
        &[1e135, 1e145],
        &[0.0, 1e-310],
    ] {
        let mut all = [0, 1, 2].map(|_| CoordinateSums::new(DIM));
        for (k, indices, values) in rows(sizes) {
            let norm = k.abs() * kernel::norm(&values);
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
                let (before, dots) = (sums.unit(), sums.dot(row));
                let found = sums.absorb(norm, 0.0, k, row);
                assert!(found == dots || sums.unit() != before);
            }
            let [one, two, three] = &all;
            assert!(bits(one) == bits(two) && bits(one) == bits(three));
            let (here, there) = (one.products(), one.summed_up());
            for (a, b) in [
                (here.yy, there.yy),
                (here.yc, there.yc),
                (here.cc, there.cc),
            ] {
                assert!(
                    (a - b).abs() <= 1e-11 * b.abs() + 1e-13,
                    "{sizes:?}: {a} {b}"
                );
            }
        }
    }
}

#[test]
fn a_cell_does_not_mind_the_size_of_its_gradients() {
    for size in [1e-310, 1e-290, 1e-145, 1e-139, 1.0, 1e139, 1e145, 1e290] {
        let mut cell = Cell::default();
        let (mut sum, mut squares, mut top) = (0.0, 0.0, 0.0_f64);
        for t in 0..50 {
            let g = (f64::from(t) * 1.3).sin() + 0.2;
            (sum, squares, top) = (sum + g, squares + g * g, top.max(g.abs()));
            cell.add(g * size);
        }
        let y = -sum / (squares + top * top).sqrt();
        let near = if size < 1e-300 { 1e-10 } else { 1e-13 };
        assert!((cell.y - y).abs() <= near, "{size:e}: {} {y}", cell.y);
    }
}

#[test]
fn roots_that_were_saved_in_place_of_squares_go_on() {
    let [mut squares, mut roots] = [0, 1].map(|_| CoordinateSums::new(DIM));
    for (t, (k, indices, values)) in rows(&[1.0]).iter().enumerate() {
        if t == 200 {
            let mut saved = squares.save();
            for (_, cell) in &mut saved.cells {
                cell.size = (-cell.size).sqrt();
            }
            roots = CoordinateSums::restored(&saved, DIM).unwrap();
        }
        for sums in [&mut squares, &mut roots] {
            let row = Row::Sparse { indices, values };
            sums.absorb(kernel::norm(values), 0.0, *k, &row);
        }
    }
    for (a, b) in squares.cells.iter().zip(&roots.cells) {
        assert!((a.y - b.y).abs() <= 1e-14 && a.c == b.c);
    }
    let mut saved = squares.save();
    saved.cells[0].1.size = -1e-290;
    assert!(CoordinateSums::restored(&saved, DIM).is_none());
}
