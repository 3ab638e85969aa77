//! Pairwise steps: the definition, the bounds and equations they keep, and what they converge to.

use extremal::Gradient;
use extremal::kernel::{dot, norm};

use super::{learner, play, project, set};
use crate::common::{
    atom, centre, distance, minus, normals, plus, rng, scaled, soak, unit, written,
};

#[test]
fn the_learner_is_its_definition() {
    for (text, lower, upper) in [
        ("simplex:dim=6,total=2", 0.0, 2.0),
        ("capped-simplex:dim=7,total=3", 0.0, 1.0),
        ("hypercube:dim=4,radius=2,centred=true", -2.0, 2.0),
    ] {
        let set = set(text);
        let (d, diameter) = (set.dim(), set.geometry().diameter);
        for (spec, lambda) in [("pairwise", 0.0), ("pairwise:lambda=0.3", 0.3)] {
            let mut learner = learner(spec, &set);
            let mut r = rng(1);
            let first = centre(&*set);
            let (mut x, mut all, mut squares) = (first.clone(), Vec::new(), 0.0);
            for t in 1..=200 {
                let mut g = normals(&mut r, d);
                g[0] += 0.3;
                let played = play(&mut *learner, &g);
                let apart = distance(&played, &x);
                assert!(apart <= 1e-9, "{spec} on {text}, round {t}: {apart:e}");
                squares += dot(&g, &g);
                all.push((g, x.clone()));
                let eta = diameter / f64::sqrt(squares);
                let mut slope = vec![0.0; d];
                for (g, at) in &all {
                    slope = plus(&plus(&slope, 1.0, g), lambda, &minus(&x, at));
                }
                let bend = if lambda > 0.0 {
                    lambda * t as f64
                } else {
                    slope = plus(&slope, 1.0 / eta, &minus(&x, &first));
                    1.0 / eta
                };
                let to = atom(&*set, &slope);
                let most = 100.0 * norm(&slope);
                let bar = |i: usize| match x[i] {
                    v if v <= lower => most,
                    v if v >= upper => -most,
                    _ => -slope[i],
                };
                let from = atom(&*set, &(0..d).map(bar).collect::<Vec<_>>());
                let way = minus(&to, &from);
                if norm(&way) == 0.0 {
                    continue;
                }
                let room = |i: usize| match way[i] {
                    w if w > 0.0 => (upper - x[i]) / w,
                    w if w < 0.0 => (lower - x[i]) / w,
                    _ => 1.0,
                };
                let room: Vec<f64> = (0..d).map(room).collect();
                let far = room.iter().copied().fold(1.0, f64::min);
                let step = (-dot(&slope, &way) / (bend * dot(&way, &way))).clamp(0.0, far);
                for i in 0..d {
                    let stops = way[i] != 0.0 && room[i] <= step;
                    x[i] = match way[i] > 0.0 {
                        _ if !stops => x[i] + step * way[i],
                        true => upper,
                        false => lower,
                    };
                }
            }
        }
    }
}

#[test]
fn equations_and_bounds_are_kept_for_long() {
    let rounds = if soak() { 1_000_000 } else { 30_000 };
    for (text, total, cap) in [
        ("capped-simplex:dim=20,total=7", 7.0, 1.0),
        ("simplex:dim=20,total=3", 3.0, 3.0),
    ] {
        let set = set(text);
        for spec in ["pairwise", "pairwise:gradient-bound=1,eta-scale=5"] {
            let mut learner = learner(spec, &set);
            let mut r = rng(2);
            let (mut off, mut at_bounds) = (0.0_f64, 0u64);
            let mut lean = vec![0.0; 20];
            for t in 0..rounds {
                if t % 1000 == 0 {
                    lean = scaled(&unit(&mut r, 20), 0.5);
                }
                let g = plus(&lean, 0.5, &unit(&mut r, 20));
                let x = play(&mut *learner, &g);
                assert!(x.iter().all(|v| (0.0..=cap).contains(v)), "{text}");
                off = off.max((x.iter().sum::<f64>() - total).abs());
                at_bounds += x.iter().filter(|v| **v == 0.0 || **v == cap).count() as u64;
            }
            println!("{spec} on {text}: off by {off:e}, {at_bounds} entries at bounds");
            assert!(off <= 1e-12, "{spec} on {text}: off by {off:e}");
            assert!(at_bounds > rounds / 10, "{at_bounds}");
        }
    }
}

