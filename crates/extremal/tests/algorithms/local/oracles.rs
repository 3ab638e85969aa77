//! The two properties of a local oracle, and the facial distances they rest on.

use extremal::kernel::{dot, norm};
use extremal::learner::rivals::few_calls::lloo::local_oracle::LocalOracle;
use extremal::set::{Atom, Set, SharedSet, hull::HullSet};
use extremal::solver::ActiveSet;
use rand_chacha::ChaCha8Rng;

use super::{facial_distance, learner, play, project, rho, set};
use crate::common::{
    atom, centre, distance, minus, normals, plus, rng, scaled, soak, uniform, written,
};

/// The set's vertices and, of many directions, which of them are best.
fn faces(set: &dyn Set) -> (Vec<Vec<f64>>, Vec<Vec<bool>>) {
    let d = set.dim();
    let mut directions = Vec::new();
    for k in 0..5usize.pow(d as u32) {
        let digit = |i: usize| (k / 5usize.pow(i as u32) % 5) as f64 - 2.0;
        directions.push((0..d).map(digit).collect::<Vec<_>>());
    }
    let mut r = rng(3);
    let mut vertices: Vec<Vec<f64>> = Vec::new();
    for _ in 0..3000 {
        let v = atom(set, &normals(&mut r, d));
        if !vertices.contains(&v) {
            vertices.push(v);
        }
    }
    let face = |c: &Vec<f64>| -> Vec<bool> {
        let costs: Vec<f64> = vertices.iter().map(|v| dot(v, c)).collect();
        let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
        costs.iter().map(|cost| *cost <= least + 1e-9).collect()
    };
    let faces = directions.iter().map(face).collect();
    (vertices, faces)
}

#[test]
fn facial_distances_are_the_least_between_a_face_and_the_other_vertices() {
    for (text, exact) in [
        ("simplex:dim=2", true),
        ("simplex:dim=3,total=2", true),
        ("simplex:dim=4", true),
        ("simplex:dim=5,total=0.5", true),
        ("simplex:dim=1,at-most=true", true),
        ("simplex:dim=3,at-most=true,total=3", true),
        ("hypercube:dim=1", true),
        ("hypercube:dim=3,radius=2", true),
        ("hypercube:dim=4,radius=0.5,centred=true", true),
        ("l1:dim=1", true),
        ("l1:dim=2,radius=3", true),
        ("l1:dim=4", true),
        ("box:lower=[0,-1,2],upper=[1,2,2.5]", true),
        ("box:lower=[0,-1,2],upper=[1,-1,2.5]", true),
        ("capped-simplex:dim=2", true),
        ("capped-simplex:dim=4", true),
        ("capped-simplex:dim=4,total=2", true),
        ("capped-simplex:dim=5,total=2", true),
        ("capped-simplex:dim=5,total=4", true),
        ("capped-simplex:dim=4,total=0.3", true),
        ("capped-simplex:dim=4,total=3.7", true),
        ("capped-simplex:dim=4,total=1.5", false),
        ("capped-simplex:dim=5,total=2.2", false),
        ("product:sets=[(l1:dim=2),(simplex:dim=2,total=2)]", true),
        ("translate:by=0.5,set=(l1:dim=3)", true),
        ("scale:by=3,set=(simplex:dim=3)", true),
    ] {
        let set = set(text);
        let d = set.dim();
        let (vertices, faces) = faces(&*set);
        let mut least = f64::INFINITY;
        for face in faces {
            let mut apart = Vec::new();
            for (u, _) in vertices.iter().zip(&face).filter(|(_, is_in)| **is_in) {
                for (v, _) in vertices.iter().zip(&face).filter(|(_, is_in)| !**is_in) {
                    apart.extend(minus(u, v));
                }
            }
            if !apart.is_empty() {
                // the distance of 0 from all differences, in units of their diameter
                let hull = HullSet::new(d, &apart).unwrap();
                let g = hull.geometry();
                let unit = [g.diameter, g.norm_bound].into_iter().find(|s| *s > 0.0);
                least = least.min(hull.violation(&vec![0.0; d]).unwrap() * unit.unwrap());
            }
        }
        let told = facial_distance(&set);
        println!("{text}: {told}, found {least}");
        assert!(told <= least * (1.0 + 1e-7), "{text}: {told} > {least}");
        assert!(!exact || told >= least * (1.0 - 1e-7), "{text}: {told}");
    }
}

