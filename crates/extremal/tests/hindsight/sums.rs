//! Totals are what they say, however they were fed.

use extremal::Row;
use extremal::hindsight::{Imaged, QuadraticSum, Sum, Total, TotalValue};
use extremal::loss::{LossSpec, Objective};
use extremal::set::Atom;

use crate::Data;
use crate::common::{bits, normals, plus, rng};

fn read(total: &dyn Total, mu: f64, x: &[f64]) -> (TotalValue, Vec<f64>, Vec<f64>) {
    let (mut image, mut gradient) = (vec![0.0; total.images()], vec![0.0; total.dim()]);
    let reading = total.evaluate(mu, x, &mut image, &mut gradient);
    (reading, image, gradient)
}

/// Value as defined, gradient by differences, and the ways around the data.
fn check(total: &dyn Total, mu: f64, value: impl Fn(&[f64]) -> f64) {
    let mut r = rng(21);
    for _ in 0..5 {
        let (x, d) = (normals(&mut r, total.dim()), normals(&mut r, total.dim()));
        let (reading, image, gradient) = read(total, mu, &x);
        let scale = reading.value.abs().max(1.0);
        assert!((reading.unsmoothed - value(&x)).abs() <= 1e-12 * scale);
        let h = 1e-5;
        let ends = [h, -h].map(|s| read(total, mu, &plus(&x, s, &d)).0.value);
        let slope: f64 = gradient.iter().zip(&d).map(|(a, b)| a * b).sum();
        assert!(((ends[0] - ends[1]) / (2.0 * h) - slope).abs() <= 1e-4 * scale);

        let mut again = vec![0.0; total.dim()];
        let same = total.at_image(mu, &x, &image, &mut again);
        assert!((same.value - reading.value).abs() <= 1e-12 * scale);
        assert!(
            again
                .iter()
                .zip(&gradient)
                .all(|(a, b)| (a - b).abs() <= 1e-10 * scale)
        );

        // the image of a direction, as a dense atom and as a sum of coordinates
        let mut atom = Atom::new();
        atom.dense_mut(d.len()).copy_from_slice(&d);
        let mut way = vec![0.0; total.images()];
        total.map(&atom, &mut way);
        let (mut parts, mut one) = (vec![0.0; way.len()], vec![0.0; way.len()]);
        for (i, v) in d.iter().enumerate() {
            atom.set_coordinate(i, *v);
            total.map(&atom, &mut one);
            parts = plus(&parts, 1.0, &one);
            let (indices, values) = atom.sparse_mut();
            indices.push(i as u32);
            values.push(*v);
            let mut few = vec![0.0; way.len()];
            total.map(&atom, &mut few);
            assert!(
                few.iter()
                    .zip(&one)
                    .all(|(a, b)| (a - b).abs() <= 1e-12 * scale)
            );
        }
        assert!(
            parts
                .iter()
                .zip(&way)
                .all(|(a, b)| (a - b).abs() <= 1e-10 * scale)
        );
        let (from, by) = (
            Imaged {
                x: &x,
                image: &image,
            },
            Imaged { x: &d, image: &way },
        );
        let (there, there_slope) = total.along(mu, 0.3, from, by);
        let (exact, _, exact_gradient) = read(total, mu, &plus(&x, 0.3, &d));
        let exact_slope: f64 = exact_gradient.iter().zip(&d).map(|(a, b)| a * b).sum();
        assert!((there - exact.value).abs() <= 1e-10 * scale);
        assert!((there_slope - exact_slope).abs() <= 1e-9 * scale);
    }
}

/// The same rounds with their zeros left out.
fn sparse(data: &Data) -> Sum {
    let mut sum = Sum::new(data.dim(), &data.objective()).unwrap();
    for ((row, y), w) in data.rows.iter().zip(&data.labels).zip(&data.weights) {
        let kept: Vec<(u32, f64)> = (0..)
            .zip(row.iter().copied())
            .filter(|e| e.1 != 0.0)
            .collect();
        let (indices, values): (Vec<u32>, Vec<f64>) = kept.into_iter().unzip();
        let row = Row::Sparse {
            indices: &indices,
            values: &values,
        };
        sum.push(row, *y, *w).unwrap();
    }
    sum
}

