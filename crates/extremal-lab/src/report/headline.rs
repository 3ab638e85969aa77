//! The table at the top: one row per problem and learner, in the order of the experiment's file.

use std::fmt::Write;

use extremal::learner::LearnerSpec;

use super::html::escape;
use super::palette::Palette;
use super::view::View;
use crate::format;
use crate::results::{Results, SummaryRow, Verdict};

/// How to read the table, in sentences.
pub(super) const READING: [&str; 5] = [
    "Regret is what a learner lost beyond the best fixed decision in hindsight, at the longest T: the mean over seeds ± its standard error. It is not estimated. The level says how it is known: exact where one oracle call or a closed form gives it; otherwise it lies in the interval shown, of a comparator solved offline, or below what the gradients certify.",
    "Every horizon T is a run of its own, from scratch. The measured exponent is the slope of log regret on log T, with its 95 % interval over seeds; a dash marks what can’t be fitted, such as a regret ≤ 0. Theory’s step sizes are careful, so with a drift an exponent shows how the step size depends on T rather than how hard the problem is.",
    "A measured exponent above the theorem’s, marked ▲, is no contradiction as long as the bound is kept: the theorem’s constant leaves room for it at these T.",
    "A bound is shown only if the theorem’s assumptions are met, and counts as kept if the upper end of the regret is below it. A bound or an upper end is vacuous if it is at least G·D·T, G the largest gradient met, or at least the total loss where no loss is below 0: no feasible learner’s regret is larger.",
    "Oracle calls are those made to play in one run; Time is spent inside the learner, in runs that had the machine to themselves.",
];

/// Distinct remarks, numbered as they come.
#[derive(Default)]
struct Footnotes(Vec<String>);

impl Footnotes {
    fn mark(&mut self, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        let known = self.0.iter().position(|t| t == text);
        let index = known.unwrap_or_else(|| {
            self.0.push(text.into());
            self.0.len() - 1
        });
        format!("<sup>{}</sup>", index + 1)
    }
}

/// `0.66 ± 0.02`, or `0.66 [0.60, 0.68]` where that is not in the middle.
pub(super) fn exponent(row: &SummaryRow) -> String {
    let (Some(middle), Some(low), Some(high)) = (row.exponent, row.exponent_low, row.exponent_high)
    else {
        return format::measured(row.exponent);
    };
    let number = |x: f64| format::measured(Some(x));
    if ((high - middle) - (middle - low)).abs() < 0.01 {
        format!("{} ± {}", number(middle), number(0.5 * (high - low)))
    } else {
        format!("{} [{}, {}]", number(middle), number(low), number(high))
    }
}

/// `25.31 ± 0.42`: as many decimals for the error as for the mean.
fn regret(row: &SummaryRow) -> String {
    let mean = format::significant(row.regret, 4);
    match row.regret_error {
        Some(error) => format!(
            "{mean} <span class=\"soft\">± {}</span>",
            format::significant(error, 2)
        ),
        None => mean,
    }
}

fn level(row: &SummaryRow) -> String {
    if row.level == "exact" {
        return "exact".into();
    }
    let mark = if row.is_upper_vacuous() {
        " <i>vacuous</i>"
    } else {
        ""
    };
    format!(
        "{} <span class=\"soft\">{}</span>{mark}",
        escape(&row.level),
        format::interval(row.regret, row.regret_upper)
    )
}

fn bound(row: &SummaryRow) -> String {
    let value = row.bound.map_or("—".into(), |b| format::significant(b, 3));
    match row.verdict {
        Verdict::Kept => value,
        Verdict::Vacuous => format!("<i title=\"{value} says nothing\">vacuous</i>"),
        Verdict::Undecided => format!(
            "<span title=\"inside the interval of the regret\">{value} <i>undecided</i></span>"
        ),
        Verdict::NotMet => "<i class=\"warn\">assumption not met</i>".into(),
        Verdict::FewSeeds => {
            format!("<span title=\"a bound of the mean, with few seeds to tell\">{value}</span>")
        }
        Verdict::Exceeded => format!("<b class=\"bad\">{value} exceeded</b>"),
        Verdict::NoneProven => "<i>none proven</i>".into(),
    }
}

