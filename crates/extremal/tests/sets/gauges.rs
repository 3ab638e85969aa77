//! Gauges, their subgradients, and the learners that need nothing else of a set.

use crate::common::{
    atom, centre, distance, feasible_points, learners, minus, normals, plus, rng, scaled, soak,
    unit, written,
};
use extremal::Error;
use extremal::Gradient;
use extremal::kernel::{dot, norm};
use extremal::learner::LearnerSpec;
use extremal::set::{Intersection, Set};
use extremal_check::kit::set;

/// Sets with a gauge's subgradient, round, pointed, flat, made of others, and off-centre.
const SETS: [&str; 14] = [
    "l2:radius=2",
    "l1",
    "lp:p=1.5",
    "lp:p=1.1",
    "lp:p=7",
    "hypercube:centred=true",
    "box:lower=-1,upper=1.3",
    "ellipsoid:axes=2,centre=0.2",
    "k-sparse:k=2",
    "elastic-net",
    "group:size=2",
    "group:size=3,s=1.5,p=3",
    "scale:by=3,set=(lp:p=3)",
    "product:sets=[(l2),(box)]",
];

fn gauge_gradient(set: &dyn Set, x: &[f64]) -> Option<(f64, Vec<f64>)> {
    let mut s = vec![f64::NAN; x.len()];
    let gauge = set.gauge_gradient(x, &mut s)?;
    Some((gauge, s))
}

#[test]
fn a_box_has_a_gauge_where_0_is_inside() {
    let inside = set("box:lower=-0.5,upper=2", 2);
    assert_eq!(inside.gauge(&[1.0, 0.0]), Some(0.5));
    assert_eq!(inside.gauge(&[1.0, -1.0]), Some(2.0));
    assert_eq!(
        gauge_gradient(&*inside, &[1.0, -1.0]),
        Some((2.0, vec![0.0, -2.0]))
    );
    assert_eq!(
        gauge_gradient(&*inside, &[3.0, 0.0]),
        Some((1.5, vec![0.5, 0.0]))
    );
    for text in [
        "box:lower=0,upper=1",
        "box:lower=1,upper=2",
        "box:lower=-1,upper=0",
    ] {
        assert_eq!(set(text, 2).gauge(&[1.0, 1.0]), None, "{text}");
        assert_eq!(gauge_gradient(&*set(text, 2), &[1.0, 1.0]), None, "{text}");
    }
}

/// Gradients that drift, turn, and push outwards.
fn gradient(r: &mut rand_chacha::ChaCha8Rng, t: usize, mean: &[f64], x: &[f64]) -> Vec<f64> {
    let noise = unit(r, mean.len());
    match (t / 100) % 4 {
        0 => plus(&scaled(mean, -0.5), 0.5, &noise),
        1 => noise,
        2 => plus(&scaled(mean, 0.8), 0.2, &noise),
        _ => plus(&scaled(x, -0.3 / norm(x).max(1e-3)), 0.1, &noise),
    }
}

