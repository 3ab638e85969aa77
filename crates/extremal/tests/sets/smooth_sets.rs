//! Sets {h(x) ≤ 0}, the fast projection onto them, and gradient descent with it.

use extremal_check::kit::learner;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{
    self, atom, centre, distance, feasible_points, minus, normals, plus, rng, scaled, soak,
    uniform, unit, written,
};
use extremal::Gradient;
use extremal::kernel::{dot, norm};
use extremal::learner::LearnerSpec;
use extremal::set::{CustomSet, FastProjection, Geometry, SetSpec, SharedSet};
use extremal::theory::{self, LossFacts};
use rand_chacha::ChaCha8Rng;

fn set(text: &str, dim: usize) -> SharedSet {
    let spec: SetSpec = text.parse().unwrap();
    spec.build(Some(dim)).or_else(|_| spec.build(None)).unwrap()
}

const WEIGHTS: [f64; 4] = [1.0, 2.0, 0.5, 1.5];

/// Σ w(√(1 + x²) − 1) ≤ 1: smooth with the largest w, and where it is 1 one of the four parts is
/// at least ¼.
fn own() -> SharedSet {
    // the gradient is w·x/√(1 + x²) ≥ w·√(1 − (1 + 1/(4w))⁻²) in that coordinate
    let slope = |w: f64| w * (1.0 - (1.0 + 0.25 / w).powi(-2)).sqrt();
    let flattest = WEIGHTS.iter().map(|w| slope(*w)).fold(f64::MAX, f64::min);
    let reach = (3.0f64.powi(2) - 1.0).sqrt(); // of one coordinate, w = ½
    let geometry = Geometry {
        diameter: 2.0 * 2.0 * reach,
        norm_bound: 2.0 * reach,
        inner_radius: None,
        strong_convexity: None,
    };
    let h = |x: &[f64]| -> f64 {
        let parts = WEIGHTS.iter().zip(x);
        parts
            .map(|(w, x)| w * ((1.0 + x * x).sqrt() - 1.0))
            .sum::<f64>()
            - 1.0
    };
    let set = CustomSet::new("own", 4, geometry, |_, _| Err("only h is known".into())).unwrap();
    let set =
        set.with_violation(move |x| h(x).max(0.0))
            .with_smooth(2.0 / flattest, h, |x, out| {
                for ((out, w), x) in out.iter_mut().zip(WEIGHTS).zip(x) {
                    *out = w * x / (1.0 + x * x).sqrt();
                }
            });
    Arc::new(set.unwrap())
}

fn smooth_sets() -> Vec<(String, SharedSet)> {
    let mut all: Vec<_> = [
        ("l2", 1),
        ("l2", 3),
        ("l2:radius=10", 20),
        ("lp:p=4", 5),
        ("lp:p=3,radius=0.1", 2),
        ("lp:p=2", 4),
        ("lp:p=20", 8),
        ("ellipsoid:axes=[1,2,0.5,3]", 4),
        ("ellipsoid:axes=2,centre=0.5", 6),
        (
            "ellipsoid:matrix=[[2,1,0.5],[1,3,-1],[0.5,-1,1]],centre=[1,0,-2]",
            3,
        ),
        ("translate:by=0.5,set=(lp:p=4,radius=2)", 3),
        ("scale:by=3,set=(ellipsoid:axes=[1,2])", 2),
    ]
    .iter()
    .map(|(text, dim)| (text.to_string(), set(text, *dim)))
    .collect();
    all.push(("own".into(), own()));
    all
}

/// A point of the set on the way from its centre, at the boundary for share 1.
fn point(r: &mut ChaCha8Rng, set: &SharedSet, share: f64) -> Vec<f64> {
    let (c, d) = (centre(&**set), unit(r, set.dim()));
    let (mut low, mut high) = (0.0, 2.0 * set.geometry().diameter);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if set.violation(&plus(&c, middle, &d)).unwrap() == 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    plus(&c, share * low, &d)
}

fn others(r: &mut ChaCha8Rng, set: &SharedSet) -> Vec<Vec<f64>> {
    if set.name() == "own" {
        return (0..30)
            .map(|i| point(r, set, [1.0, 0.9, 0.3][i % 3]))
            .collect();
    }
    feasible_points(r, &**set, 10)
}

