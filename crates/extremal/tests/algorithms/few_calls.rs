//! Learners that ask the oracle less than once a round: what brings a decision near a point
//! outside of the set, and the descent that rests on it.

use crate::common::{
    atom, centre, distance, feasible_points, minus, normals, plus, rng, scaled, soak, uniform,
    unit, written,
};
use extremal::Gradient;
use extremal::kernel::{dot, norm};
use extremal::learner::LearnerSpec;
use extremal::set::{Set, SharedSet};
use extremal_check::kit::set;

const SETS: [&str; 9] = [
    "simplex",
    "simplex:total=3,at-most=true",
    "l1:radius=2",
    "l2",
    "lp:p=1.5",
    "lp:p=5",
    "box:lower=-1,upper=2",
    "k-sparse:k=2",
    "ellipsoid:axes=2,centre=0.5",
];

/// R as the documentation has it.
fn radius(set: &dyn Set) -> f64 {
    let (geometry, c) = (set.geometry(), centre(set));
    let off = norm(&c);
    if off == 0.0 {
        geometry.norm_bound
    } else {
        geometry.diameter.min(geometry.norm_bound + off)
    }
}

/// The search line by line, with nothing left out and nothing shared: how many calls it took, and
/// whether y went back.
fn naive_bring(set: &dyn Set, x: &mut Vec<f64>, y: &mut Vec<f64>, epsilon: f64) -> (u32, bool) {
    let (c, reach) = (centre(set), radius(set));
    let off = minus(y, &c);
    if norm(&off) > reach {
        *y = plus(&c, reach / norm(&off), &off);
    }
    let mut calls = 0;
    loop {
        let way = minus(x, y);
        let square = dot(&way, &way);
        if square == 0.0 || (square <= 3.0 * epsilon && calls > 0) {
            return (calls, false);
        }
        let back = minus(x, &atom(set, &way));
        calls += 1;
        let gap = dot(&way, &back);
        if square > 3.0 * epsilon && gap <= epsilon {
            *y = plus(x, epsilon / square, &minus(y, x));
            return (calls, true);
        }
        if gap <= 0.0 {
            return (calls, false);
        }
        *x = plus(x, -(gap / dot(&back, &back)).min(1.0), &back);
    }
}

/// A round of `loo-bogd` from x towards y = x − ηg, and perhaps a second one without a gradient.
/// They play what the search finds, with as many calls.
fn check_learner(set: &SharedSet, tolerance: f64, start: &[f64], goal: &[f64], rounds: usize) {
    let (reach, entries) = (radius(&**set), start.iter().map(f64::to_string));
    let spec = format!(
        "loo-bogd:horizon=1,gradient-bound=1,block=1,tolerance={tolerance},start=[{}]",
        entries.collect::<Vec<_>>().join(",")
    );
    let mut learner = spec.parse::<LearnerSpec>().unwrap().build(set).unwrap();
    // η = R
    let g = scaled(&minus(start, goal), 1.0 / reach);
    let (mut x, mut y) = (start.to_vec(), plus(start, -reach, &g));
    for g in [g, vec![0.0; start.len()]].iter().take(rounds) {
        let record = learner.observe(&Gradient::dense(g)).unwrap();
        // points that only rounding tells apart take a call or none
        let same = distance(&x, &y) <= 1e-12 * reach;
        let (calls, _) = naive_bring(&**set, &mut x, &mut y, tolerance * reach * reach);
        let apart = distance(&written(learner.decision()), &x);
        assert!(apart <= 1e-9 * reach, "{}: {apart:e}", set.name());
        let asked = record.oracle_calls;
        assert!(same || asked == calls, "{}: {asked}, {calls}", set.name());
    }
}

