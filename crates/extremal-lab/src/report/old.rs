//! The demo's report as it was; goes when the demo is an experiment.

use std::fmt::Write;

use extremal::learner::LearnerSpec;

use super::SavedFigure;
use super::html::escape;
use super::old_svg::{Figure, Series};
use crate::format;
use crate::problem::Problem;
use crate::run::{Plan, TracePoint};
use crate::summary::{Bound, Row, Summary, telling_bound};
use crate::table;

/// Colours, for the page and for figures by themselves.
const STYLE: &str = include_str!("old_style.css");
const PAGE: &str = include_str!("old_page.css");

/// What the report tells of how it was made.
#[derive(Debug, Clone)]
pub struct Provenance {
    /// The program's version.
    pub version: String,
    /// The seed asked for.
    pub seed: u64,
    /// Threads used.
    pub threads: usize,
    /// Seconds that all runs took.
    pub seconds: f64,
    /// The command that makes the same results.
    pub command: String,
}

/// A learner followed through one run.
#[derive(Debug, Clone)]
pub struct Trace {
    /// Index of the problem in the plan.
    pub problem: usize,
    /// The learner.
    pub learner: &'static str,
    /// What was seen.
    pub points: Vec<TracePoint>,
}

/// The figures as files: one per problem, and the trace's.
pub fn figures(plan: &Plan, summary: &Summary, trace: &Trace) -> Vec<SavedFigure> {
    let mut all = Vec::new();
    for (problem, rows) in plan.problems.iter().zip(&summary.rows) {
        let series = regret_series(rows);
        if let Some(content) = regret_figure(problem, &series).render(Some(STYLE)) {
            all.push(SavedFigure {
                name: format!("{}.svg", problem.key),
                content,
            });
        }
    }
    let series = trace_series(trace);
    if let Some(content) = trace_figure(&series).render(Some(STYLE)) {
        all.push(SavedFigure {
            name: "certificate.svg".into(),
            content,
        });
    }
    all
}

/// The page.
pub fn render(plan: &Plan, summary: &Summary, trace: &Trace, made: &Provenance) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>Extremal demo</title><style>{STYLE}{PAGE}</style></head><body><main>\n\
         <h1>Regret without projections</h1>\n\
         <p>Each learner below makes one decision per round inside a constraint set, sees the loss, and \
         updates; all but the baseline reach the set only by minimising a linear function over it. \
         Regret is what a learner lost beyond the best fixed decision in hindsight. It is not estimated: \
         for linear losses it is exact, otherwise it lies in a certified interval. Beside it \
         stand how it grows with the number of rounds T, and what the theorems promise, where their \
         assumptions were checked on the very runs.</p>\n"
    );
    facts(summary, made, &mut out);
    out.push_str("<h2>Results at the longest horizon</h2>\n");
    results(plan, summary, &mut out);
    out.push_str("<h2>Regret across horizons</h2>\n<p class=\"soft\">Both axes are logarithmic, so that a slope is an exponent. Each point is its own set of runs, from scratch for that T: the mean over seeds, with a band from the least to the largest. Dashed: the theorem’s bound, drawn only where it is below the trivial G·D·T. Grey: the baseline that projects.</p>\n<div class=\"figures\">\n");
    for (problem, rows) in plan.problems.iter().zip(&summary.rows) {
        regret_block(problem, rows, &mut out);
    }
    out.push_str("</div>\n");
    trace_block(plan, summary, trace, &mut out);
    out.push_str("<h2>Assumptions, checked</h2>\n<p class=\"soft\">A theorem’s bound counts only if the run kept to what it takes for granted. At the longest horizon, for the first seed unless another broke one:</p>\n");
    assumptions(plan, summary, &mut out);
    how(plan, made, &mut out);
    out.push_str("</main></body></html>\n");
    out
}

