//! `inspect`: what a model file holds.

use std::path::Path;

use crate::error::{Result, cant_write};
use crate::format;
use crate::model::Saved;
use crate::session::Proven;

/// What a model file holds, in words.
pub fn inspect(path: &Path) -> Result<String> {
    let mut saved = Saved::open(path)?;
    let plan = saved.plan.clone();
    let counters = saved.counters;
    let mut lines: Vec<(String, String)> = vec![
        ("set".into(), plan.set.to_string()),
        ("loss".into(), plan.loss.to_string()),
        ("l2".into(), plan.config.ridge().to_string()),
        ("learner".into(), plan.learner.to_string()),
        (
            "storage".into(),
            format!("{:?}", plan.storage).to_lowercase(),
        ),
        ("features".into(), format::count(saved.dim as u64)),
        ("rounds".into(), format::count(saved.rounds)),
        ("examples consumed".into(), format::count(counters.records)),
    ];
    if !plan.classes().is_empty() {
        lines.push(("classes".into(), plan.classes().join(", ")));
    }
    if let Some((negative, positive)) = &plan.config.labels {
        lines.push(("labels".into(), format!("{negative} = −1, {positive} = +1")));
    }
    if counters.weight > 0.0 {
        let average = counters.loss / counters.weight;
        lines.push(("average loss".into(), format!("{average:.6}")));
    }
    for (k, decision) in saved.decisions().enumerate() {
        let mut nonzeros = 0_u64;
        let mut largest = 0.0_f64;
        decision.for_each_nonzero(&mut |_, v| {
            nonzeros += 1;
            largest = largest.max(v.abs());
        });
        let who = match plan.classes().get(k) {
            Some(class) => format!("weights of {class}"),
            None => "weights".into(),
        };
        lines.push((
            who,
            format!(
                "{} not zero, norm {}, largest {}",
                format::count(nonzeros),
                format::significant(decision.norm_squared().sqrt(), 5),
                format::significant(largest, 5)
            ),
        ));
    }
    match saved.session() {
        None => lines.push(("resume".into(), "no: weights alone were kept".into())),
        Some(session) => {
            let largest = session.largest_gradient();
            lines.push(("largest gradient".into(), format::significant(largest, 5)));
            lines.push(("oracle calls".into(), format::count(session.oracle_calls())));
            if session.rounds() > 0 {
                let certified = session.certify()?;
                lines.push(("regret".into(), certified.regret(session.rounds())));
                if let Some(comparators) = certified.comparators() {
                    lines.push(("comparators".into(), comparators));
                }
                let regret = match certified.bound {
                    Some(Proven::Bound(_)) => "regret ≤ ",
                    _ => "",
                };
                let guarantee = format!("{regret}{}", certified.bound());
                lines.push(("guarantee".into(), guarantee));
            }
        }
    }
    let width = lines.iter().map(|(key, _)| key.chars().count()).max();
    let width = width.unwrap_or(0) + 2;
    Ok(lines
        .iter()
        .map(|(key, value)| format!("{key:<width$}{value}\n"))
        .collect())
}

/// The weights that are not 0, `index value` per line, indices as the data has them; for several
/// classes `class index value`.
pub fn weights(path: &Path, emit: &mut dyn FnMut(&str) -> std::io::Result<()>) -> Result<()> {
    let saved = Saved::open(path)?;
    let mut failed = None;
    for (k, decision) in saved.decisions().enumerate() {
        let class = saved.plan.classes().get(k).map(|c| format!("{c} "));
        let class = class.unwrap_or_default();
        decision.for_each_nonzero(&mut |i, v| {
            if failed.is_none() {
                failed = emit(&format!("{class}{} {v:?}\n", saved.plan.feature(i))).err();
            }
        });
    }
    match failed {
        None => Ok(()),
        Some(why) => Err(cant_write(Path::new("-"), why)),
    }
}
