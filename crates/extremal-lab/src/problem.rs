//! Problems: a set, a loss and a stream, with the learners that play on them.

use extremal::learner::{LearnerSpec, Storage, default_for};
use extremal::loss::{LossSpec, Objective};
use extremal::set::{SetSpec, SharedSet};
use extremal::stream::{Stream, StreamSpec};

use crate::error::{Context, Result};

/// The projected baseline, always shown and marked as such.
pub const BASELINE: &str = "ogd";

/// Stands for the learner that the library takes when only the set and the loss are known.
pub const DEFAULT: &str = "default";

/// What is played, by whom and for how long.
#[derive(Debug, Clone)]
pub struct Problem {
    /// A short name for files.
    pub key: &'static str,
    /// The heading.
    pub title: &'static str,
    /// What it shows, in a sentence.
    pub about: &'static str,
    /// The set, as a spec.
    pub set: &'static str,
    /// The set in a table's column.
    pub set_label: &'static str,
    /// The loss, as a spec.
    pub loss: &'static str,
    /// λ of the ridge term.
    pub ridge: f64,
    /// The stream, as a spec.
    pub stream: &'static str,
    /// The learners, as specs without the constants that everybody is told, or [`DEFAULT`].
    pub learners: Vec<&'static str>,
    /// Whether T and G are told. λ always is: the loss tells it.
    pub told: bool,
    /// T of each run, growing.
    pub horizons: Vec<u64>,
}

/// A problem's parts, built.
pub(crate) struct Parts {
    pub set: SharedSet,
    pub objective: Objective,
    stream: StreamSpec,
    /// G.
    pub gradient: f64,
}

impl Parts {
    pub fn stream(&self, seed: u64) -> extremal::Result<Box<dyn Stream>> {
        self.stream.build(self.set.dim(), seed)
    }
}

impl Problem {
    pub(crate) fn build(&self) -> Result<Parts> {
        let parts = || -> extremal::Result<Parts> {
            let set = self.set.parse::<SetSpec>()?.build(None)?;
            let objective = self.objective()?;
            let stream: StreamSpec = self.stream.parse()?;
            let one = stream.build(set.dim(), 0)?;
            let gradient = objective.gradient_bound(
                one.row_bound(),
                one.label_bound(),
                set.geometry().norm_bound,
            );
            Ok(Parts {
                set,
                objective,
                stream,
                gradient,
            })
        };
        parts().context(|| format!("problem {}", self.key))
    }

    fn objective(&self) -> extremal::Result<Objective> {
        Objective::new(self.loss.parse::<LossSpec>()?.build()?, self.ridge)
    }

    fn row_bound(&self) -> extremal::Result<f64> {
        let set = self.set.parse::<SetSpec>()?.build(None)?;
        let stream = self.stream.parse::<StreamSpec>()?.build(set.dim(), 0)?;
        Ok(stream.row_bound())
    }

    /// The longest horizon.
    pub fn horizon(&self) -> u64 {
        self.horizons.last().copied().unwrap_or(0)
    }

    /// A learner of this problem, told those of T, G, λ and β that it has a key for and that are
    /// known.
    pub fn told(
        &self,
        learner: &str,
        horizon: u64,
        gradient: f64,
    ) -> extremal::Result<LearnerSpec> {
        if learner == DEFAULT {
            let set = self.set.parse::<SetSpec>()?.build(None)?;
            return Ok(default_for(&*set, &self.objective()?, Storage::Dense));
        }
        let plain: LearnerSpec = learner.parse()?;
        let objective = self.objective()?;
        let lambda = objective.strong_convexity();
        let smoothness = objective.smoothness(self.row_bound()?);
        let mut text = learner.to_string();
        for parameter in plain.entry().parameters {
            let value = match parameter.name {
                "horizon" if self.told => horizon as f64,
                "gradient-bound" if self.told && gradient.is_finite() => gradient,
                "lambda" if lambda > 0.0 => lambda,
                "smoothness" if self.told && smoothness.is_finite() => smoothness,
                _ => continue,
            };
            text.push(if text.contains(':') { ',' } else { ':' });
            text.push_str(&format!("{}={value}", parameter.name));
        }
        text.parse()
    }
}

/// From `first` up by doubling, `count` of them.
pub fn doubling(first: u64, count: u32) -> Vec<u64> {
    (0..count).map(|k| first << k).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn learners_are_told_what_they_have_keys_for() {
        let mut problem = crate::demo::problems().remove(0);
        problem.ridge = 0.5;
        let told = |learner| problem.told(learner, 100, 2.0).unwrap().to_string();
        assert_eq!(told("ofw"), "ofw:horizon=100,gradient-bound=2.0");
        assert_eq!(told("sc-ofw"), "sc-ofw:lambda=0.5,gradient-bound=2.0");
        assert_eq!(told("ogd"), "ogd:lambda=0.5,gradient-bound=2.0");
        problem.ridge = 0.0;
        let ogd = problem.told("ogd", 100, 2.0).unwrap().to_string();
        assert_eq!(ogd, "ogd:gradient-bound=2.0");
        // a G that nobody knows is told to nobody, and a λ may be the loss's own
        problem.loss = "quadratic:diagonal=0.25";
        let free = problem.told("ogd", 100, f64::INFINITY).unwrap();
        assert_eq!(free.to_string(), "ogd:lambda=0.25");
        problem.told = false;
        assert_eq!(problem.told("ofw", 100, 2.0).unwrap().to_string(), "ofw");
        let default = problem.told(super::DEFAULT, 100, 2.0).unwrap();
        assert_eq!(default.entry().name, "hedge");
    }
}
