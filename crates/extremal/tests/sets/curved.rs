//! Ellipsoids, group balls and elastic nets: what holds of them and of no other set.

use crate::support::{self, *};
use extremal::Gradient;
use extremal::set::ellipsoid::EllipsoidSet;
use extremal::set::group::GroupBall;
use extremal::set::{Atom, AtomView, CurvatureKind, Set, SetSpec};

fn atom(set: &dyn Set, direction: &[f64]) -> Vec<f64> {
    let mut atom = Atom::new();
    set.oracle().minimise(direction, &mut atom).unwrap();
    let mut v = vec![f64::NAN; set.dim()];
    atom.write(&mut v);
    v
}

fn projected(set: &dyn Set, y: &[f64]) -> Vec<f64> {
    let mut x = y.to_vec();
    set.projection().unwrap().project(&mut x).unwrap();
    x
}

fn refused(text: &str) -> String {
    let spec: SetSpec = text.parse().unwrap();
    let built = spec.build(None);
    built
        .err()
        .unwrap_or_else(|| panic!("{text} was accepted"))
        .to_string()
}

/// Orthonormal vectors, by Gram and Schmidt, twice.
fn rotation(seed: u64, n: usize) -> Vec<Vec<f64>> {
    let mut rng = kit::rng(seed);
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for _ in 0..n {
        let mut v = normals(&mut rng, n);
        for _ in 0..2 {
            for q in &rows {
                v = plus(&v, -dot(&v, q), q);
            }
        }
        rows.push(scaled(&v, 1.0 / norm(&v)));
    }
    rows
}

/// Σ u_i·row_i.
fn turned(rows: &[Vec<f64>], u: &[f64]) -> Vec<f64> {
    let zero = vec![0.0; u.len()];
    rows.iter().zip(u).fold(zero, |x, (q, u)| plus(&x, *u, q))
}

/// ⟨row_i, x⟩ for each i.
fn turned_back(rows: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    rows.iter().map(|q| dot(q, x)).collect()
}

/// Σ axis²·q·qᵀ.
fn matrix(rows: &[Vec<f64>], axes: &[f64]) -> Vec<Vec<f64>> {
    let n = axes.len();
    let entry = |i: usize, j: usize| {
        let terms = rows.iter().zip(axes);
        terms.map(|(q, a)| a * q[i] * (a * q[j])).sum()
    };
    (0..n)
        .map(|i| (0..n).map(|j| entry(i.max(j), i.min(j))).collect())
        .collect()
}

#[test]
fn a_turned_ellipsoid_is_the_upright_one_turned() {
    for (n, axes) in [
        (2, vec![3.0, 0.5]),
        (5, vec![1.0, 2.0, 2.0, 0.1, 7.0]),
        (5, vec![1e-49, 3e-49, 2e-49, 1e-48, 1e-49]),
    ] {
        let rows = rotation(1, n);
        let mut rng = kit::rng(2);
        for shift in [0.0, 1.5] {
            let centre = scaled(&normals(&mut rng, n), shift * axes[0]);
            let upright = EllipsoidSet::with_axes(&axes, &centre).unwrap();
            let moved = turned(&rows, &centre);
            let other = EllipsoidSet::with_matrix(&matrix(&rows, &axes), &moved).unwrap();
            let (a, b) = (upright.geometry(), other.geometry());
            for (a, b) in [
                (a.diameter, b.diameter),
                (a.norm_bound, b.norm_bound),
                (a.inner_radius.unwrap(), b.inner_radius.unwrap()),
                (a.strong_convexity.unwrap(), b.strong_convexity.unwrap()),
            ] {
                assert!((a / b - 1.0).abs() < 1e-11, "{a} {b}");
            }
            for _ in 0..50 {
                let d = normals(&mut rng, n);
                let expected = turned(&rows, &atom(&upright, &turned_back(&rows, &d)));
                let off = distance(&atom(&other, &d), &expected);
                assert!(off <= 1e-12 * a.norm_bound, "{off:e}");
                let y = scaled(&normals(&mut rng, n), a.norm_bound);
                let expected = turned(&rows, &projected(&upright, &turned_back(&rows, &y)));
                let off = distance(&projected(&other, &y), &expected);
                assert!(off <= 1e-11 * a.norm_bound, "{off:e}");
            }
        }
    }
}

