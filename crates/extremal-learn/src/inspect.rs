//! `inspect`: the content of a model file.

use std::path::Path;

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
    add("features", format::count(saved.dim as u64));
    add("rounds", format::count(saved.rounds));
    add("examples consumed", format::count(totals.records));
    if totals.weight > 0.0 {
        add(
            "average loss",
            format!("{:.6}", totals.loss / totals.weight),
        );
    }
    for (k, decision) in saved.decisions().enumerate() {
        let (mut nonzeros, mut largest) = (0_u64, 0.0_f64);
        decision.for_each_nonzero(&mut |_, v| {
            nonzeros += 1;
            largest = largest.max(v.abs());
        });
        let class = plan.classes().get(k).map(|class| format!(" of {class}"));
        let weights = format!(
            "{} not zero, norm {}, largest {}",
            format::count(nonzeros),
            format::significant(decision.norm_squared().sqrt(), 5),
            format::significant(largest, 5)
        );
        add(&format!("weights{}", class.unwrap_or_default()), weights);
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
        add("resume", "no: the file has only the weights".into());
    }
    let width = lines.iter().map(|(key, _)| key.chars().count() + 2).max();
    let width = width.unwrap_or(0);
    let lines = lines.iter();
    Ok(lines
        .map(|(key, value)| format!("{key:<width$}{value}\n"))
        .collect())
}

/// Passes the weights that are not 0 to `emit`, as lines `index value` or, with classes,
/// `class index value`. The indices are those of the data.
pub fn weights(path: &Path, emit: &mut dyn FnMut(&str) -> std::io::Result<()>) -> Result<()> {
    let saved = Saved::open(path)?;
    let mut written = Ok(());
    for (k, decision) in saved.decisions().enumerate() {
        let class = saved.plan.classes().get(k).map(|class| format!("{class} "));
        let class = class.unwrap_or_default();
        decision.for_each_nonzero(&mut |i, v| {
            if written.is_ok() {
                written = emit(&format!("{class}{} {v:?}\n", saved.plan.feature(i)));
            }
        });
    }
    Ok(written.map_err(cant_write(Path::new("-")))?)
}