#[test]
fn the_fast_projection_is_never_farther_than_its_inequality_says() {
    let (mut r, mut closest, mut outside) = (rng(1), 0f64, 0);
    for (name, set) in smooth_sets() {
        let mut fast = FastProjection::new(&*set).unwrap();
        let mu = fast.curvature();
        let size = set.geometry().diameter;
        for k in 0..if soak() { 20_000 } else { 400 } {
            let x = point(&mut r, &set, [1.0, 0.999, 0.8, 0.0][k % 4]);
            let length = 0.5 / mu * 10f64.powf(-4.0 * uniform(&mut r) * (k % 3) as f64);
            let v = scaled(&unit(&mut r, set.dim()), length);
            let mut z = x.clone();
            fast.step(&mut z, &v);
            assert_eq!(set.violation(&z), Some(0.0), "{name}");
            let y = plus(&x, 1.0, &v);
            if set.violation(&y) == Some(0.0) {
                assert!(distance(&z, &y) <= 1e-15 * size, "{name}: a point moved");
                continue;
            }
            outside += 1;
            let mut all = others(&mut r, &set);
            if let Some(mut projection) = set.projection() {
                let mut nearest = y.clone();
                projection.project(&mut nearest).unwrap();
                all.push(nearest);
            }
            all.push(x);
            for u in all {
                let excess = distance(&z, &u) - distance(&y, &u);
                let most = mu * length * length;
                assert!(
                    excess <= most + 1e-13 * size,
                    "{name}: {excess:e} > {most:e}"
                );
                if most > 1e-9 * size {
                    closest = closest.max(excess / most);
                }
            }
        }
    }
    println!("{outside} projections, excess at most {closest:.3}·μ‖v‖²");
    // (1 − √¾)/¼ = 0.536 is what the analysis leaves of it
    assert!(outside > 1000 && closest < 0.54, "{outside} {closest}");
}

#[test]
fn on_balls_the_fast_projection_is_its_closed_form() {
    let mut r = rng(2);
    let mut slid = 0;
    for (dim, radius) in [(1, 1.0), (2, 1.0), (5, 0.3), (40, 1e30), (3, 1e-40)] {
        let ball = set(&format!("l2:radius={radius}"), dim);
        let mut fast = FastProjection::new(&*ball).unwrap();
        for k in 0..500 {
            let share = [1.0, 0.95, 0.7][k % 3];
            // in radii; the fast projection's vectors are no longer than ½
            let x = scaled(&unit(&mut r, dim), share);
            let v = scaled(&unit(&mut r, dim), 0.5 * uniform(&mut r));
            let y = plus(&x, 1.0, &v);
            if norm(&y) <= 1.0 {
                continue;
            }
            let (vv, vx, rest) = (dot(&v, &v), dot(&v, &x), 1.0 - dot(&x, &x));
            let s = ((vx * vx + vv * rest).max(0.0).sqrt() - vx) / vv;
            let edge = plus(&x, s.max(0.0), &v);
            let n = scaled(&edge, 1.0 / norm(&edge));
            let ahead = minus(&y, &edge);
            let b = plus(&y, -dot(&n, &ahead), &n);
            // ‖b‖² = 1 + w², and b − an is inside from a = 1 − √(1 − w²) on
            let w = dot(&b, &b) - 1.0;
            let expected = plus(&b, -(1.0 - (1.0 - w.max(0.0)).sqrt()), &n);
            let mut z = scaled(&x, radius);
            fast.step(&mut z, &scaled(&v, radius));
            let apart = distance(&scaled(&z, 1.0 / radius), &expected);
            assert!(
                apart <= 3e-3 * vv + 1e-14,
                "{dim}, {radius}: {apart:e}, ‖v‖² = {vv}"
            );
            slid += usize::from(w > 1e-4);
        }
    }
    assert!(slid > 300, "{slid}");
}

