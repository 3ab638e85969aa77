//! Totals whose minimum is 0: no relative gap can be reached, and the search ends all the same.

use extremal::Row;
use extremal::hindsight::{Method, Options, Sum, solve};
use extremal::kernel::norm;
use extremal::loss::{LossSpec, Objective};

use crate::common::{distance, normals, rng, scaled};
use crate::set;

/// Rounds that one decision fits without a rest.
fn fitted(loss: &str, decision: &[f64], rounds: usize) -> Sum {
    let loss = loss.parse::<LossSpec>().unwrap().build().unwrap();
    let objective = Objective::new(loss, 0.0).unwrap();
    let mut sum = Sum::new(decision.len(), &objective).unwrap();
    let mut r = rng(2);
    for _ in 0..rounds {
        let row = normals(&mut r, decision.len());
        let label = row.iter().zip(decision).map(|(a, x)| a * x).sum();
        sum.push(Row::Dense(&row), label, 1.0).unwrap();
    }
    sum
}

#[test]
fn a_search_for_a_minimum_of_0_ends_and_says_what_it_reached() {
    let decision = scaled(&normals(&mut rng(1), 6), 0.1);
    for text in ["l2:radius=3", "l1:radius=20", "box:lower=-4,upper=4"] {
        for loss in ["squared", "huber", "absolute", "quantile"] {
            for method in [Method::Auto, Method::Spectral, Method::Accelerated] {
                let sum = fitted(loss, &decision, 50);
                let options = Options {
                    method,
                    steps: 1_000_000,
                    ..Options::default()
                };
                let best = solve(&sum, &*set(text, 6), &options).unwrap();
                let name = format!("{loss} over {text}, {method}: {best:?}");
                assert!(best.steps < 20_000, "{name}");
                let start = sum.value(&[0.0; 6]).unwrap();
                assert!(best.gap() <= 1e-9 * start, "{name}");
                assert!(best.floor <= 0.0 && best.value >= 0.0, "{name}");
                // honest: the value is that of its decision
                let again = sum.value(&best.x).unwrap();
                assert!((best.value - again).abs() <= 1e-12 * start, "{name}");
            }
        }
    }
}

#[test]
fn a_minimum_of_0_at_0_is_found_from_anywhere() {
    let sum = fitted("squared", &[0.0; 6], 50);
    for method in [Method::Spectral, Method::Accelerated] {
        let options = Options {
            method,
            steps: 1_000_000,
            start: Some(vec![0.5; 6]),
            ..Options::default()
        };
        let best = solve(&sum, &*set("l2:radius=3", 6), &options).unwrap();
        assert!(best.steps < 20_000, "{best:?}");
        assert!(best.gap() <= 1e-12, "{best:?}");
    }
}

#[test]
fn a_minimum_far_below_the_start_is_still_found_to_the_gap_asked_for() {
    // the start's total is 10²⁰ times the best one's
    let loss = "squared".parse::<LossSpec>().unwrap().build().unwrap();
    let objective = Objective::new(loss, 0.0).unwrap();
    let mut sum = Sum::new(2, &objective).unwrap();
    for (row, label) in [([1.0, 0.0], 1.0), ([1.0, 0.0], -1.0), ([0.0, 1.0], 0.5)] {
        sum.push(Row::Dense(&row), label, 1.0).unwrap();
    }
    let options = Options {
        start: Some(vec![0.0, 1e10]),
        relative_gap: 1e-3,
        steps: 100_000,
        ..Options::default()
    };
    let best = solve(&sum, &*set("l2:radius=1e10", 2), &options).unwrap();
    assert!((best.value - 1.0).abs() <= 1e-3, "{best:?}");
}

#[test]
fn frank_wolfe_steps_minimise_what_has_no_curvature() {
    let mut r = rng(3);
    let loss = "linear".parse::<LossSpec>().unwrap().build().unwrap();
    let objective = Objective::new(loss, 0.0).unwrap();
    for text in ["l1", "simplex", "l2", "box:lower=1000,upper=1001"] {
        let mut sum = Sum::new(6, &objective).unwrap();
        for k in 0..1000 {
            // nearly cancelling, so that values are mostly rounding
            let row = normals(&mut r, 6);
            let sign = if k % 2 == 0 { 1e6 } else { -1e6 };
            let row: Vec<f64> = row.iter().map(|v| sign + v).collect();
            sum.push(Row::Dense(&row), 0.0, 1.0).unwrap();
        }
        let by = |method| {
            let options = Options {
                method,
                ..Options::default()
            };
            solve(&sum, &*set(text, 6), &options).unwrap()
        };
        let exact = by(Method::Linear);
        let best = by(Method::FrankWolfe);
        // the values themselves are rounding; the decisions are not
        let apart = distance(&best.x, &exact.x);
        assert!(
            apart <= 1e-12 * norm(&exact.x),
            "{text}: {best:?}, {exact:?}"
        );
        assert!(best.steps <= 10, "{text}: {best:?}");
    }
}
