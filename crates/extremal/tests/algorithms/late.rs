//! Gradients that come late, and minimisers that do not stay.

use crate::common::{
    atom, centre, distance, minus, normals, plus, rng, scaled, soak, uniform, unit, written,
};
use extremal::kernel::{dot, norm};
use extremal::learner::{Learner, LearnerSpec, Storage};
use extremal::set::{SetSpec, SharedSet};
use extremal::theory;
use extremal::{Gradient, Point};
use extremal_check::kit::learner;

const DIM: usize = 5;

fn set(text: &str) -> SharedSet {
    text.parse::<SetSpec>().unwrap().build(Some(DIM)).unwrap()
}

const SETS: [&str; 5] = [
    "l2:radius=2",
    "simplex",
    "lp:p=1.5",
    "l1",
    "box:lower=-1,upper=3",
];

/// Gradients of noise around a mean, some with a ridge part.
fn rows(seed: u64, rounds: usize) -> Vec<(Vec<f64>, f64)> {
    let mut r = rng(seed);
    let mean = scaled(&unit(&mut r, DIM), 0.4);
    let row = |t: usize| {
        let ridge = if t.is_multiple_of(3) { 0.2 } else { 0.0 };
        (plus(&mean, 0.5, &unit(&mut r, DIM)), ridge)
    };
    (0..rounds).map(row).collect()
}

fn given<'a>((row, ridge): &'a (Vec<f64>, f64)) -> Gradient<'a> {
    Gradient {
        ridge: *ridge,
        ..Gradient::dense(row)
    }
}

#[test]
fn without_a_delay_it_is_its_base() {
    for text in SETS {
        let set = set(text);
        for base in [
            "ofw-ls",
            "ofw-ls:horizon=500,gradient-bound=2,eta-scale=20",
            "sc-ofw:lambda=0.3",
            "ogd",
            "ftl:lambda=0.1",
            "hedge:base=(ofw-free),grid=[1,8]",
            "fpl:samples=3",
        ] {
            let mut late = learner(&format!("delayed:base=({base})"), &set);
            let mut plain = learner(base, &set);
            for row in rows(1, 200) {
                let x = written(plain.decide().unwrap());
                assert_eq!(written(late.decide().unwrap()), x, "{base} on {text}");
                let a = plain.observe(&given(&row)).unwrap();
                let b = late.observe(&given(&row)).unwrap();
                assert_eq!((a.round, a.oracle_calls), (b.round, b.oracle_calls));
                assert_eq!(a.sigma, b.sigma, "{base} on {text}");
                assert!((a.gradient_norm - b.gradient_norm).abs() <= 1e-12);
            }
            let bound = |of: &dyn Learner| of.guarantee().map(|g| g.bound(200.0));
            assert_eq!(bound(&*late), bound(&*plain), "{base} on {text}");
        }
    }
    let default = learner("delayed:delay=4", &set("simplex"));
    assert!(default.guarantee().is_none() && default.certificate().is_none());
}

/// F as it is written down, and the step from its definition.
#[test]
fn with_a_delay_each_gradient_counts_from_the_round_it_arrives_in() {
    const T: usize = 300;
    for text in SETS {
        let set = set(text);
        let size = set.geometry().norm_bound;
        for (delay, lambda) in [(1, 0.0), (7, 0.0), (7, 0.5), (400, 0.0)] {
            let base = if lambda > 0.0 {
                format!("sc-ofw:lambda={lambda}")
            } else {
                "ofw-ls:horizon=300,gradient-bound=2,eta-scale=5".into()
            };
            let spec = format!("delayed:base=({base}),delay={delay}");
            let mut late = learner(&spec, &set);
            let diameter = set.geometry().diameter;
            let omega = 2.0 * 2.0 * 302f64.powf(2.0 / 3.0) / (5.0 * diameter);
            let x1 = centre(&*set);
            let (mut x, mut absorbed, mut sum) = (x1.clone(), 0, vec![0.0; DIM]);
            let mut queue = std::collections::VecDeque::new();
            for row in rows(2, T) {
                let played = written(late.decide().unwrap());
                assert!(
                    distance(&played, &x) <= 1e-11 * size.max(1.0),
                    "{spec} on {text}"
                );
                let record = late.observe(&given(&row)).unwrap();
                // With λ all of g − λx is that of the round. Without, the ridge term is a function
                // that the learner knows once it knows the loss.
                let known = if lambda > 0.0 { 0.0 } else { row.1 };
                let g = plus(&row.0, row.1 - known, &x);
                queue.push_back((plus(&g, -lambda, &x), known));
                if queue.len() <= delay {
                    assert_eq!((record.oracle_calls, record.sigma), (0, 0.0), "{spec}");
                    continue;
                }
                assert_eq!(record.oracle_calls, 1, "{spec}");
                let (item, ridge) = queue.pop_front().unwrap();
                sum = plus(&plus(&sum, 1.0, &item), ridge, &x);
                absorbed += 1;
                let beta = if lambda > 0.0 {
                    lambda * absorbed as f64
                } else {
                    2.0 * omega
                };
                let middle = if lambda > 0.0 {
                    vec![0.0; DIM]
                } else {
                    x1.clone()
                };
                let slope = plus(&sum, beta, &minus(&x, &middle));
                let way = minus(&atom(&*set, &slope), &x);
                let square = dot(&way, &way);
                if square > 0.0 {
                    let sigma = (-dot(&slope, &way) / (beta * square)).clamp(0.0, 1.0);
                    x = plus(&x, sigma, &way);
                }
            }
        }
    }
}

