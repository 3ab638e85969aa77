//! Experiments: learners × problems × seeds, written in TOML.

mod cache;
mod compare;
mod file;
mod problem;
mod run;

pub use compare::{Progress, compare};
pub use file::Origin;
pub use problem::Prepared;
pub(crate) use problem::Problem;
pub use run::Clock;
pub(crate) use run::{Outcome, Proof, Run};

use extremal::learner::{LearnerSpec, Storage, Uses};
use extremal::loss::LossSpec;
use extremal::set::SetSpec;
use extremal::stream::StreamSpec;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// The name of the learner that the library chooses from the set and the loss alone.
pub const DEFAULT: &str = "default";

/// An experiment with all defaults filled in. Serialised, it is an experiment's file again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Experiment {
    /// A heading.
    pub title: String,
    /// What the experiment shows; may be empty.
    pub about: String,
    /// Whether seconds are measured, in runs of their own.
    pub timing: bool,
    /// Whether the learners are drawn in the plane.
    pub pictures: bool,
    /// The problems by name, in the file's order.
    #[serde(rename = "problem")]
    pub problems: IndexMap<String, ProblemConfig>,
    /// The learners by name, in the file's order.
    #[serde(rename = "learner")]
    pub learners: IndexMap<String, LearnerConfig>,
    /// The file, for the lines of errors.
    #[serde(skip)]
    pub origin: Origin,
}

impl Experiment {
    /// The experiment as TOML, with all defaults written out.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("numbers and text have a TOML form")
    }
}

/// A problem of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProblemConfig {
    /// A heading.
    #[serde(default)]
    pub title: String,
    /// What the problem shows, in a sentence or two; may be empty.
    #[serde(default)]
    pub about: String,
    /// The constraint set.
    #[serde(deserialize_with = "file::spec", serialize_with = "file::text")]
    pub set: SetSpec,
    /// The loss.
    #[serde(deserialize_with = "file::spec", serialize_with = "file::text")]
    pub loss: LossSpec,
    /// λ of the ridge term.
    #[serde(default, deserialize_with = "file::ridge")]
    pub l2: f64,
    /// The source of the rounds.
    pub stream: Source,
    #[serde(default, skip_serializing, deserialize_with = "file::rounds")]
    rounds: Option<u64>,
    /// T of each run, increasing.
    #[serde(default, deserialize_with = "file::horizons")]
    pub horizons: Vec<u64>,
    /// Every learner plays each of these streams.
    #[serde(default, deserialize_with = "file::seeds")]
    pub seeds: Vec<u64>,
    #[serde(rename = "told")]
    known_constants: Option<bool>,
    /// The names of the learners that play.
    #[serde(default, deserialize_with = "file::players")]
    pub learners: Vec<String>,
}

impl ProblemConfig {
    /// The longest horizon.
    pub fn horizon(&self) -> u64 {
        self.horizons.last().copied().unwrap_or(0)
    }

    /// Whether learners know T and G. They always know λ, which the loss gives.
    pub fn constants_are_known(&self) -> bool {
        self.known_constants.unwrap_or(true)
    }
}

/// A learner of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LearnerConfig {
    /// The learner; `None` for the library's choice.
    #[serde(serialize_with = "file::spec_or_default")]
    pub spec: Option<LearnerSpec>,
    /// The key that is scaled, usually the step size.
    #[serde(serialize_with = "file::key_or_false")]
    pub tune: Option<String>,
    /// The factors on it that are tried.
    pub scales: Vec<f64>,
    /// How decisions are stored.
    #[serde(skip_serializing_if = "is_default")]
    pub storage: Storage,
}

impl LearnerConfig {
    /// The factor that represents the learner: 1, or else the first of the grid.
    pub fn plain_scale(&self) -> f64 {
        if self.scales.contains(&1.0) {
            return 1.0;
        }
        self.scales.first().copied().unwrap_or(1.0)
    }

    /// `lazy storage`; `None` if storage is dense.
    pub fn storage_note(&self) -> Option<&'static str> {
        match self.storage {
            Storage::Dense => None,
            Storage::Lazy => Some("lazy storage"),
            Storage::Sparse => Some("sparse storage"),
        }
    }

    /// Whether the learner projects onto the set in every round.
    pub fn projects(&self) -> bool {
        let spec = self.spec.as_ref();
        spec.is_some_and(|spec| spec.uses() == Uses::Projection)
    }
}

/// The source of a problem's rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Source {
    /// A synthetic stream.
    Synthetic(#[serde(serialize_with = "file::text")] StreamSpec),
    /// Collected examples.
    Rows(RowSource),
}

/// Collected examples, and how they are prepared: an embedded data set or a file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct RowSource {
    /// The name of an embedded data set.
    #[serde(skip_serializing_if = "is_default")]
    pub data: Option<String>,
    /// The path of a file.
    #[serde(skip_serializing_if = "is_default")]
    pub file: Option<String>,
    /// The file's format; by default, its name decides.
    #[serde(skip_serializing_if = "is_default")]
    pub format: Option<String>,
    /// The label's column, in a file with named columns.
    #[serde(skip_serializing_if = "is_default")]
    pub label: Option<String>,
    /// Whether there are labels, by default true. Prices for log-wealth have none.
    pub labels: Option<bool>,
    /// Whether the seed chooses the order; otherwise it is the file's.
    pub shuffle: bool,
    /// Whether each column is divided by the size of its largest entry.
    pub unit_columns: bool,
    /// Whether each row is divided by its norm, after that.
    pub unit_rows: bool,
    /// Whether a column of ones is added, before rows are divided.
    pub intercept: bool,
}

impl RowSource {
    /// An embedded data set as it is.
    pub fn embedded(name: &str) -> Self {
        Self {
            data: Some(name.into()),
            ..Self::default()
        }
    }
}

impl std::fmt::Display for RowSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.data, &self.file) {
            (Some(name), _) => write!(f, "{name} (embedded)"),
            (None, path) => f.write_str(path.as_deref().unwrap_or_default()),
        }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
