//! Reads an experiment's TOML file. Every error names the line and says what is allowed there.

use std::fmt::Display;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use extremal::learner::{LearnerSpec, Storage};
use extremal::spec::Table;
use extremal_learn::Reading;
use indexmap::IndexMap;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};
use toml::Value;
use toml::de::DeTable;

use super::{DEFAULT, Experiment, LearnerConfig, ProblemConfig, RowSource, Source};
use crate::error::{Error, Result};

/// The key that the factors in `scales` multiply by default.
const STEP: &str = "eta-scale";

/// The largest number of rounds of a run.
const LONGEST: u64 = 1_000_000_000_000;

/// The content of a file. Some keys are defaults for all problems and learners.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: Option<String>,
    #[serde(default)]
    about: String,
    #[serde(default, deserialize_with = "rounds")]
    rounds: Option<u64>,
    #[serde(default, deserialize_with = "horizons")]
    horizons: Vec<u64>,
    #[serde(default, deserialize_with = "seeds")]
    seeds: Vec<u64>,
    #[serde(default = "one", deserialize_with = "scales")]
    scales: Vec<f64>,
    told: Option<bool>,
    #[serde(default)]
    timing: bool,
    pictures: Option<bool>,
    #[serde(default)]
    problem: IndexMap<String, ProblemConfig>,
    #[serde(default)]
    learner: IndexMap<String, toml::Table>,
}

fn one() -> Vec<f64> {
    vec![1.0]
}

/// The file that an experiment was read from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// The file's path.
    pub path: PathBuf,
    text: String,
}

impl Origin {
    /// An error at a key. `keys` is the path of tables that ends at the key. The error names the key's
    /// line. If the key does not exist, the error names the line of the innermost existing table on the
    /// path.
    pub(super) fn error(&self, keys: &[&str], what: impl Display) -> Error {
        let mut span = 0..0;
        if let Ok(file) = DeTable::parse(&self.text) {
            let mut table = Some(file.get_ref());
            for key in keys {
                let Some(value) = table.and_then(|table| table.get(*key)) else {
                    break;
                };
                span = value.span();
                table = value.get_ref().as_table();
            }
        }
        self.error_at(&span, what)
    }

    fn error_at(&self, span: &Range<usize>, what: impl Display) -> Error {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        Error::Experiment {
            path: self.path.clone(),
            line: 1 + before.iter().filter(|b| **b == b'\n').count(),
            what: what.to_string(),
        }
    }
}

