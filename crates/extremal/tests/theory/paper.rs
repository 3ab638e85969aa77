//! The pseudocode, line by line, with every sum written out over the whole history; and the
//! library's learners, which must say the same.

use crate::support::*;
use extremal::set::{CustomSet, Geometry, SharedSet};
use extremal::{Gradient, Row};

const ROUNDS: u64 = 500;
const DIM: usize = 7;

/// All that happened, as the paper's sums need it.
#[derive(Default)]
struct History {
    x: Vec<Vec<f64>>,
    g: Vec<Vec<f64>>,
}

impl History {
    fn x1(&self) -> &[f64] {
        &self.x[0]
    }

    fn last(&self) -> &[f64] {
        &self.x[self.x.len() - 1]
    }

    fn gradients(&self) -> Vec<f64> {
        let mut sum = vec![0.0; self.last().len()];
        for g in &self.g {
            add(&mut sum, 1.0, g);
        }
        sum
    }
}

/// sum += k·a
fn add(sum: &mut [f64], k: f64, a: &[f64]) {
    for (s, a) in sum.iter_mut().zip(a) {
        *s += k * a;
    }
}

/// What a learner says at the end of a round: x_{t+1}, σ_t and the gap (NaN: not compared).
struct Said {
    x: Vec<f64>,
    sigma: f64,
    gap: f64,
    /// ‖v_t − x_t‖: where it is small, σ_t has few digits.
    reach: f64,
}

/// σ ↦ σ·slope + σ²·curve over [0, 1], by golden section.
fn golden(slope: f64, curve: f64) -> f64 {
    let f = |s: f64| s * slope + s * s * curve;
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let (a, b) = (high - ratio * (high - low), low + ratio * (high - low));
        if f(a) <= f(b) { high = b } else { low = a }
    }
    0.5 * (low + high)
}

/// Lines 5 to 7 of both algorithms: argmin over [0, 1] of σ⟨v − x, ∇F⟩ + σ²·half·‖v − x‖².
fn step(body: &Body, x: &[f64], gradient: &[f64], half: f64) -> Said {
    let v = body.oracle(gradient);
    let d = minus(&v, x);
    let (slope, curve) = (dot(&d, gradient), half * dot(&d, &d));
    let sigma = if curve == 0.0 {
        0.0
    } else {
        (-slope / (2.0 * curve)).clamp(0.0, 1.0)
    };
    // Values tell a minimiser to half the digits.
    let searched = golden(slope, curve);
    assert!(
        (searched - sigma).abs() < 1e-6,
        "golden section {searched}, closed form {sigma}"
    );
    Said {
        x: plus(x, sigma, &d),
        sigma,
        gap: -slope,
        reach: norm(&d),
    }
}

/// Whose decisions the transcription goes on from.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Trail {
    Own,
    Library,
}

/// On ℓp balls far from p = 2 and on a flat elastic net an atom changes by many times what its
/// direction does, and a run near its surrogate's minimiser, where the direction is small, forgets
/// the digits it began with; there only one round at a time can be compared. So it is on k-support
/// balls, whose atom also jumps.
fn forgets_digits(set: &SharedSet) -> bool {
    let far = matches!(set.structure().as_ball(), Some((p, _)) if (p - 1.75).abs() > 0.5);
    far || ["elastic-net", "k-support"].contains(&set.name())
}

/// Plays `text` and the transcription side by side on gradients computed at the library's
/// decision; both must agree in every round.
fn agree(
    text: &str,
    set: &SharedSet,
    start: Option<&[f64]>,
    gradients: &mut dyn FnMut(&[f64]) -> Vec<f64>,
    round: &mut dyn FnMut(&History) -> Said,
) {
    let text = start.map_or(text.to_string(), |x| with_list(text, "start", x));
    for trail in [Trail::Library, Trail::Own] {
        if trail == Trail::Own && forgets_digits(set) {
            continue;
        }
        agree_along(trail, &text, set, start, gradients, round);
    }
}

