//! Experiments. A TOML file describes an experiment: learners play problems for several horizons and
//! seeds.

mod cache;
mod compare;
mod file;
mod problem;
mod run;

pub use compare::{Progress, compare};
pub use file::Origin;
pub use problem::Prepared;
pub(crate) use problem::{Problem, next_round};
pub use run::Clock;
pub(crate) use run::{Outcome, Proof, Run, Stop};

use extremal::learner::{LearnerSpec, Storage, Uses};
use extremal::loss::LossSpec;
use extremal::set::SetSpec;
use extremal::stream::StreamSpec;
use extremal_data::Format;
use extremal_learn::Reading;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// The name that stands for the learner chosen by the library. The choice depends only on the set and
/// the loss.
pub const DEFAULT: &str = "default";

/// An experiment with all defaults filled in. The serialised form is a valid file of the same
/// experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Experiment {
    /// The title of the report.
    pub title: String,
    /// A description of the experiment; may be empty.
    pub about: String,
    /// Whether running times are measured, in additional runs.
    pub timing: bool,
    /// Whether the learners are also drawn on sets in the plane.
    pub pictures: bool,
    /// The problems by name, in the file's order.
    #[serde(rename = "problem")]
    pub problems: IndexMap<String, ProblemConfig>,
    /// The learners by name, in the file's order.
    #[serde(rename = "learner")]
    pub learners: IndexMap<String, LearnerConfig>,
    /// The file that the experiment was read from. Errors refer to its lines.
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
    /// The problem's heading in tables.
    #[serde(default)]
    pub title: String,
    /// A description of the problem, in a sentence or two; may be empty.
    #[serde(default)]
    pub about: String,
    /// The constraint set.
    #[serde(deserialize_with = "file::spec", serialize_with = "file::text")]
    pub set: SetSpec,
    /// The loss.
    #[serde(deserialize_with = "file::spec", serialize_with = "file::text")]
    pub loss: LossSpec,
    /// λ of the ridge term (λ/2)‖x‖², which is added to the loss.
    #[serde(default, deserialize_with = "file::ridge")]
    pub l2: f64,
    /// The source of the rounds.
    pub stream: Source,
    #[serde(default, skip_serializing, deserialize_with = "file::rounds")]
    rounds: Option<u64>,
    /// The numbers of rounds T, in increasing order. Each T is a separate run.
    #[serde(default, deserialize_with = "file::horizons")]
    pub horizons: Vec<u64>,
    /// The seeds of the streams. Every learner plays each stream.
    #[serde(default, deserialize_with = "file::seeds")]
    pub seeds: Vec<u64>,
    #[serde(rename = "told")]
    known_constants: Option<bool>,
    /// The names of the learners that play the problem.
    #[serde(default, deserialize_with = "file::players")]
    pub learners: Vec<String>,
}

impl ProblemConfig {
    /// The longest horizon.
    pub fn horizon(&self) -> u64 {
        self.horizons.last().copied().unwrap_or(0)
    }

    /// Whether learners know the number of rounds T and the bound G on gradients. Learners always know
    /// λ, which follows from the loss.
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
    /// The key that is scaled, usually the step size. `None` if nothing is scaled.
    #[serde(serialize_with = "file::key_or_false")]
    pub tune: Option<String>,
    /// The factors that multiply the key's value. Each factor has separate runs.
    pub scales: Vec<f64>,
    /// How decisions are stored.
    #[serde(skip_serializing_if = "is_default")]
    pub storage: Storage,
}

impl LearnerConfig {
    /// The factor whose runs represent the learner: 1 if it was tried, otherwise the first factor.
    pub fn plain_scale(&self) -> f64 {
        if self.scales.contains(&1.0) {
            return 1.0;
        }
        self.scales.first().copied().unwrap_or(1.0)
    }

    /// The storage in words, such as `lazy storage`. `None` if storage is dense.
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
    Rows(Box<RowSource>),
}

/// Collected examples from an embedded data set or a file, and how they are prepared.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct RowSource {
    /// The name of an embedded data set.
    pub data: Option<String>,
    /// The path of a file.
    pub file: Option<String>,
    /// The file's format. By default, it is detected as in `extremal learn`.
    pub format: Option<Format>,
    /// The options for reading the file.
    #[serde(flatten)]
    pub reading: Reading,
    /// The labels. By default they are numbers or two texts. Prices for the log-wealth loss have no
    /// labels.
    pub labels: Option<RowLabels>,
    /// Whether the seed determines the order of the examples. Otherwise they have the file's order.
    pub shuffle: bool,
    /// Whether each column is divided by its largest absolute value.
    pub unit_columns: bool,
    /// Whether each row is divided by its norm, after the columns are scaled.
    pub unit_rows: bool,
    /// Whether a column of ones is added before rows are divided by their norms.
    pub intercept: bool,
}

/// The labels of collected examples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "labels must be false, or two texts")]
pub enum RowLabels {
    /// Whether there are labels.
    Present(bool),
    /// The labels that mean −1 and +1.
    Pair(String, String),
}

impl RowSource {
    /// An embedded data set without any preparation.
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
