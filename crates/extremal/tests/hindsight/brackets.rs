//! The optimum lies between floor and value, whoever asks.

use extremal::hindsight::{Best, Method, Options, solve};

use crate::common::{feasible_points, rng, soak};
use crate::cone::optimum;
use crate::{Data, SETS, set};

fn best(data: &Data, text: &str, gap: f64) -> Best {
    let options = Options {
        relative_gap: gap,
        ..Options::default()
    };
    solve(&data.sum(), &*set(text, data.dim()), &options).unwrap()
}

/// Clarabel's optimum is inside the bracket up to its own precision, and the bracket is narrow.
fn agree(data: &Data, text: &str, gap: f64) {
    let best = best(data, text, gap);
    let theirs = optimum(data, text);
    let own = data.total(&best.x);
    let scale = theirs.abs();
    let name = format!("{} over {text}: {best:?}, Clarabel {theirs}", data.loss);
    assert!((own - best.value).abs() <= 1e-12 * scale, "{name}");
    assert!(set(text, data.dim()).violation(&best.x).unwrap() <= 1e-9);
    assert!(best.relative_gap() <= gap, "{name}");
    assert!(best.floor <= theirs + 1e-7 * scale, "{name}");
    assert!(best.value >= theirs - 1e-7 * scale, "{name}");
}

#[test]
fn squared_losses_agree_with_an_independent_solver() {
    for text in SETS {
        for ridge in [0.0, 0.1] {
            let mut data = Data::draw(1, "squared", 40, 8);
            data.ridge = ridge;
            agree(&data, text, 1e-8);
        }
    }
}

#[test]
fn logistic_losses_agree_with_an_independent_solver() {
    for text in SETS {
        let mut data = Data::draw(2, "logistic", 120, 6);
        agree(&data, text, 1e-8);
        data.ridge = 0.05;
        agree(&data, text, 1e-8);
    }
}

#[test]
fn losses_with_kinks_agree_with_an_independent_solver() {
    for text in SETS {
        agree(&Data::draw(3, "absolute", 40, 6), text, 1e-4);
    }
}

#[test]
fn no_feasible_point_has_less_than_the_floor_however_few_the_steps() {
    let points = if soak() { 20_000 } else { 1_000 };
    let mut r = rng(4);
    for text in SETS {
        let set = set(text, 5);
        let feasible = feasible_points(&mut r, &*set, points);
        for loss in ["squared", "logistic", "absolute"] {
            let data = Data::draw(5, loss, 30, 5);
            let sum = data.sum();
            let least = feasible
                .iter()
                .map(|p| data.total(p))
                .fold(f64::INFINITY, f64::min);
            for method in [
                Method::Spectral,
                Method::Accelerated,
                Method::FrankWolfe,
                Method::AwayStep,
                Method::Pairwise,
            ] {
                for steps in [1, 4, 30] {
                    let options = Options {
                        method,
                        steps,
                        ..Options::default()
                    };
                    let best = solve(&sum, &*set, &options).unwrap();
                    let name = format!("{loss} over {text}, {method}, {steps} steps");
                    assert!(best.floor <= least, "{name}: {} {least}", best.floor);
                    assert!(best.floor <= best.value && best.steps <= steps, "{name}");
                    assert!(set.violation(&best.x).unwrap() <= 1e-9, "{name}");
                    let own = data.total(&best.x);
                    assert!((own - best.value).abs() <= 1e-12 * own, "{name}");
                }
            }
        }
    }
}