fn agree_along(
    trail: Trail,
    text: &str,
    set: &SharedSet,
    start: Option<&[f64]>,
    gradients: &mut dyn FnMut(&[f64]) -> Vec<f64>,
    round: &mut dyn FnMut(&History) -> Said,
) {
    let mut learner = learner(text, set);
    let mut centre = vec![0.0; set.dim()];
    set.centre(&mut centre);
    let mut history = History::default();
    history.x.push(start.unwrap_or(&centre).to_vec());
    assert_eq!(written(learner.decision()), history.x1());
    let scale = set.geometry().diameter;
    let mut moved = 0.0_f64;
    for t in 1..=ROUNDS {
        let close = |name: &str, found: f64, expected: f64, size: f64| {
            assert!(
                (found - expected).abs() <= 1e-10 * size,
                "{text} on {}, round {t}, {trail:?} trail: {name} is {found}, not {expected}",
                set.name()
            );
        };
        let x = written(learner.decide().unwrap());
        let g = gradients(&x);
        let record = learner.observe(&Gradient::dense(&g)).unwrap();
        assert_eq!(record.round, t);
        close("‖g‖", record.gradient_norm, norm(&g), norm(&g));
        let size = norm(&g) * norm(&x);
        close("⟨g, x⟩", record.gradient_dot, dot(&g, &x), size);
        close("‖x‖²", record.norm_squared, dot(&x, &x), dot(&x, &x));
        history.g.push(g);
        let said = round(&history);
        let next = written(learner.decision());
        close("x_{t+1}'s error", distance(&next, &said.x), 0.0, scale);
        if trail == Trail::Library {
            let (found, expected) = (said.reach * record.sigma, said.reach * said.sigma);
            close("σ‖v − x‖", found, expected, scale);
        }
        if trail == Trail::Library && said.gap.is_finite() {
            let size = history.g.iter().map(|g| norm(g)).sum::<f64>() + scale;
            close("the gap", record.gap, said.gap, size * scale);
        }
        moved = moved.max(distance(&next, history.x1()));
        history.x.push(match trail {
            Trail::Own => said.x,
            Trail::Library => next,
        });
    }
    assert!(
        moved > 0.1 * scale,
        "{text} on {} hardly moved: {moved}, the test says nothing",
        set.name()
    );
}

/// Noise with a mean, so that decisions travel.
fn drifting(seed: u64, dim: usize) -> impl FnMut(&[f64]) -> Vec<f64> {
    let mut rng = kit::rng(seed);
    let mean = unit(&mut rng, dim);
    move |_| plus(&scaled(&mean, 0.3), 0.5, &unit(&mut rng, dim))
}

/// Every set from its centre and from another point.
fn everywhere(
    seed: u64,
    mut test: impl FnMut(&Body, &SharedSet, Option<&[f64]>, &mut dyn FnMut(&[f64]) -> Vec<f64>),
) {
    let mut rng = kit::rng(seed);
    for body in bodies() {
        let set = set(&body.spec(), DIM);
        assert!((set.geometry().diameter / body.diameter(DIM) - 1.0).abs() < 1e-14);
        let start = body.some_point(&mut rng, DIM);
        for start in [None, Some(&start[..])] {
            test(&body, &set, start, &mut drifting(seed, DIM));
        }
    }
}

#[test]
fn ofw_ls_is_algorithm_1() {
    everywhere(1, |body, set, start, gradients| {
        for scale in [1.0, 20.0] {
            let eta =
                scale * body.diameter(DIM) / (2.0 * 0.8 * (ROUNDS as f64 + 2.0).powf(2.0 / 3.0));
            let text = format!("ofw-ls:horizon={ROUNDS},gradient-bound=0.8,eta-scale={scale:?}");
            agree(&text, set, start, gradients, &mut |h| {
                let x = h.last();
                let gradient = plus(&scaled(&h.gradients(), eta), 2.0, &minus(x, h.x1()));
                step(body, x, &gradient, 1.0)
            });
        }
    });
}

