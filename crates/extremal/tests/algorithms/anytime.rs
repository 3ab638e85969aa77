//! Learners that are not told T or G: each schedule against the page it is written on, with every
//! sum written out; lazy storage against dense; and what only they promise, that the scale of the
//! gradients makes no difference.

use crate::support::*;
use extremal::learner::frank_wolfe::ofw_line_search::OfwLs;
use extremal::learner::{Known, Learner, LearnerSpec, Storage, on_surrogate};
use extremal::set::SharedSet;
use extremal::{Gradient, surrogate::LazySurrogate};

const DIM: usize = 6;

/// The three learners, as the papers have them.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Paper {
    Ofw,
    Weibel,
    Search,
}

const PAPERS: [Paper; 3] = [Paper::Ofw, Paper::Weibel, Paper::Search];

impl Paper {
    fn name(self) -> &'static str {
        match self {
            Self::Ofw => "ofw",
            Self::Weibel => "ofw-weibel",
            Self::Search => "ofw-ls",
        }
    }

    /// κ: F has (κ/2)‖x − x₁‖².
    fn kappa(self) -> f64 {
        if self == Self::Weibel { 1.0 } else { 2.0 }
    }

    /// η for T and G.
    fn eta(self, d: f64, g: f64, t: f64) -> f64 {
        match self {
            Self::Ofw => d / (2.0 * g) / t.powf(0.75),
            Self::Weibel => d / (2.0 * g) * (3.0 / t).powf(0.75),
            Self::Search => d / (2.0 * g) / (t + 2.0).powf(2.0 / 3.0),
        }
    }

    /// ω_t without G.
    fn adaptive(self, d: f64, squares: f64, t: f64) -> f64 {
        let omega = 2.0 / d * squares.sqrt();
        match self {
            Self::Ofw => omega * t.powf(0.25),
            Self::Weibel => omega * t.powf(0.25) * 3f64.powf(-0.75),
            Self::Search => omega * t.powf(1.0 / 6.0),
        }
    }

    /// x_{t+1} for a ∇F of curvature β; t and T count from the last restart.
    fn step(
        self,
        body: &Body,
        x: &[f64],
        slope: &[f64],
        beta: f64,
        t: f64,
        t_max: f64,
    ) -> Vec<f64> {
        if norm(slope) == 0.0 {
            return x.to_vec();
        }
        let d = minus(&body.oracle(slope), x);
        let sigma = match self {
            Self::Ofw => (2.0 / t.sqrt()).min(1.0),
            Self::Weibel => (3.0 / t_max).sqrt().min(1.0),
            Self::Search => (-dot(slope, &d) / (beta * dot(&d, &d))).clamp(0.0, 1.0),
        };
        if dot(&d, &d) == 0.0 {
            return x.to_vec();
        }
        plus(x, sigma, &d)
    }
}

/// What is known of T and G.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    Bound,
    Nothing,
    Horizon,
}

/// x_{t+1} from x_t and the gradients so far.
type Transcription<'a> = dyn FnMut(&[f64], &[Vec<f64>]) -> Vec<f64> + 'a;

/// Plays `text`; `next` is told the decision and the gradients so far, and must come
/// to the library's next decision from there.
fn agrees(
    text: &str,
    set: &SharedSet,
    start: Option<&[f64]>,
    rounds: u64,
    gradient: &mut dyn FnMut(u64) -> Vec<f64>,
    next: &mut Transcription<'_>,
) {
    let text = start.map_or(text.to_string(), |x| with_list(text, "start", x));
    let mut learner = learner(&text, set);
    let first = written(learner.decision());
    let (mut seen, mut moved) = (Vec::new(), 0.0_f64);
    let scale = set.geometry().diameter;
    for t in 1..=rounds {
        let x = written(learner.decide().unwrap());
        let g = gradient(t);
        learner.observe(&Gradient::dense(&g)).unwrap();
        seen.push(g);
        let expected = next(&x, &seen);
        let found = written(learner.decision());
        let off = distance(&found, &expected) / scale;
        assert!(off <= 1e-10, "{text} on {}, round {t}: {off:e}", set.name());
        moved = moved.max(distance(&found, &first));
    }
    assert!(moved > 0.1 * scale, "{text} on {}: {moved}", set.name());
}

