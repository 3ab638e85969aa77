//! The battery for losses: every one that is registered, in every example.

use crate::common::{self, all_losses, losses, normals, rng, scaled, spike};
use extremal::Error;
use extremal::Row;
use extremal::kernel::{dot, norm};
use extremal::loss::{Loss, LossSpec, Objective, Scratch, logistic};
use extremal_check::LossCheck;

/// Labels that some loss admits, and numbers that none should.
const LABELS: [f64; 8] = [-1.0, 1.0, 0.0, 0.5, -3.7, 2.0, 100.0, -1e6];

/// The labels that a loss admits, at least one.
fn labels(loss: &dyn Loss) -> Vec<f64> {
    let all = LABELS.into_iter();
    let fit: Vec<f64> = all.filter(|l| loss.check_label(*l).is_ok()).collect();
    assert!(!fit.is_empty(), "{}", loss.name());
    fit
}

/// Predictions at which the loss is defined.
fn predictions(loss: &dyn Loss) -> Vec<f64> {
    let mut all = vec![0.0, 1e-9, -1e-9];
    for k in 0..60 {
        let z = 10f64.powf(-3.0 + 0.1 * k as f64);
        all.extend([z, -z]);
    }
    // where losses bend next to the labels ±1
    for r in [-0.03, -0.01, 0.01, 0.03] {
        all.extend([1.0 + r, -1.0 + r]);
    }
    all.retain(|z| loss.check_prediction(*z).is_ok());
    assert!(all.len() >= 60, "{}", loss.name());
    all
}

#[test]
fn every_loss_keeps_the_laws_of_losses() {
    for (name, loss) in all_losses() {
        let outcome = LossCheck { exact: true }.run(&*loss);
        outcome.unwrap_or_else(|failures| panic!("{name}: {failures}"));
    }
}

#[test]
fn no_value_is_below_the_least_that_a_loss_allows() {
    let mut without = Vec::new();
    for (name, loss) in all_losses() {
        let objective = Objective::new(loss.clone(), 0.5).unwrap();
        let least = objective.least_total();
        let mut lowest = f64::INFINITY;
        for label in labels(&*loss) {
            for z in predictions(&*loss) {
                lowest = lowest.min(loss.at(z, label).0);
            }
        }
        if loss.is_nonnegative() {
            assert_eq!(least, 0.0, "{name}");
            assert!(lowest >= 0.0, "{name}: {lowest}");
            assert_eq!(objective.above_least(3.0), 3.0, "{name}");
        } else {
            assert_eq!(least, f64::NEG_INFINITY, "{name}");
            assert!(lowest < -5.0, "{name}: never below {lowest}");
            without.push(loss.name());
        }
    }
    without.dedup();
    assert_eq!(without, ["linear", "log-wealth", "quadratic"]);
}

#[test]
fn where_the_wealth_stays_away_from_nothing_its_slope_is_bounded() {
    let loss = "log-wealth".parse::<LossSpec>().unwrap().build().unwrap();
    for (low, high) in [(0.5, 2.0), (1e-3, 1.0), (3.0, 3.0), (1e-300, 1e300)] {
        let bound = loss.slope_bound_between(low, high, 0.0);
        assert_eq!(loss.at(low, 0.0).1.abs(), bound);
        for k in 0..=100 {
            let z = low + (high - low) * f64::from(k) / 100.0;
            let (value, slope) = loss.at(z, 7.0);
            assert!(slope.abs() <= bound && slope == -1.0 / z && value == -z.ln());
        }
    }
    for low in [0.0, -1.0, 1e-320, f64::NAN] {
        assert_eq!(loss.slope_bound_between(low, 1.0, 0.0), f64::INFINITY);
    }
}

