//! Every theorem's bound, with its constants, against measured regret. The bounds are loose: what
//! a wrong factor breaks is in `paper.rs`, `lemmas.rs`, `algorithms/hedge.rs` and `guarantees.rs`.

use crate::support::{self, *};
use extremal::Gradient;
use extremal::learner::Learner;
use extremal::loss::{LossSpec, Objective};
use extremal::set::SharedSet;
use extremal::theory::{self, LossFacts};

const STREAMS: [&str; 6] = [
    "noise",
    "drift",
    "alternating",
    "adversary:kind=along",
    "adversary:kind=sign",
    "adversary:kind=orthogonal",
];

/// Regret on linear losses, exact: Σ⟨g, x⟩ − min ⟨Σg, v⟩.
fn linear_regret(
    learner: &mut dyn Learner,
    body: &Body,
    stream: &str,
    seed: u64,
    rounds: u64,
) -> f64 {
    let dim = learner.dim();
    let mut stream = support::stream(stream, dim, seed);
    let mut played = Sum::default();
    let mut sums = vec![Sum::default(); dim];
    for _ in 0..rounds {
        let x = learner.decide().unwrap();
        let round = stream.next(x).unwrap().unwrap();
        played.add(x.dot(&round.row).unwrap());
        round.row.entries().for_each(|(i, v)| sums[i].add(v));
        let gradient = Gradient {
            row: round.row,
            scale: 1.0,
            ridge: 0.0,
        };
        learner.observe(&gradient).unwrap();
    }
    let s: Vec<f64> = sums.iter().map(Sum::value).collect();
    if norm(&s) == 0.0 {
        return played.value();
    }
    played.value() - dot(&s, &body.oracle(&s))
}

/// Plays a learner on every stream in several dimensions and holds its regret against `bound`,
/// which is told D, the dimension and T. Gradients have norm at most 1.
fn keeps_to(
    spec: impl Fn(u64) -> String,
    body: &Body,
    bound: impl Fn(f64, usize, f64) -> f64,
    longest: u64,
) {
    let mut closest = 0.0_f64;
    for dim in [2, 10, 50] {
        let set = set(&body.spec(), dim);
        let rounds = if dim == 50 {
            longest.min(2000)
        } else {
            longest
        };
        for (seed, stream) in STREAMS.iter().enumerate() {
            let mut learner = learner(&spec(rounds), &set);
            let regret = linear_regret(&mut *learner, body, stream, seed as u64, rounds);
            let bound = bound(body.diameter(dim), dim, rounds as f64);
            assert!(
                regret <= bound,
                "{} on {}, {stream}, d = {dim}: {regret} > {bound}",
                spec(rounds),
                body.spec()
            );
            let own = learner.guarantee().unwrap();
            let said = own.bound(rounds as f64);
            // a regret of 0 is a sum of that many roundings
            let rounding = 1e-15 * body.diameter(dim) * rounds as f64;
            // what a bound of the run allows for rounding
            let allowed = 1e-9 + 2e-12 * rounds as f64;
            assert!(
                said <= bound * (1.0 + allowed) && regret <= said + rounding,
                "{} says {said}, the theorem {bound}, the regret is {regret}",
                spec(rounds)
            );
            let checks = own.check(learner.seen(), &LossFacts::default());
            assert!(checks.iter().all(|c| c.holds), "{checks:?}");
            closest = closest.max(regret / bound);
        }
    }
    let name = spec(longest);
    println!("{name} on {}: regret ≤ {closest:.3}·bound", body.spec());
}

fn long() -> u64 {
    rounds(10_000, 1_000_000)
}

#[test]
fn ofw_keeps_to_8gdt_to_the_three_quarters() {
    for body in bodies() {
        let spec = |t| format!("ofw:horizon={t},gradient-bound=1.000000000001");
        keeps_to(spec, &body, |d, _, t| 8.0 * d * t.powf(0.75), long());
    }
}

#[test]
fn ofw_weibel_keeps_to_its_better_constant() {
    for body in bodies() {
        let spec = |t| format!("ofw-weibel:horizon={t},gradient-bound=1.000000000001");
        // 4/3^(3/4) = 1.75476535…
        keeps_to(
            spec,
            &body,
            |d, _, t| 1.754765351 * d * t.powf(0.75),
            long(),
        );
    }
}

