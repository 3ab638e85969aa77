//! The certificate by the comparators' norm: true for every norm, and as tight as the meter's own.

use extremal::hindsight::{Meter, Options, solve};
use extremal::learner::LearnerSpec;
use extremal::loss::Scratch;
use extremal::set::SetSpec;

use super::*;

const DIM: usize = 4;

/// A run on these rounds: its whole loss, its meter, and the rounds.
fn run(set: &str, loss: &str, ridge: f64, seed: u64) -> (f64, Meter, Sum) {
    let mut rng = rng(seed);
    let set = set.parse::<SetSpec>().unwrap().build(Some(DIM)).unwrap();
    let loss = loss.parse::<LossSpec>().unwrap().build().unwrap();
    let objective = Objective::new(loss, ridge).unwrap();
    let mut learner = "ogd".parse::<LearnerSpec>().unwrap().build(&set).unwrap();
    let mut meter = Meter::of(&set, &objective);
    let mut sum = Sum::new(DIM, &objective).unwrap();
    let (mut total, mut scratch) = (0.0, Scratch::default());
    for _ in 0..60 {
        let row = normals(&mut rng, DIM);
        let noise = 0.7 * normal(&mut rng);
        let label = if row[0] - row[1] + noise > 0.0 {
            1.0
        } else {
            -1.0
        };
        let row = Row::Dense(&row);
        let x = learner.decide().unwrap();
        let here = objective.evaluate_in(row, label, 1.0, x, &mut scratch);
        let here = here.unwrap();
        total += here.value;
        meter.see(x, &here.gradient).unwrap();
        learner.observe(&here.gradient).unwrap();
        sum.push(row, label, 1.0).unwrap();
    }
    (total, meter, sum)
}

/// Balls of radius 2 by the exponent of their norm, and the spec of one of another radius.
const BALLS: [(f64, &str); 4] = [
    (2.0, "l2:radius="),
    (1.0, "l1:radius="),
    (1.5, "lp:p=1.5,radius="),
    (4.0, "lp:p=4,radius="),
];

#[test]
fn no_comparator_of_that_norm_beats_the_run_by_more() {
    for (p, ball) in BALLS {
        for loss in ["logistic", "squared", "absolute"] {
            for ridge in [0.0, 0.05] {
                let (total, meter, sum) = run(&format!("{ball}2"), loss, ridge, 5);
                let regret = meter.by_norm().unwrap();
                assert_eq!(regret.p(), p);
                // also far beyond the set that was played
                for radius in [1e-3, 0.5, 2.0, 30.0] {
                    let larger = format!("{ball}{radius}").parse::<SetSpec>().unwrap();
                    let larger = larger.build(Some(DIM)).unwrap();
                    let best = solve(&sum, &*larger, &Options::default()).unwrap();
                    let (found, proven) = (total - best.value, regret.at(radius));
                    let case = format!("{ball}{radius} {loss} {ridge}");
                    assert!(found <= proven, "{case}: {found} > {proven}");
                }
            }
        }
    }
}

#[test]
fn at_the_set_s_own_radius_it_is_the_meter_s_certificate() {
    for (_, ball) in BALLS {
        let (total, mut meter, _) = run(&format!("{ball}2"), "logistic", 0.0, 6);
        let own = meter.certificate(1).unwrap().regret;
        let here = meter.by_norm().unwrap().at(2.0);
        assert!((here - own).abs() <= 1e-12 * total, "{ball}: {here} {own}");
    }
    // the quadratic one is looked for step by step, and stays above its limit
    let (total, mut meter, _) = run("l2:radius=2", "logistic", 0.3, 7);
    let own = meter.certificate(2_000).unwrap().regret;
    let here = meter.by_norm().unwrap().at(2.0);
    assert!(here <= own + 1e-12 * total, "{here} {own}");
    assert!(here >= own - 1e-3 * total, "{here} {own}");
}

#[test]
fn the_largest_radius_is_the_last_that_keeps_the_limit() {
    for (ridge, loss) in [(0.0, "logistic"), (0.05, "logistic"), (0.0, "absolute")] {
        let (total, meter, _) = run("l2:radius=2", loss, ridge, 8);
        let regret = meter.by_norm().unwrap();
        let least = regret.at(0.0);
        for limit in [least, least + 0.1 * total, least + total] {
            let radius = regret.largest_radius(limit).unwrap();
            assert!(regret.at(radius) <= limit, "{ridge} {limit}");
            if radius < f64::MAX {
                assert!(regret.at(radius.next_up()) > limit, "{ridge} {limit}");
            }
        }
        let below = least - 1e-9 * total;
        assert_eq!(regret.largest_radius(below), None);
        // curvature bounds the regret against all comparators there are
        let all = regret.largest_radius(100.0 * total).unwrap();
        assert_eq!(all == f64::MAX, ridge > 0.0, "{ridge} {all}");
    }
}

#[test]
fn two_runs_have_a_comparator_each() {
    let (_, one, _) = run("l2:radius=2", "logistic", 0.05, 9);
    let (_, other, _) = run("l2:radius=2", "logistic", 0.05, 10);
    let mut both = one.by_norm().unwrap();
    let other = other.by_norm().unwrap();
    assert!(both.add(&other));
    for radius in [0.0, 0.3, 4.0] {
        let sum = one.by_norm().unwrap().at(radius) + other.at(radius);
        assert!((both.at(radius) - sum).abs() <= 1e-12 * sum.abs());
    }
    let (_, third, _) = run("l1:radius=2", "logistic", 0.0, 11);
    assert!(!both.add(&third.by_norm().unwrap()));
}

#[test]
fn sets_that_are_no_ball_of_a_norm_have_none() {
    for set in ["simplex", "box:lower=-1,upper=1", "translate:by=1,set=(l2)"] {
        let (_, meter, _) = run(set, "logistic", 0.0, 12);
        assert_eq!(meter.by_norm(), None, "{set}");
    }
}
