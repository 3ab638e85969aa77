//! The constants of a set must never be exceeded. Exact constants must almost be attained, so that the
//! test finds wrong factors and wide margins.

use super::{FEASIBLE, Sample};
use crate::kit::{distance, dot, minus, norm, plus, rng, scaled, spike, telling_directions};
use crate::report::{Law, Verdict, ensure, show};

pub(crate) fn laws<'a>() -> Vec<Law<Sample<'a>>> {
    vec![
        ("the centre lies inside", centre),
        ("no distance of two points exceeds the diameter", |s| {
            diameter(s).map(|_| ())
        }),
        ("no point has a norm above the norm bound", |s| {
            norm_bound(s).map(|_| ())
        }),
        (
            "the ball of the inner radius around the centre lies inside",
            |s| inner_ball(s).map(|_| ()),
        ),
        (
            "a set that grows keeps its diameter, and keeps its points with 0 in the new entries",
            grown,
        ),
    ]
}

pub(crate) fn exact_laws<'a>() -> Vec<Law<Sample<'a>>> {
    vec![
        ("the diameter is attained", |s| {
            let (widest, stated) = (diameter(s)?, s.geometry.diameter);
            ensure!(
                widest >= 0.99 * stated,
                "no two points were found farther apart than {widest}; the diameter is {stated}"
            );
            Ok(())
        }),
        ("the norm bound is attained", |s| {
            let (longest, stated) = (norm_bound(s)?, s.geometry.norm_bound);
            ensure!(
                longest >= 0.99 * stated,
                "no point was found with a norm above {longest}; the norm bound is {stated}"
            );
            Ok(())
        }),
        ("no larger ball around the centre lies inside", |s| {
            let Some(largest) = inner_ball(s)? else {
                return Ok(());
            };
            let stated = s.geometry.inner_radius.unwrap_or(0.0);
            ensure!(
                largest < 1.02 * stated,
                "a ball of radius {largest} may lie inside; the inner radius is {stated}"
            );
            Ok(())
        }),
    ]
}

fn centre(sample: &Sample<'_>) -> Verdict {
    sample.check_inside("the centre", &sample.centre)
}

/// The largest distance found between two points.
fn diameter(sample: &Sample<'_>) -> Verdict<f64> {
    let stated = sample.geometry.diameter;
    let mut widest = (0.0, Vec::new(), Vec::new());
    let mut note = |x: &[f64], y: &[f64]| {
        let apart = distance(x, y);
        if apart > widest.0 {
            widest = (apart, x.to_vec(), y.to_vec());
        }
    };
    for (i, x) in sample.points.iter().enumerate() {
        for y in &sample.points[..i] {
            note(x, y);
        }
    }
    // from each starting direction, the next direction is the line through the last two atoms
    for mut d in telling_directions(&mut rng(2), sample.set.dim(), 20) {
        for _ in 0..5 {
            let (x, y) = (sample.atom(&d)?, sample.atom(&scaled(&d, -1.0))?);
            note(&x, &y);
            d = minus(&y, &x);
        }
    }
    let (apart, x, y) = widest;
    ensure!(
        apart <= stated + 1e-12 * sample.size,
        "{} and {} are {apart} apart; the diameter is {stated}",
        show(&x),
        show(&y)
    );
    Ok(apart)
}

/// The largest norm found for a point.
fn norm_bound(sample: &Sample<'_>) -> Verdict<f64> {
    let stated = sample.geometry.norm_bound;
    let mut longest = (0.0, Vec::new());
    for x in &sample.points {
        let mut x = x.clone();
        for _ in 0..5 {
            let farther = sample.atom(&scaled(&x, -1.0))?;
            if norm(&x) > longest.0 {
                longest = (norm(&x), x);
            }
            x = farther;
        }
    }
    let (length, x) = longest;
    ensure!(
        length <= stated * (1.0 + 1e-12),
        "{} has norm {length}; the norm bound is {stated}",
        show(&x)
    );
    Ok(length)
}

/// An upper bound on the inner radius, if the set states one. For every unit vector n, the distance
/// from the centre to the supporting plane with normal n is such a bound.
fn inner_ball(sample: &Sample<'_>) -> Verdict<Option<f64>> {
    let Some(stated) = sample.geometry.inner_radius else {
        return Ok(None);
    };
    let (n, middle) = (sample.set.dim(), &sample.centre);
    let mut directions = telling_directions(&mut rng(4), n, 40);
    directions.extend((0..n).flat_map(|i| [spike(n, i, 1.0), spike(n, i, -1.0)]));
    let first = |k: usize| -> Vec<f64> { (0..n).map(|i| f64::from(i < k)).collect() };
    let every = |k: usize| (0..n).map(|i| f64::from(i % k == 0)).collect();
    directions.extend((2..=n.min(5)).flat_map(|k| [first(k), every(k)]));
    let starts = directions[..n.min(10)].to_vec();
    let mut least = f64::INFINITY;
    for d in &directions {
        let u = scaled(d, 1.0 / norm(d));
        let room = sample.furthest(&u)?.0 - dot(&u, middle);
        least = least.min(room);
        ensure!(
            room >= stated - sample.check.oracle * sample.size,
            "along {} the set's boundary is {room} from the centre; the inner radius is {stated}",
            show(&u)
        );
        for k in [0.5, 1.0] {
            let x = plus(middle, k * stated, &u);
            let violation = sample.set.violation(&x).unwrap_or(0.0);
            ensure!(
                violation <= FEASIBLE.min(sample.check.oracle),
                "{} is {k} times the inner radius {stated} from the centre and has violation \
                 {violation:e}",
                show(&x)
            );
        }
        if sample.set.violation(&plus(middle, 1.02 * stated, &u)) > Some(0.0) {
            least = least.min(1.01 * stated);
        }
    }
    if least >= 1.02 * stated {
        // These directions may not be decisive. A search therefore starts from these directions, and
        // from the normals of the facets that they intersect.
        let normals = starts.iter().filter_map(|start| {
            let mut normal = vec![0.0; start.len()];
            sample.set.gauge_gradient(start, &mut normal)?;
            Some(normal)
        });
        let starts: Vec<_> = starts.iter().cloned().chain(normals).collect();
        least = least.min(super::convexity::room(sample, middle, &starts)?);
    }
    Ok(Some(least))
}

fn grown(sample: &Sample<'_>) -> Verdict {
    let dim = sample.set.dim() + 3;
    let Some(grown) = sample.set.grown(dim) else {
        return Ok(());
    };
    let (now, then) = (sample.geometry.diameter, grown.geometry().diameter);
    ensure!(
        grown.dim() == dim && then == now,
        "grown to dimension {dim}, the set has dimension {} and diameter {then}, not {now}",
        grown.dim()
    );
    for x in &sample.points {
        let mut x = x.clone();
        x.resize(dim, 0.0);
        let violation = grown.violation(&x).unwrap_or(0.0);
        ensure!(
            violation <= FEASIBLE,
            "{} has violation {violation:e} in dimension {dim}",
            show(&x)
        );
    }
    Ok(())
}