#[test]
fn sc_ofw_is_algorithm_2_with_its_sum_written_out() {
    everywhere(2, |body, set, start, _| {
        for (lambda, warm) in [(0.05, 0.0), (2.0, 0.0), (0.3, 7.5)] {
            let mut noise = drifting(2, DIM);
            let pull = scaled(&body.oracle(&noise(&[])), 1.5);
            // λ-strongly convex: (λ/2)‖x − target‖² + ⟨noise, x⟩
            let mut gradients = |x: &[f64]| plus(&scaled(&minus(x, &pull), lambda), 0.2, &noise(x));
            let text = format!("sc-ofw:lambda={lambda:?},warm={warm:?}");
            agree(&text, set, start, &mut gradients, &mut |h| {
                let x = h.last();
                let t = h.g.len() as f64;
                let mut gradient = scaled(&minus(x, h.x1()), warm * lambda);
                for (g, past) in h.g.iter().zip(&h.x) {
                    for i in 0..DIM {
                        gradient[i] += g[i] + lambda * (x[i] - past[i]);
                    }
                }
                step(body, x, &gradient, 0.5 * lambda * (t + warm))
            });
        }
    });
}

#[test]
fn ofw_is_the_books() {
    everywhere(3, |body, set, start, gradients| {
        let eta = body.diameter(DIM) / (2.0 * 0.8 * (ROUNDS as f64).powf(0.75));
        let text = format!("ofw:horizon={ROUNDS},gradient-bound=0.8");
        agree(&text, set, start, gradients, &mut |h| {
            let x = h.last();
            let gradient = plus(&scaled(&h.gradients(), eta), 2.0, &minus(x, h.x1()));
            let v = body.oracle(&gradient);
            let sigma = (2.0 / (h.g.len() as f64).sqrt()).min(1.0);
            Said {
                x: plus(x, sigma, &minus(&v, x)),
                sigma,
                gap: dot(&gradient, &minus(x, &v)),
                reach: distance(x, &v),
            }
        });
    });
}

#[test]
fn ofw_weibel_pulls_with_half_the_square() {
    everywhere(4, |body, set, start, gradients| {
        let t = ROUNDS as f64;
        let eta = body.diameter(DIM) / (2.0 * 0.8) * (3.0 / t).powf(0.75);
        let sigma = (3.0 / t).sqrt();
        let text = format!("ofw-weibel:horizon={ROUNDS},gradient-bound=0.8");
        agree(&text, set, start, gradients, &mut |h| {
            let x = h.last();
            let direction = plus(&minus(x, h.x1()), eta, &h.gradients());
            let v = body.oracle(&direction);
            Said {
                x: plus(&scaled(x, 1.0 - sigma), sigma, &v),
                sigma,
                gap: dot(&direction, &minus(x, &v)),
                reach: distance(x, &v),
            }
        });
    });
}

/// Gauge-FTRL's x_{t+1} from all gradients and β_{t+1}, for ½h² smooth.
fn lifted(body: &Body, centre: &[f64], h: &History, beta: f64) -> Said {
    let s = h.gradients();
    let v = plus(&body.oracle(&s), 1.0, centre);
    let support = dot(&s, &minus(centre, &v));
    let share = support / (support * support + beta * beta).sqrt();
    Said {
        x: plus(centre, share, &minus(&v, centre)),
        sigma: share,
        gap: f64::NAN,
        reach: 1.0,
    }
}

/// −min ⟨S, v⟩ before every gradient and after the last.
fn supports(body: &Body, h: &History) -> Vec<f64> {
    let mut s = vec![0.0; h.last().len()];
    let mut all = vec![0.0];
    for g in &h.g {
        add(&mut s, 1.0, g);
        all.push(-dot(&s, &body.oracle(&s)));
    }
    all
}