/// Line by line, and every inequality that the proof goes through.
#[test]
fn the_surrogate_gradients_bound_the_regret_and_a_transcription_plays_the_same() {
    const DIM: usize = 6;
    // where the set is the ball itself, rounding decides whether γ(w) ≥ 1
    for text in SETS.into_iter().filter(|text| !text.starts_with("l2")) {
        let set = set(text, DIM);
        let reach = set.geometry().norm_bound;
        let mut r = rng(2);
        let points = feasible_points(&mut r, &*set, 30);
        // around 0
        let inner = set.geometry().inner_radius.unwrap() - norm(&centre(&*set));
        let kappa = reach / inner;
        for scale in [1.0, 0.3] {
            let spec = format!("gauge-wrapper:eta-scale={scale}");
            let mut learner = spec.parse::<LearnerSpec>().unwrap().build(&set).unwrap();
            let mut w = centre(&*set);
            let (mut root, mut total, mut sum) = (0.0_f64, 0.0, vec![0.0; DIM]);
            let (mut turned, mut plain) = (0, 0);
            let mean = unit(&mut r, DIM);
            for t in 0..800 {
                let gauge = set.gauge(&w).unwrap();
                let x: Vec<f64> = w.iter().map(|w| w / gauge.max(1.0)).collect();
                let played = written(learner.decide().unwrap());
                // subgradients jump, so that nothing but the same bits stays near
                assert!(distance(&played, &x) <= 1e-12 * reach, "{text}, round {t}");
                let g = gradient(&mut r, t, &mean, &x);
                let mut tilde = g.clone();
                if gauge >= 1.0 && dot(&g, &w) < 0.0 {
                    let (_, s) = gauge_gradient(&*set, &w).unwrap();
                    tilde = plus(&g, -dot(&g, &x), &s);
                    turned += 1;
                } else {
                    plain += 1;
                }
                if inner > 0.0 {
                    assert!(
                        norm(&tilde) <= (1.0 + kappa) * norm(&g) * (1.0 + 1e-9),
                        "{text}"
                    );
                }
                for u in &points {
                    let (left, right) = (dot(&g, &minus(&x, u)), dot(&tilde, &minus(&w, u)));
                    assert!(
                        left <= right + 1e-9 * reach * norm(&tilde),
                        "{text}: {left} > {right}"
                    );
                }
                learner.observe(&Gradient::dense(&g)).unwrap();
                total += dot(&g, &x);
                sum = plus(&sum, 1.0, &g);
                root = root.hypot(norm(&tilde));
                w = plus(&w, -(scale * (2f64.sqrt() * reach / root)), &tilde);
                if norm(&w) > reach {
                    w = scaled(&w, reach / norm(&w));
                }
                let bound = learner.guarantee().unwrap().bound(t as f64 + 1.0);
                let by_hand = (scale + 1.0 / scale) * reach * 2f64.sqrt() * root;
                assert!(
                    (bound / by_hand - 1.0).abs() < 1e-8,
                    "{text}: {bound}, not {by_hand}"
                );
                let regret = total - dot(&sum, &atom(&*set, &sum));
                assert!(regret <= bound * (1.0 + 1e-9), "{text}: {regret} > {bound}");
            }
            assert!(
                turned > 10 && plain > 10,
                "{text}: {turned} turned, {plain} not"
            );
        }
    }
}

#[test]
fn the_regret_of_gauge_wrapper_grows_like_the_root_of_the_rounds() {
    let longest = if soak() { 1_000_000 } else { 40_000 };
    for text in ["l1", "lp:p=1.5", "hypercube:centred=true"] {
        let set = set(text, 9);
        let geometry = set.geometry();
        let mut learner = "gauge-wrapper"
            .parse::<LearnerSpec>()
            .unwrap()
            .build(&set)
            .unwrap();
        let mut r = rng(4);
        let (mut total, mut sum, mut shares) = (0.0, vec![0.0; 9], Vec::new());
        for t in 1..=longest {
            let x = written(learner.decide().unwrap());
            let g = unit(&mut r, 9);
            total += dot(&g, &x);
            sum = plus(&sum, 1.0, &g);
            learner.observe(&Gradient::dense(&g)).unwrap();
            if t == longest / 16 || t == longest {
                let regret = total - dot(&sum, &atom(&*set, &sum));
                let inner = geometry.inner_radius.unwrap();
                let reach = geometry.norm_bound;
                let most = 8f64.sqrt() * reach * (1.0 + reach / inner) * (t as f64).sqrt();
                let own = learner.guarantee().unwrap().bound(t as f64);
                assert!(
                    regret <= own && own <= most * (1.0 + 1e-9),
                    "{text}: {regret}, {own}, {most}"
                );
                shares.push(regret / (t as f64).sqrt());
            }
        }
        println!("{text}: regret/√T {shares:.3?}");
        assert!(shares[1] <= 2.0 * shares[0].max(1.0), "{text}: {shares:?}");
    }
}

