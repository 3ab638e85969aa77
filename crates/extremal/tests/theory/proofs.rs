//! The inequalities that the proofs in the guide (docs/src/proofs) rest on, round by round, with
//! sums of the test's own.

use crate::support::*;
use extremal::Gradient;
use extremal::set::CurvatureKind;
use extremal::theory;

const STREAMS: [&str; 6] = [
    "noise",
    "drift",
    "alternating",
    "adversary:kind=along",
    "adversary:kind=sign",
    "adversary:kind=orthogonal",
];

fn curved() -> Vec<Body> {
    let axes = &[1.0, 0.3, 2.0, 0.05, 1.0];
    let mut all: Vec<Body> = [2.0, 1.5, 1.1, 3.0, 6.0]
        .map(|p| Body::Lp { p, radius: 1.5 })
        .into();
    all.extend([
        Body::Ellipsoid { axes, centre: 0.4 },
        Body::Group {
            s: 2.0,
            p: 1.3,
            radius: 1.5,
            size: 2,
        },
        Body::ElasticNet {
            omega: 0.5,
            tau: 2.0,
        },
        Body::Moved {
            by: 0.3,
            body: Box::new(Body::Lp {
                p: 1.5,
                radius: 1.0,
            }),
        },
    ]);
    all
}

/// proofs/gauge-ftrl.md: Ψ(θ_t) ≤ Ψ(θ_{t−1}) − ⟨x_t, g_t⟩ + δ_t with δ_t what β grows by, which is
/// Lemmas 1 and 2 at once; then regret ≤ β_T + β_{T+1}; and β_{T+1} is at most the root of the
/// squares, or its like for p > 2.
#[test]
fn in_each_round_of_gauge_ftrl_beta_grows_by_what_the_potential_may() {
    const DIM: usize = 5;
    let rounds = rounds(300, 5000);
    for body in curved() {
        let set = set(&body.spec(), DIM);
        let centre = body.centre(DIM);
        let curvature = set.curvature().unwrap();
        let (q, constant) = match curvature.kind {
            CurvatureKind::Smooth { l } => (2.0, l + curvature.width.powi(2)),
            CurvatureKind::Uniform { q, radius } => {
                (q, ((2.0 - q).exp2() + q.exp2()) * radius.powf(q))
            }
        };
        let support = |s: &[f64]| {
            if norm(s) == 0.0 {
                return 0.0;
            }
            dot(s, &minus(&centre, &body.oracle(s)))
        };
        let potential = |h: f64, beta: f64| (h.powf(q) + beta.powf(q)).powf(1.0 / q);
        let mut closest = 0.0_f64;
        for name in STREAMS {
            let mut learner = learner("gauge-ftrl", &set);
            let mut stream = stream(name, DIM, 3);
            let mut s = vec![0.0; DIM];
            let (mut beta, mut played, mut powers) = (0.0, 0.0, 0.0);
            for t in 1..=rounds {
                let x = learner.decide().unwrap();
                let row = stream.next(x).unwrap().unwrap().row;
                let mut g = vec![0.0; DIM];
                row.add_to(if t % 7 == 0 { 30.0 } else { 1.0 }, &mut g);
                let x = minus(&written(x), &centre);
                learner.observe(&Gradient::dense(&g)).unwrap();
                let next = 0.5 * learner.guarantee().unwrap().bound(t as f64);
                let before = potential(support(&s), beta);
                s = plus(&s, 1.0, &g);
                let grown = potential(support(&s), beta) - before + dot(&x, &g);
                played += dot(&x, &g);
                powers += norm_p(&g, curvature.gradient_norm).powf(q);
                let slack = 1e-12 * (before + norm(&s));
                let place = || format!("{body:?}, {name}, round {t}");
                assert!(grown <= next - beta + slack, "{}: {grown}", place());
                assert!(played + support(&s) <= beta + next + slack, "{}", place());
                assert!(next <= (constant * powers).powf(1.0 / q), "{}", place());
                if next - beta > 0.0 {
                    closest = closest.max(grown / (next - beta));
                }
                beta = next;
            }
        }
        println!("{body:?}: at most {closest:.3} of what β grew by");
        // a smaller L would be wrong on these
        let is_tight = matches!(body, Body::Lp { p, .. } if p >= 1.5);
        assert!(!is_tight || closest > 0.75, "{body:?}: {closest}");
    }
}