/// The best point for c at distance r or less from x: Π(x − sc) for the largest such s.
fn best_near(set: &SharedSet, x: &[f64], c: &[f64], r: f64) -> Vec<f64> {
    let at = |s: f64| project(set, &plus(x, -s, c));
    let (mut low, mut high) = (0.0, 1.0);
    while distance(&at(high), x) <= r && high < 1e6 {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if distance(&at(middle), x) <= r {
            low = middle;
        } else {
            high = middle;
        }
    }
    at(low)
}

fn check_local(name: &str, set: &SharedSet, x: &[f64], c: &[f64], r: f64, way: &[f64]) -> f64 {
    let size = set.geometry().norm_bound;
    let p = plus(x, 1.0, way);
    let violation = set.violation(&p).unwrap();
    assert!(violation <= 1e-12, "{name}: violation {violation:e}");
    let (length, most) = (norm(way), rho(set) * r);
    assert!(length <= most + 1e-12 * size, "{name}: {length} > {most}");
    let y = best_near(set, x, c, r);
    let beyond = dot(c, &p) - dot(c, &y);
    assert!(beyond <= 1e-9 * size * norm(c), "{name}: {beyond:e} worse");
    beyond
}

fn some_radius(r: &mut ChaCha8Rng, set: &SharedSet) -> f64 {
    set.geometry().diameter * 10f64.powf(-3.0 * uniform(r))
}

fn point(active: &ActiveSet, dim: usize) -> Vec<f64> {
    let mut x = vec![f64::NAN; dim];
    active.write(&mut x);
    x
}

#[test]
fn the_simplex_oracle_is_as_good_as_any_point_near() {
    let mut r = rng(1);
    for (d, total, at_most) in [
        (2, 1.0, false),
        (5, 3.0, false),
        (16, 1.0, false),
        (1, 2.0, true),
        (4, 1.0, true),
        (9, 0.1, true),
    ] {
        let text = format!("simplex:dim={d},total={total},at-most={at_most}");
        let set = set(&text);
        let mut local = LocalOracle::new(&*set);
        for k in 0..300 {
            // at corners, on faces and inside
            let spread = normals(&mut r, d).iter().map(|v| v * v).collect::<Vec<_>>();
            let x = project(&set, &scaled(&spread, total * [0.1, 0.5, 3.0][k % 3]));
            let c = normals(&mut r, d);
            let radius = some_radius(&mut r, &set);
            let mut way = vec![f64::NAN; d];
            let share = radius / facial_distance(&set);
            let active = ActiveSet::start(&set, Some(&x)).unwrap();
            assert!(distance(&point(&active, d), &x) <= 1e-15 * total, "{text}");
            let value = local.find(&c).unwrap().value;
            local.withdraw_mass(&active, &c, share, &mut way);
            assert!((value - dot(&c, &atom(&*set, &c))).abs() <= 1e-12 * total);
            check_local(&text, &set, &x, &c, radius, &way);
        }
        if d == 1 || at_most {
            continue;
        }
        // half of the mass has to go to the other half: here the share is just enough
        let half = |i: usize| if 2 * i < d { 1.0 } else { 0.0 };
        let c: Vec<f64> = (0..d).map(half).collect();
        let held = c.iter().sum::<f64>();
        let x = scaled(&c, total / held);
        let other: Vec<f64> = c.iter().map(|v| 1.0 - v).collect();
        let y = scaled(&other, total / (d as f64 - held));
        let near = plus(&scaled(&x, 0.75), 0.25, &y);
        let share = distance(&near, &x) / facial_distance(&set);
        assert!((share - 0.25).abs() < 1e-12, "{text}: {share}");
    }
}

#[test]
fn the_active_set_is_as_good_as_any_point_near_and_stays_small() {
    let mut r = rng(2);
    let rounds = if soak() { 20_000 } else { 400 };
    for text in [
        "simplex:dim=6,total=2",
        "simplex:dim=5,at-most=true",
        "hypercube:dim=6",
        "hypercube:dim=9,radius=3,centred=true",
        "capped-simplex:dim=8,total=3",
        "capped-simplex:dim=6,total=2.5",
        "l1:dim=7,radius=2",
        "box:lower=[0,-1,2,0,0],upper=[1,2,2.5,0.1,7]",
        "product:sets=[(l1:dim=3),(simplex:dim=3,total=2)]",
        "translate:by=0.5,set=(capped-simplex:dim=7,total=3)",
    ] {
        let set = set(text);
        let d = set.dim();
        let mut active = ActiveSet::start(&set, None).unwrap();
        let mut local = LocalOracle::new(&*set);
        let apart = distance(&point(&active, d), &centre(&*set));
        assert!(apart <= 1e-9, "{text} starts {apart:e} from its centre");
        let (mut most, mut reduced) = (0, 0);
        for _ in 0..rounds {
            let x = point(&active, d);
            let c = normals(&mut r, d);
            let radius = some_radius(&mut r, &set);
            let share = radius / facial_distance(&set);
            let mut way = vec![f64::NAN; d];
            local.find(&c).unwrap();
            local.withdraw_mass(&active, &c, share, &mut way);
            check_local(text, &set, &x, &c, radius, &way);
            let alpha = uniform(&mut r).powi(2);
            let before = active.len();
            local.step(&mut active, alpha);
            reduced += u32::from(active.len() < before);
            most = most.max(active.len());
            let moved = distance(&point(&active, d), &plus(&x, alpha, &way));
            assert!(
                moved <= 1e-12 * (1.0 + norm(&x)),
                "{text}: dropping vertices moved it {moved:e}"
            );
        }
        println!("{text}: at most {most} vertices, {reduced} times fewer");
        assert!(most <= 2 * (d + 1), "{text}: {most}");
    }
}

