//! The demo: the paper's algorithms and their rivals on strongly convex and general sets.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::output::Output;
use crate::problem::{BASELINE, DEFAULT, Problem, doubling};
use crate::report::{self, Provenance, Trace};
use crate::run::{self, Clock, Plan};
use crate::summary::{Summary, summarise};
use crate::{csv, table};

/// Seeds per cell.
const SEEDS: u64 = 5;

/// The built-in problems.
pub fn problems() -> Vec<Problem> {
    let convex = vec!["ofw", "ofw-weibel", "ofw-ls", "gauge-ftrl", BASELINE];
    // The other rows of the paper's Table 1: fast projections where the set is smooth, sampled
    // leaders where the losses are, local oracles on polytopes.
    let smooth = vec![
        "ofw",
        "ofw-weibel",
        "ofw-ls",
        "gauge-ftrl",
        "ospf",
        "fast-ogd",
        BASELINE,
    ];
    let polytope = vec!["ofw", "ofw-weibel", "ofw-ls", "ospf", "lloo", BASELINE];
    vec![
        Problem {
            key: "l2-drift",
            title: "ℓ2 ball, linear losses with a drift",
            about: "A strongly convex set. The gradients have a fixed mean under noise, so that one decision stands out and the question is how fast a learner gets there.",
            set: "l2:radius=1,dim=10",
            set_label: "l2",
            loss: "linear",
            ridge: 0.0,
            stream: "drift",
            learners: smooth,
            told: true,
            horizons: doubling(1_000, 9),
        },
        Problem {
            key: "lp-drift",
            title: "ℓ1.5 ball, linear losses with a drift",
            about: "The same losses over a strongly convex set of smaller curvature.",
            set: "lp:p=1.5,radius=1,dim=20",
            set_label: "lp p=1.5",
            loss: "linear",
            ridge: 0.0,
            stream: "drift",
            learners: convex.clone(),
            told: true,
            horizons: doubling(1_000, 6),
        },
        Problem {
            key: "l2-adversary",
            title: "ℓ2 ball, adaptive adversary",
            about: "The gradient is x/‖x‖, chosen after the decision x was seen: every step away from the centre is punished.",
            set: "l2:radius=1,dim=10",
            set_label: "l2",
            loss: "linear",
            ridge: 0.0,
            stream: "adversary:kind=along",
            learners: convex.clone(),
            told: true,
            horizons: doubling(1_000, 7),
        },
        Problem {
            key: "simplex-drift",
            title: "simplex, linear losses with a drift",
            about: "A general set: a polytope. It has no curvature for ofw-ls and gauge-ftrl to use.",
            set: "simplex:dim=20",
            set_label: "simplex",
            loss: "linear",
            ridge: 0.0,
            stream: "drift",
            learners: polytope,
            told: true,
            horizons: doubling(1_000, 6),
        },
        Problem {
            key: "l2-ridge",
            title: "ℓ2 ball, ridge regression",
            about: "Strongly convex losses over a strongly convex set: squared loss with a ridge term, the setting of Theorem 2.",
            set: "l2:radius=1,dim=10",
            set_label: "l2",
            loss: "squared",
            ridge: 0.1,
            stream: "regression:norm=2",
            learners: vec![
                "sc-ofw",
                "ofw",
                "ofw-weibel",
                "ofw-ls",
                "gauge-ftrl",
                "fast-ogd",
                BASELINE,
            ],
            told: true,
            horizons: doubling(1_000, 6),
        },
        Problem {
            key: "simplex-ridge",
            title: "simplex, ridge regression",
            about: "Strongly convex losses over a general set, the setting of Theorem 3.",
            set: "simplex:dim=20",
            set_label: "simplex",
            loss: "squared",
            ridge: 0.1,
            stream: "regression:norm=1",
            learners: vec!["sc-ofw", "ofw", "ofw-weibel", "ofw-ls", "lloo", BASELINE],
            told: true,
            horizons: doubling(1_000, 6),
        },
        Problem {
            key: "l2-logistic",
            title: "ℓ2 ball, logistic regression, neither T nor G known",
            about: "Nobody is told how long it lasts or how large the gradients get. The default is the learner that the library takes when only the set and the loss are known.",
            set: "l2:radius=6,dim=10",
            set_label: "l2",
            loss: "logistic",
            ridge: 0.0,
            stream: "classification:norm=6",
            learners: vec![DEFAULT, "gauge-ftrl", "ofw-free", "ofw-ls", BASELINE],
            told: false,
            horizons: doubling(1_000, 6),
        },
    ]
}