/// By Gauss, without a thought for pivots.
fn solved(a: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let (mut a, mut x) = (a.to_vec(), b.to_vec());
    for k in 0..n {
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            a[i] = plus(&a[i], -factor, &a[k]);
            x[i] -= factor * x[k];
        }
    }
    for k in (0..n).rev() {
        let rest: f64 = (k + 1..n).map(|j| a[k][j] * x[j]).sum();
        x[k] = (x[k] - rest) / a[k][k];
    }
    x
}

#[test]
fn what_an_ellipsoid_holds_is_what_its_matrix_says() {
    let rows = vec![
        vec![2.0, 1.0, 0.5],
        vec![1.0, 3.0, -1.0],
        vec![0.5, -1.0, 1.0],
    ];
    let centre = [1.0, 0.0, -2.0];
    let set = EllipsoidSet::with_matrix(&rows, &centre).unwrap();
    let centred = EllipsoidSet::with_matrix(&rows, &[0.0; 3]).unwrap();
    let mut rng = kit::rng(3);
    for _ in 0..200 {
        let x = normals(&mut rng, 3);
        let level = |x: &[f64]| dot(x, &solved(&rows, x)).sqrt();
        let gauge = centred.gauge(&x).unwrap();
        assert!((gauge / level(&x) - 1.0).abs() < 1e-12);
        let expected = (level(&minus(&x, &centre)) - 1.0).max(0.0);
        let violation = set.violation(&x).unwrap();
        assert!((violation - expected).abs() <= 1e-12 * (1.0 + expected));
    }
}

#[test]
fn the_gauge_of_a_set_off_its_centre_finds_the_boundary() {
    let set = set("ellipsoid:axes=[1,2,3],centre=[0.5,-1,1]", 3);
    let mut rng = kit::rng(4);
    for _ in 0..200 {
        let x = normals(&mut rng, 3);
        let boundary = scaled(&x, 1.0 / set.gauge(&x).unwrap());
        assert!(set.violation(&scaled(&boundary, 1.0 + 1e-9)).unwrap() > 0.0);
        assert_eq!(set.violation(&scaled(&boundary, 1.0 - 1e-9)).unwrap(), 0.0);
    }
    // and where 0 is outside there is none
    let far = support::set("ellipsoid:axes=1,centre=[0.8,0.8,0]", 3);
    assert_eq!(far.gauge(&[1.0, 0.0, 0.0]), None);
}

#[test]
fn the_longest_vector_of_an_ellipsoid_is_found_wherever_the_centre_lies() {
    for (axes, centre) in [
        ([2.0, 1.0], [0.0, 0.5]),  // up to here the longest is not along the centre,
        ([2.0, 1.0], [0.0, 1.49]), // (a² − b²)/b = 3
        ([2.0, 1.0], [0.0, 3.1]),
        ([2.0, 1.0], [1e-9, 0.5]),
        ([2.0, 1.0], [0.3, 0.5]),
        ([1.0, 1.0], [0.6, 0.8]),
        ([1e-48, 1e-50], [1e-51, 1e-49]),
    ] {
        let bound = EllipsoidSet::with_axes(&axes, &centre)
            .unwrap()
            .geometry()
            .norm_bound;
        let steps = 200_000;
        let longest = (0..steps)
            .map(|k| std::f64::consts::TAU * f64::from(k) / f64::from(steps))
            .map(|t| norm(&[centre[0] + axes[0] * t.cos(), centre[1] + axes[1] * t.sin()]))
            .fold(0.0, f64::max);
        let off = bound / longest - 1.0;
        assert!(
            (-1e-15..1e-8).contains(&off),
            "{axes:?} {centre:?}: {off:e}"
        );
    }
}