#[test]
fn a_mixture_of_too_many_vertices_becomes_one_of_few() {
    let set = set("hypercube:dim=8");
    let mut r = rng(5);
    let mut active = ActiveSet::start(&set, None).unwrap();
    let mut local = LocalOracle::new(&*set);
    let (mut way, mut fell) = (vec![0.0; 8], 0);
    for _ in 0..2000 {
        let c = normals(&mut r, 8);
        local.find(&c).unwrap();
        local.withdraw_mass(&active, &c, 1.0, &mut way);
        let before = active.len();
        local.step(&mut active, 0.02);
        assert!(active.len() <= 18);
        if active.len() < before {
            assert!(active.len() <= 9, "{}", active.len());
            fell += 1;
        }
    }
    assert!(fell > 20, "{fell}");
}

#[test]
fn any_start_is_a_mixture_of_vertices() {
    let mut r = rng(8);
    for text in [
        "hypercube:dim=5",
        "l1:dim=6",
        "capped-simplex:dim=6,total=3",
        "permutahedron:dim=4",
        "hull:points=[[0,0],[3,1],[1,4],[1,1]]",
    ] {
        let set = set(text);
        for k in 0..10 {
            let corner = atom(&*set, &normals(&mut r, set.dim()));
            let start = match k % 2 {
                0 => corner,
                _ => plus(&scaled(&centre(&*set), 0.7), 0.3, &corner),
            };
            let active = ActiveSet::start(&set, Some(&start)).unwrap();
            let apart = distance(&point(&active, set.dim()), &start);
            assert!(apart <= 1e-9, "{text}: {apart:e} off");
        }
    }
}

#[test]
fn equal_vertices_are_kept_once() {
    let set = set("l1:dim=20");
    let mut learner = learner("lloo", &set);
    let mut r = rng(4);
    for _ in 0..500 {
        play(&mut *learner, &normals(&mut r, 20));
    }
    // 40 vertices of one entry each, 10 bytes or a little more apiece, the weights and the sum
    let saved = learner.save().unwrap().len();
    assert!(saved < 2000, "{saved} bytes");
    assert!(set.violation(&written(learner.decision())).unwrap() <= 1e-12);
}

#[test]
fn atoms_are_told_apart_however_they_are_written() {
    let mut coordinate = Atom::new();
    coordinate.set_coordinate(1, 0.5);
    let mut dense = Atom::new();
    dense
        .dense_mut(2)
        .copy_from_slice(&[f64::from_bits(1), 0.5]);
    let mut active = ActiveSet::new(2);
    active.add(&coordinate, 1.0);
    active.add(&dense, 1.0);
    assert_eq!(active.len(), 2);
    // and one entry is one entry
    let mut sparse = Atom::new();
    let (indices, values) = sparse.sparse_mut();
    indices.push(1);
    values.push(0.5);
    active.add(&sparse, 1.0);
    assert_eq!((active.len(), active.weight(0)), (2, 2.0));
}

#[test]
fn matrices_of_rank_one_are_kept_as_what_they_are() {
    let mut active = ActiveSet::new(4);
    for value in [1.0, 2.0, 1.0] {
        let mut atom = Atom::new();
        let (left, right) = atom.rank_one_mut(0.5, 2, 2);
        left.copy_from_slice(&[value, 0.0]);
        right.copy_from_slice(&[1.0, 3.0]);
        active.add(&atom, 1.0);
    }
    assert_eq!(active.len(), 2);
    let mut x = [0.0; 4];
    active.clone().write(&mut x);
    assert_eq!(x, [2.0, 6.0, 0.0, 0.0]);
}
