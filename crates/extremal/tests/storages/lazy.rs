//! Lazy storage against dense storage: the same decisions on noisy streams, and never an
//! infeasible or worse one on streams made to break it.

use crate::games::{DIM, Entries, NASTY, NONZEROS, PLAYS, Play, Random, ball, soak, stream};
use extremal::kernel;
use extremal::learner::{LearnerSpec, Storage};
use extremal::set::SetSpec;
use extremal::{
    Gradient, Point, Row,
    surrogate::{DenseSurrogate, LazySurrogate, Move, Probe, Surrogate, Update},
};
use extremal_check::kit;
use extremal_check::kit::stored;

/// The largest difference of two decisions, in radii.
fn apart(a: &dyn Point, b: &dyn Point, radius: f64) -> f64 {
    let (mut x, mut y) = (vec![0.0; a.dim()], vec![0.0; b.dim()]);
    a.write(&mut x);
    b.write(&mut y);
    let differences = x.iter().zip(&y).map(|(x, y)| (x - y).abs());
    differences.fold(0.0, |top, v| if v <= top { top } else { v }) / radius
}

fn bits(point: &dyn Point) -> Vec<u64> {
    kit::bits(&kit::written(point))
}

/// Every rule, with the ridge of its gradients.
const RULES: &[(&str, f64)] = &[
    ("ofw:horizon=100000,gradient-bound=1", 0.0),
    ("ofw:horizon=100000,gradient-bound=1,eta-scale=30", 0.0),
    ("ofw-weibel:horizon=100000,gradient-bound=1", 0.0),
    ("ofw-weibel:horizon=100,gradient-bound=1,start=START", 0.0),
    ("ofw-ls:horizon=100000,gradient-bound=1", 0.0),
    ("ofw-ls:horizon=100000,gradient-bound=1,eta-scale=30", 0.0),
    ("ofw-ls:horizon=100000,gradient-bound=1,start=START", 0.0),
    ("ofw-ls:horizon=100000,gradient-bound=1,eta-scale=10", 0.1),
    ("sc-ofw:lambda=0.1", 0.1),
    ("sc-ofw:lambda=3,start=START", 3.0),
    ("sc-ofw:lambda=0.1,warm=5,start=START", 0.1),
    ("sc-ofw:lambda=0.2", 0.5),
    ("gauge-ftrl", 0.0),
    ("gauge-ftrl", 0.05),
    ("gauge-ftrl:balance=adagrad,gradient-bound=2", 0.0),
    (
        "gauge-ftrl:balance=fixed,horizon=100000,gradient-bound=2",
        0.0,
    ),
];

fn with_start(spec: &str, radius: f64) -> String {
    let start: Vec<f64> = (0..DIM).map(|i| 0.1 * radius * (i as f64).cos()).collect();
    spec.replace("START", &format!("{start:?}").replace(' ', ""))
}

