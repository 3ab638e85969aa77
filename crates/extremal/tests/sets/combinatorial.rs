//! Sets whose atoms are choices and orders (`capped-simplex`, `k-sparse`, `k-support`,
//! `hypercube`, `permutahedron`) against lists of all their corners, against each other where two
//! names mean the same set, and their projections against bisection.

use crate::support::{Body, distance, dot, kit, minus, norm, normals, plus, scaled, set, uniform};
use extremal::Error;
use extremal::set::capped_simplex::CappedSimplex;
use extremal::set::hypercube::Hypercube;
use extremal::set::k_sparse::KSparse;
use extremal::set::k_support::KSupport;
use extremal::set::permutahedron::Permutahedron;
use extremal::set::{Atom, AtomView, SetSpec, SharedSet};

fn atom(set: &SharedSet, direction: &[f64]) -> (Vec<f64>, f64) {
    let (mut atom, mut v) = (Atom::new(), vec![f64::NAN; direction.len()]);
    let value = set.oracle().minimise(direction, &mut atom).unwrap().value;
    atom.write(&mut v);
    (v, value)
}

fn projected(set: &SharedSet, y: &[f64]) -> Vec<f64> {
    let mut x = y.to_vec();
    set.projection().unwrap().project(&mut x).unwrap();
    x
}

fn refusal(text: &str, dim: Option<usize>) -> Error {
    let built = text.parse::<SetSpec>().and_then(|spec| spec.build(dim));
    built.err().unwrap_or_else(|| panic!("{text} was accepted"))
}

/// All rearrangements.
fn rearrangements(w: &[f64]) -> Vec<Vec<f64>> {
    if w.is_empty() {
        return vec![vec![]];
    }
    let mut all = vec![];
    for i in 0..w.len() {
        let mut rest = w.to_vec();
        let first = rest.remove(i);
        for mut tail in rearrangements(&rest) {
            tail.insert(0, first);
            all.push(tail);
        }
    }
    all
}

/// Every corner with every choice of signs.
fn signed(corners: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let d = corners[0].len();
    let turned = |v: &Vec<f64>, signs: usize| -> Vec<f64> {
        let sign = |i: usize| if signs >> i & 1 == 1 { -1.0 } else { 1.0 };
        (0..d).map(|i| sign(i) * v[i]).collect()
    };
    let all = corners.iter();
    all.flat_map(|v| (0..1 << d).map(move |signs| turned(v, signs)))
        .collect()
}

/// `ones` ones, then `rest`, then zeros.
fn leading(d: usize, ones: usize, rest: f64) -> Vec<f64> {
    let mut w = vec![0.0; d];
    w[..ones].fill(1.0);
    if ones < d {
        w[ones] = rest;
    }
    w
}

/// Polytopes with the list of all their corners.
fn polytopes() -> Vec<(String, Vec<Vec<f64>>)> {
    let mut all = vec![];
    for d in 1..=5 {
        for total in [0.3, 1.0, 1.7, 2.0, 2.5, 3.0, 3.9, 4.0, 4.5, 5.0] {
            if total <= d as f64 {
                let w = leading(d, total as usize, total.fract());
                let text = format!("capped-simplex:total={total},dim={d}");
                all.push((text, rearrangements(&w)));
            }
        }
        for k in 1..=d + 1 {
            let corners = rearrangements(&leading(d, k.min(d), 0.0));
            let corners = signed(&corners).iter().map(|v| scaled(v, 0.7)).collect();
            all.push((format!("k-sparse:k={k},radius=0.7,dim={d}"), corners));
        }
        for (text, low) in [("", 0.0), (",centred=true", -2.0)] {
            let corners = signed(&[vec![1.0; d]]);
            let ends = |v: &Vec<f64>| {
                let end = |s: &f64| if *s > 0.0 { 2.0 } else { low };
                v.iter().map(end).collect()
            };
            let text = format!("hypercube:radius=2{text},dim={d}");
            all.push((text, corners.iter().map(ends).collect()));
        }
        let ranks: Vec<f64> = (1..=d).map(|i| i as f64).collect();
        all.push((format!("permutahedron:dim={d}"), rearrangements(&ranks)));
        let weights = &[2.0, -1.0, 0.5, 0.5, 7.0][..d];
        let text = format!("permutahedron:weights={weights:?}");
        all.push((text, rearrangements(weights)));
    }
    for (_, corners) in &mut all {
        corners.sort_by(|a, b| a.partial_cmp(b).unwrap());
        corners.dedup();
    }
    all
}