#[test]
fn points_are_brought_near_and_no_farther_from_any_point_of_the_set() {
    let mut r = rng(1);
    let (mut runs, mut pulls, mut most) = (0, 0, 0.0_f64);
    for text in SETS {
        for dim in [2, 7, 30] {
            let set = set(text, dim);
            let reach = radius(&*set);
            let points = feasible_points(&mut r, &*set, 20);
            for tolerance in [1.0, 0.1, 0.01, 0.001] {
                for size in [0.1, 0.5, 1.0, 3.0, 100.0] {
                    let start = &points[runs % points.len()];
                    let before = plus(&centre(&*set), size * reach, &unit(&mut r, dim));
                    check_learner(&set, tolerance, start, &before, 2);
                    let (mut x, mut y) = (start.clone(), before.clone());
                    let epsilon = tolerance * reach * reach;
                    let (calls, pulled) = naive_bring(&*set, &mut x, &mut y, epsilon);
                    let name = format!("{text} in dimension {dim}, {tolerance}, {size}");
                    let apart = distance(&x, &y);
                    let square = apart * apart;
                    assert!(square <= 3.0 * epsilon * (1.0 + 1e-12), "{name}: {apart}");
                    assert!(set.violation(&x).unwrap() <= 1e-9, "{name}");
                    for z in &points {
                        let (was, is) = (distance(&before, z), distance(&y, z));
                        assert!(is <= was + 1e-12 * reach, "{name}: {is} from {was}");
                    }
                    let cap = (27.0 / tolerance - 2.0).ceil();
                    assert!(f64::from(calls) <= cap, "{name}");
                    most = most.max(f64::from(calls) / cap);
                    if pulled {
                        pulls += 1;
                        // one pull leaves a third of ε at most
                        let third = epsilon / 3.0;
                        assert!(square <= third * (1.0 + 1e-9), "{name}: {apart}");
                    }
                    runs += 1;
                }
            }
        }
    }
    println!("{runs} pairs, {pulls} pulled, at most {most:.3} of the calls allowed");
    assert!(pulls > runs / 10 && pulls < runs);
}

#[test]
fn a_point_of_the_set_stays_where_it_is_and_one_step_is_one_step() {
    let mut r = rng(2);
    for text in SETS {
        let set = set(text, 6);
        let reach = radius(&*set);
        let points = feasible_points(&mut r, &*set, 12);
        for (start, goal) in points.iter().zip(points.iter().rev()) {
            // a point inside without ties, which rounding would break
            let weights: Vec<f64> = points.iter().map(|_| uniform(&mut r)).collect();
            let total: f64 = weights.iter().sum();
            let parts = points.iter().zip(&weights);
            let inside = parts.fold(vec![0.0; 6], |sum, (p, w)| plus(&sum, w / total, p));
            check_learner(&set, 1e3, start, &inside, 1);
            let (mut x, mut y) = (start.clone(), goal.clone());
            let epsilon = 0.01 * reach * reach;
            let (_, pulled) = naive_bring(&*set, &mut x, &mut y, epsilon);
            assert!(!pulled, "{text}");
            assert!(distance(&y, goal) <= 1e-14 * reach, "{text}");
            // near enough from the start: one step with exact line search
            let (mut x, mut y) = (start.clone(), goal.clone());
            let (calls, _) = naive_bring(&*set, &mut x, &mut y, 1e3 * reach * reach);
            let way = minus(start, goal);
            if norm(&way) == 0.0 {
                continue;
            }
            assert_eq!(calls, 1, "{text}");
            let back = minus(start, &atom(&*set, &way));
            let sigma = (dot(&way, &back) / dot(&back, &back)).clamp(0.0, 1.0);
            let expected = plus(start, -sigma, &back);
            assert!(distance(&x, &expected) <= 1e-13 * reach, "{text}");
        }
    }
}

/// Loss gradients that turn every so often: 1 is their largest norm.
fn gradients(seed: u64, dim: usize, rounds: usize, turn: usize) -> Vec<Vec<f64>> {
    let mut r = rng(seed);
    let mut mean = unit(&mut r, dim);
    (0..rounds)
        .map(|t| {
            if t % turn == 0 {
                mean = unit(&mut r, dim);
            }
            scaled(&plus(&scaled(&mean, 0.4), 0.6, &unit(&mut r, dim)), 1.0)
        })
        .collect()
}

