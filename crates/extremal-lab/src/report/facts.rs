//! What holds for all runs, and what stands out.

use std::fmt::Write;

use indexmap::IndexMap;

use super::curves::listed;
use super::headline::exponent;
use super::html::escape;
use super::view::View;
use crate::format;
use crate::headline::{Facts, is_violation};
use crate::results::{Results, Status, SummaryRow, Verdict};

/// The figures under the title.
pub(super) fn facts(all: &[Results]) -> String {
    let facts = Facts::of(all);
    let bad = |is: bool| if is { " class=\"bad\"" } else { "" };
    let mut out = String::from("<dl class=\"facts\">");
    let mut fact = |title: &str, class: &str, value: &str, below: &str| {
        let _ = write!(
            out,
            "<div><dt>{title}</dt><dd{class}>{value}</dd><dd class=\"soft\">{below}</dd></div>"
        );
    };
    fact(
        "runs",
        "",
        &format::count(facts.runs),
        "learners × problems × seeds × T",
    );
    fact(
        "rounds played",
        "",
        &format::count(facts.rounds),
        "each with one decision",
    );
    fact(
        "largest violation of a set",
        bad(facts.violation.is_some_and(is_violation)),
        &facts.violation.map_or("—".into(), format::violation),
        "relative to the set, all rounds",
    );
    let count = |n: usize| format::count(n as u64);
    let mut below = format!("{} more vacuous", count(facts.vacuous));
    if facts.undecided > 0 {
        let _ = write!(below, ", {} undecided", count(facts.undecided));
    }
    if facts.not_met > 0 {
        let _ = write!(below, ", {} assumptions not met", count(facts.not_met));
    }
    if facts.few_seeds > 0 {
        let _ = write!(
            below,
            ", {} of the mean with few seeds",
            count(facts.few_seeds)
        );
    }
    fact(
        "telling bounds kept",
        bad(facts.exceeded > 0),
        &format!(
            "{} of {}",
            count(facts.kept),
            count(facts.kept + facts.undecided + facts.exceeded)
        ),
        &below,
    );
    out.push_str("</dl>\n");
    out
}

/// What a reader must not miss, in sentences; whether it is a defect.
fn remarks(results: &Results) -> Vec<(bool, String)> {
    let mut all = Vec::new();
    if results.run.status == Status::Running {
        all.push((true, "Not all runs are there yet: it was interrupted, or still goes on. The same command continues it.".into()));
    }
    for view in View::all(results) {
        let place = |row: &SummaryRow| {
            let scale = if row.scale == view.scale(&row.learner) {
                String::new()
            } else {
                format!(" with × {}", format::significant(row.scale, 2))
            };
            format!("{}{scale} on “{}”", row.learner, view.config.title)
        };
        let rows = || results.summary.iter().filter(|r| r.problem == view.name);
        for row in rows().filter(|r| r.verdict == Verdict::Exceeded) {
            let bound = row.bound.map_or("—".into(), |b| format::significant(b, 4));
            all.push((
                true,
                format!(
                    "The regret of {} exceeds a proven bound at T = {}: {} > {bound}. This is a defect.",
                    place(row),
                    format::count(row.horizon),
                    format::significant(row.regret, 4)
                ),
            ));
        }
        for row in rows().filter(|r| r.violation.is_some_and(is_violation)) {
            all.push((
                true,
                format!(
                    "{} left the set at T = {}, by {}. This is a defect.",
                    place(row),
                    format::count(row.horizon),
                    row.violation.map_or("—".into(), format::violation)
                ),
            ));
        }
    }
    all.extend(above(results).into_iter().map(|text| (false, text)));
    all
}

/// Which learners' exponents are above their theorems', a sentence for each reason.
fn above(results: &Results) -> Vec<String> {
    let mut reasons: IndexMap<&str, Vec<String>> = IndexMap::new();
    for view in View::all(results) {
        for (_, learner) in view.learners() {
            let row = view.last(learner, view.scale(learner));
            let Some(row) = row.filter(|row| row.is_above_theorem()) else {
                continue;
            };
            let theorem = row.theorem_exponent.map_or("—".into(), format::exponent);
            let room = row.bound.map_or(String::new(), |bound| {
                let times = format::significant(bound / row.regret, 2);
                format!(", the bound {times} times the regret")
            });
            let text = format!(
                "{learner} on {} ({} against {theorem}{room})",
                view.name,
                exponent(row)
            );
            let why = row.exponent_note.as_str();
            reasons.entry(why).or_default().push(text);
        }
    }
    let sentence = |(why, who): (&str, Vec<String>)| {
        let names: Vec<&str> = who.iter().map(String::as_str).collect();
        format!(
            "Measured exponents above the theorem’s, even at the low end of their interval: {}. That is {}.",
            listed(&names),
            why.trim_end_matches('.')
        )
    };
    reasons.into_iter().map(sentence).collect()
}

/// The remarks, or that there is none.
pub(super) fn verdict(all: &[Results]) -> String {
    let mut remarks: Vec<(bool, String)> = all.iter().flat_map(remarks).collect();
    remarks.sort_by_key(|(defect, _)| !defect);
    let defects = remarks.iter().filter(|r| r.0).count();
    let (class, title) = match (defects, remarks.is_empty()) {
        (0, true) => ("good", "Nothing stands out"),
        (0, false) => ("warned", "To be read with care"),
        _ => ("wrong", "Something is wrong"),
    };
    let mut out =
        format!("<section class=\"verdict {class}\" aria-label=\"{title}\"><h2>{title}</h2>");
    if defects == 0 {
        out.push_str(
            "<p>Every decision was feasible and no regret exceeds a bound that was proven for it.",
        );
        let fitted = |r: &Results| r.summary.iter().any(|row| row.exponent.is_some());
        if remarks.is_empty() && all.iter().any(fitted) {
            out.push_str(" No measured exponent is above its theorem’s.");
        }
        out.push_str("</p>");
    }
    if !remarks.is_empty() {
        out.push_str("<ul>");
        for (defect, text) in &remarks {
            let class = if *defect { " class=\"bad\"" } else { "" };
            let _ = write!(out, "<li{class}>{}</li>", escape(text));
        }
        out.push_str("</ul>");
    }
    out.push_str("</section>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn an_exponent_above_its_theorem_is_named_with_its_reason() {
        let html = verdict(&[sample::results()]);
        assert!(html.contains("To be read with care"));
        assert!(
            html.contains(" (0.84 ± 0.02 against 3/4, the bound "),
            "{html}"
        );
        assert!(
            html.contains(" times the regret). That is no contradiction, as with a drift it reflects the step size."),
            "{html}"
        );
    }

    #[test]
    fn defects_are_said_plainly() {
        let mut results = sample::results();
        results.summary[0].verdict = Verdict::Exceeded;
        results.summary[1].violation = Some(1e-6);
        results.summary[2].violation = Some(f64::NAN);
        results.run.status = Status::Running;
        let all = [results];
        let html = verdict(&all);
        assert!(html.contains("Something is wrong"));
        assert_eq!(html.matches("This is a defect").count(), 3);
        assert!(html.contains("Not all runs are there"));
        assert!(facts(&all).contains("class=\"bad\">NaN"));
    }

    #[test]
    fn silence_is_said_too() {
        let mut results = sample::results();
        for row in &mut results.summary {
            row.exponent = None;
            row.exponent_low = None;
        }
        assert!(verdict(&[results]).contains("Nothing stands out"));
    }
}