#[test]
fn atoms_and_constants_are_those_of_the_list_of_corners() {
    let mut rng = kit::rng(1);
    for (text, corners) in polytopes() {
        let set = text.parse::<SetSpec>().unwrap().build(None).unwrap();
        let d = set.dim();
        let geometry = set.geometry();
        let longest = corners.iter().map(|v| norm(v)).fold(0.0, f64::max);
        assert!(
            (geometry.norm_bound - longest).abs() <= 1e-14 * longest,
            "{text}"
        );
        let pairs = corners
            .iter()
            .flat_map(|v| corners.iter().map(|w| distance(v, w)));
        let widest = pairs.fold(0.0, f64::max);
        assert!(
            (geometry.diameter - widest).abs() <= 1e-14 * longest,
            "{text}: {widest}"
        );
        for round in 0..30 {
            let mut c = normals(&mut rng, d);
            if round % 2 == 0 {
                c.iter_mut().for_each(|c| *c = c.round()); // ties and zeros
            }
            let (v, value) = atom(&set, &c);
            assert!(corners.contains(&v), "{text}: {v:?} is no corner");
            let low = corners.iter().map(|v| dot(v, &c)).fold(f64::MAX, f64::min);
            let off = (dot(&v, &c) - low).abs().max((value - low).abs());
            assert!(off <= 1e-13 * (1.0 + longest), "{text}: {value}, not {low}");
        }
    }
}

/// The nearest point is the one from which no corner lies ahead.
#[test]
fn no_corner_lies_ahead_of_a_projection() {
    let mut rng = kit::rng(2);
    for (text, corners) in polytopes() {
        let set = text.parse::<SetSpec>().unwrap().build(None).unwrap();
        let size = set.geometry().norm_bound;
        for round in 0..30 {
            let mut y = scaled(
                &normals(&mut rng, set.dim()),
                size * 10f64.powi(round % 4 - 1),
            );
            if round % 2 == 0 {
                y.iter_mut().for_each(|y| *y = (2.0 * *y).round() * 0.5);
            }
            let x = projected(&set, &y);
            assert!(
                set.violation(&x).unwrap() <= 1e-14,
                "{text}: {y:?} to {x:?}"
            );
            let way = minus(&y, &x);
            for v in &corners {
                let ahead = dot(&way, &minus(v, &x));
                let rounding = 1e-13 * (norm(&way) + size) * size;
                assert!(ahead <= rounding, "{text}: {ahead:e} ahead of {x:?}");
            }
        }
    }
}

/// A mixture of corners is inside, and one that is pushed out along any difference to the centre
/// is not.
#[test]
fn violation_is_zero_on_mixtures_of_corners_and_nowhere_beyond_one() {
    let mut rng = kit::rng(3);
    for (text, corners) in polytopes() {
        let set = text.parse::<SetSpec>().unwrap().build(None).unwrap();
        let mut mean = vec![0.0; set.dim()];
        set.centre(&mut mean);
        for _ in 0..20 {
            let mut x = vec![0.0; set.dim()];
            let mut left = 1.0;
            for _ in 0..4 {
                let share = left * uniform(&mut rng);
                left -= share;
                let i = (uniform(&mut rng) * corners.len() as f64) as usize;
                x = plus(&x, share, &corners[i]);
            }
            x = plus(&x, left, &corners[0]);
            assert!(set.violation(&x).unwrap() <= 1e-14, "{text}: {x:?}");
        }
        for v in corners.iter().filter(|v| distance(v, &mean) > 0.0) {
            let beyond = plus(v, 1e-6, &minus(v, &mean));
            assert!(set.violation(&beyond).unwrap() > 1e-8, "{text}: {beyond:?}");
        }
        let mut off = mean.clone();
        off[0] += 10.0 * set.geometry().norm_bound;
        assert!(set.violation(&off).unwrap() > 0.1, "{text}");
    }
}

