//! The vector kernels: inner products, norms, powers, and the order of a sparse row's indices.

use extremal::Row;
use extremal::kernel::*;

#[test]
fn dot_equals_the_plain_sum_for_every_length() {
    for n in 0..200 {
        let a: Vec<f64> = (0..n).map(|i| (i as f64 * 0.37).sin()).collect();
        let b: Vec<f64> = (0..n).map(|i| (i as f64 * 1.13).cos()).collect();
        let plain: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
        assert!((dot(&a, &b) - plain).abs() < 1e-13, "n = {n}");
    }
}

#[test]
fn sparse_dot_equals_dense_dot() {
    let x: Vec<f64> = (0..50).map(|i| i as f64).collect();
    let (i, v) = (vec![3, 17, 22, 40, 41], vec![1.0, -2.0, 0.5, 4.0, 3.0]);
    assert_eq!(dot_sparse(&i, &v, &x), 3.0 - 34.0 + 11.0 + 160.0 + 123.0);
}

#[test]
fn norm_survives_every_scale() {
    for scale in [1e-320, 1e-300, 1e-170, 1.0, 1e170, 1e300] {
        let v = [3.0 * scale, 4.0 * scale];
        let relative = norm(&v) / (5.0 * scale) - 1.0;
        let allowed = if scale < 1e-310 { 1e-3 } else { 1e-15 };
        assert!(relative.abs() < allowed, "{scale}: {relative}");
    }
    assert_eq!(norm(&[]), 0.0);
    assert!(norm(&[f64::NAN, 1.0]).is_nan());
}

#[test]
fn the_first_bad_entry_is_found() {
    let mut a = vec![1.0; 100];
    assert_eq!(find_not_finite(&a), None);
    a[40] = 1e200; // its square overflows, itself it is fine
    assert_eq!(find_not_finite(&a), None);
    a[57] = f64::INFINITY;
    assert_eq!(find_not_finite(&a), Some((57, f64::INFINITY)));
}

/// t^a by the kernel for vectors.
fn power(t: f64, exponent: Exponent) -> f64 {
    let mut out = [0.0];
    power_map(&[t], 1.0, exponent, &mut out);
    out[0]
}

#[test]
fn pow_agrees_with_libm_to_a_few_units_in_the_last_place() {
    let (third, fraction) = (1.0 / 3.0, 7.0 / 3.0);
    for a in [
        0.01, third, 0.5, 0.9, 1.0, 1.7, 2.0, fraction, 3.0, 10.5, 40.0,
    ] {
        let mut worst: f64 = 0.0;
        for i in 1..20_000 {
            let t = i as f64 * 1e-4;
            let theirs = t.powf(a);
            if theirs > 1e-290 {
                worst = worst.max((power(t, a.into()) / theirs - 1.0).abs());
            }
        }
        let allowed = (4.0 + 8.0 * a) * f64::EPSILON;
        assert!(worst <= allowed, "a = {a}: {worst:e} > {allowed:e}");
    }
}

#[test]
fn zero_and_subnormal_powers_vanish() {
    for a in [0.01, 0.9, 1.7, 10.5] {
        assert_eq!(power(0.0, Exponent::Other(a)), 0.0, "{a}");
        assert!(power(5e-324, Exponent::Other(a)) <= 2f64.powf(-1074.0 * a) * 1.001);
    }
    assert_eq!(power(1.0, Exponent::Other(0.01)), 1.0);
}

#[test]
fn the_usual_exponents_are_recognised() {
    let q = |p: f64| p / (p - 1.0) - 1.0;
    assert_eq!(Exponent::from(q(1.5)), Exponent::Two);
    assert_eq!(Exponent::from(q(2.0)), Exponent::One);
    assert_eq!(Exponent::from(q(3.0)), Exponent::Half);
    assert_eq!(Exponent::from(q(4.0 / 3.0)), Exponent::Three);
    assert!(matches!(Exponent::from(q(1.3)), Exponent::Other(_)));
}

#[test]
fn a_repeated_or_smaller_index_is_found_wherever_it_is() {
    let increases = |indices: &[u32]| {
        let values = vec![1.0; indices.len()];
        Row::sparse(indices, &values).check_shape(1000).is_ok()
    };
    assert!(increases(&[]) && increases(&[7]));
    for n in [2, 7, 8, 9, 64, 100] {
        let indices: Vec<u32> = (0..n).map(|i| 3 * i + 1).collect();
        assert!(increases(&indices));
        for at in 1..n as usize {
            let mut indices = indices.clone();
            indices[at] = indices[at - 1];
            assert!(!increases(&indices), "{n} {at}");
            indices[at] -= 1;
            assert!(!increases(&indices), "{n} {at}");
        }
    }
}
