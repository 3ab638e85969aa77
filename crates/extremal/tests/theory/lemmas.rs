//! What the proofs rest on, round by round: the line search is exact, the surrogate falls as fast
//! as the one-step inequality says, the gap to its minimum stays below the lemma's curve, and η
//! and the regulariser are the theorem's. A wrong factor of 2 breaks these where it would hide in
//! a theorem's slack.

use crate::support::{self, *};
use extremal::Gradient;
use extremal::set::SharedSet;

/// A round of a learner that minimises F(x) = ⟨c, x⟩ + (β/2)‖x‖², as the test's own sums see it.
struct RunStatistics<'a> {
    t: f64,
    c: &'a [f64],
    beta: f64,
    before: &'a [f64],
    after: &'a [f64],
    /// The size of F's terms, for rounding.
    size: f64,
}

impl RunStatistics<'_> {
    fn surrogate(&self, x: &[f64]) -> f64 {
        dot(self.c, x) + 0.5 * self.beta * dot(x, x)
    }

    fn gradient(&self, x: &[f64]) -> Vec<f64> {
        plus(self.c, self.beta, x)
    }

    fn rounding(&self) -> f64 {
        1e-14 * self.size
    }
}

/// How the test keeps (c, β): c += weight·g + decision·x.
#[derive(Clone, Copy)]
enum Kind {
    /// F_t = η Σ⟨g, x⟩ + ‖x − x₁‖²
    Ofw { eta: f64 },
    /// F_t = Σ(⟨g, x⟩ + (λ/2)‖x − x_t‖²)
    Sc { lambda: f64 },
}

