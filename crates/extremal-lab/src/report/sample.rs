//! Made-up results for the tests of the page.

use std::f64::consts::PI;

use indexmap::IndexMap;

use crate::experiment::{Experiment, LearnerConfig, ProblemConfig, Source};
use crate::results::{
    CheckRow, ComparatorRow, Input, Picture, Results, RunInfo, Status, Step, SummaryRow, TimingRow,
    TraceRow, Verdict,
};

/// Of ofw; projecting takes longer.
pub(super) const SECONDS_PER_ROUND: f64 = 2.5e-7;

const HORIZONS: [u64; 6] = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000];
const SEEDS: [u64; 3] = [0, 1, 2];
/// Name, spec, exponent, factor, the theorem's exponent and the bound's factor.
const LEARNERS: [(&str, &str, f64, f64, f64, f64); 4] = [
    ("ofw", "ofw", 0.74, 0.5, 0.75, 30.0),
    ("ofw-ls", "ofw-ls", 0.66, 0.6, 2.0 / 3.0, 12.0),
    ("gauge-ftrl", "gauge-ftrl", 0.5, 0.9, 0.5, 3.0),
    ("ogd", "ogd", 0.5, 0.4, 0.5, 2.5),
];

/// Learners by name and spec, with one factor each.
pub(super) fn learners(all: &[(&str, &str)]) -> IndexMap<String, LearnerConfig> {
    let one = |(name, spec): &(&str, &str)| {
        let config = LearnerConfig {
            spec: Some(spec.parse().unwrap()),
            tune: None,
            scales: vec![1.0],
        };
        (name.to_string(), config)
    };
    all.iter().map(one).collect()
}

fn experiment() -> Experiment {
    let problem = |title: &str, about: &str, set: &str, told| ProblemConfig {
        title: title.into(),
        about: about.into(),
        set: set.parse().unwrap(),
        loss: "linear".parse().unwrap(),
        l2: 0.0,
        stream: Source::Synthetic("drift".parse().unwrap()),
        horizons: HORIZONS.to_vec(),
        seeds: SEEDS.to_vec(),
        told,
        learners: LEARNERS.iter().map(|l| l.0.to_string()).collect(),
    };
    let names: Vec<_> = LEARNERS.iter().map(|l| (l.0, l.1)).collect();
    let mut learners = learners(&names);
    learners["ofw"].scales = vec![0.25, 0.5, 1.0, 2.0, 4.0];
    learners["ofw-ls"].scales = vec![0.25, 0.5, 1.0, 2.0, 4.0];
    Experiment {
        title: "A sample <of> everything".into(),
        about: "Rows made up by a formula. They show every part of the page, and nothing about any learner.".into(),
        timing: true,
        pictures: true,
        lines: Default::default(),
        problems: IndexMap::from([
            ("drift".into(), problem("ℓ2 ball, linear losses with a drift", "A strongly convex set. The gradients have a fixed mean under noise, so that one decision stands out.", "l2:radius=1,dim=10", true)),
            ("simplex".into(), problem("simplex, linear losses & a drift", "A general set: a polytope without curvature.", "simplex:dim=20", false)),
        ]),
        learners,
    }
}

