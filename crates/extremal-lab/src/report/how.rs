//! The assumptions that were checked, and how it was run.

use std::fmt::Write;

use super::headline::name;
use super::html::escape;
use super::palette::Palette;
use super::view::View;
use crate::experiment::Experiment;
use crate::format;
use crate::results::{Results, RunInfo};

/// The assumptions of the theorems and the feasibility of the decisions, per problem and learner.
pub(super) fn checks(results: &Results, palette: &Palette) -> String {
    let mut out = String::from(
        "<div class=\"scroll\"><table class=\"checks\"><thead><tr><th scope=\"col\">algorithm</th><th scope=\"col\">theorem</th><th scope=\"col\">what it takes for granted, and what was seen</th><th scope=\"col\">kept</th><th scope=\"col\" class=\"n\">largest<br>violation</th></tr></thead>\n",
    );
    for view in View::all(results) {
        let _ = writeln!(
            out,
            "<tbody><tr class=\"group\"><th colspan=\"5\" scope=\"rowgroup\"><div>{}</div></th></tr>",
            escape(&view.config.title)
        );
        for (_, learner) in view.learners() {
            let scale = view.scale(learner);
            let Some(row) = view.last(learner, scale) else {
                continue;
            };
            let mine = results.checks.iter().filter(|c| {
                c.problem == view.name
                    && c.learner == learner
                    && c.scale == scale
                    && c.horizon == row.horizon
            });
            let mine: Vec<_> = mine.collect();
            let details: Vec<String> = mine
                .iter()
                .map(|c| {
                    let class = if c.holds { "" } else { " class=\"bad\"" };
                    format!("<span{class}>{}</span>", escape(&c.detail))
                })
                .collect();
            let proven = row.theorem_exponent.is_some() || !row.theorem.is_empty();
            let (theorem, details, kept) = match (proven, mine.is_empty()) {
                (false, _) => ("none here".into(), String::new(), "—"),
                (true, true) => (
                    escape(&row.theorem),
                    "nothing beyond convex losses".into(),
                    "yes",
                ),
                (true, false) => {
                    let kept = mine.iter().all(|c| c.holds);
                    (
                        escape(&row.theorem),
                        details.join("; "),
                        if kept { "yes" } else { "no" },
                    )
                }
            };
            let rows = view.rows(learner, scale);
            let violations = rows.iter().filter_map(|r| r.violation);
            let worst = violations.reduce(|a, b| if b > a || b.is_nan() { b } else { a });
            let _ = writeln!(
                out,
                "<tr><td class=\"key\">{}</td><td class=\"wide\">{theorem}</td><td class=\"wide\">{details}</td><td{}>{kept}</td><td class=\"n{}\">{}</td></tr>",
                name(&view, learner, palette),
                if kept == "no" { " class=\"bad\"" } else { "" },
                if worst.is_some_and(|v| !(v <= 1e-9)) {
                    " bad"
                } else {
                    ""
                },
                worst.map_or("—".into(), format::violation),
            );
        }
        out.push_str("</tbody>\n");
    }
    out.push_str("</table></div>\n");
    out
}

/// How one experiment was run, so that anyone can repeat it.
pub(super) fn how(results: &Results, toml: &str) -> String {
    let run: &RunInfo = &results.run;
    let mut out = format!(
        "<p>This command gives the same tables, bit for bit, on the same processor’s features and whatever the number of threads; times differ.</p>\n<pre class=\"command\">{}</pre>\n<dl class=\"run\">",
        escape(&run.command)
    );
    let mut fact = |title: &str, value: &str| {
        let _ = write!(out, "<dt>{title}</dt><dd>{}</dd>", escape(value));
    };
    fact("program", &format!("Extremal {}", run.version));
    fact("platform", &format!("{}, {}", run.platform, run.features));
    fact(
        "threads",
        &format!(
            "{} on {} cores, {:.1} s",
            run.threads, run.cores, run.seconds
        ),
    );
    fact("seeds", &seeds(&results.experiment));
    out.push_str("</dl>\n");
    if !run.inputs.is_empty() {
        out.push_str("<div class=\"scroll\"><table class=\"inputs\"><thead><tr><th scope=\"col\">input</th><th scope=\"col\">SHA-256</th></tr></thead><tbody>");
        for input in &run.inputs {
            let _ = write!(
                out,
                "<tr><td>{}</td><td><code>{}</code></td></tr>",
                escape(&input.name),
                escape(&input.sha256)
            );
        }
        out.push_str("</tbody></table></div>\n");
    }
    let _ = writeln!(
        out,
        "<h3>The experiment, with everything written out</h3>\n<pre class=\"config\" tabindex=\"0\">{}</pre>",
        escape(toml)
    );
    out
}

/// The seeds, once if all problems share them.
fn seeds(experiment: &Experiment) -> String {
    let text = |seeds: &[u64]| match seeds {
        [first, .., last] if seeds.windows(2).all(|w| w[1] == w[0] + 1) => {
            format!("{first} to {last}")
        }
        seeds => seeds
            .iter()
            .map(u64::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    };
    let all: Vec<String> = experiment
        .problems
        .values()
        .map(|p| text(&p.seeds))
        .collect();
    match all.first() {
        Some(first) if all.iter().all(|s| s == first) => {
            format!("{first}; every learner of a problem meets the same streams")
        }
        _ => {
            let problems = experiment.problems.keys().zip(&all);
            let texts: Vec<_> = problems
                .map(|(name, seeds)| format!("{name}: {seeds}"))
                .collect();
            texts.join("; ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_broken_assumption_is_marked() {
        let results = sample::results();
        let html = checks(&results, &Palette::new(std::slice::from_ref(&results)));
        assert_eq!(html.matches("<td class=\"bad\">no</td>").count(), 1);
        assert_eq!(html.matches("<td>yes</td>").count(), 6);
        assert!(html.contains("none here"));
    }

    #[test]
    fn whatever_comes_from_files_is_escaped() {
        let mut results = sample::results();
        results.run.inputs[0].name = "<script>".into();
        results.run.command = "a && b".into();
        let html = how(&results, "title = \"<b>\"");
        assert!(!html.contains("<script>") && !html.contains("<b>"));
        assert!(html.contains("a &amp;&amp; b"));
        assert!(html.contains("0 to 2;"));
        results.experiment.problems[1].seeds = vec![7, 9];
        assert!(how(&results, "").contains("drift: 0 to 2; simplex: 7, 9"));
    }
}
