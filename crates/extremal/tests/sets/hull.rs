//! Hulls of points: how far away a point is, against sets whose distance has a closed form.

use crate::common::{
    self, atom, centre, distance, minus, normals, plus, rng, scaled, spike, uniform, unit,
};
use extremal::kernel::{dot, norm};
use extremal::set::{Set, SetSpec, hull::HullSet};
use extremal_check::kit::set;

/// The distance of x to the hull, as the violation tells it.
fn hull_distance(hull: &HullSet, x: &[f64]) -> f64 {
    hull.violation(x).unwrap() * hull.geometry().diameter
}

#[test]
fn the_distance_to_the_hull_of_a_boxs_corners_is_that_to_the_box() {
    let mut r = rng(1);
    for dim in 1..=7 {
        let width = |i: usize| 1.0 + i as f64;
        let mut points = Vec::new();
        for corner in 0..1_usize << dim {
            points.extend((0..dim).map(|i| if corner >> i & 1 == 1 { width(i) } else { 0.0 }));
        }
        let hull = HullSet::new(dim, &points).unwrap();
        for _ in 0..100 {
            let x: Vec<f64> = (0..dim)
                .map(|i| width(i) * (3.0 * uniform(&mut r) - 1.0))
                .collect();
            let inside: Vec<f64> = (0..dim).map(|i| x[i].clamp(0.0, width(i))).collect();
            let (ours, exact) = (hull_distance(&hull, &x), distance(&x, &inside));
            assert!((ours - exact).abs() <= 1e-12, "{dim}: {ours}, not {exact}");
            assert!(hull_distance(&hull, &inside) <= 1e-13);
        }
    }
}

#[test]
fn the_distance_to_the_hull_of_unit_vectors_is_that_to_the_ball_or_the_simplex() {
    let mut r = rng(7);
    for dim in [1, 2, 5, 30] {
        for (plain, signs) in [("l1", &[1.0, -1.0][..]), ("simplex", &[1.0])] {
            let corners = signs
                .iter()
                .flat_map(|s| (0..dim).map(move |i| spike(dim, i, *s)));
            let mut points: Vec<f64> = corners.flatten().collect();
            // the first corner again, and the middle of all
            points.extend(spike(dim, 0, 1.0));
            points.extend(centre(&*set(plain, dim)));
            let hull = HullSet::new(dim, &points).unwrap();
            if dim == 1 && plain == "simplex" {
                continue; // a point, whose violation is relative to its norm
            }
            let mut projection = set(plain, dim).projection().unwrap();
            for k in [0.1, 0.5, 1.0, 3.0, 1e3] {
                let x = scaled(&normals(&mut r, dim), k);
                let mut inside = x.clone();
                projection.project(&mut inside).unwrap();
                let (ours, exact) = (hull_distance(&hull, &x), distance(&x, &inside));
                let tolerance = 1e-13 * (1.0 + exact);
                assert!(
                    (ours - exact).abs() <= tolerance,
                    "{plain}: {ours}, {exact}"
                );
                let there = hull_distance(&hull, &inside);
                assert!(there <= 1e-13, "{plain}: {there:e}");
            }
        }
    }
}

#[test]
fn points_on_a_line_in_one_place_or_nearly_so_make_a_hull_as_well() {
    let mut r = rng(8);
    let (from, way) = (normals(&mut r, 5), unit(&mut r, 5));
    for wobble in [0.0, 1e-15, 1e-12, 1e-9, 1e-6] {
        let mut points = Vec::new();
        for t in [0.0, 1.0, 0.25, 0.5, 0.5, 0.75, 1.0, 0.0, 1e-9] {
            points.extend(plus(&plus(&from, t, &way), wobble, &normals(&mut r, 5)));
        }
        let hull = HullSet::new(5, &points).unwrap();
        let across = {
            let u = normals(&mut r, 5);
            let u = plus(&u, -dot(&u, &way), &way);
            scaled(&u, 1.0 / norm(&u))
        };
        for t in [-2.0, -1e-6, 0.0, 0.3, 0.5, 1.0, 1.5] {
            for side in [0.0, 1e-7, 1e-3, 2.0] {
                let x = plus(&plus(&from, t, &way), side, &across);
                let beyond = f64::max(-t, t - 1.0).max(0.0);
                let exact = side.hypot(beyond);
                let ours = hull_distance(&hull, &x);
                let tolerance = 1e-14 * (1.0 + exact) + 10.0 * wobble;
                assert!(
                    (ours - exact).abs() <= tolerance,
                    "{wobble:e}, t = {t}, {side} off: {ours:e}, not {exact:e}"
                );
            }
        }
    }
    let point = HullSet::new(2, &[3.0, 4.0, 3.0, 4.0]).unwrap();
    assert_eq!(point.violation(&[3.0, 4.0]), Some(0.0));
    assert_eq!(point.violation(&[3.0, 9.0]), Some(1.0));
    let origin = HullSet::new(2, &[0.0, 0.0]).unwrap();
    assert_eq!(origin.violation(&[0.0, 0.0]), Some(0.0));
    assert_eq!(origin.violation(&[3.0, 4.0]), Some(5.0));
}

