//! Experiments as files: learners × problems × seeds, written in TOML.

mod cell;
mod compare;
mod parse;
mod prepare;
mod store;
mod written;

pub use cell::Clock;
pub(crate) use cell::{Cell, Look, Outcome, Proof};
#[cfg(test)]
pub(crate) use cell::{Checked, Level};
pub use compare::{Progress, compare};
pub(crate) use prepare::Built;
pub use prepare::Prepared;

use std::path::PathBuf;

use extremal::learner::{LearnerSpec, Storage, Uses};
use extremal::loss::LossSpec;
use extremal::set::SetSpec;
use extremal::stream::StreamSpec;
use indexmap::IndexMap;

/// A learner's name for the one that the library takes when only the set and the loss are known.
pub const DEFAULT: &str = "default";

/// An experiment, its defaults written out.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// A heading.
    pub title: String,
    /// What it shows, and what it does not; may be empty.
    pub about: String,
    /// Whether seconds are measured, in runs of their own.
    pub timing: bool,
    /// Whether the learners are drawn in the plane.
    pub pictures: bool,
    /// By name, in the file's order.
    pub problems: IndexMap<String, ProblemConfig>,
    /// By name, in the file's order.
    pub learners: IndexMap<String, LearnerConfig>,
    /// Where they stand.
    pub lines: Lines,
}

/// The file that an experiment was read from, and where in it its tables begin: for complaints
/// about what can't be built.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lines {
    /// The file.
    pub path: PathBuf,
    /// The problems', in order.
    pub problems: Vec<ProblemLines>,
    /// The learners', in order.
    pub learners: Vec<usize>,
}

/// Where the parts of a problem stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProblemLines {
    /// Its table.
    pub table: usize,
    /// Its set.
    pub set: usize,
    /// Its loss.
    pub loss: usize,
    /// Its stream.
    pub stream: usize,
}

/// A problem of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct ProblemConfig {
    /// A heading.
    pub title: String,
    /// What it shows, in a sentence or two; may be empty.
    pub about: String,
    /// The constraint set.
    pub set: SetSpec,
    /// The loss.
    pub loss: LossSpec,
    /// λ of the ridge term.
    pub l2: f64,
    /// Where the rounds come from.
    pub stream: Source,
    /// T of each run, growing.
    pub horizons: Vec<u64>,
    /// Every learner meets each of these streams.
    pub seeds: Vec<u64>,
    /// Whether learners are told T and G. λ always is: the loss tells it.
    pub told: bool,
    /// The names of those who play.
    pub learners: Vec<String>,
}

/// A learner of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnerConfig {
    /// Who it is; nothing for the one that the library takes when only set and loss are known.
    pub spec: Option<LearnerSpec>,
    /// The number that is scaled: its step size, if nothing else is said.
    pub tune: Option<String>,
    /// The factors on it that are tried.
    pub scales: Vec<f64>,
    /// How decisions are stored.
    pub storage: Storage,
}

impl LearnerConfig {
    /// The registered name.
    pub fn name(&self) -> &'static str {
        self.spec.as_ref().map_or(DEFAULT, |s| s.entry().name)
    }

    /// The factor that stands for it: theory's own, or else the first that is tried.
    pub fn plain_scale(&self) -> f64 {
        if self.scales.contains(&1.0) {
            return 1.0;
        }
        self.scales.first().copied().unwrap_or(1.0)
    }

    /// `lazy storage`; nothing if it is dense.
    pub fn storage_note(&self) -> Option<&'static str> {
        match self.storage {
            Storage::Dense => None,
            Storage::Lazy => Some("lazy storage"),
            Storage::Sparse => Some("sparse storage"),
        }
    }

    /// Whether it projects onto the set in every round: what all others avoid.
    pub fn projects(&self) -> bool {
        let spec = self.spec.as_ref();
        spec.is_some_and(|spec| spec.uses() == Uses::Projection)
    }
}

impl ProblemConfig {
    /// The longest horizon.
    pub fn horizon(&self) -> u64 {
        self.horizons.last().copied().unwrap_or(0)
    }
}

/// Where a problem's rounds come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// Made up, from a seed.
    Synthetic(StreamSpec),
    /// Examples that were collected.
    Rows(RowSource),
}

/// Examples, and how they are prepared.
#[derive(Debug, Clone, PartialEq)]
pub struct RowSource {
    /// An embedded data set's name, or a file's path.
    pub from: RowsFrom,
    /// Whether there are labels; prices for log-wealth have none.
    pub labels: bool,
    /// Whether the seed chooses the order; otherwise it is the file's.
    pub shuffle: bool,
    /// Whether each column is divided by its largest entry's size.
    pub unit_columns: bool,
    /// Whether each row is divided by its norm, after that.
    pub unit_rows: bool,
    /// Whether a column of ones is added, before the rows are divided.
    pub intercept: bool,
}

/// Where examples are.
#[derive(Debug, Clone, PartialEq)]
pub enum RowsFrom {
    /// In the program.
    Data(String),
    /// In a file.
    File {
        /// Its path, as written.
        path: String,
        /// Its format; from its name if left out.
        format: Option<String>,
        /// Which column is the label, where the file has columns with names.
        label: Option<String>,
    },
}

impl std::fmt::Display for RowsFrom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Data(name) => write!(f, "{name} (embedded)"),
            Self::File { path, .. } => f.write_str(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Cell, Experiment, Prepared};

    #[test]
    fn the_curve_of_a_run_passes_through_its_certificate_and_halves_at_its_radius() {
        for set in [
            "l2:radius=3,dim=4",
            "l1:radius=3,dim=4",
            "lp:p=1.5,radius=3,dim=4",
        ] {
            let text = format!(
                "rounds = 400\nseeds = 1\n[problem.a]\nset = \"{set}\"\nloss = \"logistic\"\n\
                 stream = {{ name = \"classification\" }}\n[learner.a]\nname = \"ofw\"\n\
                 [learner.b]\nname = \"ofw-free\"\n"
            );
            let experiment = Experiment::parse(&text, Path::new("a.toml")).unwrap();
            let prepared = Prepared::new(experiment).unwrap();
            for (name, learner) in &prepared.experiment.learners {
                let cell = Cell {
                    problem: &prepared.problems[0],
                    name,
                    learner,
                    scale: 1.0,
                    horizon: 400,
                    seed: 1,
                };
                // without the best decision, the upper end is the certificate on the set itself
                let played = cell.play(&[64, 400], None, &|| false).unwrap().unwrap();
                let (end, rows) = (played.last(), &played.comparators);
                assert_eq!((rows.len(), rows[0][0]), (46, 0.0));
                let above = rows.partition_point(|row| row[0] < 3.0);
                let [low, high] = [rows[above - 1], rows[above]];
                let part = (3.0 - low[0]) / (high[0] - low[0]);
                let there = low[1] + part * (high[1] - low[1]);
                assert!((there - end.upper).abs() < 1e-11 * end.loss, "{set} {name}");
                assert!(played.looks.iter().all(|look| look.halving.is_some()));
                let radius = end.halving.unwrap();
                for [at, regret, share] in rows {
                    assert_eq!(*share <= 0.5, *at <= radius, "{set} {name}: {at}, {radius}");
                    // the loss that it is a share of is rounded down
                    let exact = regret / end.loss;
                    assert!((share - exact).abs() < 1e-11 && share.abs() >= exact.abs());
                }
                assert!(rows[0][2] < 0.5 && rows[45][2] > 1.0);
            }
        }
    }
}