/// Plays ⟨a, x⟩ + (λ/2)‖x‖² with a from a stream, λ = 0 but for SC-OFW.
fn watch(
    text: &str,
    kind: Kind,
    set: &SharedSet,
    stream: &str,
    rounds: u64,
    mut look: impl FnMut(&RunStatistics<'_>),
) {
    let dim = set.dim();
    let mut learner = learner(text, set);
    let mut stream = support::stream(stream, dim, 5);
    let start = written(learner.decision());
    let (mut c, mut size) = match kind {
        Kind::Ofw { .. } => (scaled(&start, -2.0), 1.0),
        Kind::Sc { .. } => (vec![0.0; dim], 0.0),
    };
    for t in 1..=rounds {
        let x = learner.decide().unwrap();
        let before = written(x);
        let round = stream.next(x).unwrap().unwrap();
        let mut g = vec![0.0; dim];
        round.row.add_to(1.0, &mut g);
        let beta;
        match kind {
            Kind::Ofw { eta } => {
                c = plus(&c, eta, &g);
                beta = 2.0;
            }
            Kind::Sc { lambda } => {
                g = plus(&g, lambda, &before);
                c = plus(&plus(&c, 1.0, &g), -lambda, &before);
                beta = lambda * t as f64;
            }
        }
        learner.observe(&Gradient::dense(&g)).unwrap();
        size += 1.0 + norm(&c);
        look(&RunStatistics {
            t: t as f64,
            c: &c,
            beta,
            before: &before,
            after: &written(learner.decision()),
            size: size * set.geometry().diameter.max(1.0),
        });
    }
}

const STREAMS: [&str; 5] = [
    "noise",
    "drift",
    "alternating",
    "adversary:kind=along",
    "adversary:kind=orthogonal",
];

const DIM: usize = 6;

/// OFW-LS with the theorem's η and with a larger one, and SC-OFW.
fn line_searchers(diameter: f64, rounds: u64) -> Vec<(String, Kind)> {
    let eta = diameter / (2.0 * (rounds as f64 + 2.0).powf(2.0 / 3.0));
    vec![
        (
            format!("ofw-ls:horizon={rounds},gradient-bound=1"),
            Kind::Ofw { eta },
        ),
        (
            format!("ofw-ls:horizon={rounds},gradient-bound=1,eta-scale=30"),
            Kind::Ofw { eta: 30.0 * eta },
        ),
        ("sc-ofw:lambda=0.2".into(), Kind::Sc { lambda: 0.2 }),
        ("sc-ofw:lambda=3".into(), Kind::Sc { lambda: 3.0 }),
    ]
}

/// v − x for the atom that was moved to. Where several are equally good, rounding chooses among
/// them, so that a gradient next to the given one may tell which it was.
fn towards_the_atom(body: &Body, gradient: &[f64], before: &[f64], after: &[f64]) -> Vec<f64> {
    let moved = minus(after, before);
    let size = norm(gradient);
    let along = |d: &[f64]| {
        let product: f64 = d.iter().zip(&moved).map(|(d, m)| d * m).sum();
        product >= (1.0 - 1e-6) * norm(d) * norm(&moved)
    };
    let first = minus(&body.oracle(gradient), before);
    (0..50)
        .map(|k| {
            let nudge =
                |i: usize| 1e-12 * size * f64::from(k) * ((7 * k) as f64 + 3.0 * i as f64).sin();
            let near: Vec<f64> = gradient
                .iter()
                .enumerate()
                .map(|(i, g)| g + nudge(i))
                .collect();
            minus(&body.oracle(&near), before)
        })
        .find(|d| along(d))
        .unwrap_or(first)
}

#[test]
fn no_step_along_the_segment_does_better_than_the_line_search() {
    let rounds = rounds(500, 20_000);
    for body in bodies() {
        let set = set(&body.spec(), DIM);
        for (text, kind) in line_searchers(body.diameter(DIM), rounds) {
            let mut inner_steps = 0;
            for stream in STREAMS {
                watch(&text, kind, &set, stream, rounds, |seen| {
                    let gradient = seen.gradient(seen.before);
                    if norm(&gradient) == 0.0 {
                        assert_eq!(seen.before, seen.after);
                        return;
                    }
                    let d = towards_the_atom(&body, &gradient, seen.before, seen.after);
                    let best = seen.surrogate(seen.after);
                    let rounding = seen.rounding();
                    let place = || format!("{text} on {body:?}, {stream}, round {}", seen.t);
                    assert!(
                        best <= seen.surrogate(seen.before) + rounding,
                        "{}",
                        place()
                    );
                    // The step taken, from how far x moved; and steps near and far from it.
                    let sigma = distance(seen.after, seen.before) / norm(&d).max(1e-300);
                    inner_steps += usize::from(sigma > 1e-3 && sigma < 0.999);
                    let grid = (0..=20).map(|k| f64::from(k) / 20.0);
                    let near = [0.5, 0.9, 0.99, 1.01, 1.1, 2.0].map(|k| k * sigma);
                    for s in grid.chain(near).filter(|s| *s <= 1.0) {
                        let there = seen.surrogate(&plus(seen.before, s, &d));
                        assert!(
                            best <= there + rounding,
                            "{}: σ = {sigma} gives {best}, {s} gives {there}",
                            place()
                        );
                    }
                });
            }
            assert!(inner_steps > 100, "{text} on {body:?}: {inner_steps}");
        }
    }
}

/// min F over the set: at the projection of −c/β.
fn lowest(body: &Body, set: &SharedSet, seen: &RunStatistics<'_>) -> f64 {
    let target = scaled(seen.c, -1.0 / seen.beta);
    let x = match body {
        Body::Lp { p, .. } if *p != 2.0 => {
            let mut x = target;
            set.projection().unwrap().project(&mut x).unwrap();
            x
        }
        _ => body.project(&target),
    };
    seen.surrogate(&x)
}

#[test]
fn the_surrogate_falls_as_the_one_step_inequality_says() {
    let rounds = rounds(400, 5000);
    for p in [2.0, 1.5, 1.1] {
        let body = Body::Lp { p, radius: 2.0 };
        let set = set(&body.spec(), DIM);
        let alpha = body.strong_convexity(DIM).unwrap();
        assert!((set.geometry().strong_convexity.unwrap() / alpha - 1.0).abs() < 1e-14);
        let mut tightest = 0.0_f64;
        for (text, kind) in line_searchers(body.diameter(DIM), rounds) {
            for stream in STREAMS {
                watch(&text, kind, &set, stream, rounds, |seen| {
                    let low = lowest(&body, &set, seen);
                    let before = seen.surrogate(seen.before) - low;
                    let after = seen.surrogate(seen.after) - low;
                    let slope = norm(&seen.gradient(seen.before));
                    let factor = (1.0 - alpha * slope / (8.0 * seen.beta)).max(0.5);
                    assert!(
                        after <= before * factor + seen.rounding(),
                        "{text} on {body:?}, {stream}, round {}: {before} to {after}, factor {factor}",
                        seen.t
                    );
                    if before > 1e6 * seen.rounding() {
                        tightest = tightest.max(after / (before * factor));
                    }
                });
            }
        }
        println!("p = {p}: h falls to at most {tightest:.3} of the one-step inequality");
    }
}

#[test]
fn the_surrogates_gap_stays_below_the_lemma_of_theorem_1() {
    let rounds = rounds(2000, 100_000);
    for p in [2.0, 1.5] {
        let body = Body::Lp { p, radius: 1.0 };
        let set = set(&body.spec(), DIM);
        let alpha = body.strong_convexity(DIM).unwrap();
        let c = (4.0 * 2.0 * 2.0_f64).max(4096.0 / (3.0 * alpha * alpha));
        let (text, kind) = line_searchers(2.0, rounds).remove(0);
        let mut closest = 0.0_f64;
        for stream in STREAMS {
            watch(&text, kind, &set, stream, rounds, |seen| {
                // F_t(x_{t+1}) is h_{t+1} of the paper
                let h = seen.surrogate(seen.after) - lowest(&body, &set, seen);
                let curve = c * (seen.t + 3.0).powf(-2.0 / 3.0);
                assert!(h <= curve + seen.rounding(), "{stream}, {}: {h}", seen.t);
                closest = closest.max(h / curve);
            });
        }
        println!("p = {p}: h_t ≤ {closest:.1e}·C(t+2)^(−2/3)");
    }
}

#[test]
fn the_surrogates_gap_stays_below_the_lemmas_of_theorems_2_and_3() {
    let rounds = rounds(2000, 100_000);
    let sets = bodies();
    for body in sets {
        let set = set(&body.spec(), DIM);
        let diameter = body.diameter(DIM);
        for lambda in [0.1, 2.0] {
            let g = 1.0 + lambda * set.geometry().norm_bound;
            let slope = g + lambda * diameter;
            let general = 16.0 * slope * slope / lambda;
            let curved = body
                .strong_convexity(DIM)
                .map(|a| (4.0 * slope * slope / lambda).max(288.0 * lambda / (a * a)));
            let mut closest = 0.0_f64;
            for stream in STREAMS {
                let text = format!("sc-ofw:lambda={lambda}");
                watch(&text, Kind::Sc { lambda }, &set, stream, rounds, |seen| {
                    let h = seen.surrogate(seen.after) - lowest(&body, &set, seen);
                    let curve = (general * seen.t.powf(1.0 / 3.0)).min(curved.unwrap_or(f64::MAX));
                    assert!(
                        h <= curve + seen.rounding(),
                        "{body:?}, {stream}, {}: {h} > {curve}",
                        seen.t
                    );
                    closest = closest.max(h / curve);
                });
            }
            println!("λ = {lambda} on {body:?}: h ≤ {closest:.1e} of the lemma");
        }
    }
}

#[test]
fn the_books_steps_keep_the_surrogates_gap_below_2_d_squared_sigma() {
    let rounds = rounds(1000, 100_000);
    for body in bodies() {
        let set = set(&body.spec(), DIM);
        let d = body.diameter(DIM);
        let kind = Kind::Ofw {
            eta: d / (2.0 * (rounds as f64).powf(0.75)),
        };
        let text = format!("ofw:horizon={rounds},gradient-bound=1");
        let mut closest = 0.0_f64;
        for stream in STREAMS {
            watch(&text, kind, &set, stream, rounds, |seen| {
                let h = seen.surrogate(seen.after) - lowest(&body, &set, seen);
                let sigma = (2.0 / (seen.t + 1.0).sqrt()).min(1.0);
                let curve = 2.0 * d * d * sigma;
                assert!(h <= curve, "{body:?}, {stream}, {}: {h} > {curve}", seen.t);
                closest = closest.max(h / curve);
            });
        }
        println!("{body:?}: h ≤ {closest:.2} of 2D²σ");
    }
}

/// ℓ2 ball of radius r = 3, so D = 6, from x₁ = 0, one gradient (0.3, −0.4) of norm ½, G = 2.
fn first_round(text: &str) -> (Vec<f64>, f64) {
    let set = set("l2:radius=3", 2);
    let mut learner = learner(text, &set);
    learner.decide().unwrap();
    let record = learner.observe(&Gradient::dense(&[0.3, -0.4])).unwrap();
    (written(learner.decision()), record.gap)
}

fn assert_close(found: f64, expected: f64) {
    assert!(
        (found / expected - 1.0).abs() < 1e-13,
        "{found}, not {expected}"
    );
}

#[test]
fn eta_and_the_regulariser_can_be_read_off_the_first_steps() {
    // OFW-LS, T = 25: η = 6/(2·2·27^(2/3)) = 1/6. ∇F = ηg, gap = η·r·‖g‖ = ¼, and the exact
    // minimiser of η⟨g, x⟩ + ‖x‖² along the ray is x₂ = −ηg/2.
    let (x, gap) = first_round("ofw-ls:horizon=25,gradient-bound=2");
    assert_close(gap, 0.25);
    assert_close(x[0], -0.3 / 12.0);
    assert_close(x[1], 0.4 / 12.0);
    // OFW, T = 16: η = 6/(2·2·8) = 3/16, gap = 3/16·3·½; σ₁ = 1 puts x₂ on the sphere.
    let (x, gap) = first_round("ofw:horizon=16,gradient-bound=2");
    assert_close(gap, 9.0 / 32.0);
    assert_close(x[0], -1.8);
    // OFW tuned, T = 48: η = (6/4)·(1/16)^(3/4) = 3/16, σ = ¼ on the way to (−1.8, 2.4).
    let (x, gap) = first_round("ofw-weibel:horizon=48,gradient-bound=2");
    assert_close(gap, 9.0 / 32.0);
    assert_close(x[0], -0.45);
    // SC-OFW, λ = ½: gap = r‖g‖; the minimiser of ⟨g, x⟩ + (λ/2)‖x‖² is −g/λ.
    let (x, gap) = first_round("sc-ofw:lambda=0.5");
    assert_close(gap, 1.5);
    assert_close(x[1], 0.8);
    // with T₀ = 3 the curvature is 4λ: −g/(4λ)
    assert_close(first_round("sc-ofw:lambda=0.5,warm=3").0[1], 0.2);
    // OGD: η₁ = D/G = 3 and x₂ = −3g; 1/λ = 2; D/(√2·½)·g has norm 6/√2, cut to 3.
    assert_close(first_round("ogd:gradient-bound=2").0[0], -0.9);
    assert_close(first_round("ogd:lambda=0.5").0[0], -0.6);
    assert_close(first_round("ogd").0[0], -1.8);
    // Gauge-FTRL, L = 9: h = 3·½. (A) T = 8: β = 2·√(9·4) = 12; (B) β = 3·√(4 + ¼);
    // (C) β₁ = 0, so β₂ is the width 2r‖g‖ = 3.
    let place = |beta: f64| -1.8 * 1.5 / f64::hypot(1.5, beta);
    let a = first_round("gauge-ftrl:balance=fixed,horizon=8,gradient-bound=2").0;
    assert_close(a[0], place(12.0));
    let b = first_round("gauge-ftrl:balance=adagrad,gradient-bound=2").0;
    assert_close(b[0], place(3.0 * 4.25_f64.sqrt()));
    assert_close(first_round("gauge-ftrl").0[0], place(3.0));
}
