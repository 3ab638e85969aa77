//! The battery for losses: every one that is registered, in every example.

mod common;

use common::{At, losses, normals, rng, scaled, spike};
use extremal::Error;
use extremal::kernel::{dot, norm};
use extremal::loss::Objective;
use extremal::pair::Row;
use proptest::prelude::*;

/// Labels that some loss admits, and numbers that none should.
const LABELS: [f64; 8] = [-1.0, 1.0, 0.0, 0.5, -3.7, 2.0, 100.0, -1e6];

/// The labels that a loss admits, at least one.
fn labels(loss: &dyn extremal::loss::Loss) -> Vec<f64> {
    let all = LABELS.into_iter();
    let fit: Vec<f64> = all.filter(|l| loss.check_label(*l).is_ok()).collect();
    assert!(!fit.is_empty(), "{}", loss.name());
    fit
}

fn predictions() -> Vec<f64> {
    let mut all = vec![0.0, 1e-9, -1e-9];
    for k in 0..60 {
        let z = 10f64.powf(-3.0 + 0.1 * k as f64);
        all.extend([z, -z]);
    }
    all
}

#[test]
fn derivatives_agree_with_finite_differences() {
    for (name, loss) in losses() {
        for label in labels(&*loss) {
            for z in predictions() {
                let (value, slope) = loss.at(z, label);
                // small against the size of z, large against the rounding of the value
                let h = 1e-5 * (1.0 + z.abs());
                let (up, down) = (loss.at(z + h, label).0, loss.at(z - h, label).0);
                let difference = (up - down) / ((z + h) - (z - h));
                let rounding = 4.0 * f64::EPSILON * value.abs().max(up.abs()) / h;
                if loss.smoothness().is_infinite() {
                    // near a kink: any slope between that to the left and that to the right
                    let (left, right) = ((value - down) / h, (up - value) / h);
                    let tolerance = 1e-6 * slope.abs() + rounding;
                    assert!(
                        slope >= left - tolerance && slope <= right + tolerance,
                        "{name} at {z}, label {label}: {slope}, by differences {left} to {right}"
                    );
                    continue;
                }
                let cubic = h * h * loss.smoothness().min(1.0);
                assert!(
                    (difference - slope).abs() <= 1e-6 * slope.abs() + rounding + cubic,
                    "{name} at {z}, label {label}: {slope}, by differences {difference}"
                );
            }
        }
    }
}

#[test]
fn losses_are_convex_and_as_smooth_as_they_say() {
    for (name, loss) in losses() {
        for label in labels(&*loss) {
            let mut zs = predictions();
            zs.sort_by(f64::total_cmp);
            let mut steepest = 0.0_f64;
            for pair in zs.windows(2) {
                let ((f, a), (g, b)) = (loss.at(pair[0], label), loss.at(pair[1], label));
                let width = pair[1] - pair[0];
                let tolerance = 1e-12 * (1.0 + a.abs() + b.abs());
                assert!(
                    b >= a - tolerance,
                    "{name}, {label}: the slope falls after {}",
                    pair[0]
                );
                assert!(
                    b - a <= loss.smoothness() * width + tolerance,
                    "{name}, {label}: the slope grows faster than smoothness allows at {}",
                    pair[0]
                );
                // the chord lies above both tangents
                let tolerance = 1e-12 * (1.0 + f.abs() + g.abs());
                assert!(
                    g >= f + a * width - tolerance,
                    "{name}, {label} at {}",
                    pair[0]
                );
                if width > 1e-9 {
                    steepest = steepest.max((b - a) / width);
                }
            }
            // labels far away may hide the bend of a loss
            if label.abs() <= 1.0 && loss.smoothness().is_finite() {
                let said = loss.smoothness();
                assert!(
                    steepest >= 0.9 * said,
                    "{name}: {steepest} at most, says {said}"
                );
            }
        }
    }
}

#[test]
fn slope_bounds_are_kept_and_attained() {
    for (name, loss) in losses() {
        for label in labels(&*loss) {
            for reach in [0.0, 1e-3, 0.5, 1.0, 10.0, 1e3] {
                let bound = loss.slope_bound(reach, label);
                let at = |k: i32| loss.at(reach * f64::from(k) / 100.0, label).1.abs();
                let steepest = (-100..=100).map(at).fold(0.0, f64::max);
                assert!(
                    steepest <= bound * (1.0 + 1e-12),
                    "{name}, {label}: slope {steepest} within {reach}, bound {bound}"
                );
                // at a kink alone, any smaller slope will do
                let kink = reach == 0.0 && loss.smoothness().is_infinite();
                assert!(
                    kink || steepest >= 0.99 * bound,
                    "{name}, {label}: slope {steepest} at most within {reach}, bound {bound}"
                );
            }
        }
    }
}

#[test]
fn far_away_nothing_is_nan_and_what_is_bounded_stays_finite() {
    for (name, loss) in losses() {
        for label in labels(&*loss) {
            for z in [1e4, 1e150, 1e300] {
                for z in [z, -z] {
                    let (value, slope) = loss.at(z, label);
                    assert!(slope.is_finite(), "{name} at {z}: slope {slope}");
                    assert!(!value.is_nan(), "{name} at {z}");
                    // no more than the slope allows, where that is a number
                    let most =
                        loss.at(0.0, label).0.abs() + z.abs() * loss.slope_bound(z.abs(), label);
                    assert!(
                        value.abs() <= most * (1.0 + 1e-12),
                        "{name} at {z}: {value} > {most}"
                    );
                    if most.is_finite() {
                        assert!(value.is_finite(), "{name} at {z}");
                    }
                }
            }
        }
    }
}