#[test]
fn a_transcription_line_by_line_plays_the_same() {
    const T: usize = 400;
    for text in ["simplex", "l1:radius=2", "lp:p=1.5", "box:lower=-1,upper=2"] {
        let set = set(text, 5);
        let reach = radius(&*set);
        let losses = gradients(3, 5, T, 60);
        // (spec, η as a function of t, √Σ‖S‖²; ε of t, G; K of t; λ)
        type Eta = fn(f64, f64) -> f64;
        type Epsilon = fn(f64, f64, f64) -> f64;
        type Block = fn(f64) -> u64;
        let fixed = |keys: &str| format!("loo-bogd:horizon=400,gradient-bound=2{keys}");
        let cases: [(String, Eta, Epsilon, Block, f64); 4] = [
            (
                fixed(""),
                |_, _| 1.0 / (2.0 * 400f64.powf(0.75)),
                |_, _, _| 60.0 / 20.0,
                |_| 100,
                0.0,
            ),
            (
                fixed(",block=7,tolerance=0.02,eta-scale=6"),
                |_, _| 6.0 / (2.0 * 400f64.powf(0.75)),
                |_, _, _| 0.02,
                |_| 7,
                0.0,
            ),
            (
                "loo-bogd".into(),
                |_, root| 2f64.sqrt() / root,
                |t, _, _| 60.0 / t.sqrt(),
                |t| t.sqrt().ceil() as u64,
                0.0,
            ),
            (
                "loo-bogd:lambda=40".into(),
                |t, _| 1.0 / (40.0 * t),
                |t, g, r| 130.0 * (4.0 * g * r * r / (40.0 * t)).powf(2.0 / 3.0) / (r * r),
                |t| t.sqrt().ceil() as u64,
                40.0,
            ),
        ];
        for (spec, eta, epsilon, block, lambda) in cases {
            let mut learner = spec.parse::<LearnerSpec>().unwrap().build(&set).unwrap();
            let (mut x, mut y) = (centre(&*set), centre(&*set));
            let (mut sum, mut left, mut filled) = (vec![0.0; 5], 0, 0);
            let (mut squares, mut largest, mut calls) = (0.0, 0.0_f64, 0);
            for (t, loss) in losses.iter().enumerate() {
                let t = t as f64 + 1.0;
                let g = plus(loss, lambda, &x);
                let played = written(learner.decide().unwrap());
                assert!(
                    distance(&played, &x) <= 1e-11 * reach,
                    "{spec} on {text}, {t}"
                );
                learner
                    .observe(&Gradient {
                        ridge: lambda,
                        ..Gradient::dense(loss)
                    })
                    .unwrap();
                if left == 0 {
                    left = block(t);
                    filled = left;
                }
                largest = largest.max(norm(&g));
                sum = plus(&sum, 1.0, &g);
                left -= 1;
                if left == 0 {
                    let step = plus(&sum, lambda * filled as f64, &minus(&y, &x));
                    squares += dot(&step, &step);
                    // η is in units of R but for 1/(λt)
                    let unit = if lambda > 0.0 { 1.0 } else { reach };
                    y = plus(&y, -unit * eta(t, f64::sqrt(squares)), &step);
                    let e = epsilon(t, largest, reach) * reach * reach;
                    calls += naive_bring(&*set, &mut x, &mut y, e).0;
                    sum = vec![0.0; 5];
                }
            }
            assert_eq!(
                learner.seen().oracle_calls,
                u64::from(calls),
                "{spec} on {text}"
            );
        }
    }
}

/// The largest regret over all stretches between multiples of `grain`, over its bound.
fn worst_stretch(
    set: &SharedSet,
    spec: &str,
    losses: &[Vec<f64>],
    grain: usize,
    bound: impl Fn(f64) -> f64,
) -> (f64, u64) {
    let mut learner = spec.parse::<LearnerSpec>().unwrap().build(set).unwrap();
    let dim = set.dim();
    let (mut sums, mut paid) = (vec![vec![0.0; dim]], vec![0.0]);
    let (mut sum, mut total) = (vec![0.0; dim], 0.0);
    for (t, g) in losses.iter().enumerate() {
        let x = written(learner.decide().unwrap());
        total += dot(g, &x);
        sum = plus(&sum, 1.0, g);
        learner.observe(&Gradient::dense(g)).unwrap();
        if (t + 1) % grain == 0 {
            sums.push(sum.clone());
            paid.push(total);
        }
    }
    let mut worst = f64::NEG_INFINITY;
    for b in 1..sums.len() {
        for a in 0..b {
            let s = minus(&sums[b], &sums[a]);
            let regret = paid[b] - paid[a] - dot(&s, &atom(&**set, &s));
            worst = worst.max(regret / bound(((b - a) * grain) as f64));
        }
    }
    (worst, learner.seen().oracle_calls)
}

