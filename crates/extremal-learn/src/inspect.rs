//! The command `inspect`: it shows the content of a model file.

use std::path::Path;

use extremal::kernel;

use crate::certified::Proven;
use crate::error::Result;
use crate::format;
use crate::model::Saved;
use crate::stream::cant_write;

/// Describes a model file.
pub fn inspect(path: &Path) -> Result<String> {
    let mut saved = Saved::open(path)?;
    let plan = saved.plan.clone();
    let totals = saved.counters;
    let mut lines = plan.config.describe();
    let mut add = |key: &str, value: String| lines.push((key.into(), value));
    if let Some(columns) = &plan.data.columns {
        add("columns", extremal_data::describe(columns));
    }
    add("features", format::count(saved.dim as u64));
    add("rounds", format::count(saved.rounds));
    add("examples consumed", format::count(totals.records));
    if totals.weight > 0.0 {
        add(
            "average loss",
            format!("{:.6}", totals.loss / totals.weight),
        );
    }
    for (k, weights) in saved.weights().iter().enumerate() {
        let class = plan.classes().get(k).map(|class| format!(" of {class}"));
        let largest = weights.values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let text = format!(
            "{} not zero, norm {}, largest {}",
            format::count(weights.values.len() as u64),
            format::significant(kernel::norm(&weights.values), 5),
            format::significant(largest, 5)
        );
        add(&format!("weights{}", class.unwrap_or_default()), text);
    }
    if let Some(session) = saved.session() {
        let models = session.models.iter();
        let gradients = models.map(|m| m.learner.seen().largest_gradient);
        let largest = gradients.fold(0.0, f64::max);
        add("largest gradient", format::significant(largest, 5));
        add("oracle calls", format::count(session.oracle_calls()));
        if session.rounds() > 0 {
            let certified = session.certify()?;
            add("regret", certified.regret(session.rounds()));
            if let Some(comparators) = certified.comparators() {
                add("comparators", comparators);
            }
            let regret = match certified.bound {
                Some(Proven::Bound(_)) => "regret ≤ ",
                _ => "",
            };
            add("guarantee", format!("{regret}{}", certified.bound()));
        }
    } else {
        add("resume", "no: the file is for predictions only".into());
    }
    let width = lines.iter().map(|(key, _)| key.chars().count() + 2).max();
    let width = width.unwrap_or(0);
    let lines = lines.iter();
    Ok(lines
        .map(|(key, value)| format!("{key:<width$}{value}\n"))
        .collect())
}

/// Passes each weight that is not 0 to `emit`, as a line `index value`. With classes, the line is
/// `class index value`. A feature with a name has its name instead of its index.
pub fn weights(path: &Path, emit: &mut dyn FnMut(&str) -> std::io::Result<()>) -> Result<()> {
    let saved = Saved::open(path)?;
    for (k, weights) in saved.weights().iter().enumerate() {
        let class = saved.plan.classes().get(k).map(|class| format!("{class} "));
        let class = class.unwrap_or_default();
        for (i, v) in weights.indices.iter().zip(&weights.values) {
            let feature = saved.plan.feature(*i as usize);
            emit(&format!("{class}{feature} {v:?}\n")).map_err(cant_write(Path::new("-")))?;
        }
    }
    Ok(())
}