fn facts(summary: &Summary, made: &Provenance, out: &mut String) {
    let bad = |is: bool| if is { " class=\"bad\"" } else { "" };
    let _ = writeln!(
        out,
        "<dl class=\"facts\"><div><dt>runs</dt><dd>{}</dd></div>\
         <div><dt>rounds played</dt><dd>{}</dd></div>\
         <div><dt>largest violation of a set</dt><dd{}>{}</dd></div>\
         <div><dt>telling bounds exceeded</dt><dd{}>{} of {}</dd></div></dl>\n\
         <p class=\"soft\">All in {:.1} s on {} {}.</p>",
        format::count(summary.runs as u64),
        format::count(summary.rounds),
        bad(!(summary.violation <= 1e-9)),
        format::violation(summary.violation),
        bad(summary.exceeded > 0),
        summary.exceeded,
        format::count((summary.proven - summary.vacuous) as u64),
        made.seconds,
        made.threads,
        if made.threads == 1 {
            "thread"
        } else {
            "threads"
        },
    );
}

fn results(plan: &Plan, summary: &Summary, out: &mut String) {
    out.push_str("<div class=\"scroll\"><table><thead><tr>");
    for (above, below, right) in table::COLUMNS {
        let class = if right { " class=\"n\"" } else { "" };
        let title = format!("{above} {below}");
        let _ = write!(
            out,
            "<th{class} scope=\"col\">{}</th>",
            escape(title.trim()).replacen(' ', "<br>", 1)
        );
    }
    out.push_str("</tr></thead><tbody>\n");
    for (problem, rows) in plan.problems.iter().zip(&summary.rows) {
        let _ = writeln!(
            out,
            "<tr class=\"group\"><th colspan=\"{}\" scope=\"rowgroup\"><div>{}<span>{}</span></div></th></tr>",
            table::COLUMNS.len(),
            escape(problem.title),
            escape(&table::constants(problem, plan.seeds.len()))
        );
        for row in rows {
            let class = if row.baseline {
                " class=\"baseline\""
            } else {
                ""
            };
            let _ = write!(out, "<tr{class}>");
            for (i, (cell, (_, _, right))) in table::cells(problem, row)
                .iter()
                .zip(table::COLUMNS)
                .enumerate()
            {
                let class = match (i, right) {
                    (0, _) => format!(" class=\"key {}\"", colour(row.learner)),
                    (_, true) => " class=\"n\"".into(),
                    _ => String::new(),
                };
                let mut text = escape(cell);
                if let (6, Bound::Vacuous(bound)) = (i, row.bound) {
                    text = format!(
                        "<i title=\"{} exceeds G·D·T\">{text}</i>",
                        format::significant(bound, 3)
                    );
                } else if let (6, Bound::NotApplicable) = (i, row.bound) {
                    text = format!("<span class=\"bad\">{text}</span>");
                }
                let _ = write!(out, "<td{class}>{text}</td>");
            }
            out.push_str("</tr>\n");
        }
    }
    out.push_str("</tbody></table></div>\n<div class=\"notes\">");
    for sentence in table::verdicts(summary)
        .iter()
        .map(String::as_str)
        .chain(table::READING)
    {
        let _ = write!(out, "<p>{}</p>", escape(sentence));
    }
    out.push_str("</div>\n");
}

/// The CSS class of a learner's colour.
fn colour(learner: &str) -> String {
    format!("c-{learner}")
}

/// A learner's marker, the same in every figure.
fn marker(learner: &str) -> usize {
    let mut names = LearnerSpec::ENTRIES.iter().map(|e| e.name);
    names.position(|name| name == learner).unwrap_or(0)
}

fn regret_series(rows: &[Row]) -> Vec<Series> {
    let mut all = Vec::new();
    // The baseline first, so that it lies below.
    let mut order: Vec<&Row> = rows.iter().collect();
    order.sort_by_key(|row| !row.baseline);
    for row in order {
        let bound = telling_bound(&row.points);
        let line = Series {
            label: row.learner.into(),
            class: colour(row.learner),
            points: row.points.iter().map(|p| (p.horizon, p.mean)).collect(),
            band: row
                .points
                .iter()
                .map(|p| (p.horizon, p.least, p.most))
                .collect(),
            dashed: false,
            marker: marker(row.learner),
        };
        if !bound.is_empty() {
            all.push(Series {
                label: String::new(),
                class: colour(row.learner),
                points: bound,
                band: Vec::new(),
                dashed: true,
                marker: 0,
            });
        }
        all.push(line);
    }
    all
}