#[test]
fn ofw_ls_keeps_to_theorem_1_on_strongly_convex_sets() {
    for body in bodies() {
        if body.strong_convexity(2).is_none() {
            let set = set(&body.spec(), 3);
            let learner = learner("ofw-ls:horizon=10,gradient-bound=1", &set);
            assert_eq!(learner.guarantee(), None, "nothing is proven on {body:?}");
            continue;
        }
        let spec = |t| format!("ofw-ls:horizon={t},gradient-bound=1.000000000001");
        let bound = |d: f64, dim, t: f64| {
            let alpha = body.strong_convexity(dim).unwrap();
            let c = (4.0 * d * d).max(4096.0 / (3.0 * alpha * alpha));
            2.75 * c.sqrt() * (t + 2.0).powf(2.0 / 3.0)
        };
        keeps_to(spec, &body, bound, long());
    }
}

#[test]
fn gauge_ftrl_keeps_to_the_square_root() {
    for (p, radius) in [(2.0, 2.0), (1.5, 3.0), (1.1, 1.0)] {
        let body = Body::Lp { p, radius };
        let l = radius * radius / (p - 1.0);
        let fixed =
            |t| format!("gauge-ftrl:balance=fixed,horizon={t},gradient-bound=1.000000000001");
        keeps_to(fixed, &body, |_, _, t| (2.0 * l * t).sqrt(), long());
        let adagrad = |_| "gauge-ftrl:balance=adagrad,gradient-bound=1".to_string();
        keeps_to(
            adagrad,
            &body,
            |_, _, t| 2.0 * (l * (1.0 + t)).sqrt(),
            long(),
        );
        // 2β ≤ 2√(Σ(LN² + w²)) with N ≤ 1, w = 2rN
        let own = |_| "gauge-ftrl".to_string();
        let bound = |_, _, t: f64| 2.0 * ((l + 4.0 * radius * radius) * t).sqrt();
        keeps_to(own, &body, bound, long());
    }
}

#[test]
fn gauge_ftrl_beyond_p_2_keeps_to_the_power_1_minus_1_over_p() {
    for (p, radius) in [(3.0, 0.5), (6.0, 2.0)] {
        let body = Body::Lp { p, radius };
        let q = p / (p - 1.0_f64);
        let fixed =
            |t| format!("gauge-ftrl:balance=fixed,horizon={t},gradient-bound=1.000000000001");
        let bound = |_, dim: usize, t: f64| {
            let g = (dim as f64).powf(1.0 / q - 0.5);
            p.powf(1.0 / p) * 2f64.powf((2.0 - q) / q) * radius * g * t.powf(1.0 - 1.0 / p)
        };
        keeps_to(fixed, &body, bound, long());
    }
}

#[test]
fn ogd_keeps_to_its_bounds() {
    for body in bodies() {
        let longest = if matches!(body, Body::Lp { p, .. } if p != 2.0) {
            500 // its projection is slow
        } else {
            long()
        };
        let convex = |_| "ogd:gradient-bound=1.000000000001".to_string();
        keeps_to(convex, &body, |d, _, t| 1.5 * d * t.sqrt(), longest);
        let adagrad = |_| "ogd".to_string();
        keeps_to(adagrad, &body, |d, _, t| (2.0 * t).sqrt() * d, longest);
    }
}

#[test]
fn dual_averaging_keeps_to_its_bounds() {
    for body in bodies() {
        let longest = if matches!(body, Body::Lp { p, .. } if p != 2.0) {
            300 // its projection is slow
        } else {
            rounds(4000, 1_000_000)
        };
        let fixed = |t| format!("dual-averaging:horizon={t},gradient-bound=1.000000000001");
        keeps_to(fixed, &body, |d, _, t| d * t.sqrt(), longest);
        let anytime = |_| "dual-averaging:gradient-bound=1.000000000001".to_string();
        keeps_to(anytime, &body, |d, _, t| 1.5 * d * t.sqrt(), longest);
        let adaptive = |_| "dual-averaging".to_string();
        // ½ + (1 + √5)/2
        let bound = |d, _, t: f64| 2.118_033_988_749_895 * d * t.sqrt();
        keeps_to(adaptive, &body, bound, longest);
    }
}