#[test]
fn descent_with_separation_is_the_transcription_and_keeps_its_bounds() {
    const DIM: usize = 5;
    let t_max = if soak() { 40_000 } else { 4_000 };
    for text in SETS {
        let set = set(text, DIM);
        let reach = set.geometry().norm_bound;
        let inner = set.geometry().inner_radius.unwrap() - norm(&centre(&*set));
        let horizon = t_max as f64;
        let delta = (4.0 * reach / inner / horizon.sqrt()).min(0.5);
        for scale in [1.0, 4.0] {
            let spec = format!("so-ogd:horizon={t_max},gradient-bound=1,eta-scale={scale}");
            let built = spec.parse::<LearnerSpec>().unwrap().build(&set);
            if inner <= 0.0 {
                assert!(built.is_err(), "{text}");
                continue;
            }
            let mut learner = built.unwrap();
            let eta = scale * inner / (2.0 * horizon.sqrt());
            let mut y = centre(&*set);
            let mut r = rng(5);
            let points = feasible_points(&mut r, &*set, 20);
            let mean = unit(&mut r, DIM);
            let (mut total, mut sum, mut looks) = (0.0, vec![0.0; DIM], 0_u64);
            let (mut sums, mut paid) = (vec![sum.clone()], vec![0.0]);
            for t in 0..t_max {
                let x = written(learner.decide().unwrap());
                assert!(distance(&x, &y) <= 1e-9 * reach, "{text}, round {t}");
                y = x.clone();
                let g = gradient(&mut r, t, &mean, &x);
                total += dot(&g, &x);
                sum = plus(&sum, 1.0, &g);
                learner.observe(&Gradient::dense(&g)).unwrap();
                y = plus(&y, -eta, &g);
                y = scaled(&y, (reach / norm(&y)).min(1.0));
                loop {
                    looks += 1;
                    let (gauge, s) = gauge_gradient(&*set, &y).unwrap();
                    if gauge <= 1.0 {
                        break;
                    }
                    let next = plus(&y, -(gauge - 1.0 + delta) / dot(&s, &s), &s);
                    // as far back as the paper's step, and no farther from (1 − δ)K
                    let step = delta * inner;
                    assert!(distance(&next, &y) >= step * (1.0 - 1e-9), "{text}");
                    if t % 97 == 0 {
                        for z in &points {
                            let z = scaled(z, 1.0 - delta);
                            let (was, is) = (distance(&y, &z), distance(&next, &z));
                            assert!(
                                is * is <= was * was - step * step + 1e-12 * reach * reach,
                                "{text}: {is} from {was}"
                            );
                        }
                    }
                    y = next;
                }
                if (t + 1) % (t_max / 50) == 0 {
                    sums.push(sum.clone());
                    paid.push(total);
                }
            }
            assert_eq!(learner.seen().oracle_calls, looks, "{text}");
            let guarantee = learner.guarantee().unwrap();
            let by_hand = |l: f64| 2.0 * reach * reach / eta + (0.5 * eta + delta * reach) * l;
            let mut worst = 0.0_f64;
            for b in 1..sums.len() {
                for a in 0..b {
                    let s = minus(&sums[b], &sums[a]);
                    let regret = paid[b] - paid[a] - dot(&s, &atom(&*set, &s));
                    let length = ((b - a) * (t_max / 50)) as f64;
                    let bound = guarantee.bound(length);
                    assert!((bound / by_hand(length) - 1.0).abs() < 1e-12, "{text}");
                    worst = worst.max(regret / bound);
                }
            }
            let (ratio, share) = (reach / inner, eta / (delta * inner));
            let per_round = 1.0 + 2.0 * ratio * share + share * share;
            let most = ratio * ratio + per_round * horizon;
            println!("{text}: {worst:.3} of the bound, {looks} separations of {most:.0}");
            assert!(worst <= 1.0, "{text}: {worst}");
            assert!(looks as f64 <= most, "{text}: {looks} > {most}");
            if scale == 1.0 && delta < 0.5 {
                let bound = guarantee.bound(horizon);
                let paper = (0.25 * inner + 8.0 * reach * reach / inner) * horizon.sqrt();
                assert!(
                    (bound / paper - 1.0).abs() < 1e-12,
                    "{text}: {bound}, {paper}"
                );
                let calls = 1.25 + (inner / reach).powi(2) / 64.0;
                let all = (reach / inner).powi(2) + calls * horizon;
                assert!((most / all - 1.0).abs() < 1e-12, "{text}: {most}, {all}");
            }
        }
    }
}