#[test]
fn thin_and_far_ellipsoids_are_never_left() {
    let thin = vec![1.0, 1e-8, 1e-3, 1e-8, 0.5];
    let rows = rotation(5, 5);
    let turned_thin = matrix(&rows, &[1.0, 1.2e-5, 1e-3, 1e-1, 0.5]);
    let sets = [
        EllipsoidSet::with_axes(&thin, &[0.0; 5]),
        EllipsoidSet::with_axes(&thin, &[1e6, 1e-2, 0.0, -1e-2, 3e5]),
        EllipsoidSet::with_matrix(&turned_thin, &[0.0; 5]),
        EllipsoidSet::with_matrix(&turned_thin, &[1.0, -10.0, 3.0, 0.0, 2.0]),
    ];
    for (k, set) in sets.into_iter().enumerate() {
        let set: extremal::set::SharedSet = std::sync::Arc::new(set.unwrap());
        let mut rng = kit::rng(6);
        let mut furthest = 0.0_f64;
        for text in ["ofw-ls:horizon=2000,gradient-bound=1", "gauge-ftrl", "ogd"] {
            let mut learner = learner(text, &set);
            for _ in 0..2000 {
                let x = written(learner.decide().unwrap());
                let violation = set.violation(&x).unwrap();
                furthest = furthest.max(violation);
                assert!(violation <= 1e-9, "set {k}, {text}: {violation:e}");
                let g = unit(&mut rng, 5);
                learner.observe(&Gradient::dense(&g)).unwrap();
            }
        }
        for _ in 0..200 {
            let d = normals(&mut rng, 5);
            let v = atom(&*set, &d);
            assert!(set.violation(&v).unwrap() <= 1e-9);
        }
        println!("set {k}: violation ≤ {furthest:e}");
    }
}

#[test]
fn what_is_no_ellipsoid_is_refused_in_words() {
    for (text, word) in [
        ("ellipsoid:matrix=[[1,2],[2,1]]", "positive definite"),
        ("ellipsoid:matrix=[[1,1],[1,1]]", "positive definite"),
        ("ellipsoid:matrix=[[0,0],[0,0]]", "positive definite"),
        ("ellipsoid:matrix=[[1,0.5],[0.4,1]]", "symmetric"),
        ("ellipsoid:matrix=[[1,0],[0]]", "a row of matrix"),
        (
            "ellipsoid:matrix=[[1,0],[0,1e11]]",
            "1e5 times the shortest",
        ),
        ("ellipsoid:matrix=[[1e-210,0],[0,1e-210]]", "1e-50"),
        ("ellipsoid:matrix=[[1,0],[0,1]],axes=1", "absent"),
        ("ellipsoid:matrix=[[1,0],[0,1]],dim=3", "matrix"),
        ("ellipsoid:matrix=[]", "dim"),
        ("ellipsoid:axes=[1,1e-9]", "1e8 times"),
        ("ellipsoid:axes=[1,0]", "axes"),
        ("ellipsoid:axes=[1,2],centre=[0,0,0]", "centre"),
        ("ellipsoid:axes=[1,2],dim=3", "axes"),
        ("ellipsoid:axes=[1,2],centre=[0,3e6]", "centre"),
    ] {
        let message = refused(text);
        assert!(message.contains(word), "{text}: {message}");
    }
    for bad in [f64::NAN, f64::INFINITY] {
        assert!(EllipsoidSet::with_axes(&[1.0, bad], &[0.0; 2]).is_err());
        assert!(EllipsoidSet::with_axes(&[1.0; 2], &[bad, 0.0]).is_err());
        let rows = [vec![1.0, bad], vec![bad, 1.0]];
        assert!(EllipsoidSet::with_matrix(&rows, &[0.0; 2]).is_err());
    }
}

#[test]
fn a_group_ball_is_an_lp_ball_where_the_groups_do_not_matter() {
    let mut rng = kit::rng(7);
    for (text, plain) in [
        ("group:size=1,s=3,p=1.5,radius=2", "lp:p=1.5,radius=2"),
        ("group:size=20,s=1.5,p=1,radius=2", "lp:p=1.5,radius=2"),
        ("group:size=3,s=1.3,p=1.3", "lp:p=1.3"),
        ("group:size=3,s=3,p=3", "lp:p=3"),
        ("group:size=3,s=2,p=2", "l2"),
        ("group:size=1,s=2,p=1", "l1"),
    ] {
        let (set, plain) = (set(text, 10), set(plain, 10));
        let (a, b) = (set.geometry(), plain.geometry());
        assert!((a.diameter / b.diameter - 1.0).abs() < 1e-14, "{text}");
        let inner = a.inner_radius.unwrap() / b.inner_radius.unwrap();
        assert!((inner - 1.0).abs() < 1e-14, "{text}");
        let alphas = (a.strong_convexity, b.strong_convexity);
        match alphas {
            (Some(a), Some(b)) => assert!((a / b - 1.0).abs() < 1e-14, "{text}: {a} {b}"),
            other => assert_eq!(other, (None, None), "{text}"),
        }
        match (set.curvature(), plain.curvature()) {
            (Some(a), Some(b)) => {
                assert_eq!(a.kind, b.kind, "{text}");
                assert_eq!((a.gradient_norm, a.width), (b.gradient_norm, b.width));
            }
            other => assert_eq!(other, (None, None), "{text}"),
        }
        for _ in 0..20 {
            let d = normals(&mut rng, 10);
            assert!(distance(&atom(&*set, &d), &atom(&*plain, &d)) < 1e-12);
            if set.projection().is_some() {
                let y = scaled(&normals(&mut rng, 10), 3.0);
                assert!(distance(&projected(&*set, &y), &projected(&*plain, &y)) < 1e-12);
            }
        }
    }
}