#[test]
fn longer_steps_are_shortened_and_points_outside_brought_in() {
    let ball = set("l2:radius=2", 3);
    let mut fast = FastProjection::new(&*ball).unwrap();
    assert_eq!(fast.curvature(), 0.5);
    let (mut x, mut y) = ([0.0; 3], [0.0; 3]);
    fast.step(&mut x, &[0.0, 1e200, 0.0]);
    fast.step(&mut y, &[0.0, 1.0, 0.0]);
    assert_eq!((x, y), ([0.0, 1.0, 0.0], [0.0, 1.0, 0.0]));
    let mut far = [3.0, 4.0, 0.0];
    fast.step(&mut far, &[0.0; 3]);
    assert!(distance(&far, &[1.2, 1.6, 0.0]) < 1e-15 && ball.violation(&far) == Some(0.0));
}

/// β and ‖∇h‖ by differences: μ is no less than their quotient anywhere, and no more than needed
/// where it is known to be exact.
#[test]
fn curvatures_are_those_of_h() {
    // h as it is declared, not only up to its sign
    type H = Box<dyn Fn(&[f64]) -> f64>;
    let square = |x: &[f64]| dot(x, x);
    let power =
        |p: f64| move |x: &[f64]| x.iter().map(|x| x.abs().powf(p)).sum::<f64>().powf(2.0 / p);
    let cases: Vec<(&str, usize, H, Vec<f64>)> = vec![
        (
            "l2:radius=3",
            4,
            Box::new(move |x| square(x) / 9.0),
            vec![3.0, 0.0, 0.0, 0.0],
        ),
        // flat where all entries are alike, curved most at a vertex of the tangent cone
        ("lp:p=4", 3, Box::new(power(4.0)), vec![3f64.powf(-0.25); 3]),
        (
            "ellipsoid:axes=[1,2,0.5]",
            3,
            Box::new(|x| x[0] * x[0] + x[1] * x[1] / 4.0 + x[2] * x[2] * 4.0),
            vec![0.0, 2.0, 0.0],
        ),
    ];
    let mut r = rng(3);
    for (text, dim, h, flattest) in cases {
        let set = set(text, dim);
        let mut smooth = set.smooth().unwrap();
        let mu = smooth.curvature();
        let e = 1e-4;
        let gradient = |x: &[f64]| -> Vec<f64> {
            let along = |i: usize| {
                let step = common::spike(dim, i, e);
                (h(&plus(x, 1.0, &step)) - h(&plus(x, -1.0, &step))) / (2.0 * e)
            };
            (0..dim).map(along).collect()
        };
        let (mut beta, mut slope) = (0f64, norm(&gradient(&flattest)));
        for _ in 0..3000 {
            let x = point(&mut r, &set, 1.0);
            let g = gradient(&x);
            let mut own = vec![0.0; dim];
            smooth.gradient(&x, &mut own);
            let cosine = dot(&g, &own) / norm(&g) / norm(&own);
            assert!(cosine > 1.0 - 1e-6, "{text}: {cosine}");
            slope = slope.min(norm(&g));
            let d = if beta == 0.0 {
                common::spike(dim, dim - 1, 1.0)
            } else {
                unit(&mut r, dim)
            };
            let bent = h(&plus(&x, e, &d)) - 2.0 * h(&x) + h(&plus(&x, -e, &d));
            beta = beta.max(bent / (e * e));
        }
        let found = beta / slope;
        assert!(found <= mu * (1.0 + 1e-4), "{text}: {found} > {mu}");
        assert!(found >= 0.65 * mu, "{text}: {found}, far below {mu}");
    }
    // worked out by hand: (p−1)·d^(1/2−1/p)/r, a_max/a_min²
    let mu = |text: &str, dim: usize| set(text, dim).smooth().unwrap().curvature();
    assert_eq!(mu("lp:p=4,radius=2", 16), 3.0 * 2.0 / 2.0);
    assert_eq!(mu("ellipsoid:axes=[1,2,0.5]", 3), 8.0);
    assert_eq!(mu("scale:by=4,set=(ellipsoid:axes=[1,2,0.5])", 3), 2.0);
    assert_eq!(mu("translate:by=1,set=(l2:radius=4)", 3), 0.25);
}

