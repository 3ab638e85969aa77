//! LLOO: the definition line by line, the invariant of the proof against the exact minimiser, and
//! the bounds of the regret as numbers.

use extremal::kernel::{dot, norm};
use extremal::learner::LearnerSpec;
use extremal::set::SharedSet;
use extremal::theory::LossFacts;

use super::{facial_distance, learner, play, project, rho, set};
use crate::common::{
    atom, centre, distance, minus, normals, plus, rng, scaled, soak, spike, unit, written,
};

/// What a learner is told, and how its F bends: F″ and r in a round, by the definition.
#[derive(Clone, Copy)]
enum Kind {
    Fixed {
        t: f64,
        g: f64,
        scale: f64,
    },
    Growing {
        g: f64,
        scale: f64,
    },
    /// The squares' sum so far makes F bend.
    Gradients,
    Strong {
        lambda: f64,
    },
}

impl Kind {
    fn spec(self) -> String {
        match self {
            Self::Fixed { t, g, scale } => {
                format!("lloo:horizon={t},gradient-bound={g},eta-scale={scale}")
            }
            Self::Growing { g, scale } => format!("lloo:gradient-bound={g},eta-scale={scale}"),
            Self::Gradients => "lloo:eta-scale=1".into(),
            Self::Strong { lambda } => format!("lloo:lambda={lambda}"),
        }
    }

    /// (F″, r) in round t, given the largest gradient so far and √(Σ‖g‖²).
    fn shape(self, set: &SharedSet, t: f64, largest: f64, root: f64) -> (f64, f64) {
        let (d, p) = (set.geometry().diameter, rho(set).powi(2));
        match self {
            Self::Fixed { t, g, scale } => {
                let eta = scale * d / (g * ((4.0 * p + 0.25) * t).sqrt());
                (2.0 / eta, (4.0 * p + 0.5) * eta * g)
            }
            Self::Growing { g, scale } => {
                let kappa = 4.5 * p + 0.25;
                let a = 2f64.sqrt() / scale;
                let w = |t: f64| a * g / d * (kappa * (t + 16.0 * kappa)).sqrt();
                let slope = g + 0.25 * a * g;
                (2.0 * w(t), slope * (4.5 * p / w(t - 1.0) + 0.5 / w(t)))
            }
            Self::Gradients => (root / d, f64::INFINITY),
            Self::Strong { lambda } => {
                let kappa = |t: f64| lambda * (t + 16.0 * p);
                let slope = largest + lambda * d;
                (
                    kappa(t),
                    slope * (12.0 * p / kappa(t - 1.0) + 1.0 / kappa(t)),
                )
            }
        }
    }

    fn lambda(self) -> f64 {
        match self {
            Self::Strong { lambda } => lambda,
            _ => 0.0,
        }
    }
}

const KINDS: [Kind; 6] = [
    Kind::Gradients,
    Kind::Fixed {
        t: 3000.0,
        g: 2.0,
        scale: 1.0,
    },
    Kind::Fixed {
        t: 900.0,
        g: 2.0,
        scale: 0.01,
    },
    Kind::Growing { g: 2.0, scale: 1.0 },
    Kind::Growing {
        g: 2.0,
        scale: 0.02,
    },
    Kind::Strong { lambda: 0.5 },
];

/// The gradients so far and where they were taken.
type Past = Vec<(Vec<f64>, Vec<f64>)>;

/// ∇F in x.
fn slope(kind: Kind, bend: f64, past: &Past, first: &[f64], x: &[f64]) -> Vec<f64> {
    let lambda = kind.lambda();
    let mut sum = vec![0.0; x.len()];
    for (g, at) in past {
        sum = plus(&plus(&sum, 1.0, g), lambda, &minus(x, at));
    }
    let rest = bend - lambda * past.len() as f64;
    plus(&sum, rest, &minus(x, first))
}