/// A drift with noise; larger and larger where `grows`.
fn gradients(seed: u64, grows: bool) -> impl FnMut(u64) -> Vec<f64> {
    let mut rng = kit::rng(seed);
    let mean = unit(&mut rng, DIM);
    move |t| {
        let size = if grows {
            (t as f64 / 40.0).exp2().min(30.0)
        } else {
            1.0
        };
        scaled(&plus(&scaled(&mean, 0.3), 0.5, &unit(&mut rng, DIM)), size)
    }
}

/// Every set, from its centre and from another point.
fn everywhere(mut test: impl FnMut(&Body, &SharedSet, Option<&[f64]>)) {
    let mut rng = kit::rng(1);
    for body in bodies() {
        let set = set(&body.spec(), DIM);
        let start = body.some_point(&mut rng, DIM);
        test(&body, &set, None);
        test(&body, &set, Some(&start));
    }
}

fn sum(all: &[Vec<f64>]) -> Vec<f64> {
    all.iter().fold(vec![0.0; DIM], |sum, g| plus(&sum, 1.0, g))
}

#[test]
fn a_growing_regulariser_weighs_as_the_page_says() {
    everywhere(|body, set, start| {
        let d = body.diameter(DIM);
        for paper in PAPERS {
            for (told, scale) in [
                (Told::Bound, 1.0),
                (Told::Bound, 12.0),
                (Told::Nothing, 12.0),
                (Told::Horizon, 5.0),
            ] {
                let keys = match told {
                    Told::Bound => "gradient-bound=0.8,",
                    Told::Nothing => "",
                    Told::Horizon => "horizon=77,",
                };
                let text = format!("{}:{keys}eta-scale={scale:?}", paper.name());
                let x1 = written(
                    learner(
                        &start.map_or(text.clone(), |x| with_list(&text, "start", x)),
                        set,
                    )
                    .decision(),
                );
                agrees(
                    &text,
                    set,
                    start,
                    200,
                    &mut gradients(2, false),
                    &mut |x, g| {
                        let t = g.len() as f64;
                        let omega = match told {
                            Told::Bound => 1.0 / paper.eta(d, 0.8, t),
                            _ => paper.adaptive(d, g.iter().map(|g| dot(g, g)).sum(), t),
                        } / scale;
                        // ∇(⟨S, x⟩ + (κω/2)‖x − x₁‖²)
                        let beta = paper.kappa() * omega;
                        let slope = plus(&sum(g), beta, &minus(x, &x1));
                        paper.step(body, x, &slope, beta, t, t)
                    },
                );
            }
        }
    });
}

/// Rounds in which the doubling rules start anew, with their span and guess.
struct Stretch {
    from: usize,
    span: f64,
    bound: f64,
    x1: Vec<f64>,
}

#[test]
fn restarts_come_when_rounds_double_or_a_gradient_outgrows_the_guess() {
    everywhere(|body, set, start| {
        let d = body.diameter(DIM);
        for paper in PAPERS {
            for (keys, horizon, bound) in [
                ("gradient-bound=24,", None, Some(24.0)),
                ("horizon=150,", Some(150.0), None),
                ("", None, None),
            ] {
                let text = format!("{}:{keys}eta-scale=9.0,doubling=true", paper.name());
                let mut stretch: Option<Stretch> = None;
                let mut restarts = 0;
                agrees(
                    &text,
                    set,
                    start,
                    150,
                    &mut gradients(3, true),
                    &mut |x, g| {
                        let (t, size) = (g.len(), norm(&g[g.len() - 1]));
                        let (mut span, mut guess) = stretch
                            .as_ref()
                            .map_or((horizon.unwrap_or(1.0), bound.unwrap_or(size)), |s| {
                                (s.span, s.bound)
                            });
                        let mut anew = t == 1;
                        if horizon.is_none() && [1, 2, 4, 8, 16, 32, 64, 128].contains(&t) {
                            (span, anew) = (t as f64, true);
                        }
                        while bound.is_none() && size > guess {
                            (guess, anew) = (2.0 * guess, true);
                        }
                        if anew {
                            restarts += 1;
                            stretch = Some(Stretch {
                                from: t - 1,
                                span,
                                bound: guess,
                                x1: x.to_vec(),
                            });
                        }
                        let s = stretch.as_ref().unwrap();
                        let eta = 9.0 * paper.eta(d, s.bound, s.span);
                        let kappa = paper.kappa();
                        let slope = plus(&scaled(&sum(&g[s.from..]), eta), kappa, &minus(x, &s.x1));
                        paper.step(body, x, &slope, kappa, (t - s.from) as f64, s.span)
                    },
                );
                assert!(restarts >= 4, "{text}: {restarts}");
            }
        }
    });
}