/// Two problems, four learners, six horizons, three seeds; two of the learners over a grid.
pub(super) fn results() -> Results {
    let experiment = experiment();
    let (mut trace, mut summary, mut checks, mut timing, mut pictures) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut comparators = Vec::new();
    for (p, problem) in experiment.problems.keys().enumerate() {
        for (l, learner) in LEARNERS.iter().enumerate() {
            for &scale in &experiment.learners[learner.0].scales {
                for (h, &horizon) in HORIZONS.iter().enumerate() {
                    summary.push(summary_row(problem, p, learner, scale, h));
                    if h + 1 == HORIZONS.len() {
                        rows(problem, learner, scale, horizon, &mut trace, &mut timing);
                        comparators.extend((0..12).map(|k| ComparatorRow {
                            problem: problem.clone(),
                            learner: learner.0.into(),
                            scale,
                            horizon,
                            seed: SEEDS[0],
                            radius: f64::from(k),
                            regret_upper: f64::from(k - 1) * learner.3 * 100.0,
                            share_of_loss: f64::from(k - 1) * learner.3 / 5.0,
                        }));
                        checks.push(CheckRow {
                            problem: problem.clone(),
                            learner: learner.0.into(),
                            scale,
                            horizon,
                            holds: (p, l) != (1, 2),
                            detail: "‖g‖ ≤ G: 1.73 ≤ 2".into(),
                        });
                    }
                }
            }
            pictures.push(picture(problem, p, learner.0, l));
        }
    }
    let cells = (summary.len() * SEEDS.len()) as u64;
    Results {
        experiment,
        run: RunInfo {
            version: "<0.1>".into(),
            command: "extremal compare sample.toml".into(),
            status: Status::Complete,
            cells,
            rounds: cells * 10_000,
            seeds: vec![0, 1, 2],
            inputs: vec![Input {
                name: "wine".into(),
                sha256: "ab".repeat(32),
            }],
            platform: "linux x86_64".into(),
            features: "avx2 avx512".into(),
            cores: 2,
            threads: 2,
            seconds: 12.5,
        },
        trace,
        summary,
        checks,
        comparators,
        timing,
        pictures,
    }
}

fn regret(learner: &(&str, &str, f64, f64, f64, f64), scale: f64, t: f64) -> f64 {
    learner.3 * t.powf(learner.2) * (1.0 + 0.4 * (scale * 0.5).ln().powi(2))
}

fn summary_row(
    problem: &str,
    p: usize,
    learner: &(&str, &str, f64, f64, f64, f64),
    scale: f64,
    h: usize,
) -> SummaryRow {
    let horizon = HORIZONS[h];
    let t = horizon as f64;
    let mean = regret(learner, scale, t);
    let bound = learner.5 * t.powf(learner.4) * 2.0;
    let last = h + 1 == HORIZONS.len();
    let verdict = match (p, bound > 2.0 * t) {
        (1, _) if learner.0 == "gauge-ftrl" => Verdict::NotMet,
        (1, _) if learner.0 == "ofw-ls" => Verdict::NoneProven,
        (_, true) => Verdict::Vacuous,
        (_, false) => Verdict::Kept,
    };
    let above = p == 1 && learner.0 == "ofw";
    let exponent = learner.2 + if above { 0.1 } else { 0.0 };
    SummaryRow {
        problem: problem.into(),
        learner: learner.0.into(),
        scale,
        horizon,
        seeds: SEEDS.len() as u64,
        regret: mean,
        regret_error: Some(0.03 * mean),
        regret_least: 0.85 * mean,
        regret_most: 1.15 * mean,
        regret_upper: mean + if p == 1 { 0.01 } else { 0.0 },
        level: if p == 1 { "interval" } else { "exact" }.into(),
        exponent: last.then_some(exponent),
        exponent_low: last.then_some(exponent - 0.02),
        exponent_high: last.then_some(exponent + 0.02),
        exponent_note: if above {
            "no contradiction, as with a drift it reflects the step size".into()
        } else {
            String::new()
        },
        theorem: if verdict == Verdict::NoneProven {
            String::new()
        } else {
            format!("Theorem of {}", learner.0)
        },
        theorem_exponent: (verdict != Verdict::NoneProven).then_some(learner.4),
        bound: (verdict != Verdict::NoneProven).then_some(bound),
        verdict,
        vacuous: if verdict == Verdict::Vacuous {
            "bound".into()
        } else {
            String::new()
        },
        violation: Some(2.2e-16),
        oracle_calls: if learner.0 == "ogd" { 0 } else { horizon },
    }
}

