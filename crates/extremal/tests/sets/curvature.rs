//! The strong-convexity constant α: for x, y in the set the ball of radius
//! γ(1−γ)(α/2)‖x−y‖² around γx + (1−γ)y lies inside. How large a ball around m fits is the
//! minimum of h(n) − ⟨n, m⟩ over unit n, h the support function; any n bounds it from above, so
//! that a ball that does not fit is a proof, not a suspicion.

use extremal::kernel::{dot, max_abs, norm};
use extremal::set::{CurvatureKind, Set};

use crate::common::{
    NamedSet, all_sets, atom, distance, minus, normals, plus, rng, scaled, sets, spike, support,
    telling_directions,
};

fn normalised(a: &[f64]) -> Option<Vec<f64>> {
    let size = norm(a);
    (size > 1e-12).then(|| scaled(a, 1.0 / size))
}

/// How large a ball around m fits, from above: from each start down the slope v(n) − m.
pub fn room(set: &dyn Set, m: &[f64], starts: &[Vec<f64>]) -> f64 {
    let mut best = f64::INFINITY;
    for start in starts {
        let Some(mut n) = normalised(start) else {
            continue;
        };
        let mut here = support(set, &n) - dot(&n, m);
        let mut step = 1.0;
        for _ in 0..25 {
            let v = atom(set, &scaled(&n, -1.0));
            let slope = minus(&v, m);
            let Some(next) = normalised(&plus(&n, -step / norm(&slope).max(1e-300), &slope)) else {
                break;
            };
            let there = support(set, &next) - dot(&next, m);
            if there < here {
                (n, here) = (next, there);
            } else {
                step *= 0.5;
            }
        }
        best = best.min(here);
    }
    best
}

/// Two points of the boundary, and directions normal to the set near their middle.
struct Chord {
    x: Vec<f64>,
    y: Vec<f64>,
    starts: Vec<Vec<f64>>,
}

fn chords(set: &dyn Set, random: usize) -> Vec<Chord> {
    let n = set.dim();
    let mut r = rng(1);
    let directions = telling_directions(&mut r, n, random);
    let mut all = Vec::new();
    let mut add = |a: &[f64], b: &[f64]| {
        let (x, y) = (atom(set, a), atom(set, b));
        let starts = vec![
            scaled(a, -1.0),
            scaled(b, -1.0),
            scaled(&plus(a, 1.0, b), -1.0),
            plus(&x, 1.0, &y),
        ];
        all.push(Chord { x, y, starts });
    };
    for d in &directions {
        add(d, &normals(&mut r, n));
        for k in [1e-3, 1e-1, 1.0] {
            add(d, &plus(d, k, &normals(&mut r, n)));
        }
        add(d, &scaled(d, -1.0));
    }
    // one large coordinate and many small equal ones, the small ones turned over
    for ratio in [
        1.0, 0.97, 0.9, 0.8, 0.7, 0.6, 0.5, 0.35, 0.2, 0.1, 0.05, 0.02,
    ] {
        let mut d = vec![ratio; n];
        d[0] = 1.0;
        let mut turned = scaled(&d, -1.0);
        turned[0] = 1.0;
        add(&d, &turned);
        add(&d, &spike(n, 0, 1.0));
    }
    all
}

/// The largest share of the room that a ball of the declared size takes up; above 1 the
/// constant is wrong.
fn worst_share(set: &dyn Set, alpha: f64, random: usize) -> f64 {
    let mut worst = 0.0_f64;
    for Chord { x, y, starts } in chords(set, random) {
        let apart = distance(&x, &y);
        if apart < 1e-4 * set.geometry().diameter {
            continue; // rounding would decide
        }
        for gamma in [0.02, 0.5, 0.9] {
            let m = plus(&scaled(&x, gamma), 1.0 - gamma, &y);
            let ball = gamma * (1.0 - gamma) * 0.5 * alpha * apart * apart;
            if ball < 1e-10 * set.geometry().diameter {
                continue; // so small a ball is lost in rounding
            }
            worst = worst.max(ball / room(set, &m, &starts));
        }
    }
    worst
}

#[test]
fn every_strongly_convex_set_has_room_for_its_constant() {
    for NamedSet { name, set, .. } in all_sets() {
        if let Some(alpha) = set.geometry().strong_convexity {
            let share = worst_share(&*set, alpha, if set.dim() > 10 { 1 } else { 6 });
            assert!(
                share <= 1.0 + 1e-6,
                "{name}: α = {alpha} is {share} times too large"
            );
            println!("{name}: α takes up {share:.3} of the room");
        }
    }
}

#[test]
fn a_constant_four_times_too_large_would_be_noticed_on_every_ball() {
    let small = [2, 10].into_iter().flat_map(sets);
    // near p = 1 the constant itself is 4.6 times too small in dimension 100
    let large = sets(100)
        .into_iter()
        .filter(|s| s.name.starts_with("lp:p=1.5") || s.name.starts_with("l2"));
    let balls = small.chain(large).filter(|s| {
        let names = ["l2", "lp", "ellipsoid", "group", "elastic-net"];
        names.iter().any(|name| s.name.starts_with(name))
    });
    for NamedSet { name, set, .. } in balls {
        if let Some(alpha) = set.geometry().strong_convexity {
            let share = worst_share(&*set, 4.0 * alpha, 3);
            assert!(share > 1.0, "{name}: 4α only takes up {share} of the room");
        }
    }
}

/// ½h² is L-smooth: h(a)² + 2⟨h(a)v(a), b⟩ + L‖b‖_q² ≥ h(a+b)² for all a, b.
#[test]
fn the_support_function_is_as_smooth_as_the_set_says() {
    let mut r = rng(2);
    for NamedSet { name, set, .. } in all_sets() {
        let Some(curvature) = set.curvature() else {
            continue;
        };
        let n = set.dim();
        let middle = crate::common::centre(&*set);
        let h = |d: &[f64]| support(&*set, d) - dot(d, &middle);
        let q = curvature.gradient_norm;
        let norm_q = |b: &[f64]| {
            let top = max_abs(b);
            let sum: f64 = b.iter().map(|v| (v.abs() / top).powf(q)).sum();
            top * sum.powf(1.0 / q)
        };
        for a in telling_directions(&mut r, n, 5) {
            let width = (h(&a) + h(&scaled(&a, -1.0))) / norm_q(&a);
            assert!(
                width <= curvature.width * (1.0 + 1e-9),
                "{name}: width {width}"
            );
            for size in [1e-2, 1.0, 10.0] {
                let b = scaled(&normals(&mut r, n), size);
                let v = minus(&atom(&*set, &scaled(&a, -1.0)), &middle);
                let (before, after) = (h(&a), h(&plus(&a, 1.0, &b)));
                let slope = dot(&v, &b);
                let (grown, allowed) = match curvature.kind {
                    CurvatureKind::Smooth { l } => {
                        let curve = 0.5 * l * norm_q(&b).powi(2);
                        (
                            0.5 * after * after,
                            0.5 * before * before + before * slope + curve,
                        )
                    }
                    CurvatureKind::Uniform { q, radius } => {
                        let curve = (2.0 - q).exp2() / q * (radius * norm_q(&b)).powf(q);
                        let lifted = before.powf(q) / q + before.powf(q - 1.0) * slope + curve;
                        (after.powf(q) / q, lifted)
                    }
                };
                let scale = before.abs().max(after.abs()).powi(2);
                assert!(
                    grown <= allowed + 1e-10 * scale,
                    "{name}: {grown} > {allowed} at size {size}"
                );
            }
        }
    }
}