#[test]
fn the_learner_is_its_definition() {
    for (text, start) in [
        ("simplex:dim=3", None),
        ("simplex:dim=7,total=2", None),
        ("hypercube:dim=3", Some("[0,1,0]")),
        ("l1:dim=4,radius=2", Some("[0,-2,0,0]")),
    ] {
        let set = set(text);
        let d = set.dim();
        let (mut local, mut gaps) = (0, 0);
        for kind in KINDS {
            let start_key = start.map_or(String::new(), |s| format!(",start={s}"));
            let mut learner = learner(&format!("{}{start_key}", kind.spec()), &set);
            let first = written(learner.decision());
            // the vertices of x and their weights
            let mut mixed: Vec<(Vec<f64>, f64)> = match start {
                Some(_) => vec![(first.clone(), 1.0)],
                None => (0..d)
                    .map(|i| (spike(d, i, first[i] * d as f64), 1.0 / d as f64))
                    .collect(),
            };
            let mut r = rng(7);
            let (mut past, mut largest, mut root) = (Past::new(), 0.0_f64, 0.0_f64);
            for t in 1..=300 {
                let x = mixed.iter().fold(vec![0.0; d], |x, (v, w)| plus(&x, *w, v));
                let mut g = scaled(&unit(&mut r, d), 1.0);
                g[0] += 0.5;
                let played = play(&mut *learner, &g);
                let apart = distance(&played, &x);
                let name = kind.spec();
                assert!(apart <= 1e-9, "{name} on {text}, round {t}: {apart:e}");
                largest = largest.max(norm(&g));
                root = root.hypot(norm(&g));
                past.push((g, x.clone()));

                let (bend, radius) = kind.shape(&set, t as f64, largest, root);
                let c = slope(kind, bend, &past, &first, &x);
                let best = atom(&*set, &c);
                let by_gap = (2.0 * dot(&c, &minus(&x, &best)) / bend).sqrt();
                let share = (radius.min(by_gap) / facial_distance(&set)).min(1.0);
                local += u32::from(share < 1.0 && radius < by_gap);
                gaps += u32::from(share < 1.0 && radius > by_gap);
                mixed.sort_by(|a, b| dot(&b.0, &c).partial_cmp(&dot(&a.0, &c)).unwrap());
                let mut left = share;
                let mut taken = vec![0.0; mixed.len()];
                for (taken, (_, w)) in taken.iter_mut().zip(&mixed) {
                    *taken = w.min(left);
                    left -= *taken;
                }
                let moved: f64 = taken.iter().sum();
                let mut way = scaled(&best, moved);
                for (taken, (v, _)) in taken.iter().zip(&mixed) {
                    way = plus(&way, -taken, v);
                }
                if norm(&way) < 1e-14 {
                    continue;
                }
                let alpha = (-dot(&c, &way) / (bend * dot(&way, &way))).clamp(0.0, 1.0);
                for (taken, (_, w)) in taken.iter().zip(&mut mixed) {
                    *w -= alpha * taken;
                }
                match mixed.iter_mut().find(|(v, _)| *v == best) {
                    Some((_, w)) => *w += alpha * moved,
                    None => mixed.push((best, alpha * moved)),
                }
            }
        }
        // both bounds of the distance make the share matter
        assert!(local > 50 && gaps > 100, "{text}: {local}, {gaps}");
    }
}

/// Gradients of norm 1 that make a learner's life hard in several ways.
fn gradient(hard: usize, t: usize, x: &[f64], r: &mut rand_chacha::ChaCha8Rng) -> Vec<f64> {
    let d = x.len();
    match hard {
        0 => unit(r, d),
        // against the present decision
        1 => {
            let v = plus(x, 1e-3, &unit(r, d));
            scaled(&v, 1.0 / norm(&v))
        }
        // one coordinate after the other, for long
        2 => spike(
            d,
            t / 50 % d,
            if (t / (50 * d)).is_multiple_of(2) {
                -1.0
            } else {
                1.0
            },
        ),
        // all to one side, then to the other
        _ => spike(d, 0, if t % 1000 < 500 { 1.0 } else { -1.0 }),
    }
}

const SETS: [&str; 7] = [
    "simplex:dim=2",
    "simplex:dim=5,total=3",
    "simplex:dim=4,at-most=true",
    "hypercube:dim=3",
    "capped-simplex:dim=5,total=2",
    "l1:dim=4,radius=2",
    "product:sets=[(simplex:dim=2),(hypercube:dim=2)]",
];