fn regret_figure<'a>(problem: &'a Problem, series: &'a [Series]) -> Figure<'a> {
    Figure {
        title: problem.title,
        x_label: "rounds T",
        y_label: "regret",
        series,
    }
}

fn regret_block(problem: &Problem, rows: &[Row], out: &mut String) {
    let _ = write!(out, "<figure><h3>{}</h3>", escape(problem.title));
    let series = regret_series(rows);
    match regret_figure(problem, &series).render(None) {
        Some(svg) => out.push_str(&svg),
        None => out.push_str("<p class=\"soft\">No regret is positive: nothing to draw.</p>"),
    }
    let drawn = |row: &&Row| !telling_bound(&row.points).is_empty();
    let names = |rows: Vec<&Row>| {
        rows.iter()
            .map(|r| r.learner)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut notes = vec![problem.about.to_string()];
    let vacuous: Vec<&Row> = rows
        .iter()
        .filter(|r| r.guarantee.is_some() && !drawn(r))
        .collect();
    if !vacuous.is_empty() {
        notes.push(format!("Bound vacuous in this range: {}.", names(vacuous)));
    }
    let unproven: Vec<&Row> = rows.iter().filter(|r| r.guarantee.is_none()).collect();
    if !unproven.is_empty() {
        notes.push(format!("No theorem on this set: {}.", names(unproven)));
    }
    if rows.iter().any(|r| r.points.iter().any(|p| p.mean <= 0.0)) {
        notes.push("Means that are not positive are left out.".into());
    }
    let _ = writeln!(
        out,
        "<figcaption>{}</figcaption></figure>",
        escape(&notes.join(" "))
    );
}

fn trace_series(trace: &Trace) -> Vec<Series> {
    let series = |label: &str, class: &str, f: &dyn Fn(&TracePoint) -> f64| Series {
        label: label.into(),
        class: class.into(),
        points: trace
            .points
            .iter()
            .map(|p| (p.round as f64, f(p)))
            .collect(),
        band: Vec::new(),
        dashed: false,
        marker: 0,
    };
    // The theorem's curve is left to the text: it would flatten the rest.
    vec![
        series("linear", "c-ofw", &|p| p.linear),
        series("quadratic", "c-ofw-ls", &|p| p.own),
        series("regret", "c-sc-ofw", &|p| p.regret.lower),
    ]
}

/// What the theorem says at the end of the run followed, if it says anything.
fn trace_bound(plan: &Plan, summary: &Summary, trace: &Trace) -> Option<f64> {
    let learners = &plan.problems[trace.problem].learners;
    let row = learners.iter().position(|l| *l == trace.learner)?;
    match summary.rows[trace.problem][row].bound {
        Bound::Proven(bound) => Some(bound),
        _ => None,
    }
}

fn trace_figure(series: &[Series]) -> Figure<'_> {
    Figure {
        title: "certificates over the rounds of one run",
        x_label: "round t",
        y_label: "regret so far",
        series,
    }
}

