//! Quadratic forms: their eigenvalues, and what is refused.

use extremal::loss::QuadraticForm;
use extremal::set::boxes::Bound;

/// HDH with a reflection H along (1, 2, …, n): symmetric, with D's eigenvalues.
fn reflected(eigenvalues: &[f64]) -> Vec<Vec<f64>> {
    let n = eigenvalues.len();
    let length = (1..=n).map(|k| (k * k) as f64).sum::<f64>();
    let h = |i: usize, j: usize| {
        let one = if i == j { 1.0 } else { 0.0 };
        one - 2.0 * ((i + 1) * (j + 1)) as f64 / length
    };
    let entry = |i, j| (0..n).map(|k| h(i, k) * eigenvalues[k] * h(k, j)).sum();
    (0..n)
        .map(|i| (0..n).map(|j| entry(i, j)).collect())
        .collect()
}

#[test]
fn extreme_eigenvalues_are_found_and_never_promised_better_than_they_are() {
    for eigenvalues in [
        vec![3.0],
        vec![1.0, 3.0],
        vec![2.0, 2.0, 2.0],
        vec![0.0, 0.0, 5.0, 1e-3],
        vec![1e-6, 1.0, 1e6],
        (0..40).map(|k| 0.1 + (k * k) as f64).collect(),
    ] {
        let form = QuadraticForm::matrix(&reflected(&eigenvalues)).unwrap();
        let low = eigenvalues.iter().copied().fold(f64::INFINITY, f64::min);
        let high = eigenvalues.iter().copied().fold(0.0, f64::max);
        let tolerance = 1e-13 * eigenvalues.len() as f64 * high;
        assert!(
            form.smallest() <= low && form.smallest() >= low - tolerance,
            "{form:?}"
        );
        assert!(
            form.largest() >= high && form.largest() <= high + tolerance,
            "{form:?}"
        );
    }
}

#[test]
fn a_hundred_dimensions_agree_with_the_closed_form() {
    // the second difference has the eigenvalues 2 − 2cos(kπ/(n+1)), shuffled to be dense
    let n = 100;
    let place = |i: usize| (37 * i) % n;
    let mut rows = vec![vec![0.0; n]; n];
    for i in 0..n {
        rows[place(i)][place(i)] = 2.0;
        if i + 1 < n {
            rows[place(i)][place(i + 1)] = -1.0;
            rows[place(i + 1)][place(i)] = -1.0;
        }
    }
    let form = QuadraticForm::matrix(&rows).unwrap();
    let angle = std::f64::consts::PI / (n + 1) as f64;
    assert!((form.smallest() - (2.0 - 2.0 * angle.cos())).abs() < 2e-12);
    assert!((form.largest() - (2.0 + 2.0 * angle.cos())).abs() < 2e-12);
}

#[test]
fn what_is_no_semidefinite_matrix_is_refused_in_words() {
    for (rows, word) in [
        (reflected(&[1.0, -1e-9, 2.0]), "eigenvalue"),
        (vec![vec![0.0, 1.0], vec![1.0, 0.0]], "eigenvalue -1"),
        (vec![vec![1.0, 0.5], vec![0.4, 1.0]], "0.4"),
        (vec![vec![1.0, 0.0]], "2 entries"),
        (vec![vec![f64::NAN]], "NaN"),
        (vec![vec![1e200]], "1e200"),
        (vec![], "[]"),
    ] {
        let error = QuadraticForm::matrix(&rows).unwrap_err().to_string();
        assert!(error.contains(word) && error.contains("must be"), "{error}");
    }
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(QuadraticForm::diagonal(Bound::All(bad)).is_err());
        assert!(QuadraticForm::diagonal(Bound::Each(vec![1.0, bad])).is_err());
    }
    assert!(QuadraticForm::diagonal(Bound::Each(vec![])).is_err());
    assert_eq!(QuadraticForm::matrix(&[vec![0.0]]).unwrap().largest(), 0.0);
}