#[test]
fn dual_averaging_projects_the_scaled_sum() {
    everywhere(|body, set, start| {
        if matches!(body, Body::Lp { p, .. } if *p != 2.0) {
            return; // no projection by plain means
        }
        let d = body.diameter(DIM);
        let x1 = start.map_or_else(|| body.centre(DIM), <[f64]>::to_vec);
        for (text, told) in [
            (
                "dual-averaging:horizon=77,gradient-bound=0.8",
                Told::Horizon,
            ),
            ("dual-averaging:gradient-bound=0.8", Told::Bound),
            ("dual-averaging", Told::Nothing),
            ("dual-averaging:horizon=77", Told::Nothing),
        ] {
            agrees(
                text,
                set,
                start,
                100,
                &mut gradients(4, false),
                &mut |_, g| {
                    let eta = match told {
                        Told::Horizon => d / (0.8 * 77f64.sqrt()),
                        Told::Bound => d / (0.8 * (g.len() as f64).sqrt()),
                        Told::Nothing => d / g.iter().map(|g| dot(g, g)).sum::<f64>().sqrt(),
                    };
                    body.project(&plus(&x1, -eta, &sum(g)))
                },
            );
        }
    });
}

/// Each way of not knowing, for each learner.
fn unknowing() -> Vec<String> {
    let keys = [
        "eta-scale=5",
        "gradient-bound=1,eta-scale=5",
        "doubling=true,eta-scale=5",
        "gradient-bound=1,doubling=true,eta-scale=5",
        "horizon=600,doubling=true,eta-scale=5",
    ];
    let texts = PAPERS.iter().map(|paper| paper.name());
    texts
        .flat_map(|name| keys.map(|keys| format!("{name}:{keys}")))
        .collect()
}

/// Sparse rows with a mean, the same every time.
fn sparse_rows(dim: usize, rounds: usize) -> Vec<(Vec<u32>, Vec<f64>)> {
    let mut rng = kit::rng(5);
    let row = |_| {
        let first = (uniform(&mut rng) * (dim / 4) as f64) as u32;
        let indices = (0..4).map(|k| first + k * (dim / 4) as u32).collect();
        let values = normals(&mut rng, 4);
        let size = 1.1 * norm(&values) * (1.0 + uniform(&mut rng));
        (indices, values.iter().map(|v| (v + 0.4) / size).collect())
    };
    (0..rounds).map(row).collect()
}

#[test]
fn lazy_storage_decides_as_dense_storage_does_and_resumes_with_the_same_bits() {
    let dim = 40;
    let set = set("l2:radius=2", dim);
    let mut start = vec![0.0; dim];
    (start[3], start[17]) = (0.9, -1.2);
    let rows = sparse_rows(dim, 600);
    for text in unknowing() {
        for text in [text.clone(), with_list(&text, "start", &start)] {
            let build = |storage| {
                let spec: LearnerSpec = text.parse().unwrap();
                spec.build_stored(&set, storage).unwrap()
            };
            let (mut dense, mut lazy) = (build(Storage::Dense), build(Storage::Lazy));
            let mut resumed = build(Storage::Lazy);
            for (t, (indices, values)) in rows.iter().enumerate() {
                if t == 300 {
                    resumed.load(&lazy.save().unwrap()).unwrap();
                }
                let gradient = Gradient::sparse(indices, values);
                let [a, b] = [&mut dense, &mut lazy].map(|learner| {
                    let x = written(learner.decide().unwrap());
                    learner.observe(&gradient).unwrap();
                    x
                });
                let off = distance(&a, &b);
                assert!(off <= 1e-10, "{text}, round {}: {off:e}", t + 1);
                assert!(norm(&b) <= 2.0 * (1.0 + 1e-9), "{text}");
                if t >= 300 {
                    assert_eq!(written(resumed.decide().unwrap()), b, "{text}");
                    resumed.observe(&gradient).unwrap();
                }
            }
            assert_eq!(resumed.save().unwrap(), lazy.save().unwrap(), "{text}");
            let gone = distance(&written(lazy.decision()), &start);
            assert!(gone > 0.1, "{text} hardly moved: {gone}");
        }
    }
}