#[test]
fn the_order_of_coordinates_within_and_across_groups_does_not_matter() {
    let places = [4, 9, 0, 2, 7, 1, 8, 3, 6, 5];
    let groups: Vec<Vec<usize>> = places.chunks(3).map(<[usize]>::to_vec).collect();
    let shuffled = |x: &[f64]| -> Vec<f64> { places.iter().map(|&i| x[i]).collect() };
    let mut rng = kit::rng(8);
    for (s, p) in [(2.0, 1.0), (2.0, 1.5), (1.5, 1.2), (1.0, 2.0), (3.0, 1.0)] {
        let listed = GroupBall::new(&groups, s, p, 2.0).unwrap();
        let even = GroupBall::of_size(10, 3, s, p, 2.0).unwrap();
        assert_eq!(listed.geometry(), even.geometry());
        for _ in 0..20 {
            let d = normals(&mut rng, 10);
            assert_eq!(shuffled(&atom(&listed, &d)), atom(&even, &shuffled(&d)));
            let ratio = listed.gauge(&d).unwrap() / even.gauge(&shuffled(&d)).unwrap();
            assert!((ratio - 1.0).abs() < 1e-14);
            if listed.projection().is_some() {
                let near = shuffled(&projected(&listed, &d));
                assert!(distance(&near, &projected(&even, &shuffled(&d))) < 1e-13);
            }
        }
    }
}

#[test]
fn an_atom_of_the_group_lasso_is_one_group() {
    let set = set("group:size=3,radius=2", 10);
    let mut atom = Atom::new();
    let mut oracle = set.oracle();
    let mut d = vec![0.0; 10];
    (d[3], d[4], d[9]) = (3.0, -4.0, 4.9);
    let value = oracle.minimise(&d, &mut atom).unwrap().value;
    assert!((value + 10.0).abs() < 1e-14, "{value}");
    let AtomView::Sparse { indices, values } = atom.view() else {
        panic!("{:?}", atom.view());
    };
    // d[5] is 0, and so is that entry of the atom
    assert_eq!(indices, [3, 4]);
    assert!(distance(values, &[-1.2, 1.6]) < 1e-15);
    // the last group is a shorter one
    d[9] = -5.1;
    oracle.minimise(&d, &mut atom).unwrap();
    let expected = AtomView::Sparse {
        indices: &[9],
        values: &[2.0],
    };
    assert_eq!(atom.view(), expected);
    // of equal ones the first
    (d[9], d[0]) = (5.0, 5.0);
    oracle.minimise(&d, &mut atom).unwrap();
    assert!(matches!(atom.view(), AtomView::Sparse { indices, .. } if indices == [0]));
}

#[test]
fn groups_that_share_or_forget_coordinates_are_refused() {
    for (text, word) in [
        ("group:groups=[[0,1],[1,2]]", "coordinate 1 twice"),
        ("group:groups=[[0,1],[3]]", "coordinate 3 in dimension 3"),
        ("group:groups=[[0,1],[]]", "empty group"),
        ("group:groups=[[0,1]],dim=3", "without coordinate 2"),
        ("group:groups=[]", "dim"),
        ("group:dim=3", "groups and size"),
        ("group:groups=[[0]],size=1", "groups and size"),
        ("group:size=0,dim=3", "size"),
    ] {
        let message = refused(text);
        assert!(message.contains(word), "{text}: {message}");
    }
}

