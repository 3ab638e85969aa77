//! Reading an experiment. Every complaint names the line, and what is allowed there.

use std::fmt::Display;
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use extremal::learner::{LearnerSpec, Storage};
use extremal::spec::Table;
use extremal::stream::StreamSpec;
use indexmap::IndexMap;
use serde::Deserialize;
use toml::{Spanned, Value};

use super::{
    DEFAULT, Experiment, LearnerConfig, Lines, ProblemConfig, ProblemLines, RowSource, RowsFrom,
    Source,
};
use crate::error::{Error, Result};

/// The key that is scaled where nothing else is said.
const STEP: &str = "eta-scale";

/// Keys and values, each of which knows where it stands.
type Keys = IndexMap<Spanned<String>, Spanned<Value>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    title: Option<String>,
    about: Option<String>,
    rounds: Option<Spanned<u64>>,
    horizons: Option<Spanned<Horizons>>,
    seeds: Option<Spanned<Seeds>>,
    scales: Option<Spanned<Vec<f64>>>,
    told: Option<bool>,
    timing: Option<bool>,
    pictures: Option<bool>,
    #[serde(default)]
    problem: IndexMap<String, Spanned<Problem>>,
    #[serde(default)]
    learner: IndexMap<String, Spanned<Keys>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Problem {
    title: Option<String>,
    about: Option<String>,
    set: Spanned<Value>,
    loss: Spanned<Value>,
    l2: Option<Spanned<f64>>,
    stream: Spanned<Value>,
    rounds: Option<Spanned<u64>>,
    horizons: Option<Spanned<Horizons>>,
    seeds: Option<Spanned<Seeds>>,
    told: Option<bool>,
    learners: Option<Spanned<Vec<String>>>,
}

#[derive(Deserialize, Clone)]
#[serde(untagged, expecting = "a list of numbers of rounds, or { from, to }")]
enum Horizons {
    List(Vec<u64>),
    Doubling(Doubling),
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Doubling {
    from: u64,
    to: u64,
}

#[derive(Deserialize, Clone)]
#[serde(untagged, expecting = "a number of seeds, or a list of them")]
enum Seeds {
    Count(u64),
    List(Vec<u64>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Rows {
    data: Option<String>,
    file: Option<String>,
    format: Option<String>,
    label: Option<String>,
    labels: Option<bool>,
    #[serde(default)]
    shuffle: bool,
    #[serde(default)]
    unit_columns: bool,
    #[serde(default)]
    unit_rows: bool,
    #[serde(default)]
    intercept: bool,
}

/// The text, to find lines in.
struct Text<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Text<'_> {
    /// The line that something begins in, from 1.
    fn line(&self, span: &Range<usize>) -> usize {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        1 + before.iter().filter(|b| **b == b'\n').count()
    }

    fn lines(&self, problem: &Spanned<Problem>) -> ProblemLines {
        let Problem {
            set, loss, stream, ..
        } = problem.get_ref();
        ProblemLines {
            table: self.line(&problem.span()),
            set: self.line(&set.span()),
            loss: self.line(&loss.span()),
            stream: self.line(&stream.span()),
        }
    }

    fn error(&self, span: &Range<usize>, what: impl Display) -> Error {
        Error::Experiment {
            path: self.path.into(),
            line: self.line(span),
            what: what.to_string(),
        }
    }
}

impl Experiment {
    /// Reads an experiment. Nothing that it names is opened, and nothing is built.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let at = Text { path, text };
        let file: File = toml::from_str(text)
            .map_err(|e| at.error(&e.span().unwrap_or(0..0), e.message().trim_end()))?;
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
        let grid = match &file.scales {
            None => vec![1.0],
            Some(scales) => checked_scales(&at, scales)?,
        };
        let mut learners = IndexMap::new();
        for (name, table) in &file.learner {
            check_name(&at, &table.span(), "learner", name)?;
            learners.insert(name.clone(), learner(&at, table, &grid)?);
        }
        equal_budgets(&at, &learners, &file)?;
        let mut problems = IndexMap::new();
        for (name, problem) in &file.problem {
            check_name(&at, &problem.span(), "problem", name)?;
            let config = read_problem(&at, name, problem, &file, &learners)?;
            problems.insert(name.clone(), config);
        }
        let played = |name: &String| problems.values().any(|p| p.learners.contains(name));
        if let Some(idle) = learners.keys().find(|name| !played(name)) {
            let span = file.learner[idle].span();
            return Err(at.error(&span, format!("learner {idle} plays no problem")));
        }
        let lines = Lines {
            path: path.into(),
            problems: file.problem.values().map(|p| at.lines(p)).collect(),
            learners: file.learner.values().map(|l| at.line(&l.span())).collect(),
        };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Self {
            title: file.title.unwrap_or_else(|| stem.into_owned()),
            about: file.about.unwrap_or_default(),
            timing: file.timing.unwrap_or(false),
            pictures: file.pictures.unwrap_or(true),
            problems,
            learners,
            lines,
        })
    }
}