#[test]
fn outside_its_domain_a_loss_is_an_error_that_says_so() {
    let loss = "log-wealth".parse::<LossSpec>().unwrap().build().unwrap();
    let objective = Objective::new(loss, 0.1).unwrap();
    let relatives = [1.1, 0.9];
    for (x, shown) in [
        ([0.0, 0.0], "prediction 0.0;"),
        ([-1.0, 1.0], "prediction -0.2"),
        ([0.0, 1e-320], "e-321"),
    ] {
        let error = objective.evaluate(Row::Dense(&relatives), 1.0, 1.0, &x.to_vec());
        let error = error.err().unwrap();
        assert!(matches!(error, Error::Prediction { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(shown) && text.contains("> 0"), "{text}");
    }
    let inside = objective.evaluate(Row::Dense(&relatives), 1.0, 1.0, &vec![0.5, 0.5]);
    assert!(inside.unwrap().data_value.abs() < 1e-15);
}

#[test]
fn labels_that_make_no_sense_are_errors_that_say_what_does() {
    for (name, loss) in all_losses() {
        for label in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            // a loss that ignores its label may admit any number, but these are none
            let error = loss.check_label(label).unwrap_err();
            assert!(matches!(error, Error::Label { .. }), "{name}: {error}");
            assert!(error.to_string().contains(loss.name()), "{name}: {error}");
        }
    }
    for name in ["hinge", "squared-hinge", "logistic"] {
        let classes = name.parse::<LossSpec>().unwrap().build().unwrap();
        for label in [2.0, 0.5, -0.1, 1.0 + 1e-9] {
            let error = classes.check_label(label).unwrap_err().to_string();
            assert!(
                error.contains(&label.to_string()) && error.contains("-1 or 1"),
                "{error}"
            );
        }
    }
    let logistic = "logistic".parse::<LossSpec>().unwrap().build().unwrap();
    let objective = Objective::new(logistic, 0.0).unwrap();
    let x = vec![1.0];
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
                    let at = x.to_vec();
                    objective
                        .evaluate(Row::Dense(&row), label, weight, &at)
                        .unwrap()
                        .value
                };
                let at = x.clone();
                let here = objective
                    .evaluate(Row::Dense(&row), label, weight, &at)
                    .unwrap();
                assert_eq!(here.prediction, dot(&row, &x));
                let form = loss.form().map_or(0.0, |form| {
                    let mut ax = vec![0.0; 4];
                    form.apply(&x, &mut ax);
                    0.5 * dot(&ax, &x)
                });
                let data = weight * loss.at(here.prediction, label).0 + form;
                assert!((here.data_value - data).abs() < 1e-12, "{name}");
                assert!(
                    (here.value - data - 0.5 * ridge * dot(&x, &x)).abs() < 1e-12,
                    "{name}"
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
                error.contains("l2") && error.contains("a number from 0 to 1e50"),
                "{name}: {error}"
            );
        }
        let objective = Objective::new(loss.clone(), 0.1).unwrap();
        let (x, label) = (vec![0.0, 1.0], labels(&*loss)[0]);
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
        let (twice, unordered) = ([1, 1], [1, 0]);
        let [twice, unordered] = [&twice, &unordered].map(|indices| Row::Sparse {
            indices,
            values: &[1.0, 1.0],
        });
        for row in [outside, twice, unordered] {
            assert!(objective.evaluate(row, label, 1.0, &x).is_err(), "{name}");
        }
    }
}

/// An A of each kind, in three dimensions, with its entries.
fn forms() -> Vec<(&'static str, [[f64; 3]; 3])> {
    vec![
        (
            "quadratic:diagonal=0.7",
            [[0.7, 0.0, 0.0], [0.0, 0.7, 0.0], [0.0, 0.0, 0.7]],
        ),
        (
            "quadratic:diagonal=[1,0.25,9]",
            [[1.0, 0.0, 0.0], [0.0, 0.25, 0.0], [0.0, 0.0, 9.0]],
        ),
        (
            "quadratic:matrix=[[2,-1,0],[-1,2,-1],[0,-1,2]]",
            [[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]],
        ),
    ]
}

#[test]
fn a_quadratic_loss_is_what_its_matrix_says() {
    let mut r = rng(2);
    let mut scratch = Scratch::default();
    for (text, a) in forms() {
        let loss = text.parse::<LossSpec>().unwrap().build().unwrap();
        for (ridge, weight) in [(0.0, 1.0), (0.3, 2.0), (0.3, 0.0)] {
            let objective = Objective::new(loss.clone(), ridge).unwrap();
            for _ in 0..20 {
                let (b, x) = (normals(&mut r, 3), normals(&mut r, 3));
                let ax: Vec<f64> = a.iter().map(|row| dot(row, &x)).collect();
                let expected = 0.5 * dot(&ax, &x) + weight * dot(&b, &x);
                let point = x.clone();
                for row in [
                    Row::Dense(&b),
                    Row::Sparse {
                        indices: &[0, 1, 2],
                        values: &b,
                    },
                ] {
                    let here = objective
                        .evaluate_in(row, 5.0, weight, &point, &mut scratch)
                        .unwrap();
                    assert!((here.data_value - expected).abs() < 1e-12, "{text}");
                    let whole = expected + 0.5 * ridge * dot(&x, &x);
                    assert!((here.value - whole).abs() < 1e-12, "{text}");
                    let mut gradient = scaled(&x, here.gradient.ridge);
                    here.gradient.row.add_to(here.gradient.scale, &mut gradient);
                    for i in 0..3 {
                        let slope = ax[i] + weight * b[i] + ridge * x[i];
                        assert!((gradient[i] - slope).abs() < 1e-12, "{text}");
                    }
                    let bound = weight.max(1.0) * objective.gradient_bound(norm(&b), 5.0, norm(&x));
                    assert!(norm(&gradient) <= bound * (1.0 + 1e-12), "{text}");
                }
            }
        }
    }
}