#[test]
fn on_every_stretch_of_rounds_the_regret_is_within_the_bound() {
    let t = if soak() { 1 << 20 } else { 1 << 16 };
    for (text, seed) in [("l1:radius=2", 1), ("l2", 2), ("box", 3)] {
        let set = set(text, 4);
        let losses = gradients(seed, 4, t, t / 8);
        let horizon = t as f64;
        let reach = radius(&*set);
        let theory = format!("loo-bogd:horizon={t},gradient-bound=1");
        let most = 20.0 * reach * (horizon.sqrt() + horizon.powf(0.75));
        assert!(
            most < horizon * set.geometry().diameter,
            "{text}: says nothing"
        );
        let (worst, calls) = worst_stretch(&set, &theory, &losses, t / 64, |_| most);
        println!("{text}: {worst:.3} of the bound, {calls} calls in {t} rounds");
        assert!(worst <= 1.0, "{text}: {worst}");
        // ⌈27R²/ε − 2⌉ a block at most, and blocks of 5√T
        let per_block = 27.0 / 60.0 * horizon.sqrt() + 1.0;
        assert!(
            calls as f64 <= per_block * horizon / (5.0 * horizon.sqrt()),
            "{text}: {calls}"
        );

        let (block, tolerance) = (128.0, 0.005_f64);
        let eta = 2.0 * reach / horizon.sqrt() / 8.0;
        let scale = eta / (reach * horizon.powf(-0.75));
        let spec = format!("{theory},block={block},tolerance={tolerance},eta-scale={scale}");
        let learner = spec.parse::<LearnerSpec>().unwrap().build(&set).unwrap();
        let guarantee = learner.guarantee().unwrap();
        let (diameter, root) = (set.geometry().diameter, (3.0 * tolerance).sqrt() * reach);
        let by_hand = |rounds: f64| {
            2.0 * reach * reach / eta
                + 0.5 * eta * block * rounds
                + root * rounds
                + 2.0 * block * diameter
        };
        for rounds in [1.0, 1e3, horizon] {
            let bound = guarantee.bound(rounds);
            assert!(
                (bound / by_hand(rounds) - 1.0).abs() < 1e-12,
                "{text}: {bound}"
            );
        }
        let (worst, calls) = worst_stretch(&set, &spec, &losses, t / 64, by_hand);
        println!("{text}, practical: {worst:.3} of the bound, {calls} calls");
        assert!(worst <= 1.0 && worst > 0.02, "{text}: {worst}");
        assert!(calls < t as u64 / 10, "{text}: {calls}");
    }
}

#[test]
fn without_t_and_g_calls_stay_far_below_rounds_and_the_bound_holds() {
    let t = if soak() { 300_000 } else { 30_000 };
    for text in SETS {
        let set = set(text, 6);
        let losses = gradients(5, 6, t, t);
        let mut learner = "loo-bogd"
            .parse::<LearnerSpec>()
            .unwrap()
            .build(&set)
            .unwrap();
        let (mut sum, mut total) = (vec![0.0; 6], 0.0);
        for (k, g) in losses.iter().enumerate() {
            let x = written(learner.decide().unwrap());
            total += dot(g, &x);
            sum = plus(&sum, 1.0, g);
            learner.observe(&Gradient::dense(g)).unwrap();
            if k % 500 == 77 {
                let regret = total - dot(&sum, &atom(&*set, &sum));
                let bound = learner.guarantee().unwrap().bound(k as f64 + 1.0);
                assert!(regret <= bound * (1.0 + 1e-9), "{text}: {regret} > {bound}");
            }
        }
        let regret = total - dot(&sum, &atom(&*set, &sum));
        let bound = learner.guarantee().unwrap().bound(t as f64);
        let calls = learner.seen().oracle_calls;
        println!("{text}: regret {regret:.1} of {bound:.1}, {calls} calls in {t}");
        assert!(calls < t as u64 / 20, "{text}: {calls}");
        assert!(
            bound < 0.5 * t as f64 * set.geometry().diameter,
            "{text}: {bound}"
        );
    }
}