/// Two names for one set: all that can be asked of them is answered alike.
#[test]
fn sets_that_are_the_same_answer_alike() {
    let mut rng = kit::rng(4);
    for d in [1, 2, 5, 12] {
        let ranks = |k: usize| format!("permutahedron:weights={:?}", leading(d, k, 0.0));
        let mut pairs = vec![
            (
                "k-sparse:k=1,radius=3".to_string(),
                "l1:radius=3".to_string(),
            ),
            ("k-support:k=1,radius=3".into(), "l1:radius=3".into()),
            (format!("k-support:k={d},radius=3"), "l2:radius=3".into()),
            ("k-support:k=99,radius=3".into(), "l2:radius=3".into()),
            (
                format!("k-sparse:k={d},radius=3"),
                "hypercube:radius=3,centred=true".into(),
            ),
            (
                "k-sparse:k=99,radius=3".into(),
                "box:lower=-3,upper=3".into(),
            ),
            ("hypercube:radius=2".into(), "box:lower=0,upper=2".into()),
            (
                "capped-simplex:total=0.4".into(),
                "simplex:total=0.4".into(),
            ),
            ("capped-simplex".into(), "simplex".into()),
        ];
        pairs.extend((1..=d).map(|k| (format!("capped-simplex:total={k}"), ranks(k))));
        for (one, other) in pairs {
            let (a, b) = (set(&one, d), set(&other, d));
            let (ga, gb) = (a.geometry(), b.geometry());
            let size = ga.norm_bound;
            assert!((ga.diameter - gb.diameter).abs() <= 1e-14 * size, "{one}");
            assert!((size - gb.norm_bound).abs() <= 1e-14 * size, "{one}");
            for (p, q) in [
                (ga.inner_radius, gb.inner_radius),
                (ga.strong_convexity, gb.strong_convexity),
            ] {
                assert_eq!(p.is_some(), q.is_some(), "{one} in dimension {d}");
                let (p, q) = (p.unwrap_or(1.0), q.unwrap_or(1.0));
                assert!((p / q - 1.0).abs() <= 1e-14, "{one}: {p} and {q}");
            }
            if d > 1 {
                // of an interval, ℓ1 tells the default rather than the best
                assert_eq!(a.curvature(), b.curvature(), "{one} in dimension {d}");
            }
            for round in 0..40 {
                let mut y = scaled(&normals(&mut rng, d), size * 10f64.powi(round % 5 - 2));
                if round % 4 == 0 {
                    y.iter_mut().for_each(|y| *y = y.round());
                }
                assert!((atom(&a, &y).1 - atom(&b, &y).1).abs() <= 1e-13 * norm(&y) * size);
                let apart = distance(&projected(&a, &y), &projected(&b, &y));
                assert!(apart <= 1e-13 * size, "{one}: {apart:e} for {y:?}");
                if let (Some(p), Some(q)) = (a.gauge(&y), b.gauge(&y)) {
                    assert!((p - q).abs() <= 1e-13 * q, "{one}: {p} and {q}");
                }
                let inside = |set: &SharedSet| set.violation(&y).unwrap() == 0.0;
                assert_eq!(inside(&a), inside(&b), "{one}: {y:?}");
            }
        }
    }
}

