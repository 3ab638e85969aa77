//! The optimum lies between floor and value, whoever asks.

use extremal::Row;
use extremal::hindsight::{Best, Method, Options, QuadraticSum, Sum, solve};
use extremal::loss::{LossSpec, Objective};

use crate::common::{feasible_points, normals, rng, soak};
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
                    assert!((own - best.value).abs() <= 1e-11 * own, "{name}");
                }
            }
        }
    }
}

#[test]
fn portfolios_are_solved_wherever_wealth_is_defined() {
    // rounds that pay 3 for one asset alone: the best shares are how often each pays
    let wealth = "log-wealth".parse::<LossSpec>().unwrap().build().unwrap();
    let objective = Objective::new(wealth, 0.0).unwrap();
    let paid = [140.0_f64, 40.0, 16.0, 4.0];
    let mut sum = Sum::new(4, &objective).unwrap();
    for (i, times) in paid.iter().enumerate() {
        let mut row = [0.0; 4];
        row[i] = 3.0;
        for _ in 0..*times as usize {
            sum.push(Row::Dense(&row), 0.0, 1.0).unwrap();
        }
    }
    let exact: f64 = paid.iter().map(|n| -n * (3.0 * n / 200.0).ln()).sum();
    let set = set("simplex", 4);
    for method in [Method::Auto, Method::Spectral, Method::Accelerated] {
        let options = Options {
            method,
            relative_gap: 1e-5,
            ..Options::default()
        };
        let best = solve(&sum, &*set, &options).unwrap();
        assert!(best.relative_gap() <= 1e-5, "{method}: {best:?}");
        assert!(
            best.floor <= exact && exact <= best.value,
            "{method}: {exact} {best:?}"
        );
    }
}

#[test]
fn labels_far_from_0_widen_the_bracket_rather_than_break_it() {
    let mut r = rng(31);
    for offset in [0.0, 1e3, 1e6] {
        let mut squares = QuadraticSum::new(3, 0.0).unwrap();
        let objective =
            Objective::new("squared".parse::<LossSpec>().unwrap().build().unwrap(), 0.0);
        let mut sum = Sum::new(3, &objective.unwrap()).unwrap();
        for _ in 0..2000 {
            let noise = normals(&mut r, 3);
            let row = [1.0, noise[0], noise[1]];
            let y = offset + row[1] - row[2] + 0.5 * noise[2];
            squares.push(Row::Dense(&row), y, 1.0).unwrap();
            sum.push(Row::Dense(&row), y, 1.0).unwrap();
        }
        let set = set(&format!("l2:radius={}", 2.0 * (offset + 2.0)), 3);
        let best = solve(&squares, &*set, &Options::default()).unwrap();
        let unsmoothed = sum.value(&best.x).unwrap();
        let other = solve(&sum, &*set, &Options::default()).unwrap();
        assert!(
            best.value >= unsmoothed,
            "{offset}: {best:?}, in unsmoothed {unsmoothed}"
        );
        assert!(best.floor <= other.value, "{offset}: {best:?} {other:?}");
    }
}
