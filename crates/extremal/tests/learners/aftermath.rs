//! The numeric door: a gradient above 1e100 is refused by everyone and changes nothing, one below
//! 1e-100 counts as 0, and whatever is accepted does not keep a learner from going on.

use crate::common::{Team, hard_sets, normals, rng, scaled, sets, teams_on, unit, written};
use extremal::Error;
use extremal::hindsight::{Meter, QuadraticSum, Sum};
use extremal::kernel::norm;
use extremal::learner::Learner;
use extremal::loss::{LossSpec, Objective};
use extremal::set::SetSpec;
use extremal::{Gradient, Row};

const DIM: usize = 6;

fn all() -> Vec<Team> {
    let all = sets(DIM).into_iter().chain(hard_sets(DIM)).collect();
    teams_on(all, |_, _| {})
}

/// Decides, and observes `row`. A refusal is one of the door, and changes no byte.
fn offer(team: &Team, learner: &mut dyn Learner, row: &[f64]) -> bool {
    let undecided = learner.save().unwrap();
    let x = written(learner.decide().unwrap());
    let violation = team.set.violation(&x).unwrap_or(0.0);
    assert!(violation <= 1e-9, "{}: violation {violation:e}", team.name);
    let before = learner.save().unwrap();
    let Err(error) = learner.observe(&Gradient::dense(row)) else {
        return true;
    };
    assert!(
        matches!(error, Error::Range { .. }),
        "{}: {error}",
        team.name
    );
    assert_eq!(learner.save().unwrap(), before, "{}", team.name);
    assert_eq!(learner.save().unwrap(), undecided, "{}", team.name);
    false
}

#[test]
fn after_any_gradient_in_range_others_are_accepted_too() {
    let mut failures = Vec::new();
    for team in all() {
        for exponent in [-101, -99, -50, 50, 99, 101, 200, 308] {
            let mut learner = team.build();
            let mut r = rng(exponent as u64);
            for _ in 0..3 {
                offer(&team, &mut *learner, &normals(&mut r, DIM));
            }
            let row = scaled(&unit(&mut r, DIM), 10f64.powi(exponent));
            let accepted = offer(&team, &mut *learner, &row);
            // a step size for gradients of norm 1 may be out of range for one of 1e99
            let told = team.learner.to_string().contains("bound=");
            if exponent <= 99 && !accepted && !told || exponent > 99 && accepted {
                failures.push(format!("{}: 1e{exponent}, {accepted}", team.name));
            }
            for k in 0..20 {
                if !offer(&team, &mut *learner, &normals(&mut r, DIM)) {
                    failures.push(format!("{} after 1e{exponent}: round {k}", team.name));
                    break;
                }
            }
        }
    }
    let count = failures.len();
    assert!(failures.is_empty(), "{count}:\n{}", failures.join("\n"));
}

#[test]
fn a_gradient_below_the_range_is_no_gradient() {
    for team in all() {
        let (mut small, mut none) = (team.build(), team.build());
        let mut r = rng(5);
        for t in 0..30 {
            let row = if t % 3 == 1 {
                scaled(&unit(&mut r, DIM), 0.9e-100)
            } else {
                normals(&mut r, DIM)
            };
            let zero = vec![0.0; DIM];
            let other = if t % 3 == 1 { &zero } else { &row };
            small.decide().unwrap();
            none.decide().unwrap();
            let one = small.observe(&Gradient::dense(&row)).unwrap();
            let two = none.observe(&Gradient::dense(other)).unwrap();
            assert_eq!(one.gradient_norm, two.gradient_norm, "{}", team.name);
            let (x, y) = (written(small.decision()), written(none.decision()));
            assert_eq!(x, y, "{}, round {t}", team.name);
        }
    }
}

#[test]
fn the_meter_and_the_solver_have_the_same_door() {
    let set = "l2:radius=3".parse::<SetSpec>().unwrap();
    let set = set.build(Some(3)).unwrap();
    let mut meter = Meter::new(&set, 0.0, true);
    let x = vec![1.0, 0.0, 0.0];
    meter.see(&x, &Gradient::dense(&[1.0; 3])).unwrap();
    let before = meter.save().unwrap();
    let huge = [1e101, 0.0, 0.0];
    let error = meter.see(&x, &Gradient::dense(&huge)).unwrap_err();
    assert!(matches!(error, Error::Range { .. }), "{error}");
    assert_eq!(meter.save().unwrap(), before);
    let one = meter.certificate(1).unwrap().regret;
    let small = [1e-101, -1e-102, 0.0];
    meter.see(&x, &Gradient::dense(&small)).unwrap();
    let two = meter.certificate(1).unwrap().regret;
    assert!(two >= one && two <= one * (1.0 + 1e-12), "{one} {two}");

    let loss = "squared".parse::<LossSpec>().unwrap().build().unwrap();
    let mut sum = Sum::new(3, &Objective::new(loss, 0.0).unwrap()).unwrap();
    let mut quadratic = QuadraticSum::new(3, 0.0).unwrap();
    for (row, fits) in [(huge, false), (small, true), ([1e99, 0.0, 0.0], true)] {
        assert_eq!(norm(&row) <= 1e100, fits);
        assert_eq!(sum.push(Row::Dense(&row), 1.0, 1.0).is_ok(), fits);
        assert_eq!(quadratic.push(Row::Dense(&row), 1.0, 1.0).is_ok(), fits);
    }
}