#[test]
fn decisions_stay_near_the_leader_as_in_the_proof() {
    let rounds = if soak() { 20_000 } else { 1200 };
    let mut nearest = 0.0_f64;
    for text in SETS {
        let set = set(text);
        let (d, diameter, p) = (set.dim(), set.geometry().diameter, rho(&set).powi(2));

        for kind in [
            Kind::Fixed {
                t: rounds as f64,
                g: 1.0,
                scale: 1.0,
            },
            Kind::Fixed {
                t: rounds as f64,
                g: 1.0,
                scale: 0.02,
            },
            Kind::Growing {
                g: 1.0,
                scale: 0.05,
            },
            Kind::Strong { lambda: 0.5 },
            Kind::Strong { lambda: 20.0 },
        ] {
            for hard in 0..4 {
                let mut learner = learner(&kind.spec(), &set);
                let first = written(learner.decision());
                let mut r = rng(9);
                // sums only, as there are many rounds: S + λΣ(x₁ − x_τ)
                let mut sum = vec![0.0; d];
                let lambda = kind.lambda();
                for t in 1..=rounds {
                    let x = written(learner.decision());
                    let (bend, _) = kind.shape(&set, (t - 1) as f64, 1.0, 1.0);
                    // ‖x_t − x*_t‖ ≤ kG̃/w_{t−1}, or h_t ≤ (kG̃)²/w_{t−1} which says more
                    let best = project(&set, &plus(&first, -1.0 / bend, &sum));
                    let value = |y: &[f64]| {
                        let y = minus(y, &first);
                        dot(&sum, &y) + 0.5 * bend * dot(&y, &y)
                    };
                    let missed = value(&x) - value(&best);
                    let near = match kind {
                        // 4ρ²G/w with w = (G/D)√(κT)/s
                        Kind::Fixed { t, scale, .. } => {
                            4.0 * p * scale * diameter / ((4.0 * p + 0.25) * t).sqrt()
                        }
                        Kind::Growing { scale, .. } => {
                            let a = 2f64.sqrt() / scale;
                            4.5 * p * (1.0 + 0.25 * a) / (0.5 * bend)
                        }
                        Kind::Gradients => unreachable!(),
                        Kind::Strong { lambda } => 12.0 * p * (1.0 + lambda * diameter) / bend,
                    };
                    let most = 0.5 * bend * near * near;
                    assert!(
                        missed <= most * (1.0 + 1e-9) + 1e-11 * bend,
                        "{} on {text}, {hard}, round {t}: {missed:e} > {most:e}",
                        kind.spec()
                    );
                    nearest = nearest.max(missed / most);
                    let g = gradient(hard, t, &x, &mut r);
                    play(&mut *learner, &g);
                    sum = plus(&plus(&sum, 1.0, &g), -lambda, &minus(&x, &first));
                }
            }
        }
    }
    println!("h up to {nearest} of its bound");
}