#[test]
fn strongly_convex_losses_have_the_smaller_bounds() {
    let t = if soak() { 100_000 } else { 5_000 };
    for text in ["simplex", "l2", "l1:radius=2", "box"] {
        let set = set(text, 5);
        let (lambda, reach) = (2.0, radius(&*set));
        // λ/2·‖x − b_t‖², b_t around a point outside
        let mut r = rng(8);
        let goal = scaled(&unit(&mut r, 5), 2.0 * reach);
        let noise: Vec<_> = (0..t)
            .map(|_| plus(&goal, 0.3 * reach, &unit(&mut r, 5)))
            .collect();
        // a norm that no gradient exceeds
        let most = lambda * (set.geometry().norm_bound + 2.3 * reach);
        for keys in ["", ",block=1"] {
            let spec = format!("loo-bogd:lambda={lambda},gradient-bound={most}{keys}");
            let mut learner = spec.parse::<LearnerSpec>().unwrap().build(&set).unwrap();
            let (mut total, mut mean) = (0.0, vec![0.0; 5]);
            for b in &noise {
                let x = written(learner.decide().unwrap());
                let away = minus(&x, b);
                total += 0.5 * lambda * dot(&away, &away);
                mean = plus(&mean, 1.0 / t as f64, b);
                learner
                    .observe(&Gradient::dense(&scaled(&away, lambda)))
                    .unwrap();
            }
            let mut best = mean.clone();
            set.projection().unwrap().project(&mut best).unwrap();
            let least: f64 = noise
                .iter()
                .map(|b| 0.5 * lambda * distance(&best, b).powi(2))
                .sum();
            let regret = total - least;
            let played = learner.guarantee().unwrap().bound(t as f64);
            let unit = most * (reach * reach * most / lambda).cbrt();
            let ahead = 47.1 * unit * ((t as f64).powf(2.0 / 3.0) + 2.4)
                + 0.5 * most * most / lambda * (1.0 + (t as f64).ln());
            let calls = learner.seen().oracle_calls;
            println!(
                "{text}{keys}: regret {regret:.1}, as played {played:.1}, ahead {ahead:.1}, {calls} calls"
            );
            assert!(
                regret <= played * (1.0 + 1e-9),
                "{text}: {regret} > {played}"
            );
            if keys == ",block=1" {
                assert!(played <= ahead, "{text}: {played} > {ahead}");
            } else {
                assert!(calls < t as u64 / 10, "{text}: {calls}");
            }
        }
        // with a tolerance of its own it goes to the minimiser, whatever T
        let spec = format!("loo-bogd:lambda={lambda},tolerance=1e-5,block=10");
        let mut learner = spec.parse::<LearnerSpec>().unwrap().build(&set).unwrap();
        for _ in 0..3000 {
            let x = written(learner.decide().unwrap());
            let slope = scaled(&minus(&x, &goal), lambda);
            learner.observe(&Gradient::dense(&slope)).unwrap();
        }
        let mut best = goal.clone();
        set.projection().unwrap().project(&mut best).unwrap();
        let off = distance(&written(learner.decision()), &best);
        assert!(off <= 0.01 * reach, "{text}: {off} off the minimiser");
    }
}

#[test]
fn random_noise_is_no_reason_to_call_more_than_once_a_block() {
    // steps that stay within √(3ε) need the one call that every block ends with
    let set = set("simplex", 20);
    let spec = "loo-bogd:horizon=10000,gradient-bound=10";
    let mut learner = spec.parse::<LearnerSpec>().unwrap().build(&set).unwrap();
    let mut r = rng(9);
    for _ in 0..10_000 {
        learner.decide().unwrap();
        let g = scaled(&normals(&mut r, 20), 0.1);
        learner.observe(&Gradient::dense(&g)).unwrap();
    }
    assert_eq!(learner.seen().oracle_calls, 20);
}

#[test]
fn practical_keys_have_a_smaller_regret_than_those_of_the_theory() {
    const T: usize = 4000;
    for text in ["simplex", "l2", "l1:radius=2"] {
        let set = set(text, 50);
        let losses = gradients(10, 50, T, T);
        let sum = losses
            .iter()
            .fold(vec![0.0; 50], |sum, g| plus(&sum, 1.0, g));
        let least = dot(&sum, &atom(&*set, &sum));
        let play = |keys: &str| {
            let spec = format!("loo-bogd:horizon={T},gradient-bound=1{keys}");
            let mut learner = spec.parse::<LearnerSpec>().unwrap().build(&set).unwrap();
            let mut total = 0.0;
            for g in &losses {
                total += dot(g, &written(learner.decide().unwrap()));
                learner.observe(&Gradient::dense(g)).unwrap();
            }
            (total - least, learner.seen().oracle_calls)
        };
        let (theory, few) = play("");
        let (practical, calls) = play(",tolerance=0.05,block=32,eta-scale=8");
        println!("{text}: regret {theory:.0} by {few} calls, {practical:.0} by {calls}");
        assert!(practical < 0.7 * theory, "{text}: {practical}, {theory}");
        assert!(calls < T as u64 / 10, "{text}: {calls}");
    }
}
