//! What sets are made with, seen from outside: atoms in their structures, the k largest entries,
//! water levels.

use extremal::kernel::dot;
use extremal::set::capped_simplex::CappedSimplexSet;
use extremal::set::k_sparse::KSparsePolytope;
use extremal::set::{Atom, AtomView, Oracle, Set};
use extremal_check::kit::{distance, set};

#[test]
fn every_structure_of_an_atom_agrees_with_its_dense_form() {
    let mut atoms = vec![Atom::new()];
    let mut coordinate = Atom::new();
    coordinate.set_coordinate(3, -2.0);
    atoms.push(coordinate);
    let mut sparse = Atom::new();
    let (indices, values) = sparse.sparse_mut();
    indices.extend([4, 1]);
    values.extend([1.5, -0.5]);
    atoms.push(sparse);
    let mut rank_one = Atom::new();
    let (l, r) = rank_one.rank_one_mut(0.5, 2, 3);
    l.copy_from_slice(&[1.0, -2.0]);
    r.copy_from_slice(&[3.0, 0.0, 1.0]);
    atoms.push(rank_one);
    let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    for atom in &atoms {
        let mut dense = [9.0; 6];
        atom.write(&mut dense);
        assert_eq!(atom.dot(&a), dot(&a, &dense));
        assert_eq!(atom.norm_squared(), dot(&dense, &dense));
        let mut x = a;
        atom.add_to(2.0, &mut x);
        for i in 0..6 {
            assert_eq!(x[i], a[i] + 2.0 * dense[i]);
        }
        let (mut twice, mut out) = (atom.clone(), [9.0; 6]);
        twice.scale(2.0);
        twice.write(&mut out);
        assert_eq!(out, dense.map(|v| 2.0 * v));
    }
}

/// The coordinates of an atom with few entries, and their values.
fn entries(oracle: &mut dyn Oracle, direction: &[f64]) -> Vec<(usize, f64)> {
    let mut atom = Atom::new();
    oracle.minimise(direction, &mut atom).unwrap();
    match atom.view() {
        AtomView::Coordinate { index, value } => vec![(index, value)],
        AtomView::Sparse { indices, values } => {
            let indices = indices.iter().map(|i| *i as usize);
            indices.zip(values.iter().copied()).collect()
        }
        AtomView::Dense(values) => values.iter().copied().enumerate().collect(),
        other => panic!("{other:?}"),
    }
}

/// With k + ½ for a total, the last of k + 1 entries gets the half.
#[test]
fn the_entries_of_an_atom_are_what_a_stable_sort_puts_first() {
    for n in (1..60_usize).chain([100, 200, 1000]) {
        for modulus in [1, 2, 3, 7, 61, 997] {
            let keys: Vec<f64> = (0..n)
                .map(|i| ((i * i * 31 + i * 17) % modulus) as f64 + 1.0)
                .collect();
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by(|&a, &b| keys[b].total_cmp(&keys[a]));
            let down: Vec<f64> = keys.iter().map(|key| -key).collect();
            for k in [1, 2, 3, n / 2 + 1, n].into_iter().filter(|k| *k <= n) {
                let mut expected: Vec<_> = order[..k].iter().map(|i| (*i, 1.0)).collect();
                expected.sort_unstable_by_key(|entry| entry.0);
                let mut sparse = KSparsePolytope::new(n, k, 1.0).unwrap().oracle();
                assert_eq!(entries(&mut *sparse, &down), expected, "{k} of {keys:?}");
                if k == 1 {
                    continue;
                }
                let last = expected.iter_mut().find(|entry| entry.0 == order[k - 1]);
                last.unwrap().1 = 0.5;
                let mut capped = CappedSimplexSet::new(n, k as f64 - 0.5).unwrap().oracle();
                assert_eq!(entries(&mut *capped, &down), expected, "{k} of {keys:?}");
            }
        }
    }
}

#[test]
fn zeros_of_both_signs_tie_and_extremes_are_told_apart() {
    let pick = |direction: &[f64]| {
        let mut oracle = CappedSimplexSet::new(direction.len(), 2.0)
            .unwrap()
            .oracle();
        let chosen = entries(&mut *oracle, direction);
        chosen.iter().map(|entry| entry.0).collect::<Vec<_>>()
    };
    assert_eq!(pick(&[-0.0, 0.0, -0.0, 0.0]), [0, 1]);
    assert_eq!(pick(&[-5e-324, -1e300, 0.0, 1e300, -1e-323]), [1, 4]);
}

#[test]
fn shares_add_up_to_the_total_wherever_the_entries_lie() {
    for far in [0.0, 1.0, -3.0, 1e9, -1e15] {
        for n in 1..40_usize {
            for width in [1e3, 3.0, 1.0, 0.1] {
                let y: Vec<f64> = (0..n)
                    .map(|i| far + width * (0.25 * ((i * 37 % 23) as f64) - (i % 5) as f64))
                    .collect();
                for total in [1e-5, 0.5, 1.0, 0.4 * n as f64, n as f64 - 0.5, n as f64] {
                    let set = CappedSimplexSet::new(n, total).unwrap();
                    let mut x = y.clone();
                    set.projection().unwrap().project(&mut x).unwrap();
                    let sum: f64 = x.iter().sum();
                    let off = (sum - total).abs();
                    assert!(off <= 1e-12 * total, "{y:?}: {sum}, not {total}");
                    assert!(x.iter().all(|x| (0.0..=1.0).contains(x)));
                }
            }
        }
    }
}

/// A box that is scaled is a box, in every coordinate by itself: however far one of them lies,
/// the others are where they are.
#[test]
fn a_scaled_box_is_a_box_however_far_one_coordinate_lies() {
    for by in [1e-49, 1e-3, 1.0, 1e49] {
        let scaled = set(&format!("scale:by={by},set=(box:lower=0,upper=1)"), 5);
        let plain = set(&format!("box:lower=0,upper={by}"), 5);
        let mut projection = scaled.projection().unwrap();
        let mut direct = plain.projection().unwrap();
        for far in [1.0, 1e50, 1e100] {
            let y = [far, 5.0 * by, 0.25 * by, -by, -far];
            let (mut x, mut expected) = (y, y);
            direct.project(&mut expected).unwrap();
            projection.project(&mut x).unwrap();
            let apart = distance(&x, &expected);
            assert!(apart <= 1e-15 * by, "{by:e}, {far:e}: {x:?}");
        }
    }
}
