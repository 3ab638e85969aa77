//! What a Euclidean projection promises: the nearest point, from any distance.

use extremal::kernel::{dot, norm};
use extremal::set::{Projection, Set};

use crate::common::{
    NamedSet, all_sets, atom, bits, centre, distance, feasible_points, minus, normals, plus, rng,
    scaled, telling_directions,
};

fn projected(projection: &mut dyn Projection, y: &[f64]) -> Vec<f64> {
    let mut x = y.to_vec();
    projection.project(&mut x).unwrap();
    x
}

/// Points to project: inside, just outside, outside, and far beyond.
fn hard_points(set: &dyn Set, random: usize) -> Vec<Vec<f64>> {
    let mut r = rng(1);
    let (n, size, middle) = (set.dim(), set.geometry().norm_bound, centre(set));
    let random = if n > 10 { 1 } else { random };
    let mut points = vec![vec![0.0; n], middle.clone()];
    for d in telling_directions(&mut r, n, random) {
        let v = atom(set, &d);
        let out = minus(&v, &middle);
        for k in [-1e-12, 0.0, 1e-12, 1e-6] {
            points.push(plus(&v, k, &out));
        }
        for k in [0.1, 1.0, 3.0, 1e3, 1e9, 1e30, 1e50] {
            points.push(plus(&middle, k * size, &d));
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
    points
}

#[test]
fn a_projection_is_feasible_and_stays_where_it_is() {
    for NamedSet {
        name,
        set,
        precision,
        ..
    } in all_sets()
    {
        let Some(mut projection) = set.projection() else {
            continue;
        };
        let size = set.geometry().norm_bound;
        for y in hard_points(&*set, 5) {
            let x = projected(&mut *projection, &y);
            let violation = set.violation(&x).unwrap_or(0.0);
            assert!(violation <= 1e-9, "{name}: {violation:e} from {y:?}");
            let again = projected(&mut *projection, &x);
            assert!(
                distance(&x, &again) <= precision * size,
                "{name}: not idempotent at {y:?}"
            );
        }
        for y in feasible_points(&mut rng(3), &*set, 20) {
            let x = projected(&mut *projection, &y);
            assert!(
                distance(&x, &y) <= precision * size,
                "{name}: a feasible point was moved"
            );
        }
    }
}

#[test]
fn from_a_projection_the_set_lies_behind_the_plane_across_the_way() {
    for NamedSet { name, set, .. } in all_sets() {
        let Some(mut projection) = set.projection() else {
            continue;
        };
        let geometry = set.geometry();
        let others = feasible_points(&mut rng(4), &*set, 10);
        for y in hard_points(&*set, 4) {
            let x = projected(&mut *projection, &y);
            let way = minus(&y, &x);
            let far = norm(&way);
            if far <= 1e-7 * geometry.norm_bound {
                continue; // its direction is rounding
            }
            let n = scaled(&way, 1.0 / far);
            // the point of the set furthest along the way is the hardest test
            let furthest = atom(&*set, &scaled(&n, -1.0));
            for z in others.iter().chain([&furthest]) {
                let beyond = dot(&n, &minus(z, &x));
                // a way of length `far` is known to one part in 1e16·size/far
                let tolerance = 1e-9 + 1e-15 * geometry.norm_bound / far;
                assert!(
                    beyond <= tolerance * geometry.norm_bound,
                    "{name}: a point lies {beyond:e} beyond, {far:e} from the set"
                );
            }
        }
    }
}

#[test]
fn projections_bring_points_no_further_apart() {
    for NamedSet {
        name,
        set,
        precision,
        ..
    } in all_sets()
    {
        let Some(mut projection) = set.projection() else {
            continue;
        };
        let size = set.geometry().norm_bound;
        let points = hard_points(&*set, 2);
        let near: Vec<_> = points
            .iter()
            .map(|y| projected(&mut *projection, y))
            .collect();
        for i in 0..points.len() {
            for j in 0..i {
                let (before, after) = (
                    distance(&points[i], &points[j]),
                    distance(&near[i], &near[j]),
                );
                assert!(
                    after <= before * (1.0 + 1e-9) + precision * size,
                    "{name}: {before:e} apart, then {after:e}"
                );
            }
        }
    }
}

#[test]
fn a_projection_remembers_nothing() {
    for NamedSet { name, set, .. } in all_sets() {
        let Some(mut projection) = set.projection() else {
            continue;
        };
        let points = hard_points(&*set, 2);
        for (k, y) in points.iter().enumerate() {
            let warm = projected(&mut *projection, y);
            let cold = projected(&mut *set.projection().unwrap(), y);
            assert_eq!(bits(&warm), bits(&cold), "{name}, point {k}");
        }
    }
}

#[test]
fn bad_points_are_errors() {
    for NamedSet { name, set, .. } in all_sets() {
        let Some(mut projection) = set.projection() else {
            continue;
        };
        for bad in [f64::NAN, f64::INFINITY] {
            let mut x = vec![1.0; set.dim()];
            x[set.dim() / 2] = bad;
            assert!(projection.project(&mut x).is_err(), "{name}: {bad}");
        }
        assert!(
            projection.project(&mut vec![1.0; set.dim() + 1]).is_err(),
            "{name}"
        );
    }
}