fn trace_block(plan: &Plan, summary: &Summary, trace: &Trace, out: &mut String) {
    let problem = &plan.problems[trace.problem];
    let series = trace_series(trace);
    let Some(svg) = trace_figure(&series).render(None) else {
        return;
    };
    let last = trace.points.last().map_or(String::new(), |p| {
        let bound = trace_bound(plan, summary, trace).map_or(String::new(), |bound| {
            format!(
                ", and the theorem’s bound {}",
                format::significant(bound, 3)
            )
        });
        format!(
            " At the end the regret is {}, the quadratic certificate {}, the linear one {}{bound}.",
            format::significant(p.regret.lower, 3),
            format::significant(p.own, 3),
            format::significant(p.linear, 3)
        )
    });
    let _ = writeln!(
        out,
        "<h2>What a learner knows of its own regret</h2>\n\
         <div class=\"figures\"><figure>{svg}</figure><figure><h3>{}: {}</h3>\
         <p>One run, followed. The regret needs the best fixed decision, which needs all the data. The \
         certificates need the gradients alone and hold in every round, while it runs: the quadratic \
         one uses that the losses are strongly convex and costs {} no further oracle call; the \
         linear one does without.{last}</p></figure></div>",
        escape(problem.title),
        escape(trace.learner),
        escape(trace.learner),
    );
}

fn assumptions(plan: &Plan, summary: &Summary, out: &mut String) {
    out.push_str("<div class=\"scroll\"><table><thead><tr><th>algorithm</th><th>theorem</th><th>assumptions</th><th>kept</th></tr></thead><tbody>\n");
    for (problem, rows) in plan.problems.iter().zip(&summary.rows) {
        let _ = writeln!(
            out,
            "<tr class=\"group\"><th colspan=\"4\" scope=\"rowgroup\"><div>{}</div></th></tr>",
            escape(problem.title)
        );
        for row in rows {
            let (theorem, details, kept) = match row.guarantee {
                None => ("none on this set", String::new(), "—"),
                Some(guarantee) if row.checks.is_empty() => (
                    guarantee.theorem(),
                    "none beyond convex losses".into(),
                    "yes",
                ),
                Some(guarantee) => {
                    let details: Vec<_> = row.checks.iter().map(|c| escape(&c.detail)).collect();
                    let kept = row.checks.iter().all(|c| c.holds);
                    (
                        guarantee.theorem(),
                        details.join("; "),
                        if kept { "yes" } else { "no" },
                    )
                }
            };
            let _ = writeln!(
                out,
                "<tr><td class=\"key {}\">{}</td><td>{}</td><td class=\"wide\">{details}</td><td{}>{kept}</td></tr>",
                colour(row.learner),
                escape(row.learner),
                escape(theorem),
                if kept == "no" { " class=\"bad\"" } else { "" }
            );
        }
    }
    out.push_str("</tbody></table></div>\n");
}

fn how(plan: &Plan, made: &Provenance, out: &mut String) {
    let seeds: Vec<_> = plan.seeds.iter().map(u64::to_string).collect();
    let _ = write!(
        out,
        "<h2>How this was run</h2>\n<p>Extremal {}, seed {}. Streams have the seeds {}; every learner of a \
         problem meets the same ones. The results, times apart, do not depend on the number of threads. \
         Every run is a line of <code>results.csv</code>; the figures are in <code>figures/</code>. \
         To get them again:</p>\n<pre>{}</pre>\n<p>The problems, as specs. G follows from the bounds of \
         the stream’s rows and labels over the set.</p>\n<pre>",
        escape(&made.version),
        made.seed,
        seeds.join(", "),
        escape(&made.command)
    );
    for problem in &plan.problems {
        let horizons: Vec<_> = problem.horizons.iter().map(u64::to_string).collect();
        let ridge = if problem.ridge > 0.0 {
            format!(" --l2 {}", problem.ridge)
        } else {
            String::new()
        };
        let _ = write!(
            out,
            "# {}\n--set {} --loss {}{ridge}\nstream {}; T = {}\n",
            escape(problem.title),
            escape(problem.set),
            escape(problem.loss),
            escape(problem.stream),
            horizons.join(" ")
        );
        if let Ok(parts) = problem.build() {
            for learner in &problem.learners {
                if let Ok(spec) = problem.told(learner, problem.horizon(), parts.gradient) {
                    let _ = writeln!(out, "--learner {}", escape(&spec.to_string()));
                }
            }
        }
        out.push('\n');
    }
    out.push_str("</pre>\n");
}
