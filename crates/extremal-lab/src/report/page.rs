//! Collects the data that the page's templates show.

use std::collections::HashSet;

use askama::Template;
use extremal::learner::LearnerSpec;
use serde::Serialize;

use super::palette::{self, Palette, Style};
use super::picture::{self, Scene};
use super::{SavedFigure, chart, curves};
use crate::experiment::{Experiment, LearnerConfig};
use crate::format;
use crate::remarks::{Facts, Remark, is_violation, remarks};
use crate::results::{CheckRow, Results};
use crate::summary::worse;
use crate::table::{self, Row, StepSize, Tone};
use crate::view::View;

const THEME: &str = include_str!("theme.css");
const LAYOUT: &str = include_str!("layout.css");

/// The data of the whole page. The templates that `page.html` includes use the same fields.
#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    title: &'a str,
    css: String,
    plots_js: &'static str,
    pictures_js: &'static str,
    facts: Facts,
    runs: String,
    rounds: String,
    violation: String,
    verdict: Verdict,
    remarks: Vec<Remark>,
    explanations: Vec<&'static str>,
    parts: Vec<Part<'a>>,
    scenes: &'a [Scene],
    /// The scenes that are shown first, side by side.
    panes: Vec<&'a Scene>,
    scenes_json: String,
}

/// The box under the title, which says whether the results show a defect.
struct Verdict {
    class: &'static str,
    title: &'static str,
    text: String,
}

/// One experiment.
struct Part<'a> {
    results: &'a Results,
    about: Vec<&'a str>,
    timed: bool,
    problems: Vec<Problem<'a>>,
    footnotes: Vec<&'a str>,
    seeds: String,
}

/// One problem of an experiment.
struct Problem<'a> {
    /// The number of the problem on the page.
    number: usize,
    view: View<'a>,
    about: Vec<&'a str>,
    conditions: Vec<String>,
    /// The rows of the table, each with its learner and the number of the footnote on its exponent.
    rows: Vec<(Row<'a>, Who<'a>, Option<usize>)>,
    checks: Vec<Check<'a>>,
    tabs: Vec<Panel>,
    legend: Vec<(usize, Who<'a>)>,
}

/// A learner's name, style and spec. The spec is empty if it adds nothing to the name.
struct Who<'a> {
    name: &'a str,
    spec: String,
    style: Style,
}

/// A learner's row in the table of assumptions.
struct Check<'a> {
    who: Who<'a>,
    proven: bool,
    theorem: &'a str,
    rows: Vec<&'a CheckRow>,
    violation: Option<f64>,
}

impl Check<'_> {
    fn met(&self) -> bool {
        self.rows.iter().all(|row| row.holds)
    }

    fn violation(&self) -> String {
        format::violation(self.violation)
    }

    fn is_infeasible(&self) -> bool {
        self.violation.is_some_and(is_violation)
    }
}

/// A figure and the name of its tab.
struct Panel {
    name: &'static str,
    svg: String,
    notes: String,
    data: String,
}

/// Makes the report of one or several experiments as an HTML file.
pub fn page(all: &[Results]) -> String {
    let palette = Palette::new(all);
    let title = match all {
        [one] => one.experiment.title.as_str(),
        _ => "Regret without projections",
    };
    let mut remarks: Vec<Remark> = all.iter().flat_map(remarks).collect();
    remarks.sort_by_key(|r| !r.defect);
    let mut number = 0;
    let parts = all.iter().map(|r| part(r, &palette, &mut number));
    let parts = parts.collect();
    let scenes = scenes(all, &palette);
    let first = scenes.first().map(|s| &s.id);
    let panes = scenes.iter().filter(|s| Some(&s.id) == first).take(2);
    let facts = Facts::of(all);
    let page = Page {
        title,
        css: format!("{THEME}{}{LAYOUT}", palette::css()),
        plots_js: include_str!("plots.js"),
        pictures_js: include_str!("pictures.js"),
        runs: format::count(facts.runs),
        rounds: format::count(facts.rounds),
        violation: format::violation(facts.violation),
        facts,
        verdict: verdict(all, &remarks),
        remarks,
        explanations: table::explanations(all),
        parts,
        panes: panes.collect(),
        scenes_json: embedded(&scenes),
        scenes: &scenes,
    };
    page.render().expect("text can be written to memory")
}