fn rows(
    problem: &str,
    learner: &(&str, &str, f64, f64, f64, f64),
    scale: f64,
    horizon: u64,
    trace: &mut Vec<TraceRow>,
    timing: &mut Vec<TimingRow>,
) {
    for seed in SEEDS {
        let mut round = 16;
        loop {
            let t = round.min(horizon) as f64;
            let value = regret(learner, scale, t) * (0.9 + 0.1 * seed as f64);
            let follows = learner.0.starts_with("ofw");
            trace.push(TraceRow {
                problem: problem.into(),
                learner: learner.0.into(),
                scale,
                horizon,
                seed,
                round: round.min(horizon),
                loss: -t,
                largest_gradient: 1.0,
                regret_lower: value,
                regret_upper: value,
                level: "exact".into(),
                bound: Some(2.0 * learner.5 * t.powf(learner.4)),
                certificate: (learner.0 == "gauge-ftrl").then_some(1.4 * value),
                trivial: 2.0 * t,
                vacuous: if 2.0 * learner.5 * t.powf(learner.4) < 2.0 * t {
                    String::new()
                } else {
                    "bound".into()
                },
                surrogate: follows.then(|| 3.0 * t.powf(-learner.2)),
                surrogate_bound: follows.then(|| 8.0 * t.powf(-0.6)),
                oracle_calls: if learner.0 == "ogd" {
                    0
                } else {
                    round.min(horizon)
                },
                halving_radius: None,
            });
            timing.push(TimingRow {
                problem: problem.into(),
                learner: learner.0.into(),
                scale,
                horizon,
                seed,
                round: round.min(horizon),
                seconds: t * SECONDS_PER_ROUND * if learner.0 == "ogd" { 30.0 } else { 1.0 },
            });
            if round >= horizon {
                break;
            }
            round = round * 3 / 2;
        }
    }
}

/// Follows a drift over a disc, or over a triangle, by steps toward what the oracle returns.
fn picture(problem: &str, p: usize, learner: &str, l: usize) -> Picture {
    let corner = |k: usize, n: usize| {
        let angle = 2.0 * PI * k as f64 / n as f64 + PI / 2.0;
        [angle.cos(), angle.sin()]
    };
    let sides = if p == 0 { 120 } else { 3 };
    let outline: Vec<[f64; 2]> = (0..sides).map(|k| corner(k, sides)).collect();
    let (mut x, mut sum, mut total, mut steps) = ([0.0, 0.0], [0.0, 0.0], 0.0, Vec::new());
    for t in 0..40 {
        let turn = 0.9 * (1.7 * t as f64).sin() + 1.1 * (0.31 * (t * t) as f64).cos();
        let gradient = [0.7 + turn, 0.5 - 0.8 * turn];
        sum = [sum[0] + gradient[0], sum[1] + gradient[1]];
        let size = |v: &[f64; 2]| v[0] * sum[0] + v[1] * sum[1];
        let best = *outline
            .iter()
            .min_by(|a, b| size(a).total_cmp(&size(b)))
            .unwrap();
        total += gradient[0] * x[0] + gradient[1] * x[1];
        steps.push(Step {
            x,
            gradient,
            atoms: if learner == "ogd" {
                Vec::new()
            } else {
                vec![best]
            },
            regret: total - size(&best),
        });
        let sigma = 0.5 / (1.0 + t as f64).powf(0.3 + 0.1 * l as f64);
        x = [0, 1].map(|i| x[i] + sigma * (best[i] - x[i]));
    }
    let size = |v: &[f64; 2]| v[0] * sum[0] + v[1] * sum[1];
    let best = *outline
        .iter()
        .min_by(|a, b| size(a).total_cmp(&size(b)))
        .unwrap();
    Picture {
        problem: problem.into(),
        learner: learner.into(),
        set: if p == 0 {
            "l2:radius=1,dim=2".into()
        } else {
            "simplex:dim=3, seen along (1, 1, 1)".into()
        },
        outline,
        best,
        steps,
    }
}