/// The k-support norm as the smallest √(Σ x²/θ) over 0 ≤ θ ≤ 1 with Σθ = k: θ = min(a|x|, 1).
fn k_support_norm(x: &[f64], k: usize) -> f64 {
    let shares = |a: f64| x.iter().map(move |v| (a * v.abs()).min(1.0));
    if x.iter().filter(|v| **v != 0.0).count() <= k {
        return norm(x);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while shares(high).sum::<f64>() < k as f64 {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if shares(middle).sum::<f64>() < k as f64 {
            low = middle
        } else {
            high = middle
        }
    }
    let held = x.iter().zip(shares(high)).filter(|(v, _)| **v != 0.0);
    held.map(|(v, theta)| v * v / theta).sum::<f64>().sqrt()
}

#[test]
fn the_k_support_norm_is_its_variational_form() {
    let mut rng = kit::rng(5);
    for d in [2, 3, 7, 40] {
        for k in 1..=d {
            let ball = set(&format!("k-support:k={k},radius=2"), d);
            for round in 0..20 {
                let mut x = normals(&mut rng, d);
                match round % 4 {
                    0 => x.iter_mut().for_each(|v| *v = v.round()),
                    1 => x.iter_mut().for_each(|v| *v = (3.0 * *v).exp()),
                    2 => x.iter_mut().for_each(|v| *v = v.signum()),
                    _ => {}
                }
                let (ours, theirs) = (ball.gauge(&x).unwrap(), k_support_norm(&x, k) / 2.0);
                assert!(
                    (ours - theirs).abs() <= 1e-12 * theirs,
                    "k = {k}: {ours}, not {theirs}, at {x:?}"
                );
            }
        }
    }
}

/// The duals: ⟨c, v⟩ is −r times the ℓ2 norm of the k largest for k-support, and no point has a
/// larger ⟨c, x⟩ than gauge(x) times that.
#[test]
fn gauges_and_oracles_are_dual() {
    let mut rng = kit::rng(6);
    for text in ["k-support:k=3,radius=2", "k-sparse:k=3,radius=2"] {
        let set = set(text, 9);
        let mut nearest = 0.0_f64;
        for _ in 0..2000 {
            let x = normals(&mut rng, 9);
            let mut c = normals(&mut rng, 9);
            for _ in 0..3 {
                let most = -atom(&set, &scaled(&c, -1.0)).1;
                let share = dot(&c, &x) / (set.gauge(&x).unwrap() * most);
                assert!(share <= 1.0 + 1e-13, "{text}: {share}");
                nearest = nearest.max(share);
                c = plus(&c, 1.0, &x);
            }
        }
        assert!(nearest > 0.9, "{text}: {nearest}");
    }
}

#[test]
fn projections_are_those_found_by_bisection() {
    let mut rng = kit::rng(7);
    for d in [3, 8, 30] {
        let n = d as f64;
        let mut all = vec![Body::Permutahedron];
        for total in [0.01, 1.0, 2.25, 0.5 * n, n - 1.0, n - 0.001] {
            all.push(Body::CappedSimplex { total });
        }
        for k in [1, 2, d / 2, d - 1, d] {
            all.push(Body::KSparse { k, radius: 0.3 });
            all.push(Body::KSupport { k, radius: 0.3 });
        }
        for body in all {
            let set = set(&body.spec(), d);
            let size = set.geometry().norm_bound;
            for round in 0..24 {
                let k = size * [0.1, 0.7, 1.0, 2.0, 20.0, 1e4][round % 6];
                let mut y = scaled(&normals(&mut rng, d), k);
                if round % 3 == 0 {
                    let grain = k * 0.5;
                    y.iter_mut().for_each(|y| *y = (*y / grain).round() * grain);
                }
                let (ours, theirs) = (projected(&set, &y), body.project(&y));
                let apart = distance(&ours, &theirs);
                let digits = 1e-12 * size + 1e-15 * norm(&y);
                assert!(apart <= digits, "{body:?}: {apart:e} apart for {y:?}");
            }
        }
    }
}

/// From very far away only the order of the sizes matters: the nearest point is an atom.
#[test]
fn very_far_points_are_projected_onto_the_atom_behind_them() {
    let y = [3.0, -7.0, 0.5, 5.0, 1.0, -2.0];
    for text in [
        "capped-simplex:total=2.5",
        "capped-simplex:total=5.999",
        "k-sparse:k=3",
        "k-sparse:k=5,radius=1e-50",
        "k-support:k=3",
        "k-support:k=5,radius=1e-50",
        "hypercube:centred=true",
        "permutahedron",
        "permutahedron:weights=[1e9,1e9,1000000001,1e9,3,2]",
    ] {
        let set = set(text, 6);
        let behind = atom(&set, &scaled(&y, -1.0)).0;
        for far in [1e30, 1e60, 1e100] {
            let x = projected(&set, &scaled(&y, far));
            let apart = distance(&x, &behind) / set.geometry().norm_bound;
            assert!(apart <= 1e-14, "{text} from {far:e}: {apart:e} off");
        }
    }
}

#[test]
fn entries_of_all_sizes_are_projected_onto_the_set() {
    let mut rng = kit::rng(8);
    for text in [
        "capped-simplex:total=3.5",
        "k-sparse:k=3",
        "k-support:k=3",
        "k-support:k=7,radius=1e-50",
        "permutahedron",
    ] {
        let set = set(text, 9);
        for _ in 0..300 {
            let wide = |v: &f64| v.signum() * 10f64.powf(60.0 * v.abs() - 90.0);
            let y: Vec<f64> = normals(&mut rng, 9).iter().map(wide).collect();
            let x = projected(&set, &y);
            let violation = set.violation(&x).unwrap();
            assert!(violation <= 1e-14, "{text}: {violation:e} from {y:?}");
            let furthest = atom(&set, &minus(&x, &y)).0;
            let ahead = dot(&minus(&y, &x), &minus(&furthest, &x));
            let rounding = 1e-13 * norm(&minus(&y, &x)) * set.geometry().norm_bound;
            assert!(ahead <= rounding, "{text}: {ahead:e} ahead, from {y:?}");
        }
    }
}

#[test]
fn ties_go_to_the_first_places_and_atoms_have_no_more_entries_than_they_need() {
    let ones = [1.0; 6];
    let entries = |text: &str, c: &[f64]| {
        let mut atom = Atom::new();
        set(text, 6).oracle().minimise(c, &mut atom).unwrap();
        match atom.view() {
            AtomView::Sparse { indices, values } => indices
                .iter()
                .copied()
                .zip(values.iter().copied())
                .collect(),
            AtomView::Coordinate { index, value } => vec![(index as u32, value)],
            other => panic!("{text}: {other:?}"),
        }
    };
    assert_eq!(
        entries("capped-simplex:total=2", &ones),
        [(0, 1.0), (1, 1.0)]
    );
    assert_eq!(
        entries(
            "capped-simplex:total=1.5",
            &[0.0, -0.0, 1.0, 0.0, -0.0, 1.0]
        ),
        [(0, 1.0), (1, 0.5)]
    );
    assert_eq!(
        entries("capped-simplex:total=1.5", &[0.0, 1.0, 1.0, -1.0, 1.0, 1.0]),
        [(0, 0.5), (3, 1.0)]
    );
    assert_eq!(entries("k-sparse:k=2", &ones), [(0, -1.0), (1, -1.0)]);
    assert_eq!(
        entries("k-sparse:k=2", &[0.0, 1.0, -2.0, 2.0, 2.0, 0.0]),
        [(2, 1.0), (3, -1.0)]
    );
    assert_eq!(entries("k-sparse:k=1", &ones), [(0, -1.0)]);
    assert_eq!(
        entries("k-support:k=2,radius=5", &[0.0, 3.0, -4.0, 3.0, 0.0, 1.0]),
        [(1, -3.0), (2, 4.0)]
    );
    assert_eq!(
        entries("k-support:k=4", &[0.0, 0.0, -2.0, 0.0, 0.0, 0.0]),
        [(2, 1.0)]
    );
    assert_eq!(entries("k-support:k=4", &[0.0; 6]), [(0, 1.0)]);
    let ranks = set("permutahedron", 6);
    assert_eq!(
        atom(&ranks, &[0.0, -0.0, 0.0, -0.0, -1.0, 0.0]).0,
        [5.0, 4.0, 3.0, 2.0, 6.0, 1.0]
    );
}

#[test]
fn bad_parameters_are_refused_with_the_reason() {
    for (text, word) in [
        ("capped-simplex:total=4.000001", "dimension"),
        ("capped-simplex:total=1e-101", "total"),
        ("k-sparse", "missing field `k`"),
        ("k-support", "missing field `k`"),
        ("k-sparse:k=0", "whole number ≥ 1"),
        ("k-support:k=0", "whole number ≥ 1"),
        ("k-support:k=2,radius=0", "radius"),
        ("permutahedron:weights=[1,2,3]", "dim=3"),
        ("permutahedron:weights=[1,2,3],dim=4", "expected 4 entries"),
        ("permutahedron:weights=[0,0,0,0]", "weights"),
        ("permutahedron:weights=[1,2,3,1e101]", "1e50"),
        ("permutahedron:weights=[]", "dim"),
        ("permutahedron:weights=heavy", "sequence"),
    ] {
        let error = refusal(text, Some(4)).to_string();
        assert!(error.contains(word), "{text}: {error}");
    }
    for bad in [f64::NAN, f64::INFINITY] {
        let weights = Some(vec![1.0, bad]);
        let spec = Permutahedron { weights, dim: None };
        assert!(SetSpec::Permutahedron(spec).build(None).is_err());
        let spec = CappedSimplex {
            total: bad,
            dim: Some(2),
        };
        assert!(SetSpec::CappedSimplex(spec).build(None).is_err());
        let (radius, dim) = (bad, Some(2));
        for spec in [
            SetSpec::KSparse(KSparse { k: 1, radius, dim }),
            SetSpec::KSupport(KSupport { k: 1, radius, dim }),
            SetSpec::Hypercube(Hypercube {
                radius,
                centred: true,
                dim,
            }),
        ] {
            let error = spec.build(None).err().unwrap().to_string();
            assert!(error.contains("radius"), "{error}");
        }
    }
}

/// Learners in several threads may share a set that keeps memory of its own.
#[test]
fn threads_that_share_a_set_get_the_same_answers() {
    for text in ["k-support:k=5", "permutahedron"] {
        let set = set(text, 200);
        let points: Vec<_> = (0..50).map(|i| normals(&mut kit::rng(i), 200)).collect();
        let ask = || -> Vec<u64> {
            let asked = points.iter().map(|x| set.violation(x).unwrap().to_bits());
            asked.collect()
        };
        let alone = ask();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
            for thread in threads {
                assert_eq!(thread.join().unwrap(), alone, "{text}");
            }
        });
    }
}