#[test]
fn mixtures_are_inside_a_hull_and_points_beyond_a_corner_are_as_far_as_they_are() {
    let mut r = rng(9);
    for (dim, count) in [(1, 3), (2, 3), (2, 50), (3, 8), (6, 7), (6, 100), (20, 60)] {
        for size in [1e-49, 1e-3, 1.0, 1e48] {
            // long and thin, so that the points are nearly dependent
            let points: Vec<Vec<f64>> = (0..count)
                .map(|_| {
                    let p = normals(&mut r, dim);
                    let thin = |(i, v): (usize, f64)| size * v * 10f64.powi(-(i as i32 % 6));
                    p.into_iter().enumerate().map(thin).collect()
                })
                .collect();
            let hull = HullSet::new(dim, &points.concat()).unwrap();
            for used in [1, 2, dim + 1, count] {
                let mut x = vec![0.0; dim];
                let weights: Vec<f64> = (0..used).map(|_| -uniform(&mut r).ln()).collect();
                let total: f64 = weights.iter().sum();
                for (k, w) in weights.iter().enumerate() {
                    x = plus(&x, w / total, &points[(7 * k) % count]);
                }
                let violation = hull.violation(&x).unwrap();
                assert!(violation <= 1e-14, "{dim}, {count}, {size}: {violation:e}");
            }
            // along u the corner is the furthest point, and the nearest one to all beyond it
            for far in [1e-6, 1e-2, 1.0, 1e3] {
                let u = unit(&mut r, dim);
                let corner = atom(&hull, &scaled(&u, -1.0));
                let x = plus(&corner, far * size, &u);
                let exact = norm(&minus(&x, &corner));
                let ours = hull_distance(&hull, &x);
                let tolerance = 1e-13 * (size + exact);
                assert!(
                    (ours - exact).abs() <= tolerance,
                    "{dim}, {count}: {ours:e}, not {exact:e}"
                );
            }
        }
    }
}

#[test]
fn hulls_of_no_point_or_of_a_size_that_numbers_can_t_hold_are_refused_in_words() {
    let build = |text: &str| text.parse::<SetSpec>().unwrap().build(None);
    for (text, part) in [
        ("hull:points=[]", "one point or more"),
        (
            "hull:points=[[1e-200,0],[0,1e-200]]",
            "between 1e-60 and 1e60",
        ),
        ("hull:points=[[1,2],[3]]", "expected 2 entries, found 1"),
        ("hull:points=[[1e101,0],[0,0]]", "up to ±1e50"),
    ] {
        let error = build(text).err().unwrap().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    assert!(HullSet::new(2, &[]).is_err());
    assert!(HullSet::new(2, &[1.0]).is_err());
    assert!(build("hull:points=[[1e-49,0],[0,1e-49]]").is_ok());
}

#[test]
fn one_point_given_once_or_often_is_a_set_with_one_decision() {
    for text in ["hull:points=[[3,4]]", "hull:points=[[3,4],[3,4],[3,4]]"] {
        let set = text.parse::<SetSpec>().unwrap().build(None).unwrap();
        assert_eq!(set.geometry().diameter, 0.0);
        assert_eq!(set.geometry().norm_bound, 5.0);
        assert_eq!(centre(&*set), [3.0, 4.0]);
        assert_eq!(atom(&*set, &[-1.0, 7.0]), [3.0, 4.0]);
        assert_eq!(set.violation(&[3.0, 4.0]), Some(0.0));
        for (name, spec) in common::learners() {
            let Ok(mut learner) = spec.build(&set) else {
                continue;
            };
            for _ in 0..20 {
                let x = common::written(learner.decide().unwrap());
                assert!(
                    distance(&x, &[3.0, 4.0]) <= 1e-14,
                    "{name} on {text}: {x:?}"
                );
                let gradient = extremal::Gradient::dense(&[1.0, -2.0]);
                learner.observe(&gradient).unwrap();
            }
        }
    }
}

#[test]
fn points_given_twice_change_nothing_but_the_centre() {
    let mut r = rng(10);
    let points = normals(&mut r, 12);
    let twice = [&points[..], &points[..6], &points[..3]].concat();
    let (once, twice) = (
        HullSet::new(3, &points).unwrap(),
        HullSet::new(3, &twice).unwrap(),
    );
    assert_eq!(once.geometry(), twice.geometry());
    for _ in 0..50 {
        let d = normals(&mut r, 3);
        assert_eq!(atom(&once, &d), atom(&twice, &d));
        let apart = hull_distance(&once, &d) - hull_distance(&twice, &d);
        assert!(apart.abs() <= 1e-14, "{apart:e}");
    }
}