/// E‖x ± y‖² ≥ ‖x‖² + (min(s,p) − 1)‖y‖²: what the strong convexity of group balls rests on. Near
/// x with equal norms, hardly more would be true.
#[test]
fn the_squared_group_norm_is_as_convex_as_its_less_convex_part() {
    let mut rng = kit::rng(9);
    for (s, p) in [(1.5, 1.2), (1.2, 1.5), (1.1, 2.0), (2.0, 1.1), (1.3, 1.3)] {
        let set = GroupBall::of_size(16, 4, s, p, 1.0).unwrap();
        let square = |x: &[f64]| set.gauge(x).unwrap().powi(2);
        let mut least = f64::INFINITY;
        let mut look = |x: &[f64], y: &[f64]| {
            let mean = 0.5 * (square(&plus(x, 1.0, y)) + square(&plus(x, -1.0, y)));
            least = least.min((mean - square(x)) / square(y));
        };
        for _ in 0..3000 {
            let x = normals(&mut rng, 16);
            for size in [0.03, 0.3, 1.0, 3.0] {
                look(&x, &scaled(&normals(&mut rng, 16), size));
            }
        }
        // all of x in one group or one coordinate of each, its signs against those of y
        let within: Vec<f64> = (0..16).map(|i| f64::from(i < 4)).collect();
        let across: Vec<f64> = (0..16).map(|i| f64::from(i % 4 == 0)).collect();
        for x in [within, across] {
            for pattern in 0..256 {
                let sign = |i: usize| {
                    if (pattern >> (i % 8)) & 1 == 0 {
                        1.0
                    } else {
                        -1.0
                    }
                };
                let y: Vec<f64> = (0..16).map(|i| 0.01 * x[i] * sign(i)).collect();
                look(&x, &y);
            }
        }
        let k = f64::min(s, p) - 1.0;
        println!("s = {s}, p = {p}: {least:.4}, proven {k:.4}");
        assert!(least >= k - 1e-9, "s = {s}, p = {p}: {least} < {k}");
        assert!(least <= 1.01 * k, "s = {s}, p = {p}: {least} ≫ {k}");
    }
}

/// The largest of (h(a+b)² − h(a)² − 2h(a)⟨v, b⟩)/‖b‖_q² that small steps from everywhere find.
fn bend(set: &dyn Set, q: f64) -> f64 {
    let n = set.dim();
    let mut rng = kit::rng(10);
    let h = |d: &[f64]| -dot(d, &atom(set, d));
    let mut most = 0.0_f64;
    for k in 0..4000 {
        let mut a = normals(&mut rng, n);
        if k % 2 == 0 {
            // few entries that matter, and all of the same size
            a = a
                .iter()
                .map(|v| if v.abs() > 0.5 { v.signum() } else { 0.01 * v })
                .collect();
        }
        let b = scaled(&unit(&mut rng, n), 1e-3 * norm(&a));
        let slope = -dot(&atom(set, &a), &b);
        let grown = h(&plus(&a, 1.0, &b)).powi(2) - h(&a).powi(2) - 2.0 * h(&a) * slope;
        most = most.max(grown / norm_p(&b, q).powi(2));
    }
    most
}

#[test]
fn the_support_functions_are_smooth_with_little_to_spare() {
    for (text, spare) in [
        ("ellipsoid:axes=[1,2,0.5]", 1.1),
        ("ellipsoid:matrix=[[2,1,0],[1,3,0],[0,0,1]]", 1.1),
        ("elastic-net:omega=0.2,tau=1", 1.6),
        ("elastic-net:omega=1,tau=1", 2.0),
        ("elastic-net:omega=50,tau=2", 2.1),
        ("group:size=1,s=2,p=1.5,dim=3", 2.0),
        ("group:groups=[[0],[1,2]],s=1.5,p=1.5", 2.0),
        ("group:groups=[[0],[1,2]],s=2,p=1.3", 3.0),
    ] {
        let set = text.parse::<SetSpec>().unwrap();
        let set = set
            .build(if text.contains('[') { None } else { Some(3) })
            .unwrap();
        let curvature = set.curvature().unwrap();
        let CurvatureKind::Smooth { l } = curvature.kind else {
            panic!("{text}: {curvature:?}");
        };
        let found = bend(&*set, curvature.gradient_norm);
        println!("{text}: L = {l:.4}, found {found:.4}");
        assert!(found <= l * (1.0 + 1e-6), "{text}: {found} > {l}");
        assert!(l <= spare * found, "{text}: L = {l} ≫ {found}");
    }
}