/// Π̃ by the plainest means, to all digits.
fn plain(
    set: &SharedSet,
    gradient: &mut dyn FnMut(&[f64]) -> Vec<f64>,
    x: &[f64],
    v: &[f64],
) -> Vec<f64> {
    let inside = |x: &[f64]| set.violation(x) == Some(0.0);
    let y = plus(x, 1.0, v);
    if inside(&y) {
        return y;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if inside(&plus(x, middle, v)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    let edge = plus(x, low, v);
    let n = gradient(&edge);
    let n = scaled(&n, 1.0 / norm(&n));
    let b = plus(&y, -dot(&n, &minus(&y, &edge)), &n);
    if inside(&b) {
        return b;
    }
    // the first point inside: the way along the normal is inside for a part of it
    let (mut low, mut high) = (0.0, dot(v, v) * set.smooth().unwrap().curvature());
    assert!(inside(&plus(&b, -high, &n)));
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if inside(&plus(&b, -middle, &n)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    plus(&b, -high, &n)
}

#[test]
fn every_step_is_that_of_a_plain_transcription() {
    let mut met = 0;
    for (name, set) in smooth_sets() {
        if set.name() == "own" {
            continue;
        }
        let dim = set.dim();
        let mut h = set.smooth().unwrap();
        let (mu, d) = (h.curvature(), set.geometry().diameter);
        let kappa = 1.0 + 2.0 * mu * d;
        let mut gradient = |x: &[f64]| {
            let mut out = vec![0.0; dim];
            h.gradient(x, &mut out);
            out
        };
        for (text, schedule) in [
            ("fast-ogd:gradient-bound=2", 0),
            ("fast-ogd", 1),
            ("fast-ogd:lambda=0.3", 2),
            ("fast-ogd:lambda=0.3,gradient-bound=2", 3),
            ("fast-ogd:eta-scale=3", 4),
        ] {
            let mut player = learner(text, &set);
            let mut r = rng(4);
            let (mut sum, mut largest) = (0.0, 0f64);
            let drift = unit(&mut r, dim);
            let mut x = written(player.decision());
            for t in 1..=200u32 {
                // gradients above G in some rounds, so that steps are shortened
                let size = if t % 20 == 0 {
                    100.0
                } else {
                    2.0 * uniform(&mut r)
                };
                let g = scaled(&plus(&drift, 0.5, &unit(&mut r, dim)), size / 1.5);
                let t = f64::from(t);
                sum += dot(&g, &g);
                largest = largest.max(norm(&g));
                let adaptive = d / (2.0 * kappa * sum).sqrt().max(kappa * largest);
                let eta = [
                    d / (2.0 * kappa * t.sqrt()),
                    adaptive,
                    1.0 / (2.0 * mu * largest + 0.3 * t),
                    1.0 / (2.0 * mu * 2.0 + 0.3 * t),
                    3.0 * adaptive,
                ][schedule];
                let eta = eta.min(0.5 / mu / norm(&g));
                player.decide().unwrap();
                let record = player.observe(&Gradient::dense(&g)).unwrap();
                assert!((record.sigma / eta - 1.0).abs() < 1e-12, "{text} on {name}");
                let v = scaled(&g, -eta);
                let expected = plain(&set, &mut gradient, &x, &v);
                let next = written(player.decision());
                let apart = distance(&next, &expected);
                assert!(
                    apart <= 5e-3 * mu * dot(&v, &v) + 1e-13 * d,
                    "{text} on {name}, round {t}: {apart:e}, ‖v‖ = {:e}",
                    norm(&v)
                );
                met += usize::from(distance(&next, &plus(&x, 1.0, &v)) > 1e-3 * norm(&v));
                x = next;
            }
        }
    }
    println!("{met} rounds at the boundary");
    assert!(met > 1000, "{met}");
}

#[test]
fn it_agrees_with_descent_by_the_true_projection_as_far_as_the_inequality_says() {
    for (name, set) in smooth_sets() {
        let Some(mut projection) = set.projection() else {
            continue;
        };
        let mu = set.smooth().unwrap().curvature();
        let mut player = learner("fast-ogd:gradient-bound=1", &set);
        let mut r = rng(5);
        let drift = unit(&mut r, set.dim());
        for _ in 0..300 {
            let x = written(player.decide().unwrap());
            let g = scaled(&plus(&drift, 0.7, &unit(&mut r, set.dim())), 0.5);
            let sigma = player.observe(&Gradient::dense(&g)).unwrap().sigma;
            let y = plus(&x, -sigma, &g);
            let mut nearest = y.clone();
            projection.project(&mut nearest).unwrap();
            let apart = distance(&written(player.decision()), &nearest);
            let length = sigma * norm(&g);
            let most = distance(&y, &nearest) + mu * length * length;
            assert!(
                apart <= most + 1e-12 * norm(&x),
                "{name}: {apart:e} > {most:e}"
            );
        }
    }
}

/// Linear losses that push along one direction, turn against the decision, or both.
fn loss_row(r: &mut ChaCha8Rng, kind: usize, t: u64, x: &[f64]) -> Vec<f64> {
    let n = x.len();
    match kind {
        0 => unit(r, n),
        1 => scaled(&unit(&mut rng(t / 50), n), 1.0),
        _ => {
            let away = plus(&normals(r, n), 3.0, x);
            scaled(&away, 1.0 / norm(&away).max(1e-12))
        }
    }
}

#[test]
fn regret_keeps_to_the_bounds_of_all_schedules() {
    let rounds = if soak() { 100_000 } else { 2_000 };
    for (name, set) in smooth_sets() {
        if set.name() == "own" {
            continue;
        }
        let mut shares = Vec::new();
        for (text, lambda) in [
            ("fast-ogd:gradient-bound=1", 0.0),
            ("fast-ogd", 0.0),
            ("fast-ogd:lambda=0.5", 0.5),
        ] {
            for kind in 0..3 {
                let mut player = learner(text, &set);
                let mut r = rng(6);
                let (mut gain, mut sum) = (0.0, vec![0.0; set.dim()]);
                let mut curve = 0.0;
                for t in 1..=rounds {
                    let x = written(player.decide().unwrap());
                    // ⟨a, x⟩ + (λ/2)‖x‖²
                    let a = loss_row(&mut r, kind, t, &x);
                    let g = plus(&a, lambda, &x);
                    gain += dot(&a, &x);
                    curve += 0.5 * lambda * dot(&x, &x);
                    sum = plus(&sum, 1.0, &a);
                    player.observe(&Gradient::dense(&g)).unwrap();
                }
                let t = rounds as f64;
                // an upper bound of the best fixed decision's advantage
                let best = if lambda == 0.0 {
                    dot(&sum, &atom(&*set, &sum))
                } else {
                    let mut u = scaled(&sum, -1.0 / (lambda * t));
                    set.projection().unwrap().project(&mut u).unwrap();
                    dot(&sum, &u) + 0.5 * lambda * t * dot(&u, &u)
                };
                let regret = gain + curve - best;
                let guarantee = player.guarantee().unwrap();
                assert!(
                    guarantee
                        .check(player.seen(), &LossFacts::strongly_convex(lambda))
                        .iter()
                        .all(|c| c.holds)
                );
                let bound = guarantee.bound(t);
                assert!(regret <= bound, "{text} on {name}: {regret} > {bound}");
                shares.push(format!("{:.2}", regret / bound));
            }
        }
        println!("{name}: {}", shares.join(" "));
    }
}

#[test]
fn strongly_convex_losses_lead_to_the_nearest_point() {
    for (name, set) in smooth_sets() {
        let Some(mut projection) = set.projection() else {
            continue;
        };
        let aim = plus(
            &centre(&*set),
            set.geometry().diameter,
            &unit(&mut rng(7), set.dim()),
        );
        let mut nearest = aim.clone();
        projection.project(&mut nearest).unwrap();
        let mut player = learner("fast-ogd:lambda=1", &set);
        let kappa =
            theory::fast_ogd_kappa(set.smooth().unwrap().curvature(), set.geometry().diameter);
        let rounds = if kappa > 100.0 { 100_000 } else { 10_000 };
        for _ in 0..rounds {
            let x = written(player.decide().unwrap());
            player.observe(&Gradient::dense(&minus(&x, &aim))).unwrap();
        }
        let apart = distance(&written(player.decision()), &nearest) / set.geometry().diameter;
        assert!(apart < 1e-2, "{name}: {apart:e}");
    }
}

#[test]
fn a_step_takes_few_values_of_h() {
    let calls = Arc::new(AtomicU64::new(0));
    let counter = calls.clone();
    let geometry = set("l2", 3).geometry();
    let own = CustomSet::new("ball", 3, geometry, |_, _| Err("only h".into())).unwrap();
    let own = own
        .with_smooth(
            1.0,
            move |x| {
                counter.fetch_add(1, Ordering::Relaxed);
                dot(x, x) - 1.0
            },
            |x, out| out.copy_from_slice(x),
        )
        .unwrap();
    let mut fast = FastProjection::new(&own).unwrap();
    let mut r = rng(8);
    for k in 0..1000 {
        let length = 0.5f64.powi(1 + k % 40);
        let mut x = scaled(&unit(&mut r, 3), 1.0 - 1e-12);
        calls.store(0, Ordering::Relaxed);
        fast.step(&mut x, &scaled(&unit(&mut r, 3), length));
        let took = calls.load(Ordering::Relaxed) as f64;
        // one halving per digit that a thousandth of ‖v‖² asks for, and those on the normal
        assert!(
            took <= 30.0 - 2.0 * length.log2(),
            "{took} for ‖v‖ = {length:e}"
        );
        assert!(dot(&x, &x) <= 1.0);
    }
}

#[test]
fn a_users_own_h_is_played_and_never_left() {
    let set = own();
    for text in [
        "fast-ogd",
        "fast-ogd:gradient-bound=1",
        "fast-ogd:lambda=0.1",
    ] {
        let mut player = learner(text, &set);
        let mut r = rng(9);
        for t in 0..2000 {
            let x = written(player.decide().unwrap());
            assert_eq!(set.violation(&x), Some(0.0), "{text}");
            let size = if t < 1000 {
                1.0
            } else {
                10f64.powf(190.0 * uniform(&mut r) - 95.0)
            };
            let g = scaled(&unit(&mut r, 4), size);
            player.observe(&Gradient::dense(&g)).unwrap();
        }
    }
}

#[test]
fn a_state_from_a_wider_set_of_the_same_name_is_brought_in() {
    let disc = |radius: f64| -> SharedSet {
        let geometry = set("l2:radius=2", 2).geometry();
        let disc = CustomSet::new("disc", 2, geometry, |_, _| Err("only h".into())).unwrap();
        let h = move |x: &[f64]| dot(x, x) - radius * radius;
        Arc::new(
            disc.with_smooth(1.0, h, |x, out| out.copy_from_slice(x))
                .unwrap(),
        )
    };
    let mut wide = learner("fast-ogd", &disc(2.0));
    for _ in 0..500 {
        wide.decide().unwrap();
        wide.observe(&Gradient::dense(&[-1.0, 0.0])).unwrap();
    }
    assert!(written(wide.decision())[0] > 1.99);
    let mut narrow = learner("fast-ogd", &disc(1.0));
    narrow.load(&wide.save().unwrap()).unwrap();
    for _ in 0..3 {
        narrow.decide().unwrap();
        narrow.observe(&Gradient::dense(&[-1.0, 0.1])).unwrap();
        assert!(norm(&written(narrow.decision())) <= 1.0);
    }
}

#[test]
fn sets_without_a_smooth_h_are_refused_with_the_reason() {
    for text in [
        "l1",
        "simplex",
        "box",
        "lp:p=1.5",
        "translate:by=0.1,set=(l1)",
    ] {
        let spec: LearnerSpec = "fast-ogd".parse().unwrap();
        let set = set(text, 3);
        let why = spec.build(&set).err().unwrap().to_string();
        assert!(
            why.contains("fast-ogd") && why.contains(set.name()),
            "{why}"
        );
        assert!(why.contains("h(x)") && why.contains("ogd"), "{why}");
    }
    let geometry = set("l2", 2).geometry();
    let bare = CustomSet::new("bare", 2, geometry, |_, _| Err("none".into())).unwrap();
    for mu in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let why = bare.clone().with_smooth(mu, |_| -1.0, |_, _| ());
        assert!(why.err().unwrap().to_string().contains("curvature"));
    }
    let outside = bare.with_smooth(1.0, |_| 1.0, |_, _| ()).unwrap();
    assert!(
        FastProjection::new(&outside)
            .err()
            .unwrap()
            .to_string()
            .contains("centre")
    );
}
