//! The perturbed leader: OSPF and FPL. What holds in the mean is held against means over seeds.

use extremal_check::kit::{learner, set};
use std::sync::{Arc, Mutex};

use crate::common::{
    atom, centre, distance, minus, normals, plus, rng, scaled, soak, unit, written,
};
use extremal::Gradient;
use extremal::kernel::{dot, norm};
use extremal::learner::{Learner, LearnerSpec};
use extremal::set::{CustomSet, Geometry, SharedSet};
use extremal::theory::{self, Assumption, LossFacts};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

fn round(learner: &mut dyn Learner, g: &[f64]) -> (Vec<f64>, u32) {
    let x = written(learner.decide().unwrap());
    let record = learner.observe(&Gradient::dense(g)).unwrap();
    (x, record.oracle_calls)
}

/// A unit ball that writes down what its oracle is asked.
fn asked(dim: usize) -> (SharedSet, Arc<Mutex<Vec<Vec<f64>>>>) {
    let list = Arc::new(Mutex::new(Vec::new()));
    let kept = list.clone();
    let geometry = Geometry {
        diameter: 2.0,
        norm_bound: 1.0,
        inner_radius: None,
        strong_convexity: None,
    };
    let ball = CustomSet::new("asked", dim, geometry, move |direction, v| {
        kept.lock().unwrap().push(direction.to_vec());
        v.copy_from_slice(&scaled(direction, -1.0 / norm(direction)));
        Ok(())
    });
    (Arc::new(ball.unwrap()), list)
}

/// The moments of the even distribution in a ball, ‖v‖^d spread evenly over [0, 1], and all of it
/// of the size 1/δ that the theory says.
fn check_even(name: &str, all: &[Vec<f64>]) {
    let (n, d) = (all.len() as f64, all[0].len());
    let mut radii: Vec<f64> = all.iter().map(|v| norm(v)).collect();
    radii.sort_by(f64::total_cmp);
    assert!(*radii.last().unwrap() <= 1.0 + 1e-9, "{name}");
    let mut apart = 0f64;
    for (i, radius) in radii.iter().enumerate() {
        apart = apart.max((radius.powi(d as i32) - (i as f64 + 0.5) / n).abs());
    }
    // Kolmogorov: 2.2/√n is passed once in 10⁴ times
    assert!(apart < 2.2 / n.sqrt(), "{name}: {apart}");
    let second = 1.0 / (d as f64 + 2.0);
    for i in 0..d {
        let mean = all.iter().map(|v| v[i]).sum::<f64>() / n;
        assert!(
            mean.abs() < 4.5 * (second / n).sqrt(),
            "{name}: mean {mean}"
        );
        for j in 0..=i {
            let moment = all.iter().map(|v| v[i] * v[j]).sum::<f64>() / n;
            let expected = if i == j { second } else { 0.0 };
            // E v⁴ = 3/((d+2)(d+4))
            let spread = (3.0 * second / (d as f64 + 4.0) / n).sqrt();
            assert!((moment - expected).abs() < 4.5 * spread, "{name}: {moment}");
        }
    }
}

#[test]
fn perturbations_are_even_in_a_ball_of_the_size_that_the_theory_says() {
    for dim in [1, 2, 3, 7] {
        let root_d = (dim as f64).sqrt();
        let (ball, list) = asked(dim);
        // δ = 2/(G√(dTk)), k = round(1000^(1/3)) = 10
        let mut ospf = learner("ospf:horizon=1000,gradient-bound=3,seed=5", &ball);
        let g = scaled(&unit(&mut rng(1), dim), 0.5);
        let blocks = if soak() { 20_000 } else { 1_000 };
        let mut all = Vec::new();
        for t in 1..=10 * blocks {
            let (_, calls) = round(&mut *ospf, &g);
            assert_eq!(calls, if t % 10 == 0 { 10 } else { 0 });
            for direction in list.lock().unwrap().drain(..) {
                let v = minus(&scaled(&g, t as f64), &direction);
                all.push(scaled(&v, 2.0 / (3.0 * root_d * 100.0)));
            }
        }
        assert_eq!(all.len(), 10 * blocks);
        check_even(&format!("ospf in dimension {dim}"), &all);
        // δ_t = 2·(eta-scale)/√(dΣ‖g‖²)
        let mut fpl = learner("fpl:samples=4,eta-scale=0.5", &ball);
        let mut all = Vec::new();
        for t in 1..=1000 {
            assert_eq!(round(&mut *fpl, &g).1, 4);
            for direction in list.lock().unwrap().drain(..) {
                let v = minus(&scaled(&g, t as f64), &direction);
                all.push(scaled(&v, 1.0 / (root_d * 0.5 * (t as f64).sqrt())));
            }
        }
        check_even(&format!("fpl in dimension {dim}"), &all);
    }
}

