//! The strong-convexity constant α: for x and y in the set, the ball of radius
//! γ(1−γ)(α/2)‖x−y‖² around γx + (1−γ)y lies in the set. The largest ball around m that lies in the set
//! has the radius min (h(n) − ⟨n, m⟩), where n is a unit vector and h is the support function. Every n
//! gives an upper bound on this radius. The bound proves that a larger ball does not lie in the set.

use extremal::set::CurvatureKind;

use super::Sample;
use crate::kit::{
    distance, dot, minus, norm, norm_p, normals, plus, rng, scaled, spike, telling_directions,
};
use crate::report::{Law, Verdict, ensure, show};

pub(crate) fn laws<'a>() -> Vec<Law<Sample<'a>>> {
    vec![
        ("the set is as strongly convex as its constant", |sample| {
            let Some(alpha) = sample.geometry.strong_convexity else {
                return Ok(());
            };
            let share = worst_share(sample, alpha)?;
            ensure!(
                share.times <= 1.0 + 1e-6,
                "α = {alpha} implies that a ball around {}, between {} and {}, lies in the set; the largest such ball has only {:.3} of this radius",
                show(&share.middle),
                show(&share.x),
                show(&share.y),
                1.0 / share.times
            );
            Ok(())
        }),
        (
            "the support function is as smooth as the set's curvature",
            smooth_support,
        ),
    ]
}

fn normalised(a: &[f64]) -> Option<Vec<f64>> {
    let size = norm(a);
    (size > 1e-12).then(|| scaled(a, 1.0 / size))
}

/// An upper bound on the radius of the largest ball around m. Descent along v(n) − m from each start
/// finds the bound.
pub(super) fn room(sample: &Sample<'_>, m: &[f64], starts: &[Vec<f64>]) -> Verdict<f64> {
    let mut best = f64::INFINITY;
    for start in starts {
        let Some(mut n) = normalised(start) else {
            continue;
        };
        let (end, mut v) = sample.furthest(&n)?;
        let mut here = end - dot(&n, m);
        let mut step = 1.0;
        for _ in 0..25 {
            let slope = minus(&v, m);
            let Some(next) = normalised(&plus(&n, -step / norm(&slope).max(1e-300), &slope)) else {
                break;
            };
            let (end, atom) = sample.furthest(&next)?;
            let there = end - dot(&next, m);
            if there < here {
                (n, here, v) = (next, there, atom);
            } else {
                step *= 0.5;
            }
        }
        best = best.min(here);
    }
    Ok(best)
}

/// Two boundary points, and directions that are almost normal to the boundary near their midpoint.
struct Chord {
    x: Vec<f64>,
    y: Vec<f64>,
    starts: Vec<Vec<f64>>,
}

fn chords(sample: &Sample<'_>) -> Verdict<Vec<Chord>> {
    let n = sample.set.dim();
    let mut r = rng(1);
    let directions = telling_directions(&mut r, n, if n > 10 { 1 } else { 6 });
    let mut all = Vec::new();
    let mut add = |a: &[f64], b: &[f64]| -> Verdict {
        let (x, y) = (sample.atom(a)?, sample.atom(b)?);
        let starts = vec![
            scaled(a, -1.0),
            scaled(b, -1.0),
            scaled(&plus(a, 1.0, b), -1.0),
            plus(&x, 1.0, &y),
        ];
        all.push(Chord { x, y, starts });
        Ok(())
    };
    for d in &directions {
        add(d, &normals(&mut r, n))?;
        for k in [1e-3, 1e-1, 1.0] {
            add(d, &plus(d, k, &normals(&mut r, n)))?;
        }
        add(d, &scaled(d, -1.0))?;
    }
    // one large coordinate and many small equal coordinates; the second direction negates the small
    // ones
    for ratio in [
        1.0, 0.97, 0.9, 0.8, 0.7, 0.6, 0.5, 0.35, 0.2, 0.1, 0.05, 0.02,
    ] {
        let mut d = vec![ratio; n];
        d[0] = 1.0;
        let mut turned = scaled(&d, -1.0);
        turned[0] = 1.0;
        add(&d, &turned)?;
        add(&d, &spike(n, 0, 1.0))?;
    }
    Ok(all)
}

/// A ball of the size that α implies, around a point of the chord from x to y.
#[derive(Default)]
struct Share {
    /// The ratio of the ball's radius to the largest radius. The ball is too large if this ratio
    /// exceeds 1.
    times: f64,
    middle: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
}

/// The ball with the largest ratio.
fn worst_share(sample: &Sample<'_>, alpha: f64) -> Verdict<Share> {
    let mut worst = Share::default();
    let diameter = 2.0 * sample.size;
    for Chord { x, y, starts } in chords(sample)? {
        let apart = distance(&x, &y);
        if apart < 1e-4 * diameter {
            continue; // the result would be a rounding error
        }
        for gamma in [0.02, 0.5, 0.9] {
            let middle = plus(&scaled(&x, gamma), 1.0 - gamma, &y);
            let ball = gamma * (1.0 - gamma) * 0.5 * alpha * apart * apart;
            if ball < 1e-10 * diameter {
                continue; // this ball is as small as rounding errors
            }
            let times = ball / room(sample, &middle, &starts)?;
            if times > worst.times {
                worst = Share {
                    times,
                    middle,
                    x: x.clone(),
                    y: y.clone(),
                };
            }
        }
    }
    Ok(worst)
}

/// ½h² is L-smooth: h(a)² + 2⟨h(a)v(a), b⟩ + L‖b‖_q² ≥ h(a+b)² for all a, b.
fn smooth_support(sample: &Sample<'_>) -> Verdict {
    let Some(curvature) = sample.set.curvature() else {
        return Ok(());
    };
    let (n, middle, q) = (sample.set.dim(), &sample.centre, curvature.gradient_norm);
    let h = |d: &[f64]| -> Verdict<f64> { Ok(sample.furthest(d)?.0 - dot(d, middle)) };
    let mut r = rng(2);
    for a in telling_directions(&mut r, n, 5) {
        let width = (h(&a)? + h(&scaled(&a, -1.0))?) / norm_p(&a, q);
        ensure!(
            width <= curvature.width * (1.0 + 1e-9),
            "along {} the width is {width}; the curvature allows {}",
            show(&a),
            curvature.width
        );
        for size in [1e-2, 1.0, 10.0] {
            let b = scaled(&normals(&mut r, n), size);
            let v = minus(&sample.atom(&scaled(&a, -1.0))?, middle);
            let (before, after) = (h(&a)?, h(&plus(&a, 1.0, &b))?);
            let slope = dot(&v, &b);
            let (grown, allowed) = match curvature.kind {
                CurvatureKind::Smooth { l } => {
                    let curve = 0.5 * l * norm_p(&b, q).powi(2);
                    let start = 0.5 * before * before;
                    (0.5 * after * after, start + before * slope + curve)
                }
                CurvatureKind::Uniform { q, radius } => {
                    let curve = (2.0 - q).exp2() / q * (radius * norm_p(&b, q)).powf(q);
                    let lifted = before.powf(q) / q + before.powf(q - 1.0) * slope + curve;
                    (after.powf(q) / q, lifted)
                }
            };
            let scale = before.abs().max(after.abs()).powi(2);
            ensure!(
                grown <= allowed + 1e-10 * scale,
                "from {}, a step of {} increases the power of the support function to {grown}; {curvature:?} allows {allowed}",
                show(&a),
                show(&b)
            );
        }
    }
    Ok(())
}