impl Experiment {
    /// Reads an experiment from the text of its file, without opening any data file.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let origin = Origin {
            path: path.into(),
            text: text.into(),
        };
        let file: File = toml::from_str(text)
            .map_err(|e| origin.error_at(&e.span().unwrap_or(0..0), e.message().trim_end()))?;
        let missing = match (file.problem.is_empty(), file.learner.is_empty()) {
            (true, _) => Some(
                "the experiment defines no problem; add a table [problem.NAME] with the keys set, loss and stream",
            ),
            (_, true) => Some(
                "the experiment defines no learner; add a table [learner.NAME], for example with the line name = \"ofw-ls\"",
            ),
            _ => None,
        };
        if let Some(what) = missing {
            let path = path.into();
            return Err(Error::NoTable { path, what });
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let mut experiment = Self {
            title: file.title.clone().unwrap_or_else(|| stem.into_owned()),
            about: file.about.clone(),
            timing: file.timing,
            pictures: file.pictures.unwrap_or(true),
            problems: IndexMap::new(),
            learners: IndexMap::new(),
            origin,
        };
        for (name, table) in &file.learner {
            let learner = experiment.read_learner(name, table, &file.scales)?;
            experiment.learners.insert(name.clone(), learner);
        }
        experiment.check_budgets()?;
        for (name, problem) in &file.problem {
            let problem = experiment.complete(name, problem.clone(), &file)?;
            experiment.problems.insert(name.clone(), problem);
        }
        let is_played = |name: &String| {
            let mut problems = experiment.problems.values();
            problems.any(|p| p.learners.contains(name))
        };
        if let Some(idle) = experiment.learners.keys().find(|name| !is_played(name)) {
            let what = format!(
                "learner {idle} plays no problem; add the learner to the list of a problem, or remove the learner"
            );
            return Err(experiment.origin.error(&["learner", idle], what));
        }
        Ok(experiment)
    }

    /// Checks the name of a problem or a learner, which appears in tables and in file names.
    fn check_name(&self, kind: &str, name: &str) -> Result<()> {
        let is_plain = |c: char| c.is_alphanumeric() || "-_.+ ".contains(c);
        if !name.is_empty() && name.len() <= 60 && name.chars().all(is_plain) {
            return Ok(());
        }
        let what = format!(
            "{kind} `{name}`: a name has 1 to 60 characters, each a letter, a digit, a space or one of -_.+"
        );
        Err(self.origin.error(&[kind, name], what))
    }

    /// Reads a learner's table. `grid` has the factors that apply to all learners.
    fn read_learner(&self, name: &str, table: &toml::Table, grid: &[f64]) -> Result<LearnerConfig> {
        self.check_name("learner", name)?;
        let error = |key: &str, what: &str| self.origin.error(&["learner", name, key], what);
        let mut keys = table.clone();
        let tune = match keys.remove("tune") {
            None => None,
            Some(Value::Boolean(false)) => Some(None),
            Some(Value::String(key)) => Some(Some(key)),
            Some(_) => {
                let what = "tune must be false or the key to scale, such as \"eta-scale\"";
                return Err(error("tune", what));
            }
        };
        let own = keys.remove("scales").map(scales).transpose();
        let own = own.map_err(|why| error("scales", why.message()))?;
        let storage = keys.remove("storage").map(Value::try_into::<Storage>);
        let storage = storage.transpose().map_err(|_| {
            let what = "storage must be \"dense\", \"lazy\" or \"sparse\"";
            error("storage", what)
        })?;
        let spec = self.read_spec(name, keys)?;
        let has_key = |key: &str| {
            let mut specs = spec.iter();
            specs.any(|s| s.entry().parameters.iter().any(|p| p.name == key))
        };
        let many = own.as_deref().unwrap_or(grid) != [1.0];
        let tune = match tune {
            Some(Some(key)) if !has_key(&key) => {
                return Err(error("", &format!("this learner has no key `{key}`")));
            }
            Some(given) => given,
            None if has_key(STEP) => Some(STEP.into()),
            None if many => {
                let what = "this learner has no step size to scale; write tune = false, or tune = \"KEY\" to scale a different key";
                return Err(error("", what));
            }
            None => None,
        };
        let scales = match (&tune, own) {
            (None, Some(own)) if own != [1.0] => {
                return Err(error(
                    "",
                    "with tune = false, nothing is scaled; remove scales",
                ));
            }
            (None, _) => one(),
            (Some(_), own) => own.unwrap_or(grid.to_vec()),
        };
        Ok(LearnerConfig {
            spec,
            tune,
            scales,
            storage: storage.unwrap_or_default(),
        })
    }

    /// Reads a learner's spec, given as text or by its name and keys. `None` stands for the library's
    /// choice.
    fn read_spec(&self, name: &str, keys: toml::Table) -> Result<Option<LearnerSpec>> {
        let error = |key: &str, what: String| self.origin.error(&["learner", name, key], what);
        let spec = keys.get("spec");
        if spec.is_some() && keys.len() > 1 {
            let what = "give either a spec, or a name and keys, but not both";
            return Err(error("spec", what.into()));
        }
        if let Some(Value::String(text)) = spec {
            let read = (text != DEFAULT).then(|| text.parse()).transpose();
            return read.map_err(|why: extremal::Error| error("spec", why.to_string()));
        }
        match keys.get("name").and_then(Value::as_str) {
            None => {
                let names = LearnerSpec::ENTRIES.iter().map(|e| e.name);
                let names: Vec<&str> = names.chain([DEFAULT]).collect();
                let what = format!("a learner needs a name, one of {}", names.join(", "));
                Err(error("", what))
            }
            Some(DEFAULT) if keys.len() == 1 => Ok(None),
            Some(_) => from_table(&keys).map(Some).map_err(|why| {
                let key = match &why {
                    extremal::Error::Spec { key, .. } => key.as_deref().unwrap_or_default(),
                    _ => "",
                };
                let or = if key == "name" { ", or `default`" } else { "" };
                error(key, format!("{why}{or}"))
            }),
        }
    }

    /// Checks that all tuned learners try equally many step sizes. A learner that tries more step sizes
    /// could find a better one by chance.
    fn check_budgets(&self) -> Result<()> {
        let mut tuned = self.learners.iter().filter(|(_, l)| l.tune.is_some());
        let Some((first, budget)) = tuned.next().map(|(name, l)| (name, l.scales.len())) else {
            return Ok(());
        };
        let Some((name, other)) = tuned.find(|(_, l)| l.scales.len() != budget) else {
            return Ok(());
        };
        let tries = other.scales.len();
        let what = format!(
            "learner {name} tries {tries} step sizes, but learner {first} tries {budget}; give the two learners the same number of scales, or write tune = false"
        );
        Err(self.origin.error(&["learner", name], what))
    }

    /// Gives every problem the defaults that the file sets.
    fn complete(
        &self,
        name: &str,
        mut problem: ProblemConfig,
        file: &File,
    ) -> Result<ProblemConfig> {
        self.check_name("problem", name)?;
        let origin = &self.origin;
        let own = problem.rounds.is_some() || !problem.horizons.is_empty();
        let (keys, rounds, horizons) = match own {
            true => {
                let horizons = std::mem::take(&mut problem.horizons);
                (
                    &["problem", name, "horizons"][..],
                    problem.rounds.take(),
                    horizons,
                )
            }
            false => (&["horizons"][..], file.rounds, file.horizons.clone()),
        };
        problem.horizons = match rounds {
            Some(_) if !horizons.is_empty() => {
                return Err(origin.error(keys, "give either rounds or horizons"));
            }
            Some(rounds) => vec![rounds],
            None => horizons,
        };
        if problem.horizons.is_empty() {
            let what =
                "the number of rounds is missing; give rounds = T, or horizons = [T1, T2, …]";
            return Err(origin.error(&["problem", name], what));
        }
        if problem.seeds.is_empty() {
            problem.seeds = match file.seeds.is_empty() {
                true => vec![0],
                false => file.seeds.clone(),
            };
        }
        if problem.title.is_empty() {
            problem.title = name.into();
        }
        problem.known_constants = Some(problem.known_constants.or(file.told).unwrap_or(true));
        if problem.learners.is_empty() {
            problem.learners = self.learners.keys().cloned().collect();
        }
        for (i, player) in problem.learners.iter().enumerate() {
            if !self.learners.contains_key(player) || problem.learners[..i].contains(player) {
                let known: Vec<&str> = self.learners.keys().map(String::as_str).collect();
                let known = known.join(", ");
                let what = format!(
                    "learner `{player}` is unknown or listed twice; the learners are {known}"
                );
                return Err(origin.error(&["problem", name, "learners"], what));
            }
        }
        Ok(problem)
    }
}