#[test]
fn on_a_fixed_quadratic_the_steps_converge() {
    for text in [
        "capped-simplex:dim=12,total=4",
        "capped-simplex:dim=30,total=15",
        "simplex:dim=15",
        "hypercube:dim=6",
    ] {
        let set = set(text);
        let (d, diameter) = (set.dim(), set.geometry().diameter);
        let mut r = rng(3);
        for _ in 0..5 {
            // G√T = 1 and g once: F(x) = ⟨g, x⟩ + ‖x − x₁‖²/(2D) from then on
            let mut learner = learner("pairwise:horizon=1,gradient-bound=1", &set);
            let g = scaled(&normals(&mut r, d), 0.4 / diameter);
            let best = project(&set, &plus(&centre(&*set), -diameter, &g));
            let at_bounds = best.iter().filter(|v| **v == 0.0 || **v == 1.0).count();
            let (mut gap, mut rounds) = (f64::INFINITY, 0);
            while gap > 1e-9 {
                learner.decide().unwrap();
                let given = if rounds == 0 { g.clone() } else { vec![0.0; d] };
                gap = learner.observe(&Gradient::dense(&given)).unwrap().gap;
                rounds += 1;
                assert!(
                    rounds < 20_000,
                    "{text}: gap {gap:e}, {at_bounds} at bounds"
                );
            }
            let apart = distance(&written(learner.decision()), &best);
            // (1/2D)‖x − best‖² ≤ gap
            assert!(apart <= (2.0 * diameter * 1e-9).sqrt(), "{text}: {apart:e}");
            println!("{text}: {rounds} rounds, {at_bounds} entries at bounds");
        }
    }
}

#[test]
fn with_many_steps_it_is_dual_averaging() {
    for keys in [
        "",
        "gradient-bound=2",
        "gradient-bound=2,horizon=100",
        "gradient-bound=2,eta-scale=3",
    ] {
        for text in ["capped-simplex:dim=6,total=2", "simplex:dim=5,total=2"] {
            let set = set(text);
            let many = format!("pairwise:steps=300,{keys}");
            let mut pairs = learner(many.trim_end_matches(','), &set);
            let exact = format!("dual-averaging:{keys}");
            let mut exact = learner(exact.trim_end_matches(':'), &set);
            let mut r = rng(4);
            for t in 0..60 {
                let g = normals(&mut r, set.dim());
                let (x, y) = (play(&mut *pairs, &g), play(&mut *exact, &g));
                let apart = distance(&x, &y);
                assert!(apart <= 1e-6, "{keys} on {text}, round {t}: {apart:e}");
            }
        }
    }
}

#[test]
fn it_promises_nothing_and_plays_corners_only() {
    let cube = set("hypercube:dim=3");
    assert!(learner("pairwise", &cube).guarantee().is_none());
    for text in [
        "capped-simplex:dim=4,total=1.5",
        "l2:dim=3",
        "l1:dim=3",
        "simplex:dim=3,at-most=true",
    ] {
        let spec: extremal::learner::LearnerSpec = "pairwise".parse().unwrap();
        let set = set(text);
        let Err(extremal::Error::CannotPlay { instead, .. }) = spec.build(&set) else {
            panic!("{text}: not refused");
        };
        for other in &instead {
            let other = other.parse::<extremal::learner::LearnerSpec>();
            other.unwrap().build(&set).unwrap();
        }
        assert_eq!(instead.contains(&"lloo"), text != "l2:dim=3", "{text}");
    }
}