/// One experiment. `number` counts the problems of the page.
fn part<'a>(results: &'a Results, palette: &Palette, number: &mut usize) -> Part<'a> {
    let mut footnotes: Vec<&str> = Vec::new();
    let problems = View::all(results).into_iter().map(|view| {
        *number += 1;
        problem(view, palette, *number, &mut footnotes)
    });
    Part {
        results,
        about: paragraphs(&results.experiment.about),
        timed: !results.timing.is_empty(),
        problems: problems.collect(),
        footnotes,
        seeds: seeds(&results.experiment),
    }
}

/// One problem with its rows, checks and figures. Remarks on exponents are added to the footnotes unless
/// they are already there.
fn problem<'a>(
    view: View<'a>,
    palette: &Palette,
    number: usize,
    footnotes: &mut Vec<&'a str>,
) -> Problem<'a> {
    let rows = table::rows_of(&view).into_iter().map(|row| {
        let note = row.cells.as_ref().map(|c| &*c.summary.exponent_note);
        let note = note.filter(|text| !text.is_empty()).map(|text| {
            let known = footnotes.iter().position(|t| *t == text);
            known.unwrap_or_else(|| {
                footnotes.push(text);
                footnotes.len() - 1
            }) + 1
        });
        let who = Who::new(&view, row.learner, palette);
        (row, who, note)
    });
    let rows = rows.collect();
    let tabs = curves::tabs(&view, palette);
    let series = tabs.iter().flat_map(|tab| &tab.figure.series);
    let drawn: HashSet<usize> = series.map(|s| s.learner).collect();
    let legend = view.learners().filter(|(l, _)| drawn.contains(l));
    Problem {
        number,
        about: paragraphs(&view.config.about),
        conditions: view.conditions(),
        rows,
        checks: checks(&view, palette),
        legend: legend
            .map(|(l, name)| (l, Who::new(&view, name, palette)))
            .collect(),
        tabs: tabs
            .iter()
            .filter_map(|tab| {
                Some(Panel {
                    name: tab.name,
                    svg: tab.figure.render()?,
                    notes: tab.figure.notes.join(" "),
                    data: embedded(&tab.figure.data()),
                })
            })
            .collect(),
        view,
    }
}

impl<'a> Who<'a> {
    fn new(view: &View<'_>, name: &'a str, palette: &Palette) -> Self {
        // The spec `ofw` adds nothing to the name `ofw`.
        let plain = name.parse::<LearnerSpec>().ok();
        let config = view.learner(name);
        let spec = match config.map(|l| &l.spec) {
            Some(spec @ Some(_)) if *spec == plain => None,
            Some(Some(spec)) => Some(spec.to_string()),
            Some(None) => Some("the library’s choice".into()),
            None => None,
        };
        let storage = config.and_then(LearnerConfig::storage_note);
        let parts = spec.into_iter().chain(storage.map(String::from));
        Self {
            name,
            spec: parts.collect::<Vec<_>>().join(", "),
            style: palette.style(name),
        }
    }

    /// The learner's marker, placed in the middle of its line in the legend.
    fn marker(&self) -> String {
        chart::marker(self.style.marker, 12.0, 6.0)
    }
}

/// The assumptions of each learner's theorem, checked on the runs at the longest horizon.
fn checks<'a>(view: &View<'a>, palette: &Palette) -> Vec<Check<'a>> {
    let of_learner = |(_, learner): (usize, &'a str)| {
        let rows = view.rows(learner, view.scale(learner));
        let last = rows.last()?;
        let same = |c: &&CheckRow| {
            (&*c.problem, &*c.learner, c.scale, c.horizon)
                == (view.name, learner, last.scale, last.horizon)
        };
        Some(Check {
            who: Who::new(view, learner, palette),
            proven: last.theorem_exponent.is_some() || !last.theorem.is_empty(),
            theorem: &last.theorem,
            rows: view.results.checks.iter().filter(same).collect(),
            violation: rows.iter().filter_map(|r| r.violation).reduce(worse),
        })
    };
    view.learners().filter_map(of_learner).collect()
}