#[test]
fn without_t_and_g_the_bound_as_played_holds_in_every_round() {
    const DIM: usize = 5;
    for text in SETS {
        let set = set(text, DIM);
        let geometry = set.geometry();
        let (reach, inner) = (
            geometry.norm_bound,
            geometry.inner_radius.unwrap() - norm(&centre(&*set)),
        );
        for scale in [1.0, 0.2] {
            let spec = format!("so-ogd:eta-scale={scale}");
            let Ok(mut learner) = spec.parse::<LearnerSpec>().unwrap().build(&set) else {
                assert!(inner <= 0.0, "{text}");
                continue;
            };
            let mut r = rng(6);
            let mean = unit(&mut r, DIM);
            let (mut total, mut sum) = (0.0, vec![0.0; DIM]);
            let (mut root, mut drift, mut shrunk, mut last) = (0.0_f64, 0.0, 0.0, 0.0_f64);
            for t in 0..3000 {
                let x = written(learner.decide().unwrap());
                let size = if t < 1500 { 1e-3 } else { 1e3 };
                let g = scaled(&gradient(&mut r, t, &mean, &x), size);
                total += dot(&g, &x);
                sum = plus(&sum, 1.0, &g);
                learner.observe(&Gradient::dense(&g)).unwrap();
                let delta = (4.0 * reach / inner / (t as f64 + 1.0).sqrt()).min(0.5);
                drift += (last - delta).max(0.0) * root;
                shrunk += delta * norm(&g);
                root = root.hypot(norm(&g));
                last = delta;
                let by_hand =
                    reach * (2f64.sqrt() * ((scale + 1.0 / scale) * root + drift / scale) + shrunk);
                let bound = learner.guarantee().unwrap().bound(t as f64 + 1.0);
                assert!(
                    (bound / by_hand - 1.0).abs() < 1e-8,
                    "{text}: {bound}, {by_hand}"
                );
                let regret = total - dot(&sum, &atom(&*set, &sum));
                assert!(regret <= bound * (1.0 + 1e-9), "{text}: {regret} > {bound}");
            }
        }
    }
}

#[test]
fn what_has_no_gauge_is_refused_in_words() {
    for text in [
        "simplex",
        "box:lower=0",
        "permutahedron",
        "ellipsoid:axes=1,centre=3",
    ] {
        let set = set(text, 4);
        for spec in ["gauge-wrapper", "so-ogd"] {
            let built = spec.parse::<LearnerSpec>().unwrap().build(&set);
            let error = built.expect_err(text).to_string();
            assert!(
                error.contains("gauge") && error.contains("loo-bogd"),
                "{error}"
            );
        }
    }
    // a gauge, but no ball around 0 that is known
    let off = set("ellipsoid:axes=1,centre=0.49", 4);
    assert!(
        "gauge-wrapper"
            .parse::<LearnerSpec>()
            .unwrap()
            .build(&off)
            .is_ok()
    );
    let off = set("box:lower=-1,upper=100", 4);
    let built = "so-ogd".parse::<LearnerSpec>().unwrap().build(&off);
    let error = built.err().unwrap().to_string();
    assert!(error.contains("ball around 0"), "{error}");
}

