//! Every registered learner on the same streams: regret, oracle calls and speed, untuned and with
//! a step size chosen from the same grid. Prints the tables of `docs/src/rivals.md`.

use std::time::Instant;

use extremal::game::Game;
use extremal::hindsight::{self, Options, Sum};
use extremal::learner::{Learner, LearnerSpec, Storage, default_for};
use extremal::loss::{LossSpec, Objective};
use extremal::set::{SetSpec, SharedSet};
use extremal::stream::{Round, Stream, StreamSpec};
use extremal::{Point, Row};

use crate::Failure;

/// Factors on the theoretical step size, the same for everyone.
const GRID: [f64; 11] = [
    0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0,
];

/// Offsets b of the step c/(λ(t+b)), for a learner that has such a key.
const OFFSETS: [f64; 7] = [0.0, 1.0, 4.0, 16.0, 64.0, 256.0, 1024.0];

/// The theoretical step size: its factor and its offset.
const THEORY: (f64, f64) = (1.0, 0.0);

/// What the library takes when only the set and the loss are known.
const DEFAULT: &str = "default";

/// Streams played; the first is there to choose the factor on, and does not count.
const STREAMS: usize = 4;

/// Where regret is looked at, up to the whole stream.
const LOOKS: usize = 33;

struct Problem {
    about: &'static str,
    set: &'static str,
    stream: &'static str,
    loss: &'static str,
    ridge: f64,
}

/// No stream is made for a learner here: labels follow a planted rule with noise, or gradients
/// have heavy tails, or the rule changes on the way.
const PROBLEMS: [Problem; 6] = [
    Problem {
        about: "strongly convex set, logistic loss",
        set: "lp:p=1.5,radius=3",
        stream: "classification",
        loss: "logistic",
        ridge: 0.0,
    },
    Problem {
        about: "strongly convex set, squared loss with a ridge term",
        set: "l2:radius=2",
        stream: "regression",
        loss: "squared",
        ridge: 0.1,
    },
    Problem {
        about: "smooth set, linear losses with heavy tails",
        set: "lp:p=4",
        stream: "heavy-tailed",
        loss: "linear",
        ridge: 0.0,
    },
    Problem {
        about: "polytope, squared loss",
        set: "simplex",
        stream: "regression",
        loss: "squared",
        ridge: 0.0,
    },
    Problem {
        about: "polytope, linear losses whose mean switches",
        set: "capped-simplex:total=5",
        stream: "switching",
        loss: "linear",
        ridge: 0.0,
    },
    Problem {
        about: "polytope, logistic loss",
        set: "l1:radius=3",
        stream: "classification",
        loss: "logistic",
        ridge: 0.0,
    },
];

/// A stream that was drawn once.
struct Recorded {
    rows: Vec<f64>,
    labels: Vec<f64>,
    /// The lowest total loss of a fixed decision at every look.
    best: Vec<f64>,
}

struct Replay<'a> {
    recorded: &'a Recorded,
    next: usize,
}

impl Stream for Replay<'_> {
    fn next(&mut self, decision: &dyn Point) -> extremal::Result<Option<Round<'_>>> {
        let dim = decision.dim();
        let Some(&label) = self.recorded.labels.get(self.next) else {
            return Ok(None);
        };
        let row = Row::Dense(&self.recorded.rows[self.next * dim..(self.next + 1) * dim]);
        self.next += 1;
        Ok(Some(Round {
            row,
            label,
            weight: 1.0,
        }))
    }

    fn row_bound(&self) -> f64 {
        f64::INFINITY
    }
}

/// Where a run stood at a look.
#[derive(Clone, Copy, Default)]
struct Stand {
    rounds: f64,
    regret: f64,
    calls: f64,
    seconds: f64,
}

struct Field {
    set: SharedSet,
    objective: Objective,
    looks: Vec<usize>,
    streams: Vec<Recorded>,
    gradient: f64,
}

impl Field {
    fn new(problem: &Problem, dim: usize, rounds: usize) -> Result<Self, Failure> {
        let set = problem.set.parse::<SetSpec>()?.build(Some(dim))?;
        let objective = Objective::new(problem.loss.parse::<LossSpec>()?.build()?, problem.ridge)?;
        let looks: Vec<usize> = (1..=LOOKS).map(|k| rounds * k / LOOKS).collect();
        let spec: StreamSpec = problem.stream.parse()?;
        let mut streams = Vec::new();
        let (mut longest, mut label): (f64, f64) = (0.0, 0.0);
        for seed in 0..STREAMS {
            let recorded = record(&spec, seed as u64, rounds, &set, &objective, &looks)?;
            for row in recorded.rows.chunks_exact(dim) {
                longest = longest.max(extremal::kernel::norm(row));
            }
            label = recorded.labels.iter().fold(label, |a, b| a.max(b.abs()));
            streams.push(recorded);
        }
        let gradient = objective.gradient_bound(longest, label, set.geometry().norm_bound);
        Ok(Self {
            set,
            objective,
            looks,
            streams,
            gradient,
        })
    }

