//! One pass over a file in LIBSVM's format, in lazy storage: the average loss before each round's
//! label was used, for `bench/progressive.py`.

use std::time::Instant;

use extremal::Row;
use extremal::learner::{LearnerSpec, Storage, default_for, default_radius};
use extremal::loss::{LossSpec, Objective};
use extremal::set::SetSpec;

use crate::{Failure, USAGE};

/// Rows that the default radius is told of.
const FIRST: usize = 100;
/// Every how many rounds the decision is looked at in full.
const LOOK: usize = 1000;

struct Examples {
    dim: usize,
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    labels: Vec<f64>,
}

impl Examples {
    fn read(file: &str) -> Result<Self, Failure> {
        let mut all = Self {
            dim: 0,
            starts: vec![0],
            indices: Vec::new(),
            values: Vec::new(),
            labels: Vec::new(),
        };
        for (number, line) in std::fs::read_to_string(file)?.lines().enumerate() {
            let wrong = || format!("{file}:{}: {line}", number + 1);
            let mut words = line.split_ascii_whitespace();
            let Some(label) = words.next() else {
                continue;
            };
            all.labels.push(label.parse().map_err(|_| wrong())?);
            for word in words {
                let (index, value) = word.split_once(':').ok_or_else(wrong)?;
                let index: u32 = index.parse().map_err(|_| wrong())?;
                all.indices.push(index.checked_sub(1).ok_or_else(wrong)?);
                all.values.push(value.parse().map_err(|_| wrong())?);
                all.dim = all.dim.max(index as usize);
            }
            all.starts.push(all.indices.len());
        }
        Ok(all)
    }

    fn row(&self, t: usize) -> Row<'_> {
        let here = self.starts[t]..self.starts[t + 1];
        Row::Sparse {
            indices: &self.indices[here.clone()],
            values: &self.values[here],
        }
    }

    fn norm(&self, t: usize) -> f64 {
        extremal::kernel::norm(&self.values[self.starts[t]..self.starts[t + 1]])
    }
}

/// A line for each learner: average loss, rounds per second, largest violation, set and spec.
pub fn report(loss: &str, set: &str, file: &str, learners: &[&str]) -> Result<(), Failure> {
    if learners.is_empty() {
        return Err(USAGE.into());
    }
    let examples = Examples::read(file)?;
    let rounds = examples.labels.len();
    let set = match set {
        "default" => {
            let first = rounds.min(FIRST);
            let norms: Vec<f64> = (0..first).map(|t| examples.norm(t)).collect();
            let radius = default_radius(&norms, &examples.labels[..first]);
            format!("l2:radius={radius}").parse::<SetSpec>()?
        }
        text => text.parse()?,
    };
    let ball = set.build(Some(examples.dim))?;
    let objective = Objective::new(loss.parse::<LossSpec>()?.build()?, 0.0)?;
    let mut x = vec![0.0; examples.dim];
    for text in learners {
        let spec = match *text {
            "default" => default_for(&*ball, &objective, Storage::Lazy),
            text => text.parse::<LearnerSpec>()?,
        };
        let mut learner = spec.build_stored(&ball, Storage::Lazy)?;
        let (mut total, mut violation, mut seconds) = (0.0, 0.0_f64, 0.0);
        for t in 0..rounds {
            let start = Instant::now();
            let decision = learner.decide()?;
            let evaluation =
                objective.evaluate(examples.row(t), examples.labels[t], 1.0, decision)?;
            total += evaluation.value;
            learner.observe(&evaluation.gradient)?;
            seconds += start.elapsed().as_secs_f64();
            if t % LOOK == 0 || t + 1 == rounds {
                learner.decision().write(&mut x);
                violation = violation.max(ball.violation(&x).unwrap_or(f64::NAN));
            }
        }
        let (average, speed) = (total / rounds as f64, rounds as f64 / seconds);
        println!("{average} {speed:.0} {violation:e} {set} {spec}");
    }
    Ok(())
}