/// The plain algorithm with the same generator.
struct Plain {
    set: SharedSet,
    rng: ChaCha8Rng,
    sum: Vec<f64>,
    block: Vec<f64>,
    squares: f64,
    x: Vec<f64>,
    /// 1/δ for Σ‖G_b‖².
    size: Box<dyn Fn(f64) -> f64>,
    /// Rounds and samples of the block after round t, for the largest gradient.
    next: Box<dyn Fn(u64, f64) -> (u64, u32)>,
    left: u64,
    t: u64,
    largest: f64,
}

impl Plain {
    fn observe(&mut self, g: &[f64]) -> u32 {
        let dim = g.len();
        self.t += 1;
        self.sum = plus(&self.sum, 1.0, g);
        self.block = plus(&self.block, 1.0, g);
        self.largest = self.largest.max(norm(g));
        self.left -= 1;
        if self.left > 0 {
            return 0;
        }
        self.squares += dot(&self.block, &self.block);
        self.block = vec![0.0; dim];
        let (length, samples) = (self.next)(self.t, self.largest);
        self.left = length;
        if self.squares == 0.0 {
            return 0;
        }
        let mut mean = vec![0.0; dim];
        for _ in 0..samples {
            let z: Vec<f64> = (0..dim)
                .map(|_| StandardNormal.sample(&mut self.rng))
                .collect();
            let u: f64 = self.rng.random();
            let v = scaled(&z, u.powf(1.0 / dim as f64) / norm(&z));
            let direction = plus(&self.sum, -(self.size)(self.squares), &v);
            let leader = atom(&*self.set, &direction);
            mean = plus(&mean, 1.0 / f64::from(samples), &leader);
        }
        self.x = mean;
        samples
    }
}