#[test]
fn an_elastic_net_goes_from_the_l1_ball_to_the_l2_ball() {
    let mut rng = kit::rng(11);
    let (l1, l2) = (set("l1", 6), set("l2", 6));
    for _ in 0..20 {
        let d = normals(&mut rng, 6);
        let y = scaled(&normals(&mut rng, 6), 2.0);
        // ‖x‖₁ ≤ 1, and ‖x‖₂² ≤ 1
        for (text, limit) in [
            ("elastic-net:omega=1e-12,tau=1", &l1),
            ("elastic-net:omega=2e12,tau=1e12", &l2),
        ] {
            let net = set(text, 6);
            assert!(
                distance(&atom(&*net, &d), &atom(&**limit, &d)) < 1e-5,
                "{text}"
            );
            let off = distance(&projected(&*net, &y), &projected(&**limit, &y));
            assert!(off < 1e-5, "{text}: {off:e}");
        }
    }
}

#[test]
fn an_elastic_nets_oracle_and_projection_are_the_plain_ones() {
    let mut rng = kit::rng(12);
    for (omega, tau) in [(0.5, 2.0), (1e-3, 1.0), (30.0, 5.0)] {
        let body = Body::ElasticNet { omega, tau };
        for dim in [1, 2, 7, 60] {
            let set = set(&body.spec(), dim);
            for _ in 0..30 {
                let d: Vec<f64> = normals(&mut rng, dim).iter().map(|v| v.powi(3)).collect();
                let off = distance(&atom(&*set, &d), &body.oracle(&d));
                assert!(off < 1e-10 * body.diameter(dim), "{body:?}, {dim}: {off:e}");
                let y = scaled(&normals(&mut rng, dim), body.diameter(dim));
                let off = distance(&projected(&*set, &y), &body.project(&y));
                assert!(off < 1e-10 * body.diameter(dim), "{body:?}, {dim}: {off:e}");
            }
        }
    }
}

#[test]
fn a_sparse_direction_gives_a_sparse_atom_of_the_elastic_net() {
    let set = set("elastic-net:omega=0.1,tau=2", 1000);
    let mut d = vec![0.0; 1000];
    (d[17], d[400], d[999]) = (1.0, -0.95, 0.2);
    let mut atom = Atom::new();
    set.oracle().minimise(&d, &mut atom).unwrap();
    assert!(matches!(atom.view(), AtomView::Sparse { indices, .. } if indices == [17, 400]));
}

#[test]
fn points_from_very_far_away_are_projected_onto_the_set() {
    let far = [1.7e99, -1.7e99, 1.6e99, 0.0, -1.0];
    for text in [
        "ellipsoid:axes=[0.5,1e-3,2,1,1],centre=0.3",
        "group:size=2",
        "group:size=3,s=2,p=1.5,radius=1e-50",
        "elastic-net:omega=0.1,tau=3",
    ] {
        let set = set(text, 5);
        let x = projected(&*set, &far);
        let violation = set.violation(&x).unwrap();
        assert!(violation <= 1e-12, "{text}: {x:?}, {violation:e}");
        assert!(set.violation(&far).unwrap() != 0.0, "{text}");
        assert!(x[0] > 0.0 && x != far, "{text}: {x:?}");
    }
}

#[test]
fn exponents_and_sizes_that_are_no_numbers_are_refused() {
    use extremal::set::elastic_net::ElasticNetBall;
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        assert!(GroupBall::of_size(4, 2, bad, 1.0, 1.0).is_err());
        assert!(GroupBall::of_size(4, 2, 2.0, bad, 1.0).is_err());
        assert!(GroupBall::of_size(4, 2, 2.0, 1.0, bad).is_err());
        assert!(ElasticNetBall::new(4, bad, 1.0).is_err());
        assert!(ElasticNetBall::new(4, 1.0, bad).is_err());
    }
    assert!(GroupBall::of_size(0, 2, 2.0, 1.0, 1.0).is_err());
    assert!(GroupBall::new(&[], 2.0, 1.0, 1.0).is_err());
    assert!(ElasticNetBall::new(0, 1.0, 1.0).is_err());
}
