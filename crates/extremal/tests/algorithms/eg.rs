//! Exponentiated gradient against its definition, against a mixture of learners that sit at the
//! corners, and against its bounds.

use extremal::Gradient;
use extremal::learner::Learner;
use extremal::theory::{self, Assumption, LossFacts};

use crate::support::*;

/// The corners of each kind of set, written out.
const SETS: [(&str, f64); 4] = [
    ("simplex", 1.0),
    ("simplex:total=3", 3.0),
    ("simplex:total=0.5,at-most=true", 0.5),
    ("l1:radius=2", 2.0),
];

fn corners(text: &str, size: f64, dim: usize) -> Vec<Vec<f64>> {
    let corner = |i: usize, k: f64| {
        let mut v = vec![0.0; dim];
        v[i] = k;
        v
    };
    let mut all: Vec<_> = (0..dim).map(|i| corner(i, size)).collect();
    if text.contains("at-most") {
        all.push(vec![0.0; dim]);
    }
    if text.starts_with("l1") {
        all.extend((0..dim).map(|i| corner(i, -size)));
    }
    all
}

/// Σ w_i corner_i with w ∝ exp(−η L).
fn mean(corners: &[Vec<f64>], lost: &[f64], eta: f64) -> (Vec<f64>, Vec<f64>) {
    let least = lost.iter().copied().fold(f64::INFINITY, f64::min);
    let mut weights: Vec<f64> = lost
        .iter()
        .map(|l| {
            if *l == least {
                1.0
            } else {
                (-eta * (l - least)).exp()
            }
        })
        .collect();
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= total);
    let mut x = vec![0.0; corners[0].len()];
    for (corner, w) in corners.iter().zip(&weights) {
        x = plus(&x, *w, corner);
    }
    (x, weights)
}

fn play(learner: &mut dyn Learner, g: &[f64]) -> Vec<f64> {
    let x = written(learner.decide().unwrap());
    learner.observe(&Gradient::dense(g)).unwrap();
    x
}

/// Gradients with a drift, entries up to 1.
fn gradients(seed: u64, dim: usize, rounds: usize) -> Vec<Vec<f64>> {
    let mut rng = kit::rng(seed);
    let one = |_| {
        let noise = |i: usize| 0.8 * (2.0 * uniform(&mut rng) - 1.0) + 0.2 * (i as f64).sin();
        (0..dim).map(noise).collect()
    };
    (0..rounds).map(one).collect()
}

#[test]
fn decisions_are_the_mean_of_the_corners_by_their_losses() {
    let (dim, rounds) = (5, 400);
    for (text, size) in SETS {
        let set = set(text, dim);
        let corners = corners(text, size, dim);
        let n = (corners.len() as f64).ln();
        for scale in [1.0, 2.0] {
            for (keys, bound, horizon) in [
                ("entry-bound=0.7,horizon=300,", 0.7, Some(300.0)),
                ("entry-bound=0.7,", 0.7, None),
                ("", 0.0, None),
            ] {
                let spec = format!("eg:{keys}eta-scale={scale}");
                let mut learner = learner(&spec, &set);
                let mut lost = vec![0.0; corners.len()];
                let mut delta = 0.0;
                for (t, g) in gradients(1, dim, rounds).iter().enumerate() {
                    let eta = match (bound, horizon) {
                        (0.0, _) => scale * n / delta,
                        (g, Some(horizon)) => scale * f64::sqrt(2.0 * n / horizon) / (size * g),
                        (g, None) => scale * f64::sqrt(n / (t + 1) as f64) / (size * g),
                    };
                    let (expected, weights) = mean(&corners, &lost, eta);
                    let x = play(&mut *learner, g);
                    let apart = distance(&x, &expected);
                    assert!(apart <= 1e-10 * size, "{spec} on {text}, {t}: {apart:e}");
                    let losses: Vec<f64> = corners.iter().map(|c| dot(g, c)).collect();
                    let played = dot(&weights, &losses);
                    let mix = if eta.is_finite() {
                        let mixed = weights.iter().zip(&losses);
                        -mixed.map(|(w, l)| w * (-eta * l).exp()).sum::<f64>().ln() / eta
                    } else {
                        losses.iter().copied().fold(f64::INFINITY, f64::min)
                    };
                    delta += (played - mix).max(0.0);
                    lost.iter_mut().zip(&losses).for_each(|(a, l)| *a += l);
                }
                if bound == 0.0 {
                    let promised = learner.guarantee().unwrap().bound(0.0);
                    let expected = (1.0 + 1.0 / scale) * delta;
                    assert!(
                        (promised / expected - 1.0).abs() < 1e-10,
                        "{spec} on {text}"
                    );
                }
            }
        }
    }
}