#[test]
fn gauge_ftrl_has_its_three_balances() {
    for (p, radius) in [(2.0, 2.0), (1.5, 3.0), (1.1, 1.0)] {
        let body = Body::Lp { p, radius };
        let set = set(&body.spec(), DIM);
        let zero = vec![0.0; DIM];
        let l = radius * radius / (p - 1.0);
        let q = p / (p - 1.0);
        // (A)
        let beta = 0.8 * (l * ROUNDS as f64 / 2.0).sqrt();
        let text = format!("gauge-ftrl:balance=fixed,horizon={ROUNDS},gradient-bound=0.8");
        agree(&text, &set, None, &mut drifting(5, DIM), &mut |h| {
            lifted(&body, &zero, h, beta)
        });
        // (B)
        let text = "gauge-ftrl:balance=adagrad,gradient-bound=0.8";
        agree(text, &set, None, &mut drifting(5, DIM), &mut |h| {
            let squares: f64 = h.g.iter().map(|g| norm_p(g, q).powi(2)).sum();
            lifted(&body, &zero, h, (l * (0.8 * 0.8 + squares)).sqrt())
        });
        // (C)
        agree("gauge-ftrl", &set, None, &mut drifting(5, DIM), &mut |h| {
            let supports = supports(&body, h);
            let mut beta = 0.0_f64;
            let mut played = 0.0;
            for (t, g) in h.g.iter().enumerate() {
                let before = supports[t];
                let n = norm_p(g, q);
                let grown = l / 2.0 * n * n / (before * before + beta * beta).sqrt();
                beta += grown.min(2.0 * radius * n);
                played += dot(g, &h.x[t]);
            }
            assert!(played + supports[h.g.len()] <= 2.0 * beta);
            lifted(&body, &zero, h, beta)
        });
    }
}

#[test]
fn gauge_ftrl_on_a_ball_far_from_the_origin_plays_around_its_centre() {
    let ball = Body::Lp {
        p: 2.0,
        radius: 1.5,
    };
    let centre = [3.0, -1.0, 0.5];
    let geometry = Geometry {
        diameter: 3.0,
        norm_bound: norm(&centre) + 1.5,
        inner_radius: Some(1.5),
        strong_convexity: Some(1.0 / 1.5),
    };
    let oracle = ball.clone();
    let set: SharedSet = std::sync::Arc::new(
        CustomSet::new("far ball", 3, geometry, move |c, v| {
            v.copy_from_slice(&plus(&oracle.oracle(c), 1.0, &centre));
            Ok(())
        })
        .unwrap()
        .with_centre(&centre)
        .unwrap(),
    );
    // The general constant R² + R/α, with R the diameter since the centre is not 0.
    let l = 3.0 * 3.0 + 3.0 * 1.5;
    let beta = 0.8 * (l * ROUNDS as f64 / 2.0).sqrt();
    let text = format!("gauge-ftrl:balance=fixed,horizon={ROUNDS},gradient-bound=0.8");
    agree(&text, &set, None, &mut drifting(6, 3), &mut |h| {
        lifted(&ball, &centre, h, beta)
    });
}

#[test]
fn gauge_ftrl_beyond_p_2_lifts_with_the_conjugate_exponent() {
    for (p, radius) in [(3.0, 0.5), (6.0, 2.0)] {
        let body = Body::Lp { p, radius };
        let set = set(&body.spec(), DIM);
        let q = p / (p - 1.0);
        let place = |h: &History, beta: f64| {
            let s = h.gradients();
            let v = body.oracle(&s);
            let support = -dot(&s, &v);
            let potential = (support.powf(q) + beta.powf(q)).powf(1.0 / q);
            let share = (support / potential).powf(q - 1.0);
            Said {
                x: scaled(&v, share),
                sigma: share,
                gap: f64::NAN,
                reach: 1.0,
            }
        };
        let bound = 0.8 * (DIM as f64).powf(1.0 / q - 0.5);
        let beta = radius * bound * (2f64.powf(2.0 - q) * ROUNDS as f64 / p).powf(1.0 / q);
        let text = format!("gauge-ftrl:balance=fixed,horizon={ROUNDS},gradient-bound=0.8");
        agree(&text, &set, None, &mut drifting(7, DIM), &mut |h| {
            place(h, beta)
        });
        agree("gauge-ftrl", &set, None, &mut drifting(7, DIM), &mut |h| {
            let supports = supports(&body, h);
            let mut beta = 0.0_f64;
            for (t, g) in h.g.iter().enumerate() {
                let before = supports[t];
                let potential = (before.powf(q) + beta.powf(q)).powf(1.0 / q);
                let n = radius * norm_p(g, q);
                let grown = 2f64.powf(2.0 - q) * n.powf(q) / (q * potential.powf(q - 1.0));
                beta += grown.min(2.0 * n);
            }
            place(h, beta)
        });
    }
}

