//! The small dense matrices behind ellipsoids, images and quadratic losses, and the choice of the
//! largest entry.

use extremal::kernel::*;

#[test]
fn singular_values_of_known_matrices() {
    let root = 5f64.sqrt();
    let known: [(usize, &[f64], f64, f64); 5] = [
        (1, &[-3.0], 3.0, 3.0),
        // σ² = 3 ± √5
        (
            2,
            &[2.0, 1.0, 0.0, 1.0],
            (3.0 + root).sqrt(),
            (3.0 - root).sqrt(),
        ),
        (2, &[0.0, 1e50, -1e45, 0.0], 1e50, 1e45),
        // rank 2: σ² = (285 ± √79929)/2
        (
            3,
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
            (0.5 * (285.0 + 79929f64.sqrt())).sqrt(),
            0.0,
        ),
        (2, &[0.0; 4], 0.0, 0.0),
    ];
    for (n, matrix, largest, smallest) in known {
        let found = singular(n, matrix);
        for (found, expected) in [(found.largest, largest), (found.smallest, smallest)] {
            assert!((found - expected).abs() <= 1e-14 * largest, "{matrix:?}");
        }
    }
}

/// Σ_k a_ik·b_kj of square matrices.
fn product(n: usize, a: impl Fn(usize, usize) -> f64, b: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let sum = |i: usize, j: usize| (0..n).map(|k| a(i, k) * b(k, j)).sum();
    (0..n * n).map(|at| sum(at / n, at % n)).collect()
}

fn differ(a: &[f64], b: &[f64]) -> f64 {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    max_abs(&differences)
}

/// Numbers without a pattern, larger on the diagonal.
fn entry(n: usize) -> impl Fn(usize, usize) -> f64 {
    move |i, j| ((i * i + 3 * j + n) as f64 * 0.7).sin() + f64::from(i == j)
}

fn identity(n: usize) -> Vec<f64> {
    (0..n * n).map(|at| f64::from(at / n == at % n)).collect()
}

#[test]
fn a_matrix_times_its_inverse_is_one() {
    for n in 1..20 {
        let m = entry(n);
        let matrix: Vec<f64> = (0..n * n).map(|at| m(at / n, at % n)).collect();
        let found = singular(n, &matrix);
        let one = product(n, m, |k, j| found.inverse[k * n + j]);
        let condition = found.largest / found.smallest;
        assert!(differ(&one, &identity(n)) <= 1e-13 * condition, "{n}");
    }
}

#[test]
fn the_axes_are_orthonormal_and_make_up_the_matrix() {
    for n in [1, 2, 3, 7, 30] {
        for scale in [1e-100, 1.0, 1e100] {
            let m = entry(n);
            let mut a = product(n, &m, |k, j| scale * m(j, k));
            (0..n).for_each(|i| a[i * n + i] += 0.1 * scale);
            let PrincipalAxes {
                lengths,
                directions: q,
            } = principal_axes(n, &a).unwrap();
            let gram = product(n, |i, k| q[i * n + k], |k, j| q[j * n + k]);
            assert!(differ(&gram, &identity(n)) < 1e-14, "n = {n}");
            let stretched = |k: usize, j: usize| lengths[k] * lengths[k] * q[k * n + j];
            let back = product(n, |i, k| q[k * n + i], stretched);
            assert!(differ(&a, &back) <= 1e-13 * scale * n as f64, "n = {n}");
        }
    }
}

#[test]
fn two_by_two_has_the_axes_of_its_closed_form() {
    // eigenvalues (5 ± √5)/2
    let lengths = principal_axes(2, &[2.0, 1.0, 1.0, 3.0]).unwrap().lengths;
    for (length, sign) in [(min(&lengths), -1.0), (max(&lengths), 1.0)] {
        let expected = ((5.0 + sign * 5f64.sqrt()) / 2.0).sqrt();
        assert!((length / expected - 1.0).abs() < 1e-15);
    }
}

#[test]
fn a_short_axis_next_to_a_long_one_keeps_its_digits() {
    // scaled from [[2,1],[1,2]]; det/trace gives the small eigenvalue to first order
    let (d, e) = (1e-8, 1.0);
    let axes = principal_axes(2, &[2.0 * d * d, d * e, d * e, 2.0 * e * e]).unwrap();
    let short = min(&axes.lengths);
    let trace = 2.0 * (d * d + e * e);
    let square = 3.0 * d * d * e * e / trace * (1.0 + 3.0 * d * d * e * e / (trace * trace));
    assert!((short / square.sqrt() - 1.0).abs() < 1e-14, "{short:e}");
}

#[test]
fn what_is_not_positive_definite_has_no_axes() {
    for a in [
        [1.0, 2.0, 2.0, 1.0],
        [1.0, 1.0, 1.0, 1.0],
        [0.0, 0.0, 0.0, 0.0],
        [-1.0, 0.0, 0.0, -1.0],
        [1.0, f64::NAN, f64::NAN, 1.0],
    ] {
        assert!(principal_axes(2, &a).is_none(), "{a:?}");
    }
}

#[test]
fn selection_agrees_with_a_plain_scan_and_takes_the_first_of_ties() {
    for n in 1..100usize {
        let a: Vec<f64> = (0..n)
            .map(|i| ((i * 7919 % 13) as f64 - 6.0) * 0.5)
            .collect();
        let mut max = 0;
        let mut min = 0;
        for i in 0..n {
            if a[i].abs() > a[max].abs() {
                max = i;
            }
            if a[i] < a[min] {
                min = i;
            }
        }
        assert_eq!(argmax_abs(&a), Some(max));
        assert_eq!(argmin(&a), Some(min));
        assert_eq!(max_abs(&a), a[max].abs());
    }
    assert_eq!(argmax_abs(&[]), None);
}

#[test]
fn subnormal_and_huge_entries_are_told_apart() {
    assert_eq!(argmax_abs(&[0.0, 5e-324, -1e-323]), Some(2));
    assert_eq!(argmin(&[1e300, -1e300, 0.0]), Some(1));
    assert_eq!(argmin(&[0.0; 40]), Some(0));
}