/// A learner that does not move.
const FROZEN: &str = "ofw-ls:horizon=1,gradient-bound=1,eta-scale=1e-20";

/// Learners that stay at the corners, mixed by the library's other implementation.
#[test]
fn without_constants_it_is_hedge_over_learners_that_sit_at_the_corners() {
    let dim = 4;
    for (text, size) in SETS {
        let set = set(text, dim);
        let bases: Vec<String> = corners(text, size, dim)
            .iter()
            .map(|c| format!("({})", with_list(FROZEN, "start", c)))
            .collect();
        let mut mixed = learner(&format!("hedge:bases=[{}]", bases.join(",")), &set);
        let mut plain = learner("eg", &set);
        for (t, g) in gradients(2, dim, 500).iter().enumerate() {
            let apart = distance(&play(&mut *mixed, g), &play(&mut *plain, g));
            assert!(apart <= 1e-9 * size, "{text}, {t}: {apart:e}");
        }
    }
}

/// x_{t+1} minimises η⟨S, x⟩ + Σ x ln x over the simplex: the gradient is the same in all entries.
#[test]
fn on_the_simplex_it_minimises_the_sum_with_the_entropy() {
    let set = set("simplex", 6);
    let mut learner = learner("eg:entry-bound=1,horizon=100", &set);
    let mut sum = [0.0; 6];
    for g in gradients(3, 6, 100) {
        play(&mut *learner, &g);
        sum.iter_mut().zip(&g).for_each(|(s, g)| *s += g);
        let x = written(learner.decision());
        let eta = (2.0 * 6f64.ln() / 100.0).sqrt();
        let slopes: Vec<f64> = x.iter().zip(&sum).map(|(x, s)| eta * s + x.ln()).collect();
        let value = |x: &[f64]| eta * dot(&sum, x) + x.iter().map(|x| x * x.ln()).sum::<f64>();
        for (i, slope) in slopes.iter().enumerate() {
            assert!((slope - slopes[0]).abs() < 1e-12, "{slopes:?}");
            let mut there = scaled(&x, 0.99);
            there[i] += 0.01;
            assert!(value(&there) > value(&x));
        }
    }
}

/// Regret against the best corner.
fn regret(learner: &mut dyn Learner, corners: &[Vec<f64>], given: &[Vec<f64>]) -> f64 {
    let (mut sum, mut total) = (vec![0.0; given[0].len()], 0.0);
    for g in given {
        total += dot(g, &play(learner, g));
        sum = plus(&sum, 1.0, g);
    }
    let best = corners.iter().map(|c| dot(&sum, c));
    total - best.fold(f64::INFINITY, f64::min)
}

#[test]
fn random_signs_bring_the_regret_near_its_bounds_and_never_beyond() {
    let (dim, t) = (400, rounds(4_000, 100_000) as usize);
    let mut rng = kit::rng(4);
    let mut sign = || if uniform(&mut rng) < 0.5 { 1.0 } else { -1.0 };
    let given: Vec<Vec<f64>> = (0..t).map(|_| (0..dim).map(|_| sign()).collect()).collect();
    for (text, size) in SETS {
        let set = set(text, dim);
        let corners = corners(text, size, dim);
        let n = corners.len() as f64;
        let told = size * (2.0 * t as f64 * n.ln()).sqrt();
        for (spec, bound) in [
            (format!("eg:entry-bound=1,horizon={t}"), told),
            ("eg:entry-bound=1".into(), 2f64.sqrt() * told),
            ("eg".into(), f64::NAN),
        ] {
            let mut learner = learner(&spec, &set);
            let found = regret(&mut *learner, &corners, &given);
            let guarantee = learner.guarantee().unwrap();
            let promised = guarantee.bound(t as f64);
            println!("{spec} on {text}: regret {found:.1}, bound {promised:.1}");
            assert!(
                found <= promised && found > 0.45 * promised,
                "{spec} on {text}"
            );
            if bound.is_nan() {
                // the range of the corners' losses is 2τ, with 0 among them as well
                let ranges = 2.0 * size * (t as f64).sqrt();
                assert!(promised <= theory::adahedge(n, ranges), "{text}");
            } else {
                assert!((promised / bound - 1.0).abs() < 1e-12, "{spec} on {text}");
            }
            assert_eq!(guarantee.exponent(), 0.5);
        }
    }
}