/// A learner's name in its colour, with its spec where that says more.
pub(super) fn name(view: &View<'_>, learner: &str, palette: &Palette) -> String {
    // `ofw` says as much as `ofw` with its defaults written out.
    let plain = learner.parse::<LearnerSpec>().ok();
    let spec = match view.learner(learner).map(|l| &l.spec) {
        Some(spec @ Some(_)) if *spec == plain => String::new(),
        Some(Some(spec)) => spec.to_string(),
        Some(None) => "the library’s choice".into(),
        None => String::new(),
    };
    let below = if spec.is_empty() {
        String::new()
    } else {
        format!("<small>{}</small>", escape(&spec))
    };
    format!(
        "<span class=\"{}\">{}</span>{below}",
        palette.look(learner).class(),
        escape(learner)
    )
}

/// The table of one experiment.
pub(super) fn table(results: &Results, palette: &Palette) -> String {
    let timed = !results.timing.is_empty();
    let mut notes = Footnotes::default();
    let mut out = String::from("<div class=\"scroll\"><table class=\"headline\"><thead><tr>");
    let columns = [
        ("algorithm", ""),
        ("theorem’s<br>exponent", ""),
        ("measured<br>exponent", "n"),
        ("regret", "n"),
        ("certificate<br>level", ""),
        ("theorem’s<br>bound", "n"),
        ("oracle<br>calls", "n"),
        ("time<br>per round", "n"),
    ];
    let columns = &columns[..if timed { 8 } else { 7 }];
    for (title, class) in columns {
        let _ = write!(out, "<th scope=\"col\" class=\"{class}\">{title}</th>");
    }
    out.push_str("</tr></thead>\n");
    for view in View::all(results) {
        let conditions: Vec<String> = view
            .conditions()
            .iter()
            .map(|c| format!("<span>{}</span>", escape(c)))
            .collect();
        let _ = writeln!(
            out,
            "<tbody><tr class=\"group\"><th colspan=\"{}\" scope=\"rowgroup\"><div>{}<p class=\"conditions\">{}</p></div></th></tr>",
            columns.len(),
            escape(&view.config.title),
            conditions.join(" ")
        );
        for (_, learner) in view.learners() {
            let scale = view.scale(learner);
            match view.last(learner, scale) {
                Some(row) => line(
                    &view,
                    row,
                    &name(&view, learner, palette),
                    timed,
                    &mut notes,
                    &mut out,
                ),
                None => {
                    let _ = writeln!(
                        out,
                        "<tr><td class=\"key\">{}</td><td colspan=\"{}\"><i>no runs yet</i></td></tr>",
                        name(&view, learner, palette),
                        columns.len() - 1
                    );
                }
            }
            best(&view, learner, timed, &mut notes, &mut out);
        }
        out.push_str("</tbody>\n");
    }
    out.push_str("</table></div>\n");
    if !notes.0.is_empty() {
        out.push_str("<ol class=\"notes\">");
        for note in &notes.0 {
            let _ = write!(out, "<li>{}</li>", escape(note));
        }
        out.push_str("</ol>\n");
    }
    out
}

/// The best factor of a learner's grid, if it has one.
fn best(view: &View<'_>, learner: &str, timed: bool, notes: &mut Footnotes, out: &mut String) {
    let grid = view.grid(learner);
    if grid.len() < 2 {
        return;
    }
    let order = |a: &&SummaryRow, b: &&SummaryRow| a.regret.total_cmp(&b.regret);
    let Some(best) = grid.iter().copied().min_by(|a, b| order(a, b)) else {
        return;
    };
    let at_edge = best.scale == grid[0].scale || best.scale == grid[grid.len() - 1].scale;
    let edge = if at_edge {
        " <span class=\"warn\" title=\"A wider grid may hold a better one.\">at the grid’s edge</span>"
    } else {
        ""
    };
    let name = format!(
        "<small>best of {} in hindsight: ×&nbsp;{}{edge}</small>",
        grid.len(),
        format::significant(best.scale, 2)
    );
    line(view, best, &name, timed, notes, out);
}