#[test]
fn decisions_are_those_of_a_plain_transcription() {
    type Size = fn(f64, f64) -> f64;
    type Next = fn(u64, f64, f64, f64) -> (u64, u32);
    let cube = |t: u64| (t as f64).cbrt().round() as u32;
    assert_eq!(cube(500), 8);
    // 1/δ from d and Σ‖G_b‖²; the block from t, the largest gradient, d and R
    let cases: [(&str, Size, Next); 7] = [
        (
            "ospf:horizon=500,gradient-bound=2,seed=9",
            |d, _| 2.0 * (d * 500.0 * 8.0).sqrt() / 2.0,
            |_, _, _, _| (8, 8),
        ),
        (
            "ospf:horizon=500,gradient-bound=2,smoothness=3,eta-scale=4,seed=9",
            |d, _| 2.0 * (d * 500.0).sqrt() / 8.0,
            |_, _, d, r| {
                let k = (4.0 * 3.0 * r / (2.0 * d.sqrt())).powf(2.0 / 3.0) * 500f64.cbrt();
                let k = k.round().min(22.0);
                (k as u64, k as u32)
            },
        ),
        (
            "ospf:horizon=500,gradient-bound=2,smoothness=0,seed=9",
            |d, _| 2.0 * (d * 500.0).sqrt() / 2.0,
            |_, _, _, _| (1, 1),
        ),
        (
            "ospf:seed=9",
            |d, v| (d * v).sqrt() / 2.0,
            |t, _, _, _| {
                let k = (t.max(1) as f64).cbrt().round() as u32;
                (u64::from(k), k)
            },
        ),
        (
            "ospf:smoothness=2,seed=9",
            |d, v| (d * v).sqrt() / 2.0,
            |t, g, d, r| {
                let t = t.max(1) as f64;
                let k = (4.0 * 2.0 * r / (g * d.sqrt())).powf(2.0 / 3.0) * t.cbrt();
                let k = if g == 0.0 { t.cbrt() } else { k };
                let k = k.round().min(t.sqrt().floor()).max(1.0) as u32;
                (u64::from(k), k)
            },
        ),
        (
            "fpl:samples=3,seed=9",
            |d, v| (d * v).sqrt() / 2.0,
            |_, _, _, _| (1, 3),
        ),
        (
            "fpl:horizon=500,gradient-bound=2,smoothness=0.1,seed=9",
            |d, _| 2.0 * (d * 500.0).sqrt() / 2.0,
            |_, _, d, r| {
                let m = 4.0 * 0.1 * r / (2.0 * d.sqrt()) * 500f64.sqrt();
                (1, m.ceil() as u32)
            },
        ),
    ];
    // R from the centre: of the simplex's no more than its diameter
    for (set_text, dim, reach) in [
        ("l2", 3, 1.0),
        ("l1:radius=2", 5, 2.0),
        ("simplex", 4, 2f64.sqrt()),
        ("box", 2, 2f64.sqrt()),
    ] {
        let set = set(set_text, dim);
        for (text, size, next) in &cases {
            let (size, next, d) = (*size, *next, dim as f64);
            // with the second spec 1/δ has a √k, which depends on the set
            let factor = if text.contains("smoothness=3") {
                (next(0, 2.0, d, reach).0 as f64).sqrt()
            } else {
                1.0
            };
            let mut plain = Plain {
                set: set.clone(),
                rng: ChaCha8Rng::seed_from_u64(9),
                sum: vec![0.0; dim],
                block: vec![0.0; dim],
                squares: 0.0,
                x: centre(&*set),
                size: Box::new(move |v| factor * size(d, v)),
                next: Box::new(move |t, g| next(t, g, d, reach)),
                left: next(0, 0.0, d, reach).0,
                t: 0,
                largest: 0.0,
            };
            let mut player = learner(text, &set);
            let mut r = rng(2);
            let drift = unit(&mut r, dim);
            for t in 1..=500 {
                // nothing at first
                let loud = if t < 4 { 0.0 } else { 0.5 };
                let g = scaled(&plus(&drift, 2.0, &unit(&mut r, dim)), loud);
                let expected = plain.x.clone();
                let (x, calls) = round(&mut *player, &g);
                let apart = distance(&x, &expected);
                assert!(apart < 1e-12, "{text} on {set_text}, round {t}: {apart:e}");
                assert_eq!(calls, plain.observe(&g), "{text} on {set_text}, round {t}");
            }
            let seen = player.seen();
            assert!(!text.starts_with("ospf") || seen.oracle_calls <= seen.rounds + 100);
        }
    }
}

/// On [−1, 1] the mean of a sample is −Sδ, between −1 and 1.
#[test]
fn many_samples_come_to_the_smoothed_leader() {
    let set = set("box", 1);
    for sum in [-30.0, -10.0, 0.5, 20.0, 60.0] {
        // 1/δ = √100·4/2 = 20
        let text = "fpl:horizon=100,gradient-bound=4,samples=200000";
        let mut player = learner(text, &set);
        round(&mut *player, &[sum]);
        let (x, _) = round(&mut *player, &[0.0]);
        let expected: f64 = (-sum / 20.0_f64).clamp(-1.0, 1.0);
        assert!((x[0] - expected).abs() < 0.01, "{sum}: {} {expected}", x[0]);
    }
}

/// Losses that do not react, by round: a row, and how f is made of it.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// ⟨a, x⟩
    Linear,
    /// (β/2)‖x − a‖²
    Quadratic(f64),
    /// |⟨a, x⟩ − ½|
    Absolute,
}

impl Kind {
    fn value(self, a: &[f64], x: &[f64]) -> f64 {
        match self {
            Self::Linear => dot(a, x),
            Self::Quadratic(beta) => 0.5 * beta * distance(a, x).powi(2),
            Self::Absolute => (dot(a, x) - 0.5).abs(),
        }
    }