#[test]
fn lazy_storage_goes_through_all_entries_at_restarts_and_hardly_ever_else() {
    let (dim, rounds) = (4000, 4000);
    let set = set("l2", dim);
    let mut start = vec![0.0; dim];
    start[7] = 0.5;
    let rows = sparse_rows(dim, rounds);
    for doubling in [true, false] {
        for start in [None, Some(&start[..])] {
            let known = Known {
                eta_scale: 5.0,
                doubling,
                ..Known::default()
            };
            let rule = OfwLs(known).rule(&set.geometry()).unwrap();
            let pair = LazySurrogate::new(set.clone(), start).unwrap();
            let mut player = on_surrogate("ofw-ls", rule, pair, set.geometry());
            for (indices, values) in &rows {
                player.decide().unwrap();
                player.observe(&Gradient::sparse(indices, values)).unwrap();
            }
            let passes = player.body().surrogate().passes();
            println!(
                "doubling {doubling}, {start:.0?}: {passes:?}",
                start = start.map(norm)
            );
            // 12 restarts for T, a few for G; inner products anew once in 4d non-zeros
            assert!(passes.total() <= 60, "{doubling}: {passes:?}");
            assert!(!doubling || passes.written >= 12, "{passes:?}");
        }
    }
}

#[test]
fn the_scale_of_the_gradients_makes_no_difference_where_g_is_not_told() {
    let specs = [
        "ofw",
        "ofw-weibel",
        "ofw-ls",
        "ofw:doubling=true",
        "ofw-weibel:doubling=true",
        "ofw-ls:horizon=300,doubling=true",
        "dual-averaging",
        "ogd",
    ];
    for body in bodies() {
        // far from p = 2, and on a flat net, atoms multiply what rounding changed, and runs forget
        // their digits
        let far = matches!(body, Body::Lp { p, .. } if (p - 1.75).abs() > 0.5);
        if far || matches!(body, Body::ElasticNet { .. }) {
            continue;
        }
        let slow = matches!(body, Body::Lp { p, .. } if p != 2.0);
        let set = set(&body.spec(), DIM);
        let d = body.diameter(DIM);
        for text in specs {
            if slow && ["dual-averaging", "ogd"].contains(&text) {
                continue;
            }
            let play = |size: f64| {
                let mut learner = learner(text, &set);
                let mut gradients = gradients(6, true);
                let mut all = Vec::new();
                for t in 1..=200 {
                    all.push(written(learner.decide().unwrap()));
                    let g = scaled(&gradients(t), size);
                    learner.observe(&Gradient::dense(&g)).unwrap();
                }
                all
            };
            let plain = play(1.0);
            let moved = distance(&plain[199], &plain[0]);
            assert!(moved > 1e-3 * d, "{text} on {}: {moved}", set.name());
            for size in [1e-95, 1e95] {
                for (t, (a, b)) in plain.iter().zip(play(size)).enumerate() {
                    let off = distance(a, &b) / d;
                    assert!(
                        off <= 1e-9,
                        "{text} on {}, gradients times {size:e}, round {}: {off:e}",
                        set.name(),
                        t + 1
                    );
                }
            }
        }
    }
}

#[test]
fn doubling_without_anything_to_find_is_refused() {
    let ball = set("l2", 3);
    for paper in PAPERS {
        let text = format!("{}:horizon=10,gradient-bound=1,doubling=true", paper.name());
        let error = text.parse::<LearnerSpec>().unwrap().build(&ball);
        let message = error.err().unwrap().to_string();
        assert!(message.contains("doubling"), "{message}");
        // and nothing is proven without T and G
        assert_eq!(learner(paper.name(), &ball).guarantee(), None);
    }
}

#[test]
fn nothing_moves_before_the_first_gradient() {
    let ball = set("l2", 3);
    for text in [
        "ofw",
        "ofw-ls",
        "ofw-weibel",
        "ofw-ls:doubling=true",
        "dual-averaging",
    ] {
        let mut learner = learner(text, &ball);
        for _ in 0..5 {
            assert_eq!(written(learner.decide().unwrap()), [0.0; 3], "{text}");
            learner.observe(&Gradient::dense(&[0.0; 3])).unwrap();
        }
        learner.decide().unwrap();
        learner
            .observe(&Gradient::dense(&[1e-30, 0.0, 0.0]))
            .unwrap();
        assert!(written(learner.decision())[0] < 0.0, "{text}");
    }
}