fn line(
    view: &View<'_>,
    row: &SummaryRow,
    name: &str,
    timed: bool,
    notes: &mut Footnotes,
    out: &mut String,
) {
    let above = if row.is_above_theorem() {
        " <span class=\"warn\" title=\"above the theorem’s\">▲</span>"
    } else {
        ""
    };
    let theorem = row.theorem_exponent.map_or("—".into(), format::exponent);
    let below = if row.theorem.is_empty() {
        String::new()
    } else {
        format!("<small>{}</small>", escape(&row.theorem))
    };
    let kind = if name.starts_with("<small>") {
        " class=\"best\""
    } else {
        ""
    };
    let _ = write!(
        out,
        "<tr{kind}><td class=\"key\">{name}</td><td class=\"theorem\">{theorem}{below}</td><td class=\"n\">{}{}{above}</td><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>",
        exponent(row),
        notes.mark(&row.exponent_note),
        regret(row),
        level(row),
        bound(row),
        format::count(row.oracle_calls),
    );
    if timed {
        let seconds = view.seconds_per_round(&row.learner, row.scale);
        let text = seconds.map_or("—".into(), format::duration);
        let _ = write!(out, "<td class=\"n\">{text}</td>");
    }
    out.push_str("</tr>\n");
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn rendered(results: &Results) -> String {
        table(results, &Palette::new(std::slice::from_ref(results)))
    }

    #[test]
    fn every_learner_of_every_problem_has_its_row_in_order() {
        let results = sample::results();
        let html = rendered(&results);
        // four learners, two of them with the best of their grid, on two problems
        assert_eq!(html.matches("<td class=\"key\">").count(), 2 * (4 + 2));
        let places: Vec<_> = [
            "ofw</span>",
            "ofw-ls</span>",
            "gauge-ftrl</span>",
            "ogd</span>",
        ]
        .iter()
        .map(|name| html.find(name).unwrap())
        .collect();
        assert!(places.is_sorted());
        assert!(
            html.contains("linear losses &amp; a drift"),
            "titles are escaped"
        );
    }

    #[test]
    fn the_exponent_has_its_interval() {
        let mut row = sample::results().summary[5].clone();
        (row.exponent, row.exponent_low, row.exponent_high) = (Some(0.66), Some(0.64), Some(0.68));
        assert_eq!(exponent(&row), "0.66 ± 0.02");
        row.exponent_low = Some(0.5);
        assert_eq!(exponent(&row), "0.66 [0.50, 0.68]");
        row.exponent = None;
        assert_eq!(exponent(&row), "—");
    }

    #[test]
    fn verdicts_read_as_words() {
        let mut row = sample::results().summary[5].clone();
        for (verdict, text) in [
            (Verdict::Vacuous, ">vacuous<"),
            (Verdict::Undecided, ">undecided<"),
            (Verdict::NotMet, ">assumption not met<"),
            (Verdict::Exceeded, " exceeded<"),
            (Verdict::NoneProven, ">none proven<"),
        ] {
            row.verdict = verdict;
            assert!(bound(&row).contains(text), "{text}");
        }
    }

    #[test]
    fn the_best_of_a_grid_is_chosen_in_hindsight_and_flagged_at_the_edge() {
        let mut results = sample::results();
        let html = rendered(&results);
        assert!(
            html.contains("best of 5 in hindsight: ×&nbsp;2.0"),
            "{html}"
        );
        assert!(!html.contains("at the grid’s edge"));
        for row in results.summary.iter_mut().filter(|r| r.scale == 4.0) {
            row.regret = 0.001;
        }
        assert!(rendered(&results).contains("×&nbsp;4.0 <span class=\"warn\""));
    }

    #[test]
    fn a_remark_is_made_once() {
        let results = sample::results();
        let html = rendered(&results);
        assert_eq!(
            html.matches("<li>no contradiction, as with a drift it reflects the step size</li>")
                .count(),
            1
        );
        assert!(html.contains("<sup>1</sup> <span class=\"warn\""));
    }
}
