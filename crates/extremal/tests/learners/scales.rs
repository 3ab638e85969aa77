//! Gradients of every size, of every structure, and none at all.

use extremal::Error;
use extremal::learner::Storage;

use crate::common::{centre, distance, rng, teams, uniform, written};
use crate::script::{self, Given};

const DIM: usize = 6;
const SCALES: [f64; 13] = [
    1e-322, 1e-310, 1e-308, 1e-305, 1e-300, 1e-200, 1e-170, 1e-80, 1e80, 1e150, 1e170, 1e250, 1e300,
];

#[test]
fn gradients_of_any_size_keep_decisions_feasible_and_move_them() {
    for size in SCALES {
        for (kind, script) in [
            ("dense", script::dense(1, DIM, 60, 1.0)),
            ("sparse", script::sparse(2, DIM, 60, 1.0)),
        ] {
            for team in teams(DIM, |_, _| {}) {
                let name = format!("{}, {kind} gradients of {size:e}", team.name);
                let mut learner = team.build();
                let start = centre(&*team.set);
                let mut furthest = 0.0_f64;
                for given in &script {
                    let x = written(learner.decide().unwrap());
                    let violation = team.set.violation(&x).unwrap_or(0.0);
                    assert!(violation <= 1e-9, "{name}: violation {violation:e}");
                    furthest = furthest.max(distance(&x, &start));
                    let values: Vec<f64> = given.values.iter().map(|v| size * v).collect();
                    let sized = Given {
                        values,
                        ..given.clone()
                    };
                    match learner.observe(&sized.gradient()) {
                        Ok(record) => {
                            let numbers = [record.sigma, record.gradient_norm, record.norm_squared];
                            assert!(numbers.iter().all(|v| v.is_finite()), "{name}: {record:?}");
                        }
                        // where sums leave the range of numbers, an error may say so
                        Err(Error::Numerical { .. } | Error::NotFinite { .. }) if size > 1e200 => {
                            break;
                        }
                        Err(e) => panic!("{name}: {e}"),
                    }
                }
                // next to a centre other than 0 a small step is lost in rounding
                let can_tell = start.iter().all(|v| *v == 0.0) || size >= 1.0;
                let moves = (1e-200..=1e200).contains(&size) && can_tell;
                if moves && team.set.geometry().diameter > 0.0 {
                    assert!(furthest > 0.0, "{name}: it never moved");
                }
            }
        }
    }
}

#[test]
fn gradients_that_jump_between_scales_keep_decisions_feasible() {
    let mut r = rng(3);
    for team in teams(DIM, |_, _| {}) {
        let mut learner = team.build();
        for given in script::mixed(4, DIM, 400) {
            let x = written(learner.decide().unwrap());
            let violation = team.set.violation(&x).unwrap_or(0.0);
            assert!(violation <= 1e-9, "{}: violation {violation:e}", team.name);
            let size = 10f64.powf(60.0 * uniform(&mut r) - 30.0);
            let sized = Given {
                scale: size * given.scale,
                ..given
            };
            learner.observe(&sized.gradient()).unwrap();
        }
    }
}

#[test]
fn without_gradients_nothing_moves() {
    for team in teams(DIM, |_, _| {}) {
        let mut learner = team.build();
        let start = written(learner.decision());
        let zeros = Given {
            indices: None,
            values: vec![0.0; DIM],
            scale: 1.0,
            ridge: 0.0,
        };
        let none = Given {
            indices: Some(vec![]),
            values: vec![],
            scale: 1.0,
            ridge: 0.0,
        };
        for k in 0..1000 {
            let given = if k % 2 == 0 { &zeros } else { &none };
            let x = written(learner.decide().unwrap());
            let apart = distance(&x, &start);
            assert!(
                apart <= 1e-9 * team.set.geometry().norm_bound,
                "{}: moved by {apart:e} in round {k}",
                team.name
            );
            let record = learner.observe(&given.gradient()).unwrap();
            assert_eq!(record.gradient_norm, 0.0, "{}", team.name);
            assert!(
                (0.0..=1e300).contains(&record.sigma),
                "{}: {record:?}",
                team.name
            );
        }
    }
}

#[test]
fn sparse_and_dense_forms_of_a_gradient_are_the_same_gradient() {
    for dim in [1, 5, 23] {
        let script = script::sparse(5, dim, 200, 1.0);
        for team in teams(dim, |_, _| {}) {
            let (mut few, mut all) = (team.build(), team.build());
            let size = team.set.geometry().norm_bound;
            // the lazy form adds the same numbers in another order
            let tolerance = if team.storage == Storage::Dense {
                1e-12
            } else {
                1e-9
            };
            for given in &script {
                let x = written(few.decide().unwrap());
                let y = written(all.decide().unwrap());
                let apart = distance(&x, &y);
                assert!(apart <= tolerance * size, "{}: {apart:e} apart", team.name);
                let one = few.observe(&given.gradient()).unwrap();
                let other = all.observe(&given.spread(dim).gradient()).unwrap();
                let scale = one.gradient_norm * size;
                assert!(
                    (one.gradient_norm - other.gradient_norm).abs() <= 1e-12 * one.gradient_norm
                );
                assert!(
                    (one.gradient_dot - other.gradient_dot).abs() <= 1e-9 * scale,
                    "{}",
                    team.name
                );
            }
        }
    }
}