fn check_name(at: &Text<'_>, span: &Range<usize>, kind: &str, name: &str) -> Result<()> {
    let plain = |c: char| c.is_alphanumeric() || "-_.+ ".contains(c);
    if !name.is_empty() && name.len() <= 60 && name.chars().all(plain) {
        return Ok(());
    }
    Err(at.error(
        span,
        format!("{kind} `{name}`: a name is made of letters, digits, blanks and -_.+, 60 at most"),
    ))
}

fn checked_scales(at: &Text<'_>, scales: &Spanned<Vec<f64>>) -> Result<Vec<f64>> {
    let list = scales.get_ref();
    let positive = |s: &f64| s.is_finite() && *s > 0.0;
    let distinct = (1..list.len()).all(|i| !list[..i].contains(&list[i]));
    if list.is_empty() || !list.iter().all(positive) || !distinct {
        return Err(at.error(
            &scales.span(),
            "scales must be a list of distinct numbers > 0, one at least",
        ));
    }
    Ok(list.clone())
}

fn learner(at: &Text<'_>, table: &Spanned<Keys>, grid: &[f64]) -> Result<LearnerConfig> {
    let (mut tune, mut own) = (None, None);
    let mut spec = toml::Table::new();
    let mut written = None;
    let mut storage = Storage::default();
    for (key, value) in table.get_ref() {
        match (key.get_ref().as_str(), value.get_ref()) {
            ("tune", Value::Boolean(false)) => tune = Some(None),
            ("tune", Value::String(key)) => tune = Some(Some(key.clone())),
            ("tune", _) => {
                return Err(at.error(
                    &value.span(),
                    "tune must be false, or the key that is scaled, \"eta-scale\" for example",
                ));
            }
            ("scales", v) => {
                let list = v.clone().try_into::<Vec<f64>>().map_err(|_| {
                    at.error(&value.span(), "scales must be a list of numbers, each > 0")
                })?;
                own = Some(checked_scales(at, &Spanned::new(value.span(), list))?);
            }
            ("storage", v) => {
                storage = v.clone().try_into().map_err(|_| {
                    let what = "storage must be \"dense\", \"lazy\" or \"sparse\"";
                    at.error(&value.span(), what)
                })?;
            }
            ("spec", Value::String(text)) => written = Some((value.span(), text.clone())),
            (key, value) => {
                spec.insert(key.into(), value.clone());
            }
        }
    }
    let spec = match (written, spec.get("name").and_then(Value::as_str)) {
        (Some((span, _)), _) if !spec.is_empty() => {
            return Err(at.error(&span, "a learner has a spec, or a name and keys; not both"));
        }
        (Some((_, text)), _) if text == DEFAULT => None,
        (Some((span, text)), _) => Some(text.parse().map_err(|e| at.error(&span, e))?),
        (None, None) => {
            return Err(at.error(
                &table.span(),
                format!("a learner needs a name, one of {}", names_of_learners()),
            ));
        }
        (None, Some(DEFAULT)) if spec.len() == 1 => None,
        (None, Some(_)) => Some(read_table::<LearnerSpec>(&spec).map_err(|why| {
            let at_fault = match &why {
                extremal::Error::Spec { key, .. } => key.as_deref(),
                _ => None,
            };
            let mut keys = table.get_ref().keys();
            let key = keys.find(|key| Some(key.get_ref().as_str()) == at_fault);
            let span = key.map_or(table.span(), Spanned::span);
            match at_fault {
                Some("name") => at.error(&span, format!("{why}, or `{DEFAULT}`")),
                _ => at.error(&span, why),
            }
        })?),
    };
    let tunable = |key: &str| {
        spec.as_ref()
            .is_some_and(|s| s.entry().parameters.iter().any(|p| p.name == key))
    };
    let many = own.as_deref().unwrap_or(grid) != [1.0];
    let tune = match tune {
        Some(Some(key)) if !tunable(&key) => {
            return Err(at.error(&table.span(), format!("this learner has no key `{key}`")));
        }
        Some(given) => given,
        None if tunable(STEP) => Some(STEP.into()),
        None if many => {
            return Err(at.error(
                &table.span(),
                "this learner has no step size to be scaled; write tune = false, or tune = \"KEY\"",
            ));
        }
        None => None,
    };
    let scales = match (&tune, own) {
        (None, Some(own)) if own != [1.0] => {
            return Err(at.error(&table.span(), "tune = false has no scales"));
        }
        (None, _) => vec![1.0],
        (Some(_), own) => own.unwrap_or(grid.to_vec()),
    };
    Ok(LearnerConfig {
        spec,
        tune,
        scales,
        storage,
    })
}

