//! Reading an experiment's file. Every error names the line and what is allowed there.

use std::fmt::Display;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use extremal::learner::{LearnerSpec, Storage};
use extremal::spec::Table;
use indexmap::IndexMap;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};
use toml::Value;
use toml::de::{DeTable, DeValue};

use super::{DEFAULT, Experiment, LearnerConfig, ProblemConfig, RowSource, Source};
use crate::error::{Error, Result};

/// The key that is scaled by default.
const STEP: &str = "eta-scale";

/// The longest run, in rounds.
const LONGEST: u64 = 1_000_000_000_000;

/// A file as it is written: an experiment with keys that apply to all problems and learners.
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
    /// An error at a key, given with the tables that it is in. If the key is not written, the line
    /// is that of the innermost table.
    pub(super) fn error(&self, keys: &[&str], what: impl Display) -> Error {
        let span = DeTable::parse(&self.text).map_or(0..0, |file| {
            let mut span = 0..0;
            let mut table = Some(file.get_ref());
            for key in keys {
                let Some(value) = table.and_then(|table| table.get(*key)) else {
                    break;
                };
                span = value.span();
                table = match value.get_ref() {
                    DeValue::Table(table) => Some(table),
                    _ => None,
                };
            }
            span
        });
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
    /// Reads an experiment. It opens no file that the experiment names, and builds nothing.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let origin = Origin {
            path: path.into(),
            text: text.into(),
        };
        let file: File = toml::from_str(text)
            .map_err(|e| origin.error_at(&e.span().unwrap_or(0..0), e.message().trim_end()))?;
        let no_table = |what| Error::NoTable {
            path: path.into(),
            what,
        };
        if file.problem.is_empty() {
            return Err(no_table(
                "there is no problem; write a table [problem.NAME] with set, loss and stream",
            ));
        }
        if file.learner.is_empty() {
            return Err(no_table(
                "there is no learner; write a table [learner.NAME] with name = \"ofw-ls\", for example",
            ));
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
            let what = format!("learner {idle} plays no problem");
            return Err(experiment.origin.error(&["learner", idle], what));
        }
        Ok(experiment)
    }

    fn check_name(&self, kind: &str, name: &str) -> Result<()> {
        let is_plain = |c: char| c.is_alphanumeric() || "-_.+ ".contains(c);
        if !name.is_empty() && name.len() <= 60 && name.chars().all(is_plain) {
            return Ok(());
        }
        let what = format!(
            "{kind} `{name}`: a name has 1 to 60 characters, each a letter, a digit, a blank or one of -_.+"
        );
        Err(self.origin.error(&[kind, name], what))
    }

    fn read_learner(&self, name: &str, table: &toml::Table, grid: &[f64]) -> Result<LearnerConfig> {
        self.check_name("learner", name)?;
        let error = |key: &str, what: &str| Err(self.origin.error(&["learner", name, key], what));
        let mut keys = table.clone();
        let tune = match keys.remove("tune") {
            None => None,
            Some(Value::Boolean(false)) => Some(None),
            Some(Value::String(key)) => Some(Some(key)),
            Some(_) => {
                return error(
                    "tune",
                    "tune must be false or the key to scale, such as \"eta-scale\"",
                );
            }
        };
        let own = match keys.remove("scales").map(scales) {
            None => None,
            Some(Ok(own)) => Some(own),
            Some(Err(why)) => return error("scales", why.message()),
        };
        let storage = match keys.remove("storage").map(Value::try_into::<Storage>) {
            None => Storage::Dense,
            Some(Ok(storage)) => storage,
            Some(Err(_)) => {
                return error(
                    "storage",
                    "storage must be \"dense\", \"lazy\" or \"sparse\"",
                );
            }
        };
        let spec = self.read_spec(name, keys)?;
        let has_key = |key: &str| {
            let mut specs = spec.iter();
            specs.any(|s| s.entry().parameters.iter().any(|p| p.name == key))
        };
        let many = own.as_deref().unwrap_or(grid) != [1.0];
        let tune = match tune {
            Some(Some(key)) if !has_key(&key) => {
                return error("", &format!("this learner has no key `{key}`"));
            }
            Some(given) => given,
            None if has_key(STEP) => Some(STEP.into()),
            None if many => {
                return error(
                    "",
                    "this learner has no step size to scale; write tune = false, or tune = \"KEY\"",
                );
            }
            None => None,
        };
        let scales = match (&tune, own) {
            (None, Some(own)) if own != [1.0] => return error("", "tune = false has no scales"),
            (None, _) => one(),
            (Some(_), own) => own.unwrap_or(grid.to_vec()),
        };
        Ok(LearnerConfig {
            spec,
            tune,
            scales,
            storage,
        })
    }

    /// The learner's spec, as text or by its name and keys; `None` for the library's choice.
    fn read_spec(&self, name: &str, keys: toml::Table) -> Result<Option<LearnerSpec>> {
        let error = |key: &str, what: String| Err(self.origin.error(&["learner", name, key], what));
        match (keys.get("spec"), keys.get("name").and_then(Value::as_str)) {
            (Some(_), _) if keys.len() > 1 => {
                error("spec", "give either a spec, or a name and keys".into())
            }
            (Some(Value::String(text)), _) if text == DEFAULT => Ok(None),
            (Some(Value::String(text)), _) => match text.parse() {
                Ok(spec) => Ok(Some(spec)),
                Err(why) => error("spec", why.to_string()),
            },
            (_, None) => {
                let names = LearnerSpec::ENTRIES.iter().map(|e| e.name);
                let names: Vec<&str> = names.chain([DEFAULT]).collect();
                error(
                    "",
                    format!("a learner needs a name, one of {}", names.join(", ")),
                )
            }
            (_, Some(DEFAULT)) if keys.len() == 1 => Ok(None),
            (_, Some(_)) => match from_table(&keys) {
                Ok(spec) => Ok(Some(spec)),
                Err(why) => {
                    let key = match &why {
                        extremal::Error::Spec { key, .. } => key.as_deref().unwrap_or_default(),
                        _ => "",
                    };
                    let or = if key == "name" { ", or `default`" } else { "" };
                    error(key, format!("{why}{or}"))
                }
            },
        }
    }

    /// More step sizes find a better one by chance: all learners that are tuned try as many.
    fn check_budgets(&self) -> Result<()> {
        let mut tuned = self.learners.iter().filter(|(_, l)| l.tune.is_some());
        let Some((first, budget)) = tuned.next().map(|(name, l)| (name, l.scales.len())) else {
            return Ok(());
        };
        let Some((name, other)) = tuned.find(|(_, l)| l.scales.len() != budget) else {
            return Ok(());
        };
        let what = format!(
            "learner {name} tries {} step sizes, and {first} tries {budget}; give all learners as many, or tune = false",
            other.scales.len()
        );
        Err(self.origin.error(&["learner", name], what))
    }

    /// Fills in what the file gives for all problems.
    fn complete(
        &self,
        name: &str,
        mut problem: ProblemConfig,
        file: &File,
    ) -> Result<ProblemConfig> {
        self.check_name("problem", name)?;
        let origin = &self.origin;
        let own = problem.rounds.is_some() || !problem.horizons.is_empty();
        let (rounds, horizons) = match own {
            true => (problem.rounds.take(), std::mem::take(&mut problem.horizons)),
            false => (file.rounds, file.horizons.clone()),
        };
        problem.horizons = match (rounds, horizons.is_empty()) {
            (Some(rounds), true) => vec![rounds],
            (None, false) => horizons,
            (Some(_), false) => {
                let keys = ["problem", name, "horizons"];
                let keys = if own { &keys[..] } else { &keys[2..] };
                return Err(origin.error(keys, "give either rounds or horizons"));
            }
            (None, true) => {
                let what =
                    "the number of rounds is missing; give rounds = T, or horizons = [T1, T2, …]";
                return Err(origin.error(&["problem", name], what));
            }
        };
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
                let what =
                    format!("learners: `{player}` is not one of {known}, or is listed twice");
                return Err(origin.error(&["problem", name, "learners"], what));
            }
        }
        Ok(problem)
    }
}