/// Whether the results show a defect, only remarks, or neither.
fn verdict(all: &[Results], remarks: &[Remark]) -> Verdict {
    let (class, title) = match remarks.first() {
        None => ("good", "No defects, no remarks"),
        Some(first) if !first.defect => ("warned", "No defects, some remarks"),
        Some(_) => {
            return Verdict {
                class: "wrong",
                title: "Something is wrong",
                text: String::new(),
            };
        }
    };
    let mut text = "Every decision was feasible, and no regret exceeds a proven bound.".to_string();
    let mut rows = all.iter().flat_map(|r| &r.summary);
    if remarks.is_empty() && rows.any(|row| row.exponent.is_some()) {
        text.push_str(" No measured exponent is above its theorem’s exponent.");
    }
    Verdict { class, title, text }
}

/// The pictures of all experiments.
fn scenes(all: &[Results], palette: &Palette) -> Vec<Scene> {
    let mut scenes = Vec::new();
    for (k, results) in all.iter().enumerate() {
        for mut scene in picture::all(results, palette) {
            if all.len() > 1 {
                // Another experiment may use the same name for a problem.
                scene.id = format!("{k} {}", scene.id);
                scene.problem = format!("{}: {}", results.experiment.title, scene.problem);
            }
            scenes.push(scene);
        }
    }
    scenes
}

/// The seeds in words. If all problems have the same seeds, the text names the seeds once.
fn seeds(experiment: &Experiment) -> String {
    let text = |seeds: &[u64]| match seeds {
        [first, .., last] if seeds.windows(2).all(|w| w[1] == w[0] + 1) => {
            format!("{first} to {last}")
        }
        seeds => {
            let all: Vec<String> = seeds.iter().map(u64::to_string).collect();
            all.join(", ")
        }
    };
    let problems = experiment.problems.iter();
    let all: Vec<(&str, String)> = problems.map(|(n, p)| (&**n, text(&p.seeds))).collect();
    match all.first() {
        Some((_, first)) if all.iter().all(|(_, s)| s == first) => {
            format!("{first}; all learners of a problem see the same streams")
        }
        _ => {
            let all: Vec<String> = all.iter().map(|(n, s)| format!("{n}: {s}")).collect();
            all.join("; ")
        }
    }
}

/// Splits a text into paragraphs, which blank lines separate.
fn paragraphs(text: &str) -> Vec<&str> {
    let parts = text.split("\n\n").map(str::trim);
    parts.filter(|p| !p.is_empty()).collect()
}

/// A value as JSON that can be placed inside a `<script>` element.
fn embedded(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("plain numbers and text have a JSON form");
    // Without `<`, no text can end the element or begin a comment.
    text.replace('<', "\\u003c")
}

/// All figures as SVG files that need no style sheet: the figures of every problem, and the pictures
/// in the plane after their last round.
pub fn plots(all: &[Results]) -> Vec<SavedFigure> {
    let palette = Palette::new(all);
    let mut saved: Vec<SavedFigure> = Vec::new();
    let mut save = |name: String, content: String| {
        let base = file_name(&name);
        let mut name = base.clone();
        // Two experiments may use the same name for a problem.
        for k in 2.. {
            if saved.iter().all(|s| s.name != name) {
                break;
            }
            name = format!("{base}-{k}");
        }
        saved.push(SavedFigure { name, content });
    };
    for results in all {
        for view in View::all(results) {
            for tab in curves::tabs(&view, &palette) {
                if let Some(svg) = tab.figure.render() {
                    save(tab.figure.key.clone(), svg);
                }
            }
        }
        for scene in picture::all(results, &palette) {
            let name = format!("{}-picture-{}", scene.id, scene.learner);
            save(name, scene.to_string());
        }
    }
    saved
}

/// The text as a file name. All characters except letters, digits, `-`, `_` and `.` become `-`.
fn file_name(text: &str) -> String {
    let is_safe = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let safe: String = text
        .chars()
        .map(|c| if is_safe(c) { c } else { '-' })
        .collect();
    safe.trim_start_matches('.').into()
}