/// The demo's plan. Different seeds share no stream. `longest` leaves out longer horizons.
pub fn plan(seed: u64, longest: Option<u64>) -> Result<Plan> {
    let mut problems = problems();
    if let Some(longest) = longest {
        for problem in &mut problems {
            problem.horizons.retain(|t| *t <= longest);
            if problem.horizons.is_empty() {
                return Err(Error::Unsupported(format!(
                    "no run of {} is as short as {longest} rounds; give 1000 or more",
                    problem.key
                )));
            }
        }
    }
    let first = seed.wrapping_mul(SEEDS);
    Ok(Plan {
        problems,
        seeds: (0..SEEDS).map(|k| first.wrapping_add(k)).collect(),
    })
}

/// What the demo is asked to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// Chooses the streams.
    pub seed: u64,
    /// Leaves out longer horizons.
    pub longest: Option<u64>,
    /// Threads.
    pub threads: usize,
    /// The program's version, for the report.
    pub version: String,
}

/// The demo, played.
#[derive(Debug)]
pub struct Played {
    plan: Plan,
    runs: Vec<run::Run>,
    trace: Trace,
    made: Provenance,
    /// What came out.
    pub summary: Summary,
}

/// Plays the demo. `done` hears of the rounds played as runs end.
pub fn play(
    plan: Plan,
    options: &Options,
    clock: Clock<'_>,
    done: &(dyn Fn(u64) + Sync),
) -> Result<Played> {
    let start = clock();
    let runs = run::run(&plan, options.threads, clock, done)?;
    let trace = follow(&plan)?;
    let mut command = format!("extremal demo --seed {}", options.seed);
    if let Some(longest) = options.longest {
        command.push_str(&format!(" --max-rounds {longest}"));
    }
    Ok(Played {
        summary: summarise(&plan, &runs),
        made: Provenance {
            version: options.version.clone(),
            seed: options.seed,
            threads: options.threads,
            seconds: clock() - start,
            command,
        },
        plan,
        runs,
        trace,
    })
}

/// sc-ofw on the first problem with strongly convex losses, at rounds evenly spaced in log t.
fn follow(plan: &Plan) -> Result<Trace> {
    const LEARNER: &str = "sc-ofw";
    const PER_OCTAVE: i32 = 4;
    let Some(problem) = plan.problems.iter().position(|p| p.ridge > 0.0) else {
        return Err(Error::Unsupported("no problem to follow sc-ofw on".into()));
    };
    let horizon = plan.problems[problem].horizon();
    let spaced = (4 * PER_OCTAVE..).map(|k| 2f64.powf(f64::from(k) / f64::from(PER_OCTAVE)) as u64);
    let mut rounds: Vec<u64> = spaced.take_while(|t| *t < horizon).collect();
    rounds.push(horizon);
    let points = run::trace(&plan.problems[problem], LEARNER, plan.seeds[0], &rounds)?;
    Ok(Trace {
        problem,
        learner: LEARNER,
        points,
    })
}

impl Played {
    /// The table for a terminal or a file.
    pub fn table(&self, paint: table::Paint) -> String {
        table::render(&self.plan, &self.summary, paint)
    }

    /// Writes the report, the figures and the CSV; the report's path.
    pub fn write(&self, output: &Output) -> Result<PathBuf> {
        output.write("results.csv", &csv::render(&self.plan, &self.runs))?;
        for figure in report::figures(&self.plan, &self.summary, &self.trace) {
            output.write(&format!("figures/{}", figure.name), &figure.content)?;
        }
        let page = report::render(&self.plan, &self.summary, &self.trace, &self.made);
        output.write("report.html", &page)
    }

    /// Seconds that all runs took.
    pub fn seconds(&self) -> f64 {
        self.made.seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Paint;

    fn played() -> Played {
        let options = Options {
            seed: 1,
            longest: Some(2_000),
            threads: 2,
            version: "<0>".into(),
        };
        let plan = plan(options.seed, options.longest).unwrap();
        play(plan, &options, &|| 0.0, &|_| {}).unwrap()
    }

    #[test]
    fn the_report_stands_alone_and_holds_every_row_of_the_table() {
        let Played {
            plan,
            summary,
            trace,
            made,
            ..
        } = played();
        let page = report::render(&plan, &summary, &trace, &made);
        for outside in ["src=", "href=", "url(", "@import", "<script"] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert_eq!(page.matches("<svg").count(), plan.problems.len() + 1);
        assert!(
            page.contains("Extremal &lt;0&gt;"),
            "the version is escaped"
        );
        assert!(!page.contains("NaN"));
        for (problem, rows) in plan.problems.iter().zip(&summary.rows) {
            for row in rows {
                for cell in table::cells(problem, row) {
                    assert!(page.contains(&cell), "{cell}");
                }
            }
        }
    }

    #[test]
    fn the_table_fits_a_terminal() {
        for line in played().table(Paint::Plain).lines() {
            assert!(line.chars().count() <= 110, "{line}");
        }
    }

    #[test]
    fn seeds_share_no_stream() {
        let seeds = |seed| plan(seed, None).unwrap().seeds;
        assert!(seeds(0).iter().all(|s| !seeds(1).contains(s)));
        assert!(plan(0, Some(999)).is_err());
    }
}
