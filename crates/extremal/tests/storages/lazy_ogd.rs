//! Gradient descent and dual averaging in lazy storage: the decisions of dense storage, never an
//! infeasible one, at O(non-zeros).

use crate::games::{DIM, Entries, NASTY, NONZEROS, Random, ball, soak, stream};
use extremal::learner::{Learner, LearnerSpec, Storage};
use extremal::set::SharedSet;
use extremal::{Gradient, Point};
use extremal_check::kit::written;

/// Every way to choose the step, with the ridge of the gradients.
const RULES: &[(&str, f64)] = &[
    ("ogd", 0.0),
    ("ogd", 0.3),
    ("ogd:eta-scale=20", 0.0),
    ("ogd:gradient-bound=2", 0.0),
    ("ogd:gradient-bound=2,start=START", 0.1),
    ("ogd:lambda=0.1", 0.1),
    ("ogd:lambda=0.1", 0.0),
    ("ogd:lambda=0.1,offset=30", 0.1),
    ("ogd:lambda=1e-6", 1e-6),
    ("dual-averaging", 0.0),
    ("dual-averaging", 0.2),
    ("dual-averaging:gradient-bound=2", 0.0),
    ("dual-averaging:horizon=100000,gradient-bound=2", 0.1),
];

fn learner(spec: &str, set: &SharedSet, storage: Storage) -> Box<dyn Learner> {
    let radius = set.geometry().norm_bound;
    let start: Vec<f64> = (0..DIM).map(|i| 0.1 * radius * (i as f64).cos()).collect();
    let spec = spec.replace("START", &format!("{start:?}").replace(' ', ""));
    let spec: LearnerSpec = spec.parse().unwrap();
    spec.build_stored(set, storage).unwrap()
}

fn apart(a: &dyn Point, b: &dyn Point) -> f64 {
    let (a, b) = (written(a), written(b));
    let differences = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, |top, v| if v <= top { top } else { v })
}

#[test]
fn every_step_size_plays_the_dense_decisions_on_noisy_streams() {
    let mut worst = 0.0_f64;
    for (n, (spec, ridge)) in RULES.iter().enumerate() {
        let radius = [1.0, 7.3][n % 2];
        let set = ball(DIM, radius);
        let mut lazy = learner(spec, &set, Storage::Lazy);
        let mut dense = learner(spec, &set, Storage::Dense);
        let mut random = Random(n as u64);
        for t in 0..100_000 {
            let row = Entries::noisy(&mut random, DIM, NONZEROS, 1.0);
            let (a, b) = (lazy.decide().unwrap(), dense.decide().unwrap());
            if t % 37 == 0 {
                let apart = apart(a, b) / radius;
                assert!(apart <= 1e-10, "{spec}, round {t}: {apart:e}");
                worst = worst.max(apart);
            }
            let gradient = Gradient {
                row: row.row(),
                scale: random.signed(),
                ridge: *ridge,
            };
            let a = lazy.observe(&gradient).unwrap();
            let b = dense.observe(&gradient).unwrap();
            for (name, a, b) in [
                ("step", a.sigma, b.sigma),
                ("norm", a.norm_squared, b.norm_squared),
                ("gradient's norm", a.gradient_norm, b.gradient_norm),
                ("gradient's dot", a.gradient_dot, b.gradient_dot),
            ] {
                let bound = 1e-10 * (1.0 + radius * radius) * (1.0 + b.abs());
                assert!(
                    (a - b).abs() <= bound,
                    "{name} of {spec}, round {t}: {a} {b}"
                );
            }
        }
    }
    println!("decisions apart by at most {worst:e} radii");
}

/// For gradient descent: a projection brings points no farther apart, so that streams which cancel
/// or jump do no more to either run than rounding does to a step. Where the whole sum of gradients
/// cancels, dual averaging follows what rounding has left of it, in either storage.
#[test]
fn nasty_streams_stay_feasible_and_gradient_descent_next_to_the_dense_run() {
    let (seeds, rounds) = if soak() { (10, 50_000) } else { (2, 2_000) };
    let mut worst = (0.0_f64, 0.0_f64);
    for name in NASTY {
        for seed in 0..seeds {
            let rows = stream(name, rounds, seed);
            for (spec, ridge) in RULES {
                for radius in [1.0, 1e-40, 1e40] {
                    let set = ball(DIM, radius);
                    let mut lazy = learner(spec, &set, Storage::Lazy);
                    let mut dense = learner(spec, &set, Storage::Dense);
                    for (t, row) in rows.iter().enumerate() {
                        let gradient = Gradient {
                            row: row.row(),
                            scale: 1.0,
                            ridge: *ridge,
                        };
                        let (a, b) = (lazy.decide().unwrap(), dense.decide().unwrap());
                        let violation = set.violation(&written(a)).unwrap();
                        let apart = if spec.starts_with("ogd") {
                            apart(a, b) / radius
                        } else {
                            0.0
                        };
                        assert!(
                            violation <= 1e-9 && apart <= 1e-6,
                            "{spec}, {name}, radius {radius:e}, round {t}: violation {violation:e}, {apart:e} apart"
                        );
                        worst = (worst.0.max(violation), worst.1.max(apart));
                        let what = |e| format!("{spec}, {name}, radius {radius:e}, round {t}: {e}");
                        lazy.observe(&gradient).map_err(what).unwrap();
                        dense.observe(&gradient).map_err(what).unwrap();
                    }
                }
            }
        }
    }
    println!("violation at most {:e}, apart {:e}", worst.0, worst.1);
}

#[test]
fn a_gradient_that_overflows_changes_nothing() {
    for (spec, ridge) in RULES {
        let set = ball(DIM, 1.0);
        let mut lazy = learner(spec, &set, Storage::Lazy);
        for row in stream("noisy", 20, 1) {
            lazy.decide().unwrap();
            lazy.observe(&Gradient {
                row: row.row(),
                scale: 1.0,
                ridge: *ridge,
            })
            .unwrap();
        }
        lazy.decide().unwrap();
        let before = lazy.save().unwrap();
        let bad = [
            Gradient::sparse(&[DIM as u32], &[1.0]),
            Gradient::sparse(&[0, 1], &[1.0]),
            Gradient::sparse(&[0, 1], &[1.0, f64::NAN]),
            Gradient::sparse(&[0, 1], &[1.7e308, 1.7e308]),
            Gradient {
                scale: f64::INFINITY,
                ..Gradient::sparse(&[0], &[1.0])
            },
            Gradient {
                ridge: f64::NAN,
                ..Gradient::sparse(&[0], &[1.0])
            },
        ];
        for gradient in &bad {
            assert!(lazy.observe(gradient).is_err(), "{spec}: {gradient:?}");
            assert_eq!(lazy.save().unwrap(), before, "{spec}: {gradient:?}");
        }
    }
}

#[test]
fn dual_averaging_from_elsewhere_is_refused_lazily() {
    let set = ball(2, 1.0);
    let spec: LearnerSpec = "dual-averaging:start=[0.5,0]".parse().unwrap();
    let error = spec.build_stored(&set, Storage::Lazy).err().unwrap();
    assert!(error.to_string().contains("start"), "{error}");
    assert!(spec.build_stored(&set, Storage::Dense).is_ok());
}