/// proofs/ofw-free.md, in units of G and D: √H_{t+1} ≤ √h_t + 1/√(2B_t), H_t ≤ 6·max(1, B_t)^(1/3)
/// or C, P_T + h_T as Theorem 2 has it, and what is printed between Theorem 1's sum and the same
/// with the gap.
#[test]
fn the_surrogate_of_ofw_free_stays_as_near_its_minimum_as_its_exponents_need() {
    const DIM: usize = 4;
    let rounds = rounds(2000, 100_000);
    let mut closest = 0.0_f64;
    for (body, scale, lambda) in [
        (Body::L1 { radius: 0.7 }, 1.0, 0.0),
        (Body::L1 { radius: 0.7 }, 0.1, 0.0),
        (Body::L1 { radius: 0.7 }, 20.0, 0.03),
        (
            Body::Simplex {
                total: 2.0,
                at_most: false,
            },
            1.0,
            0.0,
        ),
        (
            Body::Lp {
                p: 2.0,
                radius: 0.5,
            },
            1.0,
            0.0,
        ),
        (
            Body::Lp {
                p: 2.0,
                radius: 3.0,
            },
            5.0,
            0.01,
        ),
    ] {
        let set = set(&body.spec(), DIM);
        let d = set.geometry().diameter;
        let alpha = set.geometry().strong_convexity;
        let cap = alpha.map(|a| f64::max(6.0, 4.0 / (a * d)));
        for name in STREAMS {
            let text = format!("ofw-free:eta-scale={scale},lambda={lambda}");
            let mut learner = learner(&text, &set);
            let mut stream = stream(name, DIM, 8);
            let (mut c, mut b, mut mu) = (vec![0.0; DIM], 0.0, 0.0);
            // ½Σλ_τ‖x_τ‖² is left out of F everywhere
            let (mut left, mut gained, mut guessed) = (0.0, 0.0, 0.0);
            for t in 1..=rounds {
                let x = learner.decide().unwrap();
                let row = stream.next(x).unwrap().unwrap().row;
                let mut g = vec![0.0; DIM];
                row.add_to(1.0, &mut g);
                // G = 1
                g = scaled(&g, 1.0 / norm(&g).max(1.0));
                let x = written(x);
                learner.observe(&Gradient::dense(&g)).unwrap();
                let step = lambda + mu;
                let before = b;
                c = plus(&plus(&c, 1.0, &g), -step, &x);
                b += step;
                let f = |x: &[f64]| dot(&c, x) + 0.5 * b * dot(x, x);
                let low = if b > 0.0 {
                    f(&body.project(&scaled(&c, -1.0 / b)))
                } else {
                    dot(&c, &body.oracle(&c))
                };
                let above = f(&x) - low;
                let slack = 1e-9 * (1.0 + norm(&c) * d + b * d * d);
                let place = || format!("{body:?}, {text}, {name}, round {t}");
                if before > 0.0 {
                    let most =
                        (f64::max(left, 0.0).sqrt() + norm(&g) / (2.0 * before).sqrt()).powi(2);
                    assert!(above <= most + slack, "{}: {above} {most}", place());
                    closest = closest.max((above - slack) / most);
                }
                let most = cap.map_or(f64::INFINITY, |c| c * d);
                let most = most.min(6.0 * d * (b * d).max(1.0).cbrt());
                assert!(above <= most + slack, "{}: {above} > {most}", place());

                guessed += 0.5 * d * d * mu;
                let gain = f(&x) - f(&written(learner.decision()));
                gained += gain;
                left = above - gain;
                mu = 2.0 * gain.max(0.0) / (scale * d * d);
                let kappa = 0.5 * scale + 6.0;
                let t = t as f64;
                let mut bound = kappa + 1.0 + 4.0 * kappa.powf(0.25) * t.powf(0.75);
                if let Some(cap) = cap {
                    let kappa = 0.5 * scale + cap;
                    bound = bound.min(kappa + 1.0 + 2.0 * (kappa * t).powf(2.0 / 3.0));
                }
                assert!(gained + left <= bound * d, "{}", place());
                let printed = learner.guarantee().unwrap().bound(t);
                assert!(printed >= guessed + gained + left - slack, "{}", place());
                let gap = f64::max(2.0 * above, d * (2.0 * b * above.max(0.0)).sqrt());
                // a bound of a run allows for 16,384 units in the last place per round
                let rounding = 16384.0 * (t + 1.0) * f64::EPSILON;
                let most = (guessed + gained - gain + gap) * (1.0 + rounding);
                assert!(
                    printed <= most + 10.0 * slack,
                    "{}: {printed} {most}",
                    place()
                );
            }
        }
    }
    println!("H_t+1 is up to {closest:.4} of what the proof allows");
    assert!(closest > 0.95, "{closest}");
}