/// The value if it is allowed, or an error.
fn checked<T, E: serde::de::Error>(value: T, allowed: bool, what: &str) -> Result<T, E> {
    if allowed {
        Ok(value)
    } else {
        Err(E::custom(what))
    }
}

/// Reads λ.
pub(super) fn ridge<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let l2 = f64::deserialize(from)?;
    checked(l2, l2.is_finite() && l2 >= 0.0, "l2 must be a number ≥ 0")
}

/// Reads T.
pub(super) fn rounds<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Ok(checked_horizons(vec![u64::deserialize(from)?])?.pop())
}

/// Reads the lengths of runs: a list, or doubling from the first to the last.
pub(super) fn horizons<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a list of numbers of rounds, or { from, to }")]
    enum Horizons {
        List(Vec<u64>),
        Doubling(Doubling),
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Doubling {
        from: u64,
        to: u64,
    }
    let all = match Horizons::deserialize(from)? {
        Horizons::List(all) => all,
        Horizons::Doubling(Doubling { from, to }) => {
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
    let what = "rounds and horizons must be whole numbers from 1 on, increasing";
    checked(all, increasing, what)
}

/// Reads seeds: their number, or a list.
pub(super) fn seeds<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a number of seeds, or a list of them")]
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

/// Reads factors on the step size.
fn scales<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    let all = Vec::<f64>::deserialize(from).unwrap_or_default();
    let positive = all.iter().all(|s| s.is_finite() && *s > 0.0);
    let allowed = positive && !all.is_empty() && are_distinct(&all);
    let what = "scales must be a list of distinct numbers > 0, at least one";
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
        let rows: RowSource = value
            .try_into()
            .map_err(|e: toml::de::Error| D::Error::custom(e.message()))?;
        let of_file = rows.format.is_some() || rows.label.is_some();
        match (&rows.data, &rows.file) {
            (Some(_), None) if !of_file => Ok(Self::Rows(rows)),
            (None, Some(_)) => Ok(Self::Rows(rows)),
            _ => Err(D::Error::custom(
                "a stream is { name = … } from `extremal list streams`, { data = … } from `extremal list data`, or { file = …, format = …, label = … }",
            )),
        }
    }
}

/// Reads a spec as text, `"lp:p=1.5"`, or as a table, `{ name = "lp", p = 1.5 }`.
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

fn from_table<T>(table: &toml::Table) -> extremal::Result<T>
where
    T: TryFrom<Table, Error = extremal::Error>,
{
    // JSON would silently drop NaN and infinity.
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

/// Writes a learner's spec.
pub(super) fn spec_or_default<S: Serializer>(
    spec: &Option<LearnerSpec>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match spec {
        Some(spec) => to.collect_str(spec),
        None => to.serialize_str(DEFAULT),
    }
}

/// Writes the key that is scaled.
pub(super) fn key_or_false<S: Serializer>(key: &Option<String>, to: S) -> Result<S::Ok, S::Error> {
    match key {
        Some(key) => to.serialize_str(key),
        None => to.serialize_bool(false),
    }
}