/// Returns the value if it is allowed, otherwise an error with the text `what`.
fn checked<T, E: serde::de::Error>(value: T, allowed: bool, what: &str) -> Result<T, E> {
    allowed.then_some(value).ok_or_else(|| E::custom(what))
}

/// Reads λ, the factor of the ridge term.
pub(super) fn ridge<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let l2 = f64::deserialize(from)?;
    checked(l2, l2.is_finite() && l2 >= 0.0, "l2 must be a number ≥ 0")
}

/// Reads T, the number of rounds.
pub(super) fn rounds<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Ok(checked_horizons(vec![u64::deserialize(from)?])?.pop())
}

/// Reads the numbers of rounds of several runs. The file gives a list, or a first and a last number. In
/// the second form, each number is twice the number before it.
pub(super) fn horizons<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, deny_unknown_fields)]
    #[serde(expecting = "a list of numbers of rounds, or { from = …, to = … }")]
    enum Horizons {
        List(Vec<u64>),
        Doubling { from: u64, to: u64 },
    }
    let all = match Horizons::deserialize(from)? {
        Horizons::List(all) => all,
        Horizons::Doubling { from, to } => {
            let first = Some(from).filter(|t| *t > 0);
            let doubled = std::iter::successors(first, |t| t.checked_mul(2));
            doubled.take_while(|t| *t <= to).collect()
        }
    };
    checked_horizons(all)
}

fn checked_horizons<E: serde::de::Error>(all: Vec<u64>) -> Result<Vec<u64>, E> {
    let is_short = all.last().is_none_or(|t| *t <= LONGEST);
    let all = checked(all, is_short, "a run can't have more than 10^12 rounds")?;
    let increasing = all.first().is_some_and(|t| *t > 0) && all.is_sorted_by(|a, b| a < b);
    let what =
        "rounds and horizons must be whole numbers of at least 1, and horizons must increase";
    checked(all, increasing, what)
}

/// Reads seeds: a list of seeds, or a number n that stands for the seeds 0 to n − 1.
pub(super) fn seeds<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a number of seeds, or a list of seeds")]
    enum Seeds {
        Count(u64),
        List(Vec<u64>),
    }
    let all: Vec<u64> = match Seeds::deserialize(from)? {
        Seeds::Count(n) if n > 100_000 => Vec::new(),
        Seeds::Count(n) => (0..n).collect(),
        Seeds::List(all) => all,
    };
    let allowed = !all.is_empty() && are_distinct(&all);
    let what = "seeds must be a number from 1 to 100000, or a list of distinct whole numbers";
    checked(all, allowed, what)
}