/// Whoever tries more step sizes has better luck: all try as many, or one alone.
fn equal_budgets(
    at: &Text<'_>,
    learners: &IndexMap<String, LearnerConfig>,
    file: &File,
) -> Result<()> {
    let tuned = || learners.iter().filter(|(_, l)| l.tune.is_some());
    let Some((first, budget)) = tuned().map(|(name, l)| (name, l.scales.len())).next() else {
        return Ok(());
    };
    for (name, learner) in tuned() {
        let tries = learner.scales.len();
        if tries != budget {
            return Err(at.error(
                &file.learner[name].span(),
                format!(
                    "learner {name} tries {tries} step sizes and {first} {budget}; give everyone as many, or tune = false"
                ),
            ));
        }
    }
    Ok(())
}

fn read_problem(
    at: &Text<'_>,
    name: &str,
    problem: &Spanned<Problem>,
    file: &File,
    learners: &IndexMap<String, LearnerConfig>,
) -> Result<ProblemConfig> {
    let (span, problem) = (problem.span(), problem.get_ref());
    let rounds = (problem.rounds.as_ref(), problem.horizons.as_ref());
    let horizons = match rounds {
        (None, None) => horizons(at, &span, file.rounds.as_ref(), file.horizons.as_ref()),
        (rounds, list) => horizons(at, &span, rounds, list),
    }?;
    let seeds = match problem.seeds.as_ref().or(file.seeds.as_ref()) {
        None => vec![0],
        Some(seeds) => read_seeds(at, seeds)?,
    };
    let l2 = match &problem.l2 {
        None => 0.0,
        Some(l2) if l2.get_ref().is_finite() && *l2.get_ref() >= 0.0 => *l2.get_ref(),
        Some(l2) => return Err(at.error(&l2.span(), "l2 must be a number ≥ 0")),
    };
    let players = match &problem.learners {
        None => learners.keys().cloned().collect(),
        Some(list) => {
            for (i, player) in list.get_ref().iter().enumerate() {
                if !learners.contains_key(player) || list.get_ref()[..i].contains(player) {
                    let known: Vec<&str> = learners.keys().map(String::as_str).collect();
                    let known = known.join(", ");
                    return Err(at.error(
                        &list.span(),
                        format!(
                            "learners: `{player}` is not one of {known}, or stands there twice"
                        ),
                    ));
                }
            }
            list.get_ref().clone()
        }
    };
    if players.is_empty() {
        return Err(at.error(&span, format!("nobody plays problem {name}")));
    }
    Ok(ProblemConfig {
        title: problem.title.clone().unwrap_or_else(|| name.into()),
        about: problem.about.clone().unwrap_or_default(),
        set: read_spec(at, &problem.set)?,
        loss: read_spec(at, &problem.loss)?,
        l2,
        stream: read_stream(at, &problem.stream)?,
        horizons,
        seeds,
        told: problem.told.or(file.told).unwrap_or(true),
        learners: players,
    })
}

fn horizons(
    at: &Text<'_>,
    span: &Range<usize>,
    rounds: Option<&Spanned<u64>>,
    list: Option<&Spanned<Horizons>>,
) -> Result<Vec<u64>> {
    let (span, all) = match (rounds, list) {
        (Some(_), Some(list)) => {
            return Err(at.error(&list.span(), "give rounds or horizons, not both"));
        }
        (None, None) => {
            return Err(at.error(span, "how long? give rounds = T, or horizons = [T1, T2, …]"));
        }
        (Some(rounds), None) => (rounds.span(), vec![*rounds.get_ref()]),
        (None, Some(list)) => {
            let all = match list.get_ref() {
                Horizons::List(all) => all.clone(),
                Horizons::Doubling(Doubling { from, to }) => {
                    let doubled = |t: &u64| t.checked_mul(2).filter(|t| *t > 0);
                    let from = Some(*from).filter(|t| *t > 0);
                    let all = std::iter::successors(from, doubled);
                    all.take_while(|t| t <= to).collect()
                }
            };
            (list.span(), all)
        }
    };
    let growing = all.windows(2).all(|w| w[0] < w[1]);
    if all.first().is_none_or(|t| *t == 0) || !growing {
        return Err(at.error(
            &span,
            "rounds and horizons must be whole numbers from 1 on, growing",
        ));
    }
    if all.iter().any(|t| *t > 1_000_000_000_000) {
        return Err(at.error(&span, "a run of more than 10^12 rounds would never end"));
    }
    Ok(all)
}