#[test]
fn labels_that_make_no_sense_are_errors_that_say_what_does() {
    for (name, loss) in losses() {
        for label in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            // a loss that ignores its label may admit any number, but these are none
            let error = loss.check_label(label).unwrap_err();
            assert!(matches!(error, Error::Label { .. }), "{name}: {error}");
            assert!(error.to_string().contains(name), "{name}: {error}");
        }
    }
    let (_, logistic) = losses()
        .into_iter()
        .find(|(n, _)| *n == "logistic")
        .unwrap();
    for label in [2.0, 0.5, -0.1, 1.0 + 1e-9] {
        let error = logistic.check_label(label).unwrap_err().to_string();
        assert!(
            error.contains(&label.to_string()) && error.contains("-1 or 1"),
            "{error}"
        );
    }
    let objective = Objective::new(logistic, 0.0).unwrap();
    let x = At(vec![1.0]);
    assert!(
        objective
            .evaluate(Row::Dense(&[1.0]), 2.0, 1.0, &x)
            .is_err()
    );
}

#[test]
fn the_gradient_of_the_whole_loss_agrees_with_finite_differences() {
    let mut r = rng(1);
    for (name, loss) in losses() {
        for (ridge, weight) in [(0.0, 1.0), (0.3, 1.0), (0.3, 2.5), (2.0, 0.0)] {
            let objective = Objective::new(loss.clone(), ridge).unwrap();
            for label in labels(&*loss).into_iter().filter(|l| l.abs() <= 4.0) {
                let (row, x) = (normals(&mut r, 4), normals(&mut r, 4));
                let value = |x: &[f64]| {
                    let at = At(x.to_vec());
                    objective
                        .evaluate(Row::Dense(&row), label, weight, &at)
                        .unwrap()
                        .value
                };
                let at = At(x.clone());
                let here = objective
                    .evaluate(Row::Dense(&row), label, weight, &at)
                    .unwrap();
                assert_eq!(here.prediction, dot(&row, &x));
                assert!(
                    (here.data_value - weight * loss.at(here.prediction, label).0).abs() < 1e-12
                );
                let mut gradient = scaled(&x, here.gradient.ridge);
                here.gradient.row.add_to(here.gradient.scale, &mut gradient);
                for i in 0..4 {
                    let step = spike(4, i, 1e-5);
                    let up = value(&common::plus(&x, 1.0, &step));
                    let down = value(&common::plus(&x, -1.0, &step));
                    let difference = (up - down) / 2e-5;
                    assert!(
                        (difference - gradient[i]).abs() <= 1e-6 * (1.0 + norm(&gradient)),
                        "{name}, ridge {ridge}, weight {weight}: {} and {difference}",
                        gradient[i]
                    );
                }
                let bound = weight.max(1.0) * objective.gradient_bound(norm(&row), label, norm(&x));
                assert!(norm(&gradient) <= bound * (1.0 + 1e-12), "{name}");
            }
        }
    }
}

#[test]
fn bad_weights_rows_and_ridges_are_errors() {
    for (name, loss) in losses() {
        for ridge in [-1.0, f64::NAN, f64::INFINITY] {
            let error = Objective::new(loss.clone(), ridge)
                .err()
                .unwrap()
                .to_string();
            assert!(
                error.contains("l2") && error.contains("≥ 0"),
                "{name}: {error}"
            );
        }
        let objective = Objective::new(loss.clone(), 0.1).unwrap();
        let (x, label) = (At(vec![0.0, 1.0]), labels(&*loss)[0]);
        for weight in [-1.0, f64::NAN, f64::INFINITY] {
            let error = objective
                .evaluate(Row::Dense(&[1.0, 1.0]), label, weight, &x)
                .err();
            assert!(error.unwrap().to_string().contains("weight"), "{name}");
        }
        for bad in [f64::NAN, f64::INFINITY] {
            // at the zero of x too
            for row in [[bad, 1.0], [1.0, bad]] {
                assert!(
                    objective
                        .evaluate(Row::Dense(&row), label, 1.0, &x)
                        .is_err(),
                    "{name}"
                );
            }
        }
        assert!(
            objective
                .evaluate(Row::Dense(&[1.0]), label, 1.0, &x)
                .is_err(),
            "{name}"
        );
        let outside = Row::Sparse {
            indices: &[2],
            values: &[1.0],
        };
        assert!(
            objective.evaluate(outside, label, 1.0, &x).is_err(),
            "{name}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_tangent_lies_below_its_loss(z in -50.0..50.0f64, y in -50.0..50.0f64) {
        for (name, loss) in losses() {
            for label in labels(&*loss) {
                let ((f, slope), (g, _)) = (loss.at(z, label), loss.at(y, label));
                let tolerance = 1e-12 * (1.0 + f.abs() + g.abs());
                prop_assert!(g >= f + slope * (y - z) - tolerance, "{name}, {label}");
            }
        }
    }
}