    /// A learner's spec with all that it may be told, its step size times `factor` and `offset`
    /// added to t; `None` where it has no such factor or no such offset.
    fn spec(&self, name: &str, (factor, offset): (f64, f64)) -> Option<String> {
        if name == DEFAULT {
            let default = default_for(&*self.set, &self.objective, Storage::Dense);
            return ((factor, offset) == THEORY).then(|| default.to_string());
        }
        let entry = LearnerSpec::ENTRIES.iter().find(|e| e.name == name)?;
        let rounds = self.looks[self.looks.len() - 1];
        let ridge = self.objective.ridge();
        let smooth = self.objective.smoothness(self.longest_row());
        let mut keys = Vec::new();
        for parameter in entry.parameters {
            match parameter.name {
                "horizon" => keys.push(format!("horizon={rounds}")),
                "gradient-bound" => keys.push(format!("gradient-bound={:?}", self.gradient)),
                "lambda" if ridge > 0.0 => keys.push(format!("lambda={ridge:?}")),
                "smoothness" if smooth.is_finite() && smooth > 0.0 => {
                    keys.push(format!("smoothness={smooth:?}"));
                }
                "exp-concavity" => {
                    keys.extend(self.exp_concavity().map(|a| format!("exp-concavity={a:?}")));
                }
                "offset" if offset != 0.0 && ridge > 0.0 => keys.push(format!("offset={offset:?}")),
                "eta-scale" if factor != 1.0 => keys.push(format!("eta-scale={factor:?}")),
                _ => {}
            }
        }
        let has = |key: &str| entry.parameters.iter().any(|p| p.name == key);
        let tunable =
            (factor == 1.0 || has("eta-scale")) && (offset == 0.0 || has("offset") && ridge > 0.0);
        tunable.then(|| format!("{name}:{}", keys.join(",")))
    }

    /// α of the losses over the set: the least f''/f'² of the prediction.
    fn exp_concavity(&self) -> Option<f64> {
        let reach = self.longest_row() * self.set.geometry().norm_bound;
        let labels = self.streams.iter().flat_map(|s| &s.labels);
        let label = labels.fold(0.0_f64, |a, b| a.max(b.abs()));
        match self.objective.loss().name() {
            "squared" => Some(self.objective.loss().slope_bound(reach, label).powi(-2)),
            "logistic" => Some((-reach).exp()),
            _ => None,
        }
    }

    fn longest_row(&self) -> f64 {
        let dim = self.set.dim();
        let rows = self.streams.iter().flat_map(|s| s.rows.chunks_exact(dim));
        rows.map(extremal::kernel::norm).fold(0.0, f64::max)
    }

    fn build(&self, spec: &str) -> extremal::Result<Box<dyn Learner>> {
        spec.parse::<LearnerSpec>()?.build(&self.set)
    }

    /// One run, looked at on the way.
    fn play(&self, spec: &str, stream: usize) -> extremal::Result<Vec<Stand>> {
        let recorded = &self.streams[stream];
        let mut learner = self.build(spec)?;
        let mut replay = Replay { recorded, next: 0 };
        let (mut stands, mut total, mut seconds) = (Vec::new(), 0.0, 0.0);
        let mut before = 0;
        for (look, best) in self.looks.iter().zip(&recorded.best) {
            let start = Instant::now();
            let summary = Game::default().play(
                &mut *learner,
                &mut replay,
                &self.objective,
                (look - before) as u64,
            )?;
            seconds += start.elapsed().as_secs_f64();
            total += summary.total_loss;
            before = *look;
            stands.push(Stand {
                rounds: *look as f64,
                regret: total - best,
                calls: learner.seen().oracle_calls as f64,
                seconds,
            });
        }
        Ok(stands)
    }

    /// The streams that count, as one: the mean at every look.
    fn mean(&self, spec: &str) -> extremal::Result<Vec<Stand>> {
        let runs = (1..STREAMS)
            .map(|stream| self.play(spec, stream))
            .collect::<extremal::Result<Vec<_>>>()?;
        let mean = |look: usize| {
            let of = |part: fn(&Stand) -> f64| {
                runs.iter().map(|run| part(&run[look])).sum::<f64>() / runs.len() as f64
            };
            Stand {
                rounds: of(|s| s.rounds),
                regret: of(|s| s.regret),
                calls: of(|s| s.calls),
                seconds: of(|s| s.seconds),
            }
        };
        Ok((0..self.looks.len()).map(mean).collect())
    }