#[test]
fn ogd_has_its_three_schedules() {
    everywhere(8, |body, set, start, gradients| {
        if matches!(body, Body::Lp { p, .. } if *p != 2.0) {
            return; // no projection by plain means
        }
        let descend = |h: &History, eta: f64| {
            let x = h.last();
            Said {
                x: body.project(&plus(x, -eta, &h.g[h.g.len() - 1])),
                sigma: eta,
                gap: f64::NAN,
                reach: 1.0,
            }
        };
        let diameter = body.diameter(DIM);
        agree("ogd:gradient-bound=0.8", set, start, gradients, &mut |h| {
            descend(h, diameter / (0.8 * (h.g.len() as f64).sqrt()))
        });
        agree("ogd:lambda=0.3", set, start, gradients, &mut |h| {
            descend(h, 1.0 / (0.3 * h.g.len() as f64))
        });
        let text = "ogd:lambda=0.3,offset=7.5,eta-scale=1.7";
        agree(text, set, start, gradients, &mut |h| {
            descend(h, 1.7 / (0.3 * (h.g.len() as f64 + 7.5)))
        });
        agree("ogd", set, start, gradients, &mut |h| {
            let squares: f64 = h.g.iter().map(|g| dot(g, g)).sum();
            descend(h, diameter / (2.0 * squares).sqrt())
        });
    });
}

#[test]
fn a_ridge_kept_apart_and_one_written_out_give_the_same_decisions() {
    let learners = [
        "ofw:horizon=500,gradient-bound=2",
        "ofw-weibel:horizon=500,gradient-bound=2",
        "ofw-ls:horizon=500,gradient-bound=2,eta-scale=20",
        "sc-ofw:lambda=0.4",
        "sc-ofw:lambda=0.1,warm=3",
        "gauge-ftrl",
        "ogd:lambda=0.4",
    ];
    for body in bodies() {
        let set = set(&body.spec(), DIM);
        for text in learners {
            if text == "gauge-ftrl" && !matches!(body, Body::Lp { p: 2.0, .. }) {
                continue; // elsewhere the ridge's norm is only bounded, by design
            }
            let mut rng = kit::rng(9);
            let (mut apart, mut written) = (learner(text, &set), learner(text, &set));
            let (rounds, digits) = if forgets_digits(&set) {
                (50, 1e-8)
            } else {
                (ROUNDS, 1e-10)
            };
            for t in 1..=rounds {
                let x = kit::written(apart.decide().unwrap());
                let y = kit::written(written.decide().unwrap());
                let off = distance(&x, &y);
                assert!(
                    off <= digits * set.geometry().diameter,
                    "{text} on {}: x_{t} is {off:e} off",
                    set.name()
                );
                let row = normals(&mut rng, DIM);
                let (scale, ridge) = (0.7 * uniform(&mut rng) - 0.2, 0.4);
                let gradient = Gradient {
                    row: Row::Dense(&row),
                    scale,
                    ridge,
                };
                let dense = plus(&scaled(&row, scale), ridge, &y);
                let a = apart.observe(&gradient).unwrap();
                let b = written.observe(&Gradient::dense(&dense)).unwrap();
                for (name, found, expected) in [
                    ("‖g‖", a.gradient_norm, norm(&dense)),
                    ("⟨g, x⟩", a.gradient_dot, dot(&dense, &y)),
                    ("σ", a.sigma, b.sigma),
                ] {
                    assert!(
                        (found - expected).abs() <= 10.0 * digits * (1.0 + expected.abs()),
                        "{text} on {}, round {t}: {name} is {found}, not {expected}",
                        set.name()
                    );
                }
            }
        }
    }
}