    fn facts(self) -> LossFacts {
        LossFacts {
            smoothness: match self {
                Self::Linear => 0.0,
                Self::Quadratic(beta) => beta,
                Self::Absolute => f64::INFINITY,
            },
            oblivious: true,
            ..LossFacts::default()
        }
    }

    fn gradient(self, a: &[f64], x: &[f64]) -> Vec<f64> {
        match self {
            Self::Linear => a.to_vec(),
            Self::Quadratic(beta) => scaled(&minus(x, a), beta),
            Self::Absolute => scaled(a, (dot(a, x) - 0.5).signum()),
        }
    }
}

/// Drift that turns after a half, and noise; rows of norm 1 or less.
fn rows(seed: u64, dim: usize, rounds: usize) -> Vec<Vec<f64>> {
    let mut r = rng(seed);
    let drift = unit(&mut r, dim);
    let row = |t: usize| {
        let sign = if t < rounds / 2 { 0.3 } else { -0.3 };
        plus(&scaled(&drift, sign), 0.7, &unit(&mut r, dim))
    };
    (0..rounds).map(row).collect()
}

#[test]
fn the_mean_regret_keeps_to_the_bound() {
    let (seeds, rounds) = if soak() { (300, 10_000) } else { (40, 1_000) };
    for (set_text, dim) in [("l2", 3), ("simplex", 6), ("box", 2), ("l1", 10)] {
        let set = set(set_text, dim);
        // G of the quadratic is β(R + 1) at most
        let g = 1.0 + set.geometry().norm_bound;
        let told = format!("horizon={rounds},gradient-bound");
        for (text, kind) in [
            (format!("fpl:{told}=1"), Kind::Linear),
            ("fpl".into(), Kind::Linear),
            (format!("ospf:{told}=1"), Kind::Linear),
            ("ospf:smoothness=0".into(), Kind::Linear),
            (
                format!("ospf:{told}={g},smoothness=1"),
                Kind::Quadratic(1.0),
            ),
            ("ospf:smoothness=1".into(), Kind::Quadratic(1.0)),
            (
                format!("fpl:{told}={g},samples=30,smoothness=1"),
                Kind::Quadratic(1.0),
            ),
            (format!("ospf:{told}=1"), Kind::Absolute),
            ("ospf:gradient-bound=1".into(), Kind::Absolute),
        ] {
            let rows = rows(3, dim, rounds);
            // the best of many fixed decisions; for linear and quadratic losses the best at all
            let mut sum = vec![0.0; dim];
            for a in &rows {
                sum = plus(&sum, 1.0, a);
            }
            let mut r = rng(4);
            let mut fixed: Vec<Vec<f64>> = match kind {
                Kind::Linear => vec![atom(&*set, &sum)],
                Kind::Quadratic(_) => {
                    let mut u = scaled(&sum, 1.0 / rounds as f64);
                    set.projection().unwrap().project(&mut u).unwrap();
                    vec![u]
                }
                Kind::Absolute => (0..50)
                    .map(|_| atom(&*set, &normals(&mut r, dim)))
                    .collect(),
            };
            fixed.push(centre(&*set));
            let best = fixed
                .iter()
                .map(|u| rows.iter().map(|a| kind.value(a, u)).sum::<f64>())
                .fold(f64::MAX, f64::min);
            let (mut regrets, mut bounds) = (Vec::new(), Vec::new());
            for seed in 0..seeds {
                let joint = if text.contains(':') { ',' } else { ':' };
                let mut player = learner(&format!("{text}{joint}seed={seed}"), &set);
                let mut total = 0.0;
                for a in &rows {
                    let x = written(player.decide().unwrap());
                    total += kind.value(a, &x);
                    let g = kind.gradient(a, &x);
                    player.observe(&Gradient::dense(&g)).unwrap();
                }
                let guarantee = player.guarantee().unwrap();
                let failed: Vec<_> = guarantee.check(player.seen(), &kind.facts());
                let failed = failed.iter().filter(|c| !c.holds);
                assert!(failed.map(|c| c.assumption).eq([Assumption::InExpectation]));
                regrets.push(total - best);
                bounds.push(guarantee.bound(rounds as f64));
            }
            let n = seeds as f64;
            let mean = regrets.iter().sum::<f64>() / n;
            let bound = bounds.iter().sum::<f64>() / n;
            let variance = regrets.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (n - 1.0);
            let error = (variance / n).sqrt();
            println!("{text} on {set_text}: {mean:.1} ± {error:.1} ≤ {bound:.1}");
            assert!(mean + 3.0 * error <= bound, "{text} on {set_text}");
        }
    }
}