fn read_seeds(at: &Text<'_>, seeds: &Spanned<Seeds>) -> Result<Vec<u64>> {
    let all: Vec<u64> = match seeds.get_ref() {
        Seeds::Count(n) if *n > 100_000 => Vec::new(),
        Seeds::Count(n) => (0..*n).collect(),
        Seeds::List(all) => all.clone(),
    };
    let distinct = (1..all.len()).all(|i| !all[..i].contains(&all[i]));
    if all.is_empty() || !distinct {
        return Err(at.error(
            &seeds.span(),
            "seeds must be a number from 1 to 100000, or a list of distinct whole numbers",
        ));
    }
    Ok(all)
}

fn read_stream(at: &Text<'_>, stream: &Spanned<Value>) -> Result<Source> {
    let table = stream.get_ref().as_table();
    let Some(table) = table.filter(|t| !t.contains_key("name")) else {
        return Ok(Source::Synthetic(read_spec::<StreamSpec>(at, stream)?));
    };
    let rows: Rows = table
        .clone()
        .try_into()
        .map_err(|e: toml::de::Error| at.error(&stream.span(), e.message()))?;
    let from = match (rows.data, rows.file, rows.format, rows.label) {
        (Some(name), None, None, None) => RowsFrom::Data(name),
        (None, Some(path), format, label) => RowsFrom::File {
            path,
            format,
            label,
        },
        _ => {
            return Err(at.error(
                &stream.span(),
                "a stream is { name = … } of `extremal list streams`, { data = … } that is embedded, or { file = …, format = …, label = … }",
            ));
        }
    };
    Ok(Source::Rows(RowSource {
        from,
        labels: rows.labels.unwrap_or(true),
        shuffle: rows.shuffle,
        unit_columns: rows.unit_columns,
        unit_rows: rows.unit_rows,
        intercept: rows.intercept,
    }))
}

/// A spec as text, `"lp:p=1.5"`, or as a table, `{ name = "lp", p = 1.5 }`.
fn read_spec<T>(at: &Text<'_>, value: &Spanned<Value>) -> Result<T>
where
    T: TryFrom<Table, Error = extremal::Error> + FromStr<Err = extremal::Error>,
{
    match value.get_ref() {
        Value::String(text) => text.parse().map_err(|e| at.error(&value.span(), e)),
        Value::Table(table) => read_table(table).map_err(|why| at.error(&value.span(), why)),
        _ => Err(at.error(
            &value.span(),
            "write a spec, \"lp:p=1.5,dim=10\", or a table, { name = \"lp\", p = 1.5, dim = 10 }",
        )),
    }
}

/// A number of a table that is none: JSON, by way of which specs are read, has no word for it, and
/// would leave the key out.
fn not_finite(value: &Value) -> bool {
    match value {
        Value::Float(v) => !v.is_finite(),
        Value::Array(all) => all.iter().any(not_finite),
        Value::Table(table) => table.values().any(not_finite),
        _ => false,
    }
}

fn read_table<T>(table: &toml::Table) -> Result<T, extremal::Error>
where
    T: TryFrom<Table, Error = extremal::Error>,
{
    if let Some((key, _)) = table.iter().find(|(_, v)| not_finite(v)) {
        return Err(extremal::Error::Spec {
            key: Some(key.clone()),
            what: format!("`{key}` must be finite: nan and inf are no numbers to play with"),
        });
    }
    let table = table.iter().map(|(key, value)| {
        let value = serde_json::to_value(value).map_err(extremal::Error::other)?;
        Ok((key.clone(), value))
    });
    T::try_from(table.collect::<Result<_, extremal::Error>>()?)
}

fn names_of_learners() -> String {
    let names = LearnerSpec::ENTRIES.iter().map(|e| e.name);
    names.chain([DEFAULT]).collect::<Vec<_>>().join(", ")
}