/// ∇f(y) − ∇f(x) along y − x, against the constants: never outside them, and at both ends
/// somewhere.
#[test]
fn the_whole_loss_bends_between_its_strong_convexity_and_its_smoothness() {
    let mut r = rng(3);
    let texts = forms().into_iter().map(|(text, _)| text);
    for text in texts.chain(["squared", "logistic", "huber", "linear"]) {
        let loss = text.parse::<LossSpec>().unwrap().build().unwrap();
        for ridge in [0.0, 0.2] {
            let objective = Objective::new(loss.clone(), ridge).unwrap();
            let (lambda, mut scratch) = (objective.strong_convexity(), Scratch::default());
            let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
            let row = normals(&mut r, 3);
            let smoothness = objective.smoothness(norm(&row));
            let mut gradient = |x: &[f64]| {
                let at = x.to_vec();
                let here = objective
                    .evaluate_in(Row::Dense(&row), 1.0, 1.0, &at, &mut scratch)
                    .unwrap();
                let mut gradient = scaled(x, here.gradient.ridge);
                here.gradient.row.add_to(here.gradient.scale, &mut gradient);
                gradient
            };
            for k in 0..4000 {
                let x = scaled(&normals(&mut r, 3), 0.3);
                let mut step = normals(&mut r, 3);
                if k % 2 == 0 {
                    // along or across the row, where a loss of the prediction bends most or least
                    let along = dot(&step, &row) / dot(&row, &row);
                    let rest = common::plus(&step, -along, &row);
                    step = if k % 4 == 0 { row.clone() } else { rest };
                }
                let step = scaled(&step, 0.1 / norm(&step));
                let y = common::plus(&x, 1.0, &step);
                let bend =
                    dot(&common::minus(&gradient(&y), &gradient(&x)), &step) / dot(&step, &step);
                least = least.min(bend);
                most = most.max(bend);
            }
            let name = format!("{text}, ridge {ridge}: {least} to {most}");
            assert!(least >= lambda - 1e-9, "{name}, λ = {lambda}");
            assert!(most <= smoothness + 1e-9, "{name}, smoothness {smoothness}");
            assert!(
                least <= lambda + 0.02 * (1.0 + lambda),
                "{name}, λ = {lambda}"
            );
            assert!(most >= 0.95 * smoothness, "{name}, smoothness {smoothness}");
        }
    }
}

#[test]
fn what_a_quadratic_loss_cannot_do_is_told() {
    let build = |text: &str| text.parse::<LossSpec>()?.build();
    for (text, word) in [
        ("quadratic:diagonal=1,matrix=[[1]]", "both"),
        ("quadratic:diagonal=-1", "diagonal = -1"),
        ("quadratic:diagonal=[1,-2]", "diagonal = -2"),
        ("quadratic:diagonal=[]", "diagonal"),
        ("quadratic:matrix=[[1,2],[2,1]]", "eigenvalue -1"),
        ("quadratic:matrix=[[1,2]]", "2 entries"),
    ] {
        let error = build(text).err().unwrap().to_string();
        assert!(error.contains(word), "{text}: {error}");
    }
    let objective = Objective::new(build("quadratic:diagonal=[1,2]").unwrap(), 0.0).unwrap();
    let evaluate = |row: &[f64], x: &[f64]| {
        let mut scratch = Scratch::default();
        objective
            .evaluate_in(Row::Dense(row), 0.0, 1.0, &x.to_vec(), &mut scratch)
            .map(|e| e.value)
    };
    assert_eq!(evaluate(&[1.0, 1.0], &[1.0, 1.0]).unwrap(), 3.5);
    let error = evaluate(&[1.0; 3], &[1.0; 3]).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Size {
                expected: 2,
                found: 3,
                ..
            }
        ),
        "{error}"
    );
    assert!(evaluate(&[1.0, f64::NAN], &[1.0, 0.0]).is_err());
    // without memory for the gradient there is none
    let error = objective.evaluate(Row::Dense(&[1.0, 1.0]), 0.0, 1.0, &vec![0.0; 2]);
    assert!(error.err().unwrap().to_string().contains("evaluate_in"));
}

#[test]
fn labels_of_the_logistic_loss_are_one_of_two_classes() {
    for label in [1.0, -1.0, 0.0, -0.0] {
        assert!(logistic::Logistic {}.check_label(label).is_ok(), "{label}");
    }
    let (tiny, near) = (f64::from_bits(1), 1.0 + f64::EPSILON);
    for size in [
        0.5,
        2.0,
        tiny,
        near,
        2.0 - near,
        1e200,
        f64::INFINITY,
        f64::NAN,
    ] {
        for label in [size, -size] {
            assert!(logistic::Logistic {}.check_label(label).is_err(), "{label}");
        }
    }
}

#[test]
fn the_logistic_loss_keeps_its_digits_at_every_margin() {
    for i in -800..800 {
        let z = f64::from(i) * 0.93;
        let exact = if z > 0.0 {
            (-z).exp().ln_1p()
        } else {
            z.exp().ln_1p() - z
        };
        let (value, _) = logistic::Logistic {}.at(z, 1.0);
        assert!(
            (value - exact).abs() <= 4.0 * f64::EPSILON * exact,
            "{z}: {value} {exact}"
        );
    }
}