/// Where what a step gains balances what a round adds, Σλ grows as (16T/3)^(3/4)·G/D, the bound is
/// GD times that, and 3.51·T^(3/4) < 4·T^(3/4) leaves room for the first rounds.
fn ofw_free_bound(diameter: f64, rounds: f64) -> f64 {
    4.0 * diameter * (1.0 + rounds.powf(0.75))
}

#[test]
fn ofw_free_keeps_to_a_bound_of_its_own_that_grows_like_the_three_quarters() {
    for body in bodies() {
        let spec = |_| "ofw-free".to_string();
        keeps_to(spec, &body, |d, _, t| ofw_free_bound(d, t), long());
    }
}

#[test]
fn hedge_keeps_to_a_base_and_the_price_of_choosing() {
    for body in bodies() {
        let longest = rounds(2000, 1_000_000);
        let spec = |_| "hedge:base=(ofw-free),grid=[1,4,16]".to_string();
        // the bases' losses differ by D at most in a round
        let bound = |d: f64, _, t: f64| ofw_free_bound(d, t) + ((4.0 + 3f64.ln()) * t).sqrt() * d;
        keeps_to(spec, &body, bound, longest);
    }
}

/// Σ n^a over n = 1, 2, 4, … ≤ T, of n + `more`.
fn stretches(t: f64, more: f64, a: f64) -> f64 {
    let powers = (0..64).map(|m| 2f64.powi(m));
    let spans = powers.take_while(|n| *n <= t);
    spans.map(|n| (n + more).powf(a)).sum()
}

#[test]
fn restarts_keep_to_the_sum_over_the_stretches() {
    let longest = rounds(3000, 300_000);
    for body in bodies() {
        let known = "gradient-bound=1.000000000001,";
        // guesses of G add up to less than 4G
        for (keys, factor) in [(known, 1.0), ("", 4.0)] {
            let spec = |_| format!("ofw:{keys}doubling=true");
            let bound = |d, _, t| 8.0 * d * factor * stretches(t, 0.0, 0.75);
            keeps_to(spec, &body, bound, longest);
            let spec = |_| format!("ofw-weibel:{keys}doubling=true");
            let bound = |d, _, t| 1.754765351 * d * factor * stretches(t, 0.0, 0.75);
            keeps_to(spec, &body, bound, longest);
        }
        let spec = |t| format!("ofw-weibel:horizon={t},doubling=true");
        let bound = |d, _, t: f64| 4.0 * 1.754765351 * d * t.powf(0.75);
        keeps_to(spec, &body, bound, longest);
        if body.strong_convexity(2).is_some() {
            let spec = |_| "ofw-ls:doubling=true".to_string();
            let bound = |d: f64, dim, t: f64| {
                let alpha = body.strong_convexity(dim).unwrap();
                let c = (4.0 * d * d).max(4096.0 / (3.0 * alpha * alpha));
                4.0 * 2.75 * c.sqrt() * stretches(t, 2.0, 2.0 / 3.0)
            };
            keeps_to(spec, &body, bound, longest);
        }
    }
}

#[test]
fn restarts_cost_what_their_stretches_add_up_to() {
    let close = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-3);
    // what T^a is multiplied by at most
    let factor = |a: f64| a.exp2() / (a.exp2() - 1.0);
    close(factor(0.5), 3.414);
    close(factor(2.0 / 3.0), 2.702);
    close(factor(0.75), 2.467);
    // 1 + 2 + 4 + 8 rounds are over after the 15th, and B = n adds up to as much
    assert_eq!(theory::doubled(15.0, |n| n), 15.0);
    assert_eq!(theory::doubled(16.0, |n| n), 31.0);
    assert_eq!(theory::doubled(0.0, |n| n), 0.0);
    for t in [1.0, 2.0, 64.0, 1e6] {
        // powers of T are multiplied by the factor at most, and by hardly less in the end
        let bound = |n: f64| n.powf(0.75);
        let share = theory::doubled(t, bound) / bound(t) / factor(0.75);
        assert!(share <= 1.0, "{share}");
    }
    let bound = |n: f64| n.powf(0.75);
    let t = 2f64.powi(40);
    assert!(theory::doubled(t, bound) > 0.999 * factor(0.75) * bound(t));
    // Theorem 1 has (T + 2)^(2/3), of which the factor is not enough
    let bound = |n: f64| (n + 2.0).powf(2.0 / 3.0);
    assert!(theory::doubled(16.0, bound) > 1.04 * factor(2.0 / 3.0) * bound(16.0));
}