#[test]
fn the_constants_are_those_worked_out_by_hand() {
    let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{a}, not {b}");
    // 2V_{d−1}/V_d with V_d/V_{d−2} = 2π/d
    let (mut before, mut volume) = (1.0, 2.0);
    for d in 1..200 {
        let exact = 2.0 * before / volume;
        let l = theory::perturbation_smoothness(d as f64);
        assert!(
            exact <= l * (1.0 + 1e-12) && l <= 1.2 * exact,
            "{d}: {l} {exact}"
        );
        (before, volume) = (
            volume,
            before * 2.0 * std::f64::consts::PI / (d as f64 + 1.0),
        );
    }
    // 3·4/8 against 2·2/√8
    close(
        theory::sampling_noise(Some(3.0), Some(2.0), 2.0, 8.0),
        2f64.sqrt(),
    );
    close(theory::sampling_noise(Some(3.0), None, 2.0, 8.0), 1.5);
    assert_eq!(theory::sampling_noise(None, None, 2.0, 8.0), f64::INFINITY);
    // what the learner says of itself: δ = 2/(G√(dTk)), k = 10, R = 1, D = 2
    let player = learner("ospf:horizon=1000,gradient-bound=1", &set("l2", 4));
    let size = 0.5 * (4.0 * 1000.0 * 10.0f64).sqrt();
    let l = (10.0 / std::f64::consts::PI).sqrt();
    let expected = size + 0.5 * l / size * 10.0 * 1000.0 + 20.0 + 1000.0 / 10f64.sqrt();
    close(player.guarantee().unwrap().bound(1000.0), expected);
    assert!(expected <= 1.5 * 2.0 * size + 20.0 + 1000.0 / 10f64.sqrt());
}

#[test]
fn no_single_run_is_held_against_a_mean() {
    let set = set("l2", 3);
    let mut player = learner("fpl", &set);
    round(&mut *player, &[1.0, 0.0, 0.0]);
    let guarantee = player.guarantee().unwrap();
    let checks = guarantee.check(player.seen(), &Kind::Linear.facts());
    let failed: Vec<_> = checks.iter().filter(|c| !c.holds).collect();
    let [check] = &failed[..] else {
        panic!("{failed:?}")
    };
    assert!(check.detail.contains("mean over seeds"));
    // without β and G sampling may cost anything
    let mut free = learner("ospf", &set);
    for _ in 0..10 {
        round(&mut *free, &[1.0, 0.0, 0.0]);
    }
    assert!(free.guarantee().is_none());
}

#[test]
fn seeds_tell_runs_apart_and_values_out_of_range_are_refused() {
    let set = set("l2", 3);
    let play = |text: &str| {
        let mut player = learner(text, &set);
        for _ in 0..20 {
            round(&mut *player, &[1.0, 0.5, 0.0]);
        }
        written(player.decision())
    };
    assert_eq!(play("fpl"), play("fpl:seed=0"));
    assert_ne!(play("fpl"), play("fpl:seed=1"));
    assert_ne!(play("ospf:seed=2"), play("ospf:seed=1"));
    for (text, word) in [
        ("fpl:samples=0", "samples"),
        ("ospf:smoothness=-1", "smoothness"),
        ("ospf:horizon=0", "horizon"),
        ("fpl:gradient-bound=0", "gradient-bound"),
        ("ospf:horizon=10,gradient-bound=1e101", "gradient-bound"),
    ] {
        let error = text.parse::<LearnerSpec>().unwrap().build(&set).err();
        assert!(error.unwrap().to_string().contains(word), "{text}");
    }
}