#[test]
fn every_learner_plays_the_dense_decisions_on_noisy_streams() {
    let mut worst = 0.0_f64;
    for (n, (spec, ridge)) in RULES.iter().enumerate() {
        let radius = [1.0, 7.3][n % 2];
        let set = ball(DIM, radius);
        let spec = with_start(spec, radius);
        let mut lazy = stored(&spec, &set, Storage::Lazy);
        let mut dense = stored(&spec, &set, Storage::Dense);
        let mut random = Random(n as u64);
        for t in 0..100_000 {
            let row = Entries::noisy(&mut random, DIM, NONZEROS, 1.0);
            let (a, b) = (lazy.decide().unwrap(), dense.decide().unwrap());
            if t % 37 == 0 {
                let apart = apart(a, b, radius);
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
            let scale = radius * (1.0 + t as f64);
            let what = |name: &str| format!("{name} of {spec}, round {t}: {a:?} {b:?}");
            assert!((a.gap - b.gap).abs() <= 1e-10 * scale, "{}", what("gap"));
            assert!((a.sigma - b.sigma).abs() <= 1e-8, "{}", what("step"));
            for (name, a, b) in [
                ("norm", a.norm_squared, b.norm_squared),
                ("gradient's norm", a.gradient_norm, b.gradient_norm),
                ("gradient's dot", a.gradient_dot, b.gradient_dot),
            ] {
                let bound = 1e-10 * (1.0 + radius * radius);
                assert!((a - b).abs() <= bound, "{}", what(name));
            }
        }
    }
    println!("decisions apart by at most {worst:e} radii");
}

#[test]
fn certificates_equal_those_of_dense_storage() {
    for (spec, ridge) in [("gauge-ftrl", 0.0), ("sc-ofw:lambda=0.1", 0.1)] {
        for name in ["noisy", "drift", "replay", "huge-then-tiny"] {
            let set = ball(DIM, 2.0);
            let mut lazy = stored(spec, &set, Storage::Lazy);
            let mut dense = stored(spec, &set, Storage::Dense);
            let mut size = 0.0;
            for row in stream(name, 3000, 3) {
                let gradient = Gradient {
                    row: row.row(),
                    scale: 1.0,
                    ridge,
                };
                lazy.decide().unwrap();
                dense.decide().unwrap();
                lazy.observe(&gradient).unwrap();
                size += dense.observe(&gradient).unwrap().gradient_norm;
                let (a, b) = (lazy.certificate().unwrap(), dense.certificate().unwrap());
                assert_eq!(a.level, b.level);
                // but for what each allows for rounding
                let error = ((a.regret - a.rounding) - (b.regret - b.rounding)).abs();
                assert!(error <= 1e-10 * size, "{spec} on {name}: {a:?} {b:?}");
            }
        }
    }
}

#[test]
fn chosen_steps_and_places_go_where_dense_storage_goes() {
    let first: Vec<f64> = (0..DIM).map(|i| 0.1 * (i as f64).sin()).collect();
    for start in [None, Some(&first[..])] {
        let set = ball(DIM, 2.0);
        let mut lazy = LazySurrogate::new(set.clone(), start).unwrap();
        let mut dense = DenseSurrogate::new(set.clone(), start).unwrap();
        let mut random = Random(8);
        for t in 0..20_000 {
            if t % 100 == 0 {
                // such steps amplify differences, in dense storage too
                lazy.start(1.5);
                dense.start(1.5);
            }
            let row = Entries::noisy(&mut random, DIM, NONZEROS, 1.0);
            let gradient = Gradient {
                row: row.row(),
                scale: 1.0,
                ridge: 0.0,
            };
            // the curvature may go anywhere, c may follow x
            let beta = [1.5, 1.5, 3.0, 0.0, 0.5 + (t % 100) as f64][random.below(5)];
            let decision = [0.0, 0.0, 0.0, 0.3, -0.2][random.below(5)];
            let update = Update::new(1.0, &gradient, beta).with_decision(decision);
            let a = lazy.probe(&update, true).unwrap();
            let b = dense.probe(&update, true).unwrap();
            let norm = (b.gap - b.slope) / 2.0;
            let motion = match random.below(6) {
                0 => Move::Towards(0.0),
                1 => Move::Towards(1.0),
                // 1 − σ − σβr/‖∇F‖ = 0: x ends up a multiple of c
                2 => Move::Towards(1.0 / (1.0 + beta * 2.0 / norm)),
                3 => Move::Towards(0.3),
                4 => Move::ToAtom(0.7),
                _ => Move::Towards(b.line_search()),
            };
            lazy.commit(motion);
            dense.commit(motion);
            let scale = 1.0 + norm + beta;
            for (name, a, b) in [
                ("gap", a.gap, b.gap),
                ("slope", a.slope, b.slope),
                ("distance", a.distance_squared, b.distance_squared),
                ("norm", a.norm_squared, b.norm_squared),
                ("support", a.support, b.support),
            ] {
                let counts = name != "support" || beta == 0.0;
                let error = (a - b).abs();
                assert!(
                    !counts || error <= 1e-10 * scale,
                    "{name}, round {t}: {a} {b}"
                );
            }
            let apart = apart(&lazy, &dense, 2.0);
            assert!(apart <= 1e-10, "round {t}, {motion:?}: {apart:e}");
            let mut c = vec![0.0; DIM];
            lazy.write_sum(&mut c);
            for (a, b) in c.iter().zip(dense.gradient_sum()) {
                assert!((a - b).abs() <= 1e-10 * scale, "round {t}: {a} {b}");
            }
        }
    }
}

#[test]
fn nasty_streams_stay_feasible_and_reach_the_dense_surrogate() {
    let (seeds, rounds) = if soak() { (5, 20_000) } else { (2, 2_000) };
    let mut worst = (0.0_f64, 0.0_f64);
    for name in NASTY {
        for seed in 0..seeds {
            let rows = stream(name, rounds, seed);
            for &play in PLAYS {
                for radius in [1.0, 1e-40, 1e40] {
                    let (violation, above) = nasty(name, &rows, play.scaled(radius), radius);
                    worst.0 = worst.0.max(violation);
                    if tolerance(name, play) == 1e-7 {
                        worst.1 = worst.1.max(above);
                    }
                }
            }
        }
    }
    println!("violation at most {:e}, surrogate {:e}", worst.0, worst.1);
}

/// How far the surrogate may lie above the dense run's. Where no gradient brings a new direction,
/// steps amplify whatever rounding turns away from the old ones, and x wanders as far as the step
/// reaches: fixed steps about a minimum that stays in either storage, any step along one line more
/// in this one. There, feasibility is all that is asked for.
fn tolerance(name: &str, play: Play) -> f64 {
    match (name, play) {
        ("collinear" | "one-line", _) => f64::INFINITY,
        ("stops" | "fading", Play::Decaying(_) | Play::Fixed { .. }) => 2e-2,
        _ => 1e-7,
    }
}

fn nasty(name: &str, rows: &[Entries], play: Play, radius: f64) -> (f64, f64) {
    let set = ball(DIM, radius);
    let mut lazy = LazySurrogate::new(set.clone(), None).unwrap();
    let mut dense = DenseSurrogate::new(set.clone(), None).unwrap();
    play.start(&mut lazy);
    play.start(&mut dense);
    let mut shuffled = DenseSurrogate::new(set.clone(), None).unwrap();
    play.start(&mut shuffled);
    let mut x = vec![0.0; DIM];
    let (mut worst, mut largest, mut spread) = ((0.0_f64, 0.0_f64), 0.0_f64, 0.0_f64);
    for (t, row) in rows.iter().enumerate() {
        let a = play.round(t, &mut lazy, row.row());
        let b = play.round(t, &mut dense, row.row());
        let s = play.round(t, &mut shuffled, row.shuffled().row());
        // c += m·x is exact only relative to the largest c so far
        let c = kernel::norm(dense.gradient_sum());
        largest = if play.is_sparse() { c } else { largest.max(c) };
        let size = radius * largest + b.beta * radius * radius;
        let above = |of: Probe| match size > 0.0 {
            true => (of.surrogate() - b.surrogate()) / size,
            false => 0.0,
        };
        spread = spread.max(above(s).abs());
        let above = above(a);
        lazy.write(&mut x);
        let violation = set.violation(&x).unwrap();
        assert!(
            violation <= 1e-9 && !above.is_nan(),
            "{name}, {play:?}, radius {radius:e}, round {t}: violation {violation:e}, surrogate {above:e} above"
        );
        worst = (worst.0.max(violation), worst.1.max(above));
    }
    // over a whole run lazy storage may be off as far as dense runs are among themselves
    assert!(
        worst.1 <= tolerance(name, play) + 10.0 * spread,
        "{name}, {play:?}, radius {radius:e}: surrogate {:e} above, dense runs differ by {spread:e}",
        worst.1
    );
    worst
}

#[test]
fn a_loaded_pair_goes_on_with_the_same_bits() {
    let mut random = Random(5);
    for name in ["noisy"].iter().chain(NASTY) {
        for &play in PLAYS {
            let rows = stream(name, 400, 2);
            let set = ball(DIM, 1.0);
            let mut pair = LazySurrogate::new(set.clone(), None).unwrap();
            play.start(&mut pair);
            let stop = random.below(rows.len());
            let mut resumed = LazySurrogate::new(set.clone(), None).unwrap();
            for (t, row) in rows.iter().enumerate() {
                if t == stop {
                    resumed.load(&pair.save().unwrap()).unwrap();
                }
                let a = play.round(t, &mut pair, row.row());
                if t >= stop {
                    let b = play.round(t, &mut resumed, row.row());
                    assert_eq!(a, b, "{name}, {play:?}: round {t}, saved at {stop}");
                    assert_eq!(bits(&pair), bits(&resumed), "{name}, {play:?}: round {t}");
                }
            }
            assert_eq!(pair.save().unwrap(), resumed.save().unwrap());
        }
    }
}

#[test]
fn a_state_that_does_not_fit_is_refused() {
    let mut wide = LazySurrogate::new(ball(4, 1.0), None).unwrap();
    let gradient = Gradient::sparse(&[3], &[1.0]);
    let update = Update::new(1.0, &gradient, 2.0);
    wide.probe(&update, true).unwrap();
    wide.commit(Move::Towards(0.5));
    let saved = wide.save().unwrap();
    let mut pair = LazySurrogate::new(ball(3, 1.0), None).unwrap();
    let error = pair.load(&saved).unwrap_err();
    assert!(error.to_string().contains("is damaged"), "{error}");
    let mut other = LazySurrogate::new(ball(4, 1.0), None).unwrap();
    assert!(other.load(&saved[..saved.len() - 1]).is_err());
    other.load(&saved).unwrap();
}

#[test]
fn errors_change_nothing() {
    let short = vec![0.0; DIM - 1];
    let mut nan = vec![1.0; DIM];
    nan[DIM - 1] = f64::NAN;
    let bad = [
        Gradient::dense(&short),
        Gradient::dense(&nan),
        Gradient::sparse(&[DIM as u32], &[1.0]),
        Gradient::sparse(&[0, 1], &[1.0]),
        Gradient::sparse(&[0, 1], &[1.0, f64::INFINITY]),
        Gradient::sparse(&[0, 1], &[1e305, 1e305]),
        Gradient {
            scale: f64::NAN,
            ..Gradient::sparse(&[0], &[1.0])
        },
        Gradient {
            ridge: f64::INFINITY,
            ..Gradient::sparse(&[0], &[1.0])
        },
    ];
    for name in ["noisy", "jumps-12", "alternating"] {
        for &play in PLAYS {
            let mut pair = LazySurrogate::new(ball(DIM, 1.0), None).unwrap();
            play.start(&mut pair);
            for (t, row) in stream(name, 50, 4).iter().enumerate() {
                play.round(t, &mut pair, row.row());
            }
            let before = pair.save().unwrap();
            for gradient in &bad {
                let update = Update::new(1.0, gradient, 2.0);
                assert!(pair.probe(&update, true).is_err(), "{gradient:?}");
                assert_eq!(pair.save().unwrap(), before, "{gradient:?}");
            }
        }
    }
}

#[test]
fn passes_over_all_entries_are_as_rare_as_the_non_zeros_allow() {
    const LARGE: usize = 3_000;
    const ROUNDS: usize = 30_000;
    let sparse = PLAYS.iter().filter(|play| play.is_sparse());
    for (play, drift) in sparse.flat_map(|play| [(play, 0.0), (play, 0.5)]) {
        let mut pair = LazySurrogate::new(ball(LARGE, 1.0), None).unwrap();
        play.start(&mut pair);
        let mut random = Random(6);
        for t in 0..ROUNDS {
            let mut row = Entries::noisy(&mut random, LARGE, NONZEROS, 1.0);
            row.values.iter_mut().for_each(|v| *v += drift);
            play.round(t, &mut pair, row.row());
        }
        let (passes, amortised) = (pair.passes(), (ROUNDS * NONZEROS / (4 * LARGE)) as u64);
        assert!(passes.total() <= amortised + 3, "{play:?}: {passes:?}");
        assert!(passes.products + 3 >= amortised, "{play:?}: {passes:?}");
    }
}

#[test]
fn rows_in_every_structure_give_the_same_decision() {
    let rows = [
        Row::Dense(&[0.0, 2.0, 0.0, 0.0, 0.0, -1.0]),
        Row::Sparse {
            indices: &[1, 5],
            values: &[2.0, -1.0],
        },
        Row::Entries {
            width: 3,
            rows: &[0, 1],
            columns: &[1, 2],
            values: &[2.0, -1.0],
        },
    ];
    let [dense, sparse, entries] = rows.map(|row| {
        let mut pair = LazySurrogate::new(ball(6, 1.0), None).unwrap();
        let play = PLAYS[6];
        play.start(&mut pair);
        for t in 0..5 {
            play.round(t, &mut pair, row);
        }
        let dot = pair.dot(&row).unwrap();
        assert!(dot < -0.1, "{play:?}: {dot}");
        (bits(&pair), dot)
    });
    assert_eq!(sparse, dense);
    assert_eq!(entries, dense);
}

#[test]
fn only_euclidean_balls_are_stored_lazily() {
    for (set, learner, why) in [
        ("lp:p=1.5,dim=3", "gauge-ftrl", "only for ℓ2 balls"),
        (
            "simplex:dim=3",
            "ofw:horizon=10,gradient-bound=1",
            "only for ℓ2 balls",
        ),
        ("l2:dim=3", "ofw-free", "no lazy form"),
        ("l1:dim=3", "ogd", "only for ℓ2 balls"),
        ("l1:dim=3", "dual-averaging", "only for ℓ2 balls"),
    ] {
        let set = set.parse::<SetSpec>().unwrap().build(None).unwrap();
        let spec: LearnerSpec = learner.parse().unwrap();
        let error = spec.build_stored(&set, Storage::Lazy).err().unwrap();
        assert!(error.to_string().contains(why), "{error}");
    }
}

/// Such a row counts as 0, whatever it is multiplied by.
#[test]
fn a_row_that_counts_as_zero_leaves_no_gradient_in_any_storage() {
    let set = "l2:dim=3".parse::<SetSpec>().unwrap().build(None).unwrap();
    let spec: LearnerSpec = "gauge-ftrl".parse().unwrap();
    let records = [Storage::Dense, Storage::Lazy].map(|storage| {
        let mut learner = spec.build_stored(&set, storage).unwrap();
        learner.observe(&Gradient::sparse(&[1], &[0.5])).unwrap();
        let tiny = Gradient {
            scale: 1e150,
            ..Gradient::sparse(&[0], &[1e-120])
        };
        learner.observe(&tiny).unwrap()
    });
    for record in records {
        assert_eq!((record.gradient_norm, record.gradient_dot), (0.0, 0.0));
    }
}