/// Reads the factors on the step size.
fn scales<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    let all = Vec::<f64>::deserialize(from).unwrap_or_default();
    let positive = all.iter().all(|s| s.is_finite() && *s > 0.0);
    let allowed = positive && !all.is_empty() && are_distinct(&all);
    let what = "scales must be a non-empty list of distinct numbers > 0";
    checked(all, allowed, what)
}

/// Reads the names of a problem's learners.
pub(super) fn players<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let all: Vec<String> = Vec::deserialize(from)?;
    let listed = !all.is_empty();
    checked(all, listed, "this problem lists no learners")
}

fn are_distinct<T: PartialEq>(all: &[T]) -> bool {
    (1..all.len()).all(|i| !all[..i].contains(&all[i]))
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        if value.is_str() || value.get("name").is_some() || !value.is_table() {
            return Ok(Self::Synthetic(spec(value).map_err(D::Error::custom)?));
        }
        let rows: Box<RowSource> = value.try_into().map_err(|e: toml::de::Error| {
            let keys = match serde_json::to_value(RowSource::default()) {
                Ok(serde_json::Value::Object(keys)) if e.message().starts_with("unknown field") => {
                    let keys: Vec<String> = keys.keys().map(|key| format!("`{key}`")).collect();
                    format!(", expected one of {}", keys.join(", "))
                }
                _ => String::new(),
            };
            D::Error::custom(format!("{}{keys}", e.message()))
        })?;
        let of_data = RowSource {
            format: None,
            reading: Reading::default(),
            labels: None,
            ..(*rows).clone()
        };
        match (&rows.data, &rows.file) {
            (Some(_), None) if *rows == of_data => Ok(Self::Rows(rows)),
            (None, Some(_)) => Ok(Self::Rows(rows)),
            _ => Err(D::Error::custom(
                "write { name = … } with a name from `extremal list streams`, { data = … } with a name from `extremal list data`, or { file = …, format = …, label = … }",
            )),
        }
    }
}

/// Reads a spec from text such as `"lp:p=1.5"`, or from a table such as `{ name = "lp", p = 1.5 }`.
pub(super) fn spec<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<Table, Error = extremal::Error> + FromStr<Err = extremal::Error>,
{
    let read = match Value::deserialize(from)? {
        Value::String(text) => text.parse(),
        Value::Table(table) => from_table(&table),
        _ => {
            return Err(D::Error::custom(
                "write a spec, \"lp:p=1.5,dim=10\", or a table, { name = \"lp\", p = 1.5, dim = 10 }",
            ));
        }
    };
    read.map_err(D::Error::custom)
}

/// Reads a spec from a table with a name and further keys.
fn from_table<T>(table: &toml::Table) -> extremal::Result<T>
where
    T: TryFrom<Table, Error = extremal::Error>,
{
    // The conversion to JSON below would silently drop NaN and infinity.
    if let Some((key, _)) = table.iter().find(|(_, v)| !is_finite(v)) {
        return Err(extremal::Error::Spec {
            key: Some(key.clone()),
            what: format!("`{key}` must be finite, not nan or inf"),
        });
    }
    let table = table.iter().map(|(key, value)| {
        let value = serde_json::to_value(value).map_err(extremal::Error::other)?;
        Ok((key.clone(), value))
    });
    T::try_from(table.collect::<extremal::Result<_>>()?)
}

fn is_finite(value: &Value) -> bool {
    match value {
        Value::Float(v) => v.is_finite(),
        Value::Array(all) => all.iter().all(is_finite),
        Value::Table(table) => table.values().all(is_finite),
        _ => true,
    }
}

/// Writes a spec as text.
pub(super) fn text<S: Serializer>(spec: &impl Display, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(spec)
}

/// Writes a learner's spec, or `default` for the library's choice.
pub(super) fn spec_or_default<S: Serializer>(
    spec: &Option<LearnerSpec>,
    to: S,
) -> Result<S::Ok, S::Error> {
    let text = spec.as_ref().map(LearnerSpec::to_string);
    to.serialize_str(text.as_deref().unwrap_or(DEFAULT))
}

/// Writes the key that is scaled, or `false` if nothing is scaled.
pub(super) fn key_or_false<S: Serializer>(key: &Option<String>, to: S) -> Result<S::Ok, S::Error> {
    match key {
        Some(key) => to.serialize_str(key),
        None => to.serialize_bool(false),
    }
}