/// Losses made against the decision: what it leans to loses.
#[test]
fn an_adversary_that_knows_the_decision_gains_no_more_than_the_bound() {
    let (dim, t) = (7, rounds(3_000, 300_000));
    for (text, size) in SETS {
        let set = set(text, dim);
        let corners = corners(text, size, dim);
        for scale in [0.2, 1.0, 5.0] {
            for keys in [
                format!("entry-bound=1,horizon={t},"),
                "entry-bound=1,".into(),
                String::new(),
            ] {
                let spec = format!("eg:{keys}eta-scale={scale}");
                let mut learner = learner(&spec, &set);
                let (mut sum, mut total) = (vec![0.0; dim], 0.0);
                for round in 0..t {
                    let x = written(learner.decide().unwrap());
                    let top = x.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                    let leans = |(i, v): (usize, &f64)| match (round as usize + i) % 5 {
                        0 => -0.3,
                        _ if v.abs() == top => v.signum(),
                        _ => 0.0,
                    };
                    let g: Vec<f64> = x.iter().enumerate().map(leans).collect();
                    total += dot(&g, &x);
                    sum = plus(&sum, 1.0, &g);
                    learner.observe(&Gradient::dense(&g)).unwrap();
                    if round % 100 == 99 || round < 10 {
                        let best = corners.iter().map(|c| dot(&sum, c));
                        let regret = total - best.fold(f64::INFINITY, f64::min);
                        let bound = learner.guarantee().unwrap().bound((round + 1) as f64);
                        assert!(regret <= bound + 1e-9, "{spec} on {text}: {regret} {bound}");
                    }
                }
            }
        }
    }
}

#[test]
fn entries_beyond_the_bound_are_told_and_large_norms_are_not() {
    let set = set("simplex", 100);
    let mut learner = learner("eg:entry-bound=1", &set);
    play(&mut *learner, &[1.0; 100]); // norm 10
    let holds = |learner: &dyn Learner| {
        let checks = learner
            .guarantee()
            .unwrap()
            .check(learner.seen(), &LossFacts::default());
        assert_eq!(checks.len(), 1);
        assert!(matches!(
            checks[0].assumption,
            Assumption::Entries { bound: 1.0, .. }
        ));
        checks[0].holds
    };
    assert!(holds(&*learner));
    let mut spike = [0.0; 100];
    spike[3] = -1.001;
    play(&mut *learner, &spike);
    assert!(!holds(&*learner));
    play(&mut *learner, &[0.5; 100]);
    assert!(!holds(&*learner));
}

#[test]
fn without_constants_the_scale_of_the_gradients_does_not_matter() {
    for (text, size) in SETS {
        let set = set(text, 3);
        let run = |scale: f64| {
            let mut learner = learner("eg", &set);
            let given = gradients(5, 3, 200);
            let mut all: Vec<_> = given
                .iter()
                .map(|g| play(&mut *learner, &scaled(g, scale)))
                .collect();
            all.push(scaled(
                &[learner.guarantee().unwrap().bound(1.0)],
                1.0 / scale,
            ));
            all
        };
        let plain = run(1.0);
        for scale in [2f64.powi(-300), 2f64.powi(300)] {
            for (a, b) in plain.iter().zip(&run(scale)) {
                assert!(distance(a, b) <= 1e-9 * size * norm(a), "{text}, {scale:e}");
            }
        }
    }
}