#[test]
fn both_go_to_the_minimiser_of_a_loss_that_stays() {
    let mut r = rng(7);
    for text in ["l1", "lp:p=1.5", "box:lower=-1,upper=1.3"] {
        let set = set(text, 4);
        let goal = normals(&mut r, 4);
        let mut best = goal.clone();
        set.projection().unwrap().project(&mut best).unwrap();
        for spec in ["gauge-wrapper", "so-ogd"] {
            let mut learner = spec.parse::<LearnerSpec>().unwrap().build(&set).unwrap();
            let mut mean = vec![0.0; 4];
            let rounds = 20_000;
            for _ in 0..rounds {
                let x = written(learner.decide().unwrap());
                mean = plus(&mean, 1.0 / rounds as f64, &x);
                learner
                    .observe(&Gradient::dense(&minus(&x, &goal)))
                    .unwrap();
            }
            // ½‖x − b‖² at the mean is no more than regret/T above its least
            let excess = 0.5 * (distance(&mean, &goal).powi(2) - distance(&best, &goal).powi(2));
            let bound = learner.guarantee().unwrap().bound(rounds as f64) / rounds as f64;
            println!("{text}, {spec}: {excess:.5} above, {bound:.5} proven");
            assert!(
                (-1e-9..=bound).contains(&excess),
                "{text}, {spec}: {excess}"
            );
            assert!(excess < 0.1, "{text}, {spec}: {excess}");
        }
    }
}

/// ‖x‖∞ ≤ 1 and ‖x‖₁ ≤ 2 is a set of its own, too.
#[test]
fn an_intersection_is_played_as_the_set_that_it_is() {
    const DIM: usize = 6;
    let whole = set("k-sparse:k=2", DIM);
    let parts = ["hypercube:centred=true", "l1:radius=2"].map(|text| set(text, DIM));
    let met = Intersection::new(parts.to_vec()).unwrap().shared();
    assert!((met.geometry().inner_radius.unwrap() - 2.0 / (DIM as f64).sqrt()).abs() < 1e-12);
    let mut r = rng(8);
    for _ in 0..200 {
        let x = normals(&mut r, DIM);
        let gauge = whole.gauge(&x).unwrap();
        assert!((met.gauge(&x).unwrap() - gauge).abs() <= 1e-14 * gauge);
        let (reached, s) = gauge_gradient(&*met, &x).unwrap();
        assert!((reached - gauge).abs() <= 1e-14 * gauge && (dot(&s, &x) - gauge).abs() < 1e-12);
        for point in feasible_points(&mut r, &*whole, 5) {
            assert!(dot(&s, &point) <= 1.0 + 1e-12);
        }
    }
    for spec in ["gauge-wrapper", "so-ogd:horizon=400,gradient-bound=4"] {
        let spec: LearnerSpec = spec.parse().unwrap();
        let mut learner = spec.build(&met).unwrap();
        let mean = normals(&mut r, DIM);
        let (mut lost, mut sum) = (0.0, vec![0.0; DIM]);
        for t in 0..400 {
            let x = written(learner.decide().unwrap());
            assert!(whole.violation(&x).unwrap() <= 1e-9, "{x:?}");
            let g = gradient(&mut r, t, &mean, &x);
            lost += dot(&g, &x);
            sum = plus(&sum, 1.0, &g);
            learner.observe(&Gradient::dense(&g)).unwrap();
        }
        let regret = lost - dot(&sum, &atom(&*whole, &sum));
        let bound = learner.guarantee().unwrap().bound(400.0);
        assert!(regret <= bound, "{spec}: {regret} {bound}");
    }
    // whoever needs an oracle is refused before the first round
    let mut refused = 0;
    for (text, spec) in learners() {
        match spec.build(&met) {
            Err(Error::CannotPlay { instead, .. }) => {
                assert_eq!(instead, ["gauge-wrapper"], "{text}");
                refused += 1;
            }
            Err(error) => panic!("{text}: {error}"),
            Ok(mut learner) => {
                learner.decide().unwrap();
                learner.observe(&Gradient::dense(&[1.0; DIM])).unwrap();
            }
        }
    }
    assert!(refused > 15, "{refused}");
    assert!(Intersection::new(vec![]).is_err());
    assert!(Intersection::new(vec![set("l2", 3), set("l2", 4)]).is_err());
    let error = Intersection::new(vec![set("simplex", 3)]).err().unwrap();
    assert!(error.to_string().contains("simplex"), "{error}");
}
