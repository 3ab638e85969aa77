//! An experiment as TOML, with its defaults written out: what was run, to be run again.

use extremal::learner::Storage;
use toml::{Table, Value};

use super::{DEFAULT, Experiment, LearnerConfig, ProblemConfig, RowSource, RowsFrom, Source};

impl Experiment {
    /// The experiment with everything written out; reading it gives the same experiment.
    pub fn to_toml(&self) -> String {
        let mut all = Table::new();
        all.insert("title".into(), self.title.clone().into());
        all.insert("about".into(), self.about.clone().into());
        all.insert("timing".into(), self.timing.into());
        all.insert("pictures".into(), self.pictures.into());
        let problems = self.problems.iter();
        let problems = problems.map(|(name, p)| (name.clone(), Value::Table(problem(p))));
        all.insert("problem".into(), Value::Table(problems.collect()));
        let learners = self.learners.iter();
        let learners = learners.map(|(name, l)| (name.clone(), Value::Table(learner(l))));
        all.insert("learner".into(), Value::Table(learners.collect()));
        all.to_string()
    }
}

/// A number that TOML has.
fn whole(n: u64) -> Value {
    Value::Integer(i64::try_from(n).unwrap_or(i64::MAX))
}

fn problem(p: &ProblemConfig) -> Table {
    let mut table = Table::new();
    let list = |values: &[u64]| Value::Array(values.iter().map(|v| whole(*v)).collect());
    table.insert("title".into(), p.title.clone().into());
    table.insert("about".into(), p.about.clone().into());
    table.insert("set".into(), p.set.to_string().into());
    table.insert("loss".into(), p.loss.to_string().into());
    table.insert("l2".into(), p.l2.into());
    table.insert("stream".into(), source(&p.stream));
    table.insert("horizons".into(), list(&p.horizons));
    table.insert("seeds".into(), list(&p.seeds));
    table.insert("told".into(), p.told.into());
    table.insert("learners".into(), p.learners.clone().into());
    table
}

fn source(source: &Source) -> Value {
    let RowSource {
        from,
        labels,
        shuffle,
        unit_columns,
        unit_rows,
        intercept,
    } = match source {
        Source::Synthetic(spec) => return spec.to_string().into(),
        Source::Rows(rows) => rows,
    };
    let mut table = Table::new();
    match from {
        RowsFrom::Data(name) => {
            table.insert("data".into(), name.clone().into());
        }
        RowsFrom::File {
            path,
            format,
            label,
        } => {
            table.insert("file".into(), path.clone().into());
            for (key, value) in [("format", format), ("label", label)] {
                if let Some(value) = value {
                    table.insert(key.into(), value.clone().into());
                }
            }
        }
    }
    table.insert("labels".into(), (*labels).into());
    table.insert("shuffle".into(), (*shuffle).into());
    table.insert("unit-columns".into(), (*unit_columns).into());
    table.insert("unit-rows".into(), (*unit_rows).into());
    table.insert("intercept".into(), (*intercept).into());
    Value::Table(table)
}

fn learner(l: &LearnerConfig) -> Table {
    let mut table = Table::new();
    let spec = l.spec.as_ref().map_or(DEFAULT.into(), ToString::to_string);
    table.insert("spec".into(), spec.into());
    let tune = l.tune.clone().map_or(Value::Boolean(false), Value::String);
    table.insert("tune".into(), tune);
    table.insert("scales".into(), l.scales.clone().into());
    if l.storage != Storage::Dense {
        let storage = Value::try_from(l.storage).expect("a name has a TOML form");
        table.insert("storage".into(), storage);
    }
    table
}