#[test]
fn the_constant_of_adaptive_dual_averaging_is_met_by_its_lemma_at_2() {
    // min(r²/2, r) ≤ φ(√(1 + r²) − 1), with equality at r = 2 and nowhere else
    let phi = theory::dual_averaging_adaptive(1.0, 1.0).bound(0.0) - 0.5;
    let share = |r: f64| (r * r / 2.0).min(r) / (phi * ((1.0 + r * r).sqrt() - 1.0));
    for k in 1..100_000 {
        let r = f64::from(k) * 1e-3;
        assert!(share(r) <= 1.0 + 1e-12, "{r}: {}", share(r));
    }
    // but for the allowance for rounding
    assert!((share(2.0) - 1.0).abs() < 1e-11);
}

/// The nearest point of the set, by the library where there are no plain means.
fn project(body: &Body, set: &SharedSet, y: &[f64]) -> Vec<f64> {
    match body {
        Body::Lp { p, .. } if *p != 2.0 => {
            let mut x = y.to_vec();
            set.projection().unwrap().project(&mut x).unwrap();
            x
        }
        _ => body.project(y),
    }
}

/// A good minimiser of a smooth function over the set: projected gradient with momentum.
fn minimise(
    body: &Body,
    set: &SharedSet,
    smoothness: f64,
    steps: usize,
    gradient: impl Fn(&[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let mut x = body.centre(set.dim());
    let (mut y, mut k) = (x.clone(), 1.0_f64);
    for _ in 0..steps {
        let next = project(body, set, &plus(&y, -1.0 / smoothness, &gradient(&y)));
        let grown = 0.5 * (1.0 + (1.0 + 4.0 * k * k).sqrt());
        y = plus(&next, (k - 1.0) / grown, &minus(&next, &x));
        (x, k) = (next, grown);
    }
    x
}

/// Theorem 2 where the set has an α, Theorem 3 where not.
fn sc_ofw_bound(body: &Body, dim: usize, g: f64, lambda: f64, t: f64) -> f64 {
    let d = body.diameter(dim);
    let slope = g + lambda * d;
    match body.strong_convexity(dim) {
        Some(alpha) => {
            let c = (4.0 * slope * slope / lambda).max(288.0 * lambda / (alpha * alpha));
            c * (2.0 * t).sqrt() + c * t.ln() / 2.0 + g * d
        }
        None => {
            let c = 16.0 * slope * slope / lambda;
            3.0 * 2f64.sqrt() * c * t.powf(2.0 / 3.0) / 8.0 + c * t.ln() / 8.0 + g * d
        }
    }
}

/// Σf_t(x_t) and the rows, labels seen.
fn play(
    learner: &mut dyn Learner,
    objective: &Objective,
    stream: &str,
    rounds: u64,
) -> (f64, Vec<(Vec<f64>, f64)>) {
    let dim = learner.dim();
    let mut stream = support::stream(stream, dim, 11);
    let (mut total, mut seen) = (Sum::default(), Vec::new());
    for _ in 0..rounds {
        let x = learner.decide().unwrap();
        let round = stream.next(x).unwrap().unwrap();
        let evaluation = objective
            .evaluate(round.row, round.label, round.weight, x)
            .unwrap();
        total.add(evaluation.value);
        let mut row = vec![0.0; dim];
        round.row.add_to(1.0, &mut row);
        seen.push((row, round.label));
        learner.observe(&evaluation.gradient).unwrap();
    }
    (total.value(), seen)
}

#[test]
fn sc_ofw_keeps_to_theorems_2_and_3_against_every_stream() {
    // ⟨a, x⟩ + (λ/2)‖x‖²: the best fixed decision is the projection of −Σa/(λT)
    let mut closest = 0.0_f64;
    for body in bodies() {
        for (dim, lambda) in [(2, 0.1), (10, 1.0), (50, 0.02)] {
            let rounds = if dim == 50 { 2000 } else { long() };
            let set = set(&body.spec(), dim);
            let objective = objective("linear", lambda);
            for stream in STREAMS {
                let mut learner = learner(&format!("sc-ofw:lambda={lambda}"), &set);
                let (total, seen) = play(&mut *learner, &objective, stream, rounds);
                let t = rounds as f64;
                let s = seen
                    .iter()
                    .fold(vec![0.0; dim], |s, (a, _)| plus(&s, 1.0, a));
                let best = project(&body, &set, &scaled(&s, -1.0 / (lambda * t)));
                let regret = total - dot(&s, &best) - 0.5 * lambda * t * dot(&best, &best);
                let g = learner.seen().largest_gradient;
                let bound = sc_ofw_bound(&body, dim, g, lambda, t);
                assert!(
                    -1e-6 * t < regret && regret <= bound,
                    "{body:?}, {stream}, d = {dim}: {regret} > {bound}"
                );
                let own = learner.guarantee().unwrap();
                assert!(own.bound(t) <= bound * (1.0 + 1e-12) && regret <= own.bound(t));
                let checks = own.check(learner.seen(), &LossFacts::strongly_convex(lambda));
                assert!(checks.iter().all(|c| c.holds), "{checks:?}");
                closest = closest.max(regret / bound);
            }
        }
    }
    println!("sc-ofw: regret ≤ {closest:.4}·bound");
}

fn objective(loss: &str, ridge: f64) -> Objective {
    Objective::new(loss.parse::<LossSpec>().unwrap().build().unwrap(), ridge).unwrap()
}

#[test]
fn sc_ofw_and_ogd_keep_to_their_theorems_on_squared_and_logistic_losses() {
    let (dim, lambda, rounds) = (10, 0.1, rounds(2000, 50_000));
    let t = rounds as f64;
    for (loss, stream) in [
        ("squared", "regression"),
        ("squared", "regression:norm=3,noise=1"),
        ("logistic", "classification"),
    ] {
        for body in bodies() {
            let set = set(&body.spec(), dim);
            let objective = objective(loss, lambda);
            let has_slow_projection = matches!(body, Body::Lp { p, .. } if p != 2.0);
            for text in ["sc-ofw:lambda=0.1", "ogd:lambda=0.1"] {
                if has_slow_projection && text.starts_with("ogd") {
                    continue;
                }
                let mut learner = learner(text, &set);
                let (total, seen) = play(&mut *learner, &objective, stream, rounds);
                let gradient = |x: &[f64]| {
                    let mut sum = scaled(x, lambda * t);
                    for (a, y) in &seen {
                        let slope = objective.loss().at(dot(a, x), *y).1;
                        sum.iter_mut().zip(a).for_each(|(s, a)| *s += slope * a);
                    }
                    sum
                };
                // rows have norm 1, on average a tenth of it along any direction
                let smoothness = t * (lambda + 0.3 * objective.loss().smoothness());
                let best = minimise(&body, &set, smoothness, 60, gradient);
                let comparator: f64 = seen
                    .iter()
                    .map(|(a, y)| objective.loss().at(dot(a, &best), *y).0)
                    .sum::<f64>()
                    + 0.5 * lambda * t * dot(&best, &best);
                let regret = total - comparator;
                let g = learner.seen().largest_gradient;
                let bound = if text.starts_with("ogd") {
                    g * g * (1.0 + t.ln()) / (2.0 * lambda)
                } else {
                    sc_ofw_bound(&body, dim, g, lambda, t)
                };
                assert!(
                    regret > 0.0 && regret <= bound,
                    "{text} on {body:?}, {loss}, {stream}: {regret}, bound {bound}"
                );
                let own = learner.guarantee().unwrap().bound(t);
                assert!(regret <= own && own <= bound * (1.0 + 1e-12));
            }
        }
    }
}