#[test]
fn random_delays_deliver_all_within_the_longest_and_the_seed_decides() {
    let set = set("l2:radius=2");
    let play = |spec: &str, rounds: usize| {
        let mut late = learner(spec, &set);
        let mut calls = Vec::new();
        for row in rows(3, rounds) {
            late.decide().unwrap();
            calls.push(late.observe(&given(&row)).unwrap().oracle_calls);
        }
        (calls, written(late.decision()))
    };
    let (calls, x) = play("delayed:delay=6,random=true,seed=5", 2000);
    let all: u32 = calls.iter().sum();
    // at most six are still under way, and never more than seven come at once
    assert!((1994..=2000).contains(&all), "{all}");
    assert!(calls.iter().all(|c| *c <= 7));
    for count in [0, 1, 2, 3] {
        let share = calls.iter().filter(|c| **c == count).count();
        assert!(share > 50, "{count} at once: {share}");
    }
    // the delays are uniform: 3 rounds on average
    let behind: f64 = (1..=2000)
        .map(|t| t as f64 - f64::from(calls[..t].iter().sum::<u32>()))
        .sum::<f64>()
        / 2000.0;
    assert!((behind - 3.0).abs() < 0.15, "{behind} under way");
    assert_eq!(play("delayed:delay=6,random=true,seed=5", 2000).1, x);
    assert_ne!(play("delayed:delay=6,random=true,seed=6", 2000).1, x);
    let (calls, _) = play("delayed:delay=0,random=true", 50);
    assert_eq!(calls, [1; 50]);
}

/// Feedback that is late in truth: `observe` is called whenever a gradient arrives.
#[test]
fn feedback_may_come_in_any_order() {
    let set = set("lp:p=1.5");
    let mut r = rng(4);
    let goal = normals(&mut r, DIM);
    let mut late = learner("sc-ofw:lambda=0.5", &set);
    let mut open: Vec<Vec<f64>> = Vec::new();
    for _ in 0..20_000 {
        open.push(written(late.decide().unwrap()));
        // some come at once, some wait for long
        while !open.is_empty() && uniform(&mut r) < 0.6 {
            let pick = (uniform(&mut r) * open.len() as f64) as usize;
            let at = open.swap_remove(pick);
            // g + λ(x − y) at the present x, with g = y − goal
            let row = plus(&minus(&at, &goal), -0.5, &at);
            let shown = Gradient {
                ridge: 0.5,
                ..Gradient::dense(&row)
            };
            late.observe(&shown).unwrap();
            assert!(set.violation(&written(late.decision())).unwrap() <= 1e-9);
        }
    }
    let mut best = goal.clone();
    set.projection().unwrap().project(&mut best).unwrap();
    let off = distance(&written(late.decision()), &best);
    assert!(off < 0.05, "{off}");
}

#[test]
fn any_learner_stands_behind_a_delay_and_a_delay_in_a_hedge() {
    for (base, text) in [
        ("ogd:lambda=0.3", "l2:radius=2"),
        ("eg", "simplex"),
        ("ons:exp-concavity=0.1,gradient-bound=3", "simplex"),
        (
            "hedge:base=(ofw-free),grid=[1,8],bases=[(delayed:delay=2)]",
            "lp:p=1.5",
        ),
        ("delayed:base=(ftl),delay=2", "l2:radius=2"),
        ("ospf", "l1"),
    ] {
        let set = set(text);
        let spec = format!("delayed:base=({base}),delay=3");
        let (mut late, mut plain) = (learner(&spec, &set), learner(base, &set));
        let all: Vec<_> = rows(8, 60).into_iter().map(|(row, _)| row).collect();
        for (t, row) in all.iter().enumerate() {
            assert_eq!(
                written(late.decide().unwrap()),
                written(plain.decide().unwrap()),
                "{spec} on {text}, {t}"
            );
            late.observe(&Gradient::dense(row)).unwrap();
            // λ asks for more than the gradient: the base is shown it at the present decision
            if t >= 3 && !base.contains("lambda") {
                plain.observe(&Gradient::dense(&all[t - 3])).unwrap();
            } else if t >= 3 {
                break;
            }
        }
        let hedge = format!("hedge:bases=[({spec}),(ofw-ls)]");
        let mut hedge = learner(&hedge, &set);
        for row in &all {
            hedge.decide().unwrap();
            hedge.observe(&Gradient::dense(row)).unwrap();
        }
        let x = written(hedge.decision());
        assert!(set.violation(&x).unwrap() <= 1e-9, "{spec}");
    }
}