/// proofs/coin-ftrl.md: ln(L/L₁) is part of the bound.
#[test]
fn a_tiny_first_loss_makes_the_bettors_bound_several_times_as_large() {
    let bound = |first: f64| theory::coin_betting(1.0 / 1024.0, first, 1.0, 1e4);
    for (first, expected) in [(1.0, 569.2), (1e-2, 680.0), (1e-9, 972.9), (1e-90, 2558.4)] {
        let found = bound(first);
        assert!((found / expected - 1.0).abs() < 1e-3, "{first:e}: {found}");
    }
}

/// proofs/ofw-weibel.md: with c_t = ⟨g_t, x_t⟩ + m_{t−1} − m_t and e_t = F_t(x_{t+1}) − m_t,
/// c_t ≤ GD√σ_t − (e_t − e_{t−1})/3, from round 4 on where T is unknown.
#[test]
fn in_each_round_of_ofw_weibel_the_minimum_falls_as_its_theorems_need() {
    const DIM: usize = 4;
    let rounds = rounds(1000, 30_000);
    for known in [true, false] {
        let mut closest = f64::NEG_INFINITY;
        for body in bodies() {
            // those with a projection by plain means
            if matches!(body, Body::Lp { p, .. } if p != 2.0)
                || matches!(body, Body::Ellipsoid { .. } | Body::Group { .. })
            {
                continue;
            }
            let set = set(&body.spec(), DIM);
            let d = set.geometry().diameter;
            for name in STREAMS {
                let text = if known {
                    format!("ofw-weibel:gradient-bound=1,horizon={rounds}")
                } else {
                    "ofw-weibel:gradient-bound=1".to_string()
                };
                let mut learner = learner(&text, &set);
                let mut stream = stream(name, DIM, 8);
                let start = written(learner.decision());
                let (mut s, mut low, mut left) = (vec![0.0; DIM], 0.0, 0.0);
                for t in 1..=rounds {
                    let x = learner.decide().unwrap();
                    let row = stream.next(x).unwrap().unwrap().row;
                    let mut g = vec![0.0; DIM];
                    row.add_to(1.0, &mut g);
                    g = scaled(&g, 1.0 / norm(&g).max(1.0));
                    let x = written(x);
                    learner.observe(&Gradient::dense(&g)).unwrap();
                    s = plus(&s, 1.0, &g);
                    let span = if known { rounds } else { t } as f64;
                    let omega = 2.0 / d * (span / 3.0).powf(0.75);
                    let sigma = (3.0 / span).sqrt().min(1.0);
                    let f = |x: &[f64]| {
                        let away = minus(x, &start);
                        dot(&s, x) + 0.5 * omega * dot(&away, &away)
                    };
                    let next = f(&body.project(&plus(&start, -1.0 / omega, &s)));
                    let c = dot(&g, &x) + low - next;
                    let e = f(&written(learner.decision())) - next;
                    let most = d * sigma.sqrt() - (e - left) / 3.0;
                    let slack = 1e-9 * (d * omega * d + norm(&s) * (d + norm(&x)));
                    if known || t >= 4 {
                        let place = format!("{body:?}, {text}, {name}, round {t}");
                        assert!(c <= most + slack, "{place}: {c} > {most}");
                        closest = closest.max(c / most);
                    }
                    (low, left) = (next, e);
                }
            }
        }
        println!("T known: {known}: {closest:.3} of what the proof allows");
        assert!(closest > 0.1, "{closest}");
    }
}