#[test]
fn the_regret_of_linear_losses_keeps_to_the_bounds() {
    let rounds = if soak() { 100_000 } else { 4000 };
    for text in SETS {
        let set = set(text);
        let (d, diameter) = (set.dim(), set.geometry().diameter);

        for scale in [1.0, 0.1, 4.0] {
            for horizon in [format!("horizon={rounds},"), String::new()] {
                for hard in 0..4 {
                    let spec = format!("lloo:{horizon}gradient-bound=1,eta-scale={scale}");
                    let mut learner = learner(&spec, &set);
                    let mut r = rng(6);
                    let (mut loss, mut sum) = (0.0, vec![0.0; d]);
                    for t in 1..=rounds {
                        let g = gradient(hard, t, &written(learner.decision()), &mut r);
                        loss += dot(&g, &play(&mut *learner, &g));
                        sum = plus(&sum, 1.0, &g);
                    }
                    let regret = loss - dot(&sum, &atom(&*set, &sum));
                    let bound = learner.guarantee().unwrap().bound(rounds as f64);
                    assert!(regret <= bound, "{spec} on {text}: {regret} > {bound}");
                    if scale == 1.0 && !horizon.is_empty() {
                        let square = 6.0 * rho(&set).powi(2) + 1.0;
                        let published = 2.0 * diameter * (square * rounds as f64).sqrt();
                        assert!(bound <= published, "{spec} on {text}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_regret_of_strongly_convex_losses_keeps_to_the_bound() {
    let rounds = 3000;
    for text in SETS {
        let set = set(text);
        let d = set.dim();

        for lambda in [0.1, 3.0] {
            let mut learner = learner(&format!("lloo:lambda={lambda}"), &set);
            let mut r = rng(3);
            // (λ/2)‖x − z‖²
            let (mut loss, mut aims) = (0.0, Vec::new());
            let value = |x: &[f64], z: &[f64]| 0.5 * lambda * distance(x, z).powi(2);
            for t in 0..rounds {
                let x = written(learner.decision());
                let drift = spike(d, t / 700 % d, 1.0);
                let z = plus(&plus(&centre(&*set), 0.5, &normals(&mut r, d)), 1.0, &drift);
                loss += value(&x, &z);
                play(&mut *learner, &scaled(&minus(&x, &z), lambda));
                aims.push(z);
            }
            let sum = aims.iter().fold(vec![0.0; d], |s, z| plus(&s, 1.0, z));
            let best = project(&set, &scaled(&sum, 1.0 / rounds as f64));
            let regret = loss - aims.iter().map(|z| value(&best, z)).sum::<f64>();
            let guarantee = learner.guarantee().unwrap();
            assert!(
                guarantee
                    .check(learner.seen(), &LossFacts::strongly_convex(lambda))
                    .iter()
                    .all(|c| c.holds)
            );
            let bound = guarantee.bound(rounds as f64);
            assert!(regret <= bound, "{text}, λ = {lambda}: {regret} > {bound}");
        }
    }
}

#[test]
fn while_nothing_new_comes_it_converges_to_the_leader() {
    for text in SETS {
        let set = set(text);

        // one gradient, then none: F stays
        let spec = "lloo:horizon=400,gradient-bound=0.05";
        let mut learner = learner(spec, &set);
        let first = written(learner.decision());
        let kind = Kind::Fixed {
            t: 400.0,
            g: 0.05,
            scale: 1.0,
        };
        let (bend, _) = kind.shape(&set, 1.0, 1.0, 1.0);
        let g = scaled(
            &unit(&mut rng(2), set.dim()),
            0.5 * bend * set.geometry().diameter,
        );
        let best = project(&set, &plus(&first, -1.0 / bend, &g));
        play(&mut *learner, &g);
        let mut rounds = 1;
        while distance(&written(learner.decision()), &best) > 1e-4 {
            play(&mut *learner, &vec![0.0; set.dim()]);
            rounds += 1;
            assert!(rounds < 200_000, "{spec} on {text}");
        }
        println!("{spec} on {text}: {rounds} rounds");
    }
}

#[test]
fn without_g_it_learns_as_well_but_promises_nothing() {
    let set = set("capped-simplex:dim=5,total=2");
    let mut learner = learner("lloo", &set);
    let mut exact = super::learner("dual-averaging", &set);
    assert!(learner.guarantee().is_none());
    let mut r = rng(1);
    let (mut sum, mut losses) = (vec![0.0; 5], [0.0; 2]);
    let rounds = 20_000;
    for _ in 0..rounds {
        let g = plus(&[0.5, -0.5, 0.2, 0.0, 0.1], 1.0, &normals(&mut r, 5));
        losses[0] += dot(&g, &play(&mut *learner, &g));
        losses[1] += dot(&g, &play(&mut *exact, &g));
        sum = plus(&sum, 1.0, &g);
    }
    let best = dot(&sum, &atom(&*set, &sum));
    println!("regret {:?}", losses.map(|l| l - best));
    // as dual averaging, whose leader it follows
    assert!(
        losses[0] - best < 2.0 * (losses[1] - best),
        "{losses:?}, {best}"
    );
}

#[test]
fn what_it_can_not_play_it_refuses_in_words() {
    let refused = |text: &str, set_text: &str| {
        let spec: LearnerSpec = text.parse().unwrap();
        spec.build(&set(set_text)).err().unwrap().to_string()
    };
    let hull = "hull:points=[[0,0],[1,0],[0,1]]";
    for (spec, set, word) in [
        ("lloo", "l2:dim=3", "gauge-ftrl"),
        ("lloo", hull, "rho"),
        ("lloo:rho=0.5", hull, "rho"),
        ("lloo:lambda=1,eta-scale=2", "simplex:dim=2", "eta-scale"),
        ("lloo:lambda=0", "simplex:dim=2", "lambda"),
        ("lloo:gradient-bound=-1", "simplex:dim=2", "gradient-bound"),
    ] {
        let said = refused(spec, set);
        assert!(said.contains(word), "{spec} on {set}: {said}");
    }
    let square = set("hypercube:dim=2");
    // ρ = √2·√2
    for (rho, promises) in [(2.1, true), (1.9, false)] {
        let spec = format!("lloo:gradient-bound=1,rho={rho}");
        assert_eq!(learner(&spec, &square).guarantee().is_some(), promises);
    }
    let mut on_hull = learner("lloo:rho=5", &set(hull));
    assert!(on_hull.guarantee().is_none());
    for _ in 0..100 {
        play(&mut *on_hull, &[0.6, 0.8]);
    }
    let x = written(on_hull.decision());
    assert!(norm(&x) < 1e-3, "{x:?}");
}
