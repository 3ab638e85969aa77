//! A gradient that was accepted, however large, does not keep a learner from going on: a round
//! after which no other could be played is refused, and changes nothing.

mod common;

use common::{Team, hard_sets, normals, rng, scaled, sets, teams_on, written};
use extremal::learner::Learner;
use extremal::pair::Gradient;

const DIM: usize = 6;

/// Decides, and observes `row`; whether it was accepted. A refusal changes no byte, and neither does
/// deciding.
fn offer(team: &Team, learner: &mut dyn Learner, row: &[f64]) -> bool {
    let undecided = learner.save().unwrap();
    let x = written(learner.decide().unwrap());
    let violation = team.set.violation(&x).unwrap();
    assert!(violation <= 1e-9, "{}: violation {violation:e}", team.name);
    if learner.observe(&Gradient::dense(row)).is_ok() {
        return true;
    }
    assert_eq!(learner.save().unwrap(), undecided, "{}", team.name);
    false
}

#[test]
fn after_any_gradient_that_was_accepted_smaller_ones_are_too() {
    let (mut accepted, mut refused) = (0, 0);
    let mut failures = Vec::new();
    let all = sets(DIM).into_iter().chain(hard_sets(DIM)).collect();
    for team in teams_on(all, |_, _| {}) {
        for exponent in [
            150, 200, 250, 280, 290, 295, 298, 300, 302, 304, 306, 307, 308,
        ] {
            let huge = 10f64.powi(exponent);
            let mut learner = team.build();
            let mut r = rng(exponent as u64);
            for _ in 0..3 {
                offer(&team, &mut *learner, &normals(&mut r, DIM));
            }
            if !offer(
                &team,
                &mut *learner,
                &scaled(&normals(&mut r, DIM), huge / 4.0),
            ) {
                refused += 1;
                continue;
            }
            accepted += 1;
            for k in 0..60 {
                let accepted = offer(&team, &mut *learner, &normals(&mut r, DIM));
                if !accepted {
                    failures.push(format!("{} after {huge:e}: round {k}", team.name));
                    break;
                }
            }
        }
    }
    println!("{accepted} accepted, {refused} refused");
    assert!(accepted > 100 && refused > 100, "{accepted} {refused}");
    assert!(
        failures.is_empty(),
        "{}:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
