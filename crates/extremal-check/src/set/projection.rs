//! The laws of Euclidean projections. A projection returns the point of the set that is nearest to a
//! given point, at any distance.

use extremal::set::Projection;

use super::{FEASIBLE, Sample};
use crate::kit::{
    bits, distance, dot, max_abs, minus, norm, normals, plus, rng, scaled, telling_directions,
};
use crate::report::{Law, Verdict, ensure, show};

pub(crate) fn laws<'a>() -> Vec<Law<Sample<'a>>> {
    vec![
        (
            "a projection is feasible, and projecting it again does not move it",
            feasible,
        ),
        (
            "every point of the set has ⟨y − p, u − p⟩ ≤ 0 for the projection p of y",
            nearest,
        ),
        (
            "the distance between two projections is at most the distance between the points",
            no_farther_apart,
        ),
        ("a projection does not depend on earlier calls", same_bits),
        (
            "NaN, ∞ and a wrong length are errors of the projection",
            bad_points,
        ),
    ]
}

fn projected(projection: &mut dyn Projection, y: &[f64]) -> Verdict<Vec<f64>> {
    let mut x = y.to_vec();
    projection.project(&mut x)?;
    Ok(x)
}

/// Points to project. They lie inside the set, near the set, and far away.
fn hard_points(sample: &Sample<'_>, random: usize) -> Verdict<Vec<Vec<f64>>> {
    let mut r = rng(1);
    let (n, middle) = (sample.set.dim(), &sample.centre);
    let random = if n > 10 { 1 } else { random };
    let mut points = vec![vec![0.0; n], middle.clone()];
    for d in telling_directions(&mut r, n, random) {
        let v = sample.atom(&d)?;
        let out = minus(&v, middle);
        for k in [-1e-12, 0.0, 1e-12, 1e-6] {
            points.push(plus(&v, k, &out));
        }
        for k in [0.1, 1.0, 3.0, 1e3, 1e9, 1e30, 1e50] {
            points.push(plus(middle, k * sample.size, &d));
        }
        for size in [1e80, 1e100] {
            points.push(scaled(&d, size / max_abs(&d)));
        }
    }
    for _ in 0..random {
        let wide = normals(&mut r, n)
            .iter()
            .map(|v| v.signum() * (10.0 * v).exp())
            .collect();
        points.push(wide);
    }
    points.retain(|y| y.iter().all(|v| v.is_finite()));
    Ok(points)
}

fn feasible(sample: &Sample<'_>) -> Verdict {
    let Some(mut projection) = sample.set.projection() else {
        return Ok(());
    };
    let tolerance = sample.check.projection * sample.size;
    for y in hard_points(sample, 5)? {
        let x = projected(&mut *projection, &y)?;
        let violation = sample.set.violation(&x).unwrap_or(0.0);
        ensure!(
            violation <= FEASIBLE,
            "{} is projected to {}, which has violation {violation:e}",
            show(&y),
            show(&x)
        );
        let again = projected(&mut *projection, &x)?;
        ensure!(
            distance(&x, &again) <= tolerance,
            "{} is projected to {}, which is projected to {}",
            show(&y),
            show(&x),
            show(&again)
        );
    }
    for y in &sample.points {
        let x = projected(&mut *projection, y)?;
        ensure!(
            distance(&x, y) <= tolerance,
            "{} is in the set, but is projected to {}",
            show(y),
            show(&x)
        );
    }
    Ok(())
}

fn nearest(sample: &Sample<'_>) -> Verdict {
    let Some(mut projection) = sample.set.projection() else {
        return Ok(());
    };
    for y in hard_points(sample, 4)? {
        let x = projected(&mut *projection, &y)?;
        let way = minus(&y, &x);
        let far = norm(&way);
        if far <= 1e-7 * sample.size {
            continue; // the direction of y − p is a rounding error
        }
        let n = scaled(&way, 1.0 / far);
        // the point of the set that is farthest along y − p is the hardest test
        let (_, end) = sample.furthest(&n)?;
        for z in sample.points.iter().chain([&end]) {
            let beyond = dot(&n, &minus(z, &x));
            // the direction of a vector of length `far` has a relative error of 1e-16·size/far
            let tolerance = 0.1 * sample.check.projection.max(1e-8) + 1e-15 * sample.size / far;
            ensure!(
                beyond <= tolerance * sample.size,
                "{} is projected to {}, but {} lies {beyond:e} nearer in the direction of the projection",
                show(&y),
                show(&x),
                show(z)
            );
        }
    }
    Ok(())
}

fn no_farther_apart(sample: &Sample<'_>) -> Verdict {
    let Some(mut projection) = sample.set.projection() else {
        return Ok(());
    };
    let points = hard_points(sample, 2)?;
    let mut near = Vec::new();
    for y in &points {
        near.push(projected(&mut *projection, y)?);
    }
    for i in 0..points.len() {
        for j in 0..i {
            let before = distance(&points[i], &points[j]);
            let after = distance(&near[i], &near[j]);
            ensure!(
                after <= before * (1.0 + 1e-9) + sample.check.projection * sample.size,
                "{} and {} are {before:e} apart; their projections are {after:e} apart",
                show(&points[i]),
                show(&points[j])
            );
        }
    }
    Ok(())
}

fn same_bits(sample: &Sample<'_>) -> Verdict {
    let Some(mut used) = sample.set.projection() else {
        return Ok(());
    };
    for y in hard_points(sample, 2)? {
        let Some(mut fresh) = sample.set.projection() else {
            return Ok(());
        };
        let (one, other) = (projected(&mut *used, &y)?, projected(&mut *fresh, &y)?);
        ensure!(
            bits(&one) == bits(&other),
            "{} is projected to {} after earlier calls, and to {} by a new projection",
            show(&y),
            show(&one),
            show(&other)
        );
    }
    Ok(())
}

fn bad_points(sample: &Sample<'_>) -> Verdict {
    let Some(mut projection) = sample.set.projection() else {
        return Ok(());
    };
    let n = sample.set.dim();
    for bad in [f64::NAN, f64::INFINITY] {
        let mut x = vec![1.0; n];
        x[n / 2] = bad;
        let outcome = projection.project(&mut x);
        ensure!(outcome.is_err(), "a point with {bad} is accepted");
    }
    let outcome = projection.project(&mut vec![1.0; n + 1]);
    ensure!(
        outcome.is_err(),
        "a point with {} entries is accepted in dimension {n}",
        n + 1
    );
    Ok(())
}