#[test]
fn a_sum_is_the_total_of_its_losses_dense_and_sparse() {
    for loss in ["squared", "logistic", "absolute"] {
        let mut data = Data::draw(22, loss, 25, 7);
        data.ridge = 0.3;
        for (i, row) in data.rows.iter_mut().enumerate() {
            row[i % 7] = 0.0;
        }
        // smoothing leaves the value itself alone
        let mu = if loss == "absolute" { 0.5 } else { 0.0 };
        for sum in [data.sum(), sparse(&data)] {
            check(&sum, mu, |x| data.total(x));
            let x = normals(&mut rng(23), 7);
            let total = data.total(&x);
            assert!((sum.value(&x).unwrap() - total).abs() <= 1e-12 * total);
        }
    }
}

#[test]
fn a_losss_own_form_counts_once_per_round() {
    let matrix = [[2.0, 1.0, 0.0], [1.0, 3.0, -0.5], [0.0, -0.5, 1.0]];
    let apply = |x: &[f64], i: usize| (0..3).map(|j| matrix[i][j] * x[j]).sum::<f64>();
    let rows = [[1.0, -2.0, 0.5], [0.0, 1.0, 1.0]];
    let loss = "quadratic:matrix=[[2,1,0],[1,3,-0.5],[0,-0.5,1]]"
        .parse::<LossSpec>()
        .unwrap();
    let objective = Objective::new(loss.build().unwrap(), 0.3).unwrap();
    let mut sum = Sum::new(3, &objective).unwrap();
    for row in &rows {
        sum.push(Row::Dense(row), 0.0, 2.0).unwrap();
    }
    let value = |x: &[f64]| {
        let form: f64 = (0..3).map(|i| x[i] * apply(x, i)).sum();
        let square: f64 = x.iter().map(|v| v * v).sum();
        let linear: f64 = rows
            .iter()
            .flatten()
            .zip(x.iter().cycle())
            .map(|(a, v)| a * v)
            .sum();
        2.0 * 0.5 * (form + 0.3 * square) + 2.0 * linear
    };
    check(&sum, 0.0, value);
    let x = [0.2, -0.1, 0.4];
    assert!((sum.value(&x).unwrap() - value(&x)).abs() <= 1e-12);
    assert!(Sum::new(4, &objective).is_err(), "A is 3 by 3");
}

#[test]
fn sufficient_statistics_are_as_good_as_the_rounds() {
    let mut data = Data::draw(24, "squared", 25, 6);
    data.ridge = 0.2;
    let mut sum = QuadraticSum::new(6, 0.2).unwrap();
    data.feed(|row, y, w| sum.push(row, y, w)).unwrap();
    check(&sum, 0.0, |x| data.total(x));
    let mut few = QuadraticSum::new(6, 0.0).unwrap();
    let row = Row::Sparse {
        indices: &[1, 4],
        values: &[-1.0, 2.0],
    };
    few.push(row, 3.0, 0.5).unwrap();
    check(&few, 0.0, |x| 0.25 * (2.0 * x[4] - x[1] - 3.0).powi(2));
}

#[test]
fn a_bad_round_is_refused_and_not_kept() {
    let data = Data::draw(25, "logistic", 5, 2);
    let mut sum = data.sum();
    let mut quadratic = QuadraticSum::new(2, 0.0).unwrap();
    quadratic.push(Row::Dense(&[1.0, 1.0]), 1.0, 1.0).unwrap();
    let before = (
        read(&sum, 0.0, &[0.1, 0.2]).0,
        read(&quadratic, 0.0, &[0.1, 0.2]).0,
    );
    for (row, label, weight, quadratic_too) in [
        (&[1.0, 2.0, 3.0][..], 1.0, 1.0, true),
        (&[1.0, f64::NAN], 1.0, 1.0, true),
        (&[1.0, f64::INFINITY], 1.0, 1.0, true),
        (&[1.0, 1.0], 0.5, 1.0, false),
        (&[1.0, 1.0], f64::NAN, 1.0, true),
        (&[1.0, 1.0], 1.0, -1.0, true),
        (&[1.0, 1.0], 1.0, f64::INFINITY, true),
    ] {
        sum.push(Row::Dense(row), label, weight).unwrap_err();
        if quadratic_too {
            quadratic.push(Row::Dense(row), label, weight).unwrap_err();
        }
    }
    let outside = Row::Sparse {
        indices: &[2],
        values: &[1.0],
    };
    sum.push(outside, 1.0, 1.0).unwrap_err();
    for indices in [&[1, 0], &[1, 1]] {
        let row = Row::Sparse {
            indices,
            values: &[1.0, 1.0],
        };
        sum.push(row, 1.0, 1.0).unwrap_err();
        quadratic.push(row, 1.0, 1.0).unwrap_err();
    }
    assert_eq!(sum.rounds(), 5);
    let after = (
        read(&sum, 0.0, &[0.1, 0.2]).0,
        read(&quadratic, 0.0, &[0.1, 0.2]).0,
    );
    assert_eq!(before, after);
    assert!(QuadraticSum::new(2, -1.0).is_err() && QuadraticSum::new(0, 0.0).is_err());
    assert!(QuadraticSum::from_parts(vec![1.0; 3], &[0.0; 2], 0.0).is_err());
    assert!(QuadraticSum::from_parts(vec![f64::NAN; 4], &[0.0; 2], 0.0).is_err());
}