    /// The factor and the offset with the lowest regret on the stream for choosing.
    fn tuned(&self, name: &str) -> Option<(f64, f64)> {
        let regret = |step: (f64, f64)| {
            let spec = self.spec(name, step)?;
            let last = *self.play(&spec, 0).ok()?.last()?;
            Some((step, last.regret)).filter(|(_, regret)| regret.is_finite())
        };
        // a factor other than 1 tells whether there is one to choose
        self.spec(name, (GRID[0], 0.0))?;
        OFFSETS
            .into_iter()
            .flat_map(|offset| GRID.map(|factor| (factor, offset)))
            .filter_map(regret)
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|best| best.0)
    }
}

fn record(
    spec: &StreamSpec,
    seed: u64,
    rounds: usize,
    set: &SharedSet,
    objective: &Objective,
    looks: &[usize],
) -> Result<Recorded, Failure> {
    let dim = set.dim();
    let mut stream = spec.build(dim, seed)?;
    let start = extremal::surrogate::DenseSurrogate::new(set.clone(), None)?;
    let mut sum = Sum::new(dim, objective)?;
    let mut recorded = Recorded {
        rows: Vec::with_capacity(rounds * dim),
        labels: Vec::with_capacity(rounds),
        best: Vec::new(),
    };
    let mut options = Options {
        relative_gap: 1e-5,
        absolute_gap: 1e-3,
        ..Options::default()
    };
    for t in 1..=rounds {
        let round = stream.next(&start)?.ok_or("the stream ends too early")?;
        let mut row = vec![0.0; dim];
        round.row.add_to(1.0, &mut row);
        sum.push(Row::Dense(&row), round.label, round.weight)?;
        recorded.rows.extend(&row);
        recorded.labels.push(round.label);
        if looks.contains(&t) {
            let best = hindsight::solve(&sum, &**set, &options)?;
            recorded.best.push(best.value);
            options.start = Some(best.x);
        }
    }
    Ok(recorded)
}

/// The last look within a budget.
fn within(stands: &[Stand], fits: impl Fn(&Stand) -> bool) -> Option<&Stand> {
    stands.iter().take_while(|stand| fits(stand)).last()
}

pub fn report(dim: usize, rounds: usize) -> Result<(), Failure> {
    for problem in &PROBLEMS {
        let field = Field::new(problem, dim, rounds)?;
        println!("### {}\n", problem.about);
        println!(
            "`{}` in dimension {dim}, stream `{}`, loss `{}`{}, {rounds} rounds.\n",
            problem.set,
            problem.stream,
            problem.loss,
            if problem.ridge > 0.0 {
                format!(" + ({}/2)‖x‖²", problem.ridge)
            } else {
                String::new()
            }
        );
        // A quarter of the stream's rounds in oracle calls, and in the time that ofw-ls takes.
        let calls = rounds as f64 / 4.0;
        let plain = field.spec("ofw-ls", THEORY).ok_or("no ofw-ls")?;
        let seconds = within(&field.mean(&plain)?, |s| s.rounds <= calls)
            .map_or(f64::INFINITY, |s| s.seconds);
        println!(
            "| learner | calls/round | rounds/s | regret | factor | regret, tuned | regret/t after {calls} calls, tuned | regret/t after {:.1} ms, tuned |",
            1e3 * seconds
        );
        println!("|---|---|---|---|---|---|---|---|");
        let names = LearnerSpec::ENTRIES.iter().map(|entry| entry.name);
        for name in std::iter::once(DEFAULT).chain(names) {
            let Some(spec) = field.spec(name, THEORY) else {
                continue;
            };
            let plain = match field.mean(&spec) {
                Ok(plain) => plain,
                Err(why) => {
                    eprintln!("{name} on {}: {why}", problem.set);
                    continue;
                }
            };
            let step = field.tuned(name);
            let tuned = match step.and_then(|step| field.spec(name, step)) {
                Some(spec) => field.mean(&spec)?,
                None => plain.clone(),
            };
            let (last, best) = (plain[LOOKS - 1], tuned[LOOKS - 1]);
            let per_round = |stand: Option<&Stand>| {
                stand.map_or("—".into(), |s| {
                    format!("{:.4} ({:.0})", s.regret / s.rounds, s.rounds)
                })
            };
            println!(
                "| `{name}` | {:.2} | {:.0}k | {:.1} | {} | {} | {} | {} |",
                last.calls / last.rounds,
                last.rounds / last.seconds / 1e3,
                last.regret,
                step.map_or("—".into(), |(factor, offset)| match offset {
                    0.0 => factor.to_string(),
                    _ => format!("{factor}, b = {offset}"),
                }),
                step.map_or("—".into(), |_| format!("{:.1}", best.regret)),
                if last.calls > 0.0 {
                    per_round(within(&tuned, |s| s.calls <= calls))
                } else {
                    "no calls".into()
                },
                per_round(within(&tuned, |s| s.seconds <= seconds)),
            );
        }
        println!();
    }
    Ok(())
}