#[test]
fn lazy_and_sparse_storage_play_the_same_behind_a_delay() {
    for (text, storage, base) in [
        ("l2:radius=2", Storage::Lazy, "ofw-ls"),
        ("l2:radius=2", Storage::Lazy, "sc-ofw:lambda=0.2"),
        ("l2:radius=2", Storage::Lazy, "ogd"),
        ("l1", Storage::Sparse, "ofw-ls"),
        ("simplex", Storage::Sparse, "sc-ofw:lambda=0.5"),
    ] {
        let set = set(text);
        for delays in ["delay=4", "delay=4,random=true"] {
            let spec = format!("delayed:base=({base}),{delays}");
            let parsed: LearnerSpec = spec.parse().unwrap();
            let mut other = parsed.build_stored(&set, storage).unwrap();
            let mut dense = parsed.build(&set).unwrap();
            let mut r = rng(9);
            for t in 0..200_u32 {
                let x = written(dense.decide().unwrap());
                let apart = distance(&x, &written(other.decide().unwrap()));
                assert!(apart <= 1e-9, "{spec} on {text}, {t}: {apart:e}");
                let (indices, values) = ([t % 3, t % 2 + 3], [uniform(&mut r) - 0.3, 0.2]);
                let gradient = Gradient {
                    ridge: 0.2,
                    ..Gradient::sparse(&indices, &values)
                };
                dense.observe(&gradient).unwrap();
                other.observe(&gradient).unwrap();
            }
        }
    }
}

#[test]
fn rounds_in_which_several_gradients_arrive_are_played_whole_or_not_at_all() {
    let set = set("lp:p=1.5");
    for base in ["ofw-ls", "sc-ofw:lambda=0.4", "fpl", "ogd"] {
        let spec = format!("delayed:base=({base}),delay=5,random=true,seed=3");
        let (mut planned, mut observed) = (learner(&spec, &set), learner(&spec, &set));
        for row in rows(10, 300) {
            let (x, before) = (written(planned.decide().unwrap()), planned.save().unwrap());
            planned.plan(&given(&row)).unwrap();
            assert_eq!(written(planned.decision()), x, "{spec}: a plan shows");
            planned.discard();
            assert_eq!(
                planned.save().unwrap(),
                before,
                "{spec}: a plan leaves traces"
            );
            assert!(planned.observe(&Gradient::dense(&[f64::NAN; DIM])).is_err());
            assert_eq!(
                planned.save().unwrap(),
                before,
                "{spec}: an error leaves traces"
            );
            planned.plan(&given(&row)).unwrap();
            planned.commit();
            observed.decide().unwrap();
            observed.observe(&given(&row)).unwrap();
            assert_eq!(planned.save().unwrap(), observed.save().unwrap(), "{spec}");
        }
    }
}

#[test]
fn a_delay_costs_little_against_losses_that_stay() {
    let t = if soak() { 100_000 } else { 10_000 };
    let set = set("lp:p=1.5");
    let regret = |spec: &str| {
        let mut late = learner(spec, &set);
        let (mut total, mut sum) = (0.0, vec![0.0; DIM]);
        for (row, _) in rows(6, t) {
            total += dot(&row, &written(late.decide().unwrap()));
            sum = plus(&sum, 1.0, &row);
            late.observe(&Gradient::dense(&row)).unwrap();
        }
        total - dot(&sum, &atom(&*set, &sum))
    };
    let [none, some, many] = [0, 10, 100].map(|d| regret(&format!("delayed:delay={d}")));
    println!("regret {none:.1}, {some:.1} with a delay of 10, {many:.1} of 100");
    assert!(none <= some && some <= many, "{none} {some} {many}");
    // 100 rounds at the centre cost no more than the mean's length each, and little beyond
    assert!(many - none <= 2.0 * 100.0, "{none} {many}");
}