/// The absolute loss of the prediction z, smoothed, and its slope there.
fn smoothed(mu: f64, z: f64, label: f64) -> (TotalValue, f64) {
    let objective = Objective::new(crate::Absolute.into(), 0.0).unwrap();
    let mut sum = Sum::new(1, &objective).unwrap();
    sum.push(Row::Dense(&[1.0]), label, 1.0).unwrap();
    let (reading, _, gradient) = read(&sum, mu, &[z]);
    (reading, gradient[0])
}

#[test]
fn the_envelope_of_the_absolute_loss_is_hubers() {
    for mu in [1e-6, 0.1, 3.0] {
        for k in -50..=50 {
            let (z, label) = (0.1 * f64::from(k), 0.3);
            let r: f64 = z - label;
            let huber = if r.abs() <= mu {
                (0.5 * r * r / mu, r / mu)
            } else {
                (r.abs() - 0.5 * mu, r.signum())
            };
            let (here, slope) = smoothed(mu, z, label);
            assert!((here.value - huber.0).abs() < 1e-9, "{mu} {z}");
            assert!((slope - huber.1).abs() < 1e-9, "{mu} {z}");
            // the tangent, lifted, is nowhere above the loss
            for w in [-9.0, -1.0, 0.2, 0.3, 0.4, 2.0, 9.0] {
                let line = here.value + here.smoothing_slack + slope * (w - z);
                assert!(line <= (w - label).abs() + 1e-9, "{mu} {z} {w}");
            }
        }
    }
}

#[test]
fn smoothing_narrower_than_the_last_digit_of_z_leaves_the_slope_as_it_is() {
    for z in [1.0, 1e3, -1e8, 1e15] {
        for label in [0.0, z - 1.0, z + 1.0] {
            for mu in [1e-300, 1e-30, 1e-17, 1e-12, 1e-9] {
                let (here, slope) = smoothed(mu, z, label);
                let sign = if z < label { -1.0 } else { 1.0 };
                assert_eq!(slope, sign, "{mu:e} {z:e} {label:e}");
                let off = (here.value - here.unsmoothed).abs();
                let most = mu + 2.0 * f64::EPSILON * z.abs();
                assert!(off <= most, "{mu:e} {z:e} {label:e}: {off:e}");
            }
        }
        // at the kink any subgradient will do
        let (_, slope) = smoothed(1e-30, z, z);
        assert!((-1.0..=1.0).contains(&slope), "{z:e}");
    }
}

/// Terms of a sum that cancel to 1 but for rounding.
fn cancelling(n: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut a, mut b) = (vec![1.0], vec![1.0]);
    for k in 0..n {
        let size = 10f64.powi((k % 17) as i32);
        let v = size * (1.0 + (k as f64).sin());
        a.extend([v, -v]);
        b.extend([1.0 / 3.0, 1.0 / 3.0]);
    }
    (a, b)
}

#[test]
fn a_proof_keeps_the_digits_that_a_plain_inner_product_loses() {
    let loss = "linear".parse::<LossSpec>().unwrap().build().unwrap();
    let objective = Objective::new(loss, 0.0).unwrap();
    for n in [0, 1, 3, 4, 100, 1000] {
        let (a, x) = cancelling(n);
        let indices: Vec<u32> = (0..a.len() as u32).collect();
        for row in [Row::Dense(&a), Row::sparse(&indices, &a)] {
            let mut sum = Sum::new(a.len(), &objective).unwrap();
            sum.push(row, 0.0, 1.0).unwrap();
            let mut gradient = vec![0.0; a.len()];
            let proven = sum.minorant(0.0, &x, 0.0, &mut gradient).value;
            assert!((1.0..1.0 + 1e-6).contains(&proven), "n = {n}: {proven}");
            assert_eq!(bits(&gradient), bits(&a));
            assert!(n < 1000 || sum.value(&x).unwrap() != 1.0);
        }
    }
}
