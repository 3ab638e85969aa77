//! A set's constants: never exceeded, and nearly attained, so that neither a wrong factor nor a
//! careless margin passes.

use extremal::kernel::norm;

use crate::curvature::room;

use crate::common::{
    NamedSet, all_sets, atom, centre, distance, feasible_points, minus, normals, plus, rng, scaled,
    spike, telling_directions, unit,
};

#[test]
fn the_diameter_is_never_exceeded_and_nearly_attained() {
    for NamedSet { name, set, .. } in all_sets() {
        let diameter = set.geometry().diameter;
        let points = feasible_points(&mut rng(1), &*set, 30);
        let mut widest = 0.0_f64;
        for (i, x) in points.iter().enumerate() {
            for y in &points[..i] {
                widest = widest.max(distance(x, y));
            }
        }
        // from each pair on: the atoms furthest apart along the line through the last two
        for d in telling_directions(&mut rng(2), set.dim(), 20) {
            let mut d = d;
            for _ in 0..5 {
                let (x, y) = (atom(&*set, &d), atom(&*set, &scaled(&d, -1.0)));
                widest = widest.max(distance(&x, &y));
                d = minus(&y, &x);
            }
        }
        assert!(
            widest <= diameter + 1e-12 * set.geometry().norm_bound,
            "{name}: two points are {widest} apart, D = {diameter}"
        );
        assert!(
            widest >= 0.99 * diameter,
            "{name}: no two points found further apart than {widest}, D = {diameter}"
        );
    }
}

#[test]
fn the_norm_bound_is_never_exceeded_and_nearly_attained() {
    for NamedSet { name, set, .. } in all_sets() {
        let bound = set.geometry().norm_bound;
        let mut longest = 0.0_f64;
        for x in feasible_points(&mut rng(3), &*set, 30) {
            let mut x = x;
            for _ in 0..5 {
                longest = longest.max(norm(&x));
                x = atom(&*set, &scaled(&x, -1.0));
            }
        }
        assert!(
            longest <= bound * (1.0 + 1e-12),
            "{name}: {longest} > {bound}"
        );
        assert!(longest >= 0.99 * bound, "{name}: {longest} ≪ {bound}");
    }
}

#[test]
fn the_inner_ball_is_inside_and_no_smaller_than_it_must_be() {
    for NamedSet { name, set, .. } in all_sets() {
        let Some(radius) = set.geometry().inner_radius else {
            continue;
        };
        let (n, middle) = (set.dim(), centre(&*set));
        let mut directions = telling_directions(&mut rng(4), n, 40);
        directions.extend((0..n).flat_map(|i| [spike(n, i, 1.0), spike(n, i, -1.0)]));
        let first = |k: usize| -> Vec<f64> { (0..n).map(|i| f64::from(i < k)).collect() };
        let every = |k: usize| (0..n).map(|i| f64::from(i % k == 0)).collect();
        directions.extend((2..=n.min(5)).flat_map(|k| [first(k), every(k)]));
        let starts = directions[..n.min(10)].to_vec();
        let mut tight = false;
        for d in directions {
            let u = scaled(&d, 1.0 / norm(&d));
            let at = |k: f64| set.violation(&plus(&middle, k * radius, &u)).unwrap();
            assert!(
                at(1.0) <= 1e-12,
                "{name}: the inner ball sticks out along {u:?}"
            );
            assert!(at(0.5) <= 1e-12, "{name}");
            tight |= at(1.02) > 0.0;
        }
        // where no direction tells it, one that is looked for may
        tight = tight || room(&*set, &middle, &starts) < 1.02 * radius;
        assert!(
            tight,
            "{name}: a ball of 1.02 times the inner radius is inside too"
        );
    }
}

#[test]
fn centres_atoms_and_mixtures_are_feasible() {
    for NamedSet { name, set, .. } in all_sets() {
        for x in feasible_points(&mut rng(5), &*set, 50) {
            let violation = set.violation(&x).unwrap_or(0.0);
            assert!(violation <= 1e-9, "{name}: {violation:e} at {x:?}");
        }
    }
}

#[test]
fn violation_grows_in_proportion_to_the_way_out() {
    for NamedSet { name, set, .. } in all_sets() {
        let middle = centre(&*set);
        for d in telling_directions(&mut rng(6), set.dim(), 20) {
            let v = atom(&*set, &d);
            let out = minus(&v, &middle);
            if set.violation(&v).is_none() || norm(&out) <= 1e-6 * set.geometry().norm_bound {
                continue;
            }
            let at = |k: f64| set.violation(&plus(&v, k, &out)).unwrap();
            let (near, far) = (at(1e-3), at(1e-2));
            assert!(near > 0.0, "{name}: outside by 1e-3 and not noticed");
            let ratio = far / near;
            assert!(
                (5.0..20.0).contains(&ratio),
                "{name}: {near:e} and then {far:e}"
            );
            // relative to the set's scale: neither tiny nor huge
            assert!(
                near > 1e-6 && near < 1e-1,
                "{name}: {near:e} at 1e-3 of the way out"
            );
        }
    }
}

#[test]
fn a_point_with_nan_or_infinity_is_not_feasible() {
    for NamedSet { name, set, .. } in all_sets() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for i in [0, set.dim() - 1] {
                let mut x = centre(&*set);
                x[i] = bad;
                let violation = set.violation(&x);
                assert!(
                    violation.is_none_or(|v| !(v <= 1e-9)),
                    "{name}: {violation:?} where an entry is {bad}"
                );
            }
        }
    }
}

#[test]
fn the_gauge_is_one_on_the_boundary_and_scales() {
    for NamedSet { name, set, .. } in all_sets() {
        let n = set.dim();
        let Some(zero) = set.gauge(&vec![0.0; n]) else {
            continue;
        };
        assert_eq!(zero, 0.0, "{name}");
        for d in telling_directions(&mut rng(8), n, 20) {
            let gauge = set.gauge(&atom(&*set, &d)).unwrap();
            assert!((gauge - 1.0).abs() <= 1e-10, "{name}: {gauge} at an atom");
        }
        let mut r = rng(9);
        for size in [1e-3, 0.3, 1.0, 3.0, 1e3] {
            let x = scaled(&normals(&mut r, n), size * set.geometry().norm_bound);
            let gauge = set.gauge(&x).unwrap();
            let violation = set.violation(&x).unwrap();
            assert_eq!(
                gauge <= 1.0,
                violation == 0.0,
                "{name}: {gauge} {violation}"
            );
            for k in [1e-80, 1e-3, 2.0, 1e80] {
                let scaled_gauge = set.gauge(&scaled(&x, k)).unwrap();
                assert!(
                    (scaled_gauge / (k * gauge) - 1.0).abs() <= 1e-12,
                    "{name}: {scaled_gauge:e} for {k} times {gauge:e}"
                );
            }
            let y = unit(&mut r, n);
            let sum = set.gauge(&plus(&x, 1.0, &y)).unwrap();
            assert!(
                sum <= (gauge + set.gauge(&y).unwrap()) * (1.0 + 1e-12),
                "{name}"
            );
        }
    }
}

#[test]
fn an_inspector_says_what_the_set_says_whatever_was_asked_before() {
    for NamedSet { name, set, .. } in all_sets() {
        let Some(mut inspect) = set.inspector() else {
            continue;
        };
        for x in feasible_points(&mut rng(8), &*set, 10) {
            for k in [1.0, 3.0, -0.5] {
                let x = scaled(&x, k);
                assert_eq!(inspect(&x), set.violation(&x), "{name}: {x:?}");
            }
        }
    }
}