#[test]
fn tracking_keeps_its_dynamic_bound_and_each_step_is_a_short_step() {
    let t = if soak() { 50_000 } else { 5_000 };
    for text in SETS {
        let set = set(text);
        let geometry = set.geometry();
        for (beta, speed) in [(1.0, 1.0), (1.0, 30.0), (4.0, 10.0)] {
            // f_t(x) = (β/2)‖x − b_t‖², b_t on a circle that it goes round slowly
            let mut r = rng(7);
            let (a, b) = (unit(&mut r, DIM), unit(&mut r, DIM));
            let size = geometry.norm_bound;
            let goal = |k: usize| {
                let angle = speed * k as f64 / t as f64;
                let round = plus(&scaled(&a, angle.cos()), angle.sin(), &b);
                scaled(&round, 0.9 * size)
            };
            let mut tracker = learner(&format!("dynamic-ofw:smoothness={beta}"), &set);
            let mut projection = set.projection().unwrap();
            let (mut dynamic, mut variation, mut last) = (0.0, 0.0, None::<Vec<f64>>);
            let mut largest = 0.0_f64;
            for k in 0..t {
                let here = goal(k);
                let x = written(tracker.decide().unwrap());
                let mut best = here.clone();
                projection.project(&mut best).unwrap();
                let value = |x: &[f64]| 0.5 * beta * distance(x, &here).powi(2);
                let excess = value(&x) - value(&best);
                assert!(excess >= -1e-9 * (1.0 + value(&x)), "{text}: {excess}");
                dynamic += excess;
                // max over the set of a linear function's size, by the oracle
                if let Some(last) = &last {
                    let slope = scaled(&minus(last, &here), beta);
                    let rest = 0.5 * beta * (dot(&here, &here) - dot(last, last));
                    let low = dot(&slope, &atom(&*set, &slope)) + rest;
                    let high = dot(&slope, &atom(&*set, &scaled(&slope, -1.0))) + rest;
                    variation += low.abs().max(high.abs());
                }
                largest = largest.max(0.5 * beta * (size + norm(&here)).powi(2));
                let g = scaled(&minus(&x, &here), beta);
                let record = tracker.observe(&Gradient::dense(&g)).unwrap();
                // the step from its definition, exact line search here, comes down the most
                let v = atom(&*set, &g);
                let way = minus(&v, &x);
                let next = written(tracker.decision());
                let gap = -dot(&g, &way);
                assert!((record.gap - gap).abs() <= 1e-9 * (1.0 + gap), "{text}");
                let sigma = (gap / (beta * dot(&way, &way))).clamp(0.0, 1.0);
                // ‖v − x‖² comes from inner products of the size ‖x‖²
                let rounding = 1e-14 * size * size / dot(&way, &way);
                assert!(
                    (record.sigma - sigma).abs() <= 1e-9 + rounding,
                    "{text}: {record:?}, {sigma}"
                );
                assert!(
                    distance(&next, &plus(&x, sigma, &way)) <= 1e-9 * size,
                    "{text}"
                );
                for share in [0.0, 0.5 * sigma, (2.0 * sigma).min(1.0), 1.0] {
                    let other = plus(&x, share, &way);
                    assert!(value(&next) <= value(&other) + 1e-9, "{text}");
                }
                last = Some(here);
            }
            let (range, horizon) = (2.0 * largest, t as f64);
            let bound = theory::dynamic_ofw(range, variation, beta, geometry.diameter, horizon);
            let paper = (range * horizon * (variation + range)).sqrt()
                + 0.5
                    * beta
                    * geometry.diameter.powi(2)
                    * ((variation + range) * horizon / range).sqrt();
            println!(
                "{text}, β = {beta}: dynamic regret {dynamic:.2}, bound {bound:.1}, the paper's {paper:.1}"
            );
            assert!(dynamic <= bound && bound <= paper * (1.0 + 1e-12), "{text}");
        }
    }
}

#[test]
fn the_dynamic_bound_is_the_least_over_sigma() {
    for (range, variation, beta, diameter, rounds) in [
        (1.0, 2.0, 1.0, 2.0, 100.0),
        (50.0, 3.0, 0.1, 1.0, 10.0),
        (2.0, 0.0, 3.0, 1.0, 1e4),
    ] {
        let bound = theory::dynamic_ofw(range, variation, beta, diameter, rounds);
        let at = |s: f64| (range + variation) / s + 0.5 * s * beta * diameter * diameter * rounds;
        let least = (1..=1000)
            .map(|k| at(f64::from(k) / 1000.0))
            .fold(f64::INFINITY, f64::min);
        assert!(
            bound <= least * (1.0 + 1e-12) && bound >= least * 0.999,
            "{bound}, {least}"
        );
    }
}

#[test]
fn tracking_must_be_told_how_smooth_losses_are() {
    let set = set("simplex");
    let built = "dynamic-ofw".parse::<LearnerSpec>().unwrap().build(&set);
    let error = built.err().unwrap().to_string();
    assert!(error.contains("smoothness"), "{error}");
    // the point of a decision is there to look at, too
    let tracker = learner("dynamic-ofw:smoothness=2", &set);
    assert_eq!(
        tracker.decision().norm_squared(),
        centre(&*set).norm_squared()
    );
}
