//! The page, put together.

use std::collections::HashSet;
use std::fmt::Write;

use serde_json::Value;

use super::chart::{Figure, marker};
use super::html::escape;
use super::palette::{self, Palette};
use super::picture::{self, Drawn};
use super::view::View;
use super::{SavedFigure, curves, facts, headline, how};
use crate::experiment::Experiment;
use crate::results::Results;

const THEME: &str = include_str!("theme.css");
const LAYOUT: &str = include_str!("layout.css");
const PLOTS: &str = include_str!("plots.js");
const PICTURES: &str = include_str!("pictures.js");

/// The whole HTML file of one or several experiments.
pub fn page(all: &[Results]) -> String {
    build(all, &Experiment::to_toml)
}

/// All figures, as SVG files that need no style sheet: those of every problem, and the pictures
/// in the plane at their last round.
pub fn plots(all: &[Results]) -> Vec<SavedFigure> {
    let palette = Palette::new(all);
    let mut saved: Vec<SavedFigure> = Vec::new();
    let mut save = |name: String, content: String| {
        let base = file_name(&name);
        let mut name = base.clone();
        // Two experiments may give the same name to a problem.
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
        for picture in picture::all(results, &palette) {
            let name = format!("{}-picture-{}", picture.problem(), picture.learner());
            save(name, picture.render());
        }
    }
    saved
}

/// Letters, digits, `-`, `_` and `.` alone: what every file system takes.
fn file_name(text: &str) -> String {
    let safe = |c: char| {
        if c.is_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '-'
        }
    };
    text.chars()
        .map(safe)
        .collect::<String>()
        .trim_start_matches('.')
        .into()
}

/// JSON that can stand inside a `<script>` element.
fn embedded(value: &Value) -> String {
    // Nothing inside can end the element, nor begin a comment.
    value.to_string().replace('<', "\\u003c")
}

fn build(all: &[Results], toml: &dyn Fn(&Experiment) -> String) -> String {
    let palette = Palette::new(all);
    let titles: Vec<&str> = all.iter().map(|r| r.experiment.title.as_str()).collect();
    let title = match titles.as_slice() {
        [one] => (*one).to_string(),
        _ => "Regret without projections".into(),
    };
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <title>{title}</title>\n<style>\n{THEME}{}{LAYOUT}</style></head>\n<body><main>\n\
         <header><p class=\"kicker\">Extremal · regret report</p><h1>{title}</h1>\n",
        palette::css(),
        title = escape(&title)
    );
    for results in all {
        if all.len() > 1 {
            let _ = write!(out, "<h3>{}</h3>", escape(&results.experiment.title));
        }
        paragraphs(&results.experiment.about, "", &mut out);
    }
    out.push_str("</header>\n");
    out.push_str(&facts::facts(all));
    out.push_str(&facts::verdict(all));
    contents(all, &mut out);
    results_section(all, &palette, &mut out);
    curves_section(all, &palette, &mut out);
    pictures_section(all, &palette, &mut out);
    out.push_str("<section id=\"checks\"><h2>Assumptions and feasibility, checked</h2>\n<p class=\"lead\">A theorem’s bound counts only if the runs kept to what it takes for granted. At the longest T, with the figures of a run that broke an assumption, or else of the first.</p>\n");
    for results in all {
        heading(all, results, &mut out);
        out.push_str(&how::checks(results, &palette));
    }
    out.push_str("</section>\n<section id=\"how\"><h2>How it was run</h2>\n");
    for results in all {
        heading(all, results, &mut out);
        out.push_str(&how::how(results, &toml(&results.experiment)));
    }
    let _ = write!(
        out,
        "</section>\n</main>\n<script>\n{PLOTS}</script>\n<script>\n{PICTURES}</script>\n</body></html>\n"
    );
    out
}

/// An experiment's title, where there are several.
fn heading(all: &[Results], results: &Results, out: &mut String) {
    if all.len() > 1 {
        let _ = writeln!(out, "<h3>{}</h3>", escape(&results.experiment.title));
    }
}

/// Blank lines part paragraphs.
fn paragraphs(text: &str, class: &str, out: &mut String) {
    for part in text.split("\n\n").map(str::trim).filter(|p| !p.is_empty()) {
        let _ = writeln!(out, "<p{class}>{}</p>", escape(part));
    }
}

fn contents(all: &[Results], out: &mut String) {
    let pictures = all.iter().any(|r| !r.pictures.is_empty());
    let mut links = vec![("results", "Results"), ("curves", "Curves")];
    if pictures {
        links.push(("pictures", "Round by round"));
    }
    links.extend([("checks", "Checks"), ("how", "How it was run")]);
    out.push_str("<nav aria-label=\"Contents\">");
    for (id, text) in links {
        let _ = write!(out, "<a href=\"#{id}\">{text}</a>");
    }
    out.push_str("</nav>\n");
}

fn results_section(all: &[Results], palette: &Palette, out: &mut String) {
    out.push_str("<section id=\"results\"><h2>Results at the longest horizon</h2>\n");
    for results in all {
        heading(all, results, out);
        out.push_str(&headline::table(results, palette));
    }
    out.push_str("<details class=\"reading\" open><summary>How to read the table</summary>");
    for sentence in headline::READING {
        let _ = write!(out, "<p>{}</p>", escape(sentence));
    }
    out.push_str("</details></section>\n");
}

fn curves_section(all: &[Results], palette: &Palette, out: &mut String) {
    out.push_str("<section id=\"curves\"><h2>How regret grows</h2>\n<p class=\"lead\">Both axes are logarithmic, so that a slope is an exponent. A line is the mean over seeds, its band reaches from the least to the largest. Dashed: the theorem’s bound, only where its assumptions are met and it is not vacuous. <span class=\"js-only\">Point at a line for its values, press a name to hide or show it.</span></p>\n");
    let mut group = 0;
    for results in all {
        heading(all, results, out);
        out.push_str("<div class=\"problems\">\n");
        for view in View::all(results) {
            problem(&view, palette, group, out);
            group += 1;
        }
        out.push_str("</div>\n");
    }
    out.push_str("</section>\n");
}

fn problem(view: &View<'_>, palette: &Palette, group: usize, out: &mut String) {
    let _ = write!(
        out,
        "<article class=\"problem\"><div class=\"title\"><h3>{}</h3>",
        escape(&view.config.title)
    );
    paragraphs(&view.config.about, " class=\"about\"", out);
    out.push_str("</div>");
    let tabs = curves::tabs(view, palette);
    if tabs.is_empty() {
        out.push_str("<p class=\"soft\">No regret is positive: nothing to draw.</p></article>\n");
        return;
    }
    out.push_str("<div class=\"tabs\">");
    for (k, tab) in tabs.iter().enumerate() {
        let checked = if k == 0 { " checked" } else { "" };
        let _ = write!(
            out,
            "<input type=\"radio\" name=\"tab{group}\" id=\"tab{group}-{k}\"{checked}><label for=\"tab{group}-{k}\">{}</label>",
            tab.name
        );
    }
    for tab in &tabs {
        panel(&tab.figure, out);
    }
    out.push_str("</div>");
    let drawn: HashSet<usize> = tabs
        .iter()
        .flat_map(|t| t.figure.series.iter().map(|s| s.learner))
        .collect();
    legend(view, palette, &drawn, out);
    out.push_str("</article>\n");
}

fn panel(figure: &Figure, out: &mut String) {
    let Some(svg) = figure.render() else { return };
    let _ = writeln!(
        out,
        "<div class=\"panel\"><figure>{svg}<figcaption>{}</figcaption></figure>\
         <p class=\"actions js-only\"><button type=\"button\" class=\"get-csv\">Data as CSV</button><button type=\"button\" class=\"get-svg\">Figure as SVG</button></p>\
         <script type=\"application/json\">{}</script></div>",
        escape(&figure.notes.join(" ")),
        embedded(&figure.data())
    );
}

/// The names with their colours and markers; pressed, they hide and show their lines.
fn legend(view: &View<'_>, palette: &Palette, drawn: &HashSet<usize>, out: &mut String) {
    out.push_str("<div class=\"legend\" role=\"group\" aria-label=\"Series\">");
    for (learner, name) in view.learners().filter(|(l, _)| drawn.contains(l)) {
        let look = palette.look(name);
        let _ = write!(
            out,
            "<button type=\"button\" class=\"chip\" aria-pressed=\"true\" data-s=\"{learner}\"><svg class=\"{}\" viewBox=\"0 0 24 12\" width=\"24\" height=\"12\" aria-hidden=\"true\"><path d=\"M1 6H23\" stroke=\"currentColor\" stroke-width=\"{}\"/><g fill=\"currentColor\">{}</g></svg>{}</button>",
            look.class(),
            if look.heavy { 2.6 } else { 1.7 },
            marker(look.marker, 12.0, 6.0),
            escape(name)
        );
    }
    out.push_str("</div>");
}

fn pictures_section(all: &[Results], palette: &Palette, out: &mut String) {
    // the problem, which another experiment may call the same; its title; the picture
    let mut pictures: Vec<(String, String, Drawn<'_>)> = Vec::new();
    for (k, results) in all.iter().enumerate() {
        for drawn in picture::all(results, palette) {
            let known = results.experiment.problems.get(drawn.problem());
            let mut title = known.map_or(drawn.problem().to_string(), |p| p.title.clone());
            if all.len() > 1 {
                title = format!("{}: {title}", results.experiment.title);
            }
            pictures.push((format!("{k} {}", drawn.problem()), title, drawn));
        }
    }
    let Some(first) = pictures.first().map(|p| p.0.clone()) else {
        return;
    };
    out.push_str("<section id=\"pictures\"><h2>Round by round, in the plane</h2>\n<p class=\"lead\">The same learners on a set that can be drawn. In each round a learner plays x, sees the gradient g, which points to where the loss grows, and moves. Most ask the oracle for the point v of the set that is best against a direction, and go part of the way to it; those that project ask nobody.</p>\n<div class=\"stage\">");
    let _ = write!(
        out,
        "<div class=\"choose js-only\"><label>Problem <select class=\"pick-problem\"></select></label></div><div class=\"panes\">"
    );
    for (_, _, drawn) in pictures.iter().filter(|p| p.0 == first).take(2) {
        let _ = write!(
            out,
            "<div class=\"pane\"><p class=\"who\"><span class=\"no-js\">{}</span><label class=\"js-only\">Learner <select class=\"pick-learner\"></select></label><span class=\"what soft\">{}</span></p>{}<p class=\"said\">{}</p></div>",
            escape(drawn.learner()),
            escape(drawn.set()),
            drawn.render(),
            escape(&drawn.said())
        );
    }
    out.push_str("</div>\
        <div class=\"transport js-only\" role=\"group\" aria-label=\"Rounds\">\
        <button type=\"button\" class=\"first\" aria-label=\"First round\">|◂</button>\
        <button type=\"button\" class=\"back\" aria-label=\"Back one round\">◂</button>\
        <button type=\"button\" class=\"play\">Play</button>\
        <button type=\"button\" class=\"forward\" aria-label=\"Forward one round\">▸</button>\
        <button type=\"button\" class=\"last\" aria-label=\"Last round\">▸|</button>\
        <input type=\"range\" min=\"1\" step=\"1\" aria-label=\"Round\"><output></output></div>\n\
        <ul class=\"key\"><li><i class=\"i-x\"></i>decision <em>x</em>, with the path so far</li><li><i class=\"i-next\"></i>next decision</li><li><i class=\"i-v\"></i>the oracle’s answer <em>v</em>; pale, earlier ones</li><li><i class=\"i-g\"></i>gradient <em>g</em></li><li><i class=\"i-b\"></i>best fixed decision of all rounds</li></ul>");
    let data: Vec<Value> = pictures
        .iter()
        .map(|(id, title, drawn)| drawn.data(id, title))
        .collect();
    let _ = writeln!(
        out,
        "<script type=\"application/json\">{}</script></div></section>",
        embedded(&Value::Array(data))
    );
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn sample_page(all: &[Results]) -> String {
        build(all, &|e| format!("title = \"{}\"\n", e.title))
    }

    /// Writes a page where the variable says, to be looked at.
    fn keep(page: &str, variable: &str) {
        if let Some(path) = std::env::var_os(variable) {
            std::fs::write(path, page).unwrap();
        }
    }

    #[test]
    fn a_crowd_with_long_names_is_told_apart() {
        let mut results = sample::results();
        let (one, two) = (results.clone(), results.clone());
        for (k, more) in [one, two].into_iter().enumerate() {
            let renamed = |name: &str| format!("{name}, in another manner {k}");
            let learners = more.experiment.learners.iter();
            let learners: Vec<_> = learners.map(|(n, c)| (renamed(n), c.clone())).collect();
            results.experiment.learners.extend(learners.clone());
            for problem in results.experiment.problems.values_mut() {
                let names = learners.iter().map(|(n, _)| n.clone());
                problem.learners.extend(names);
                problem.title =
                    "A problem whose title goes on and on, beyond what any phone shows in a line"
                        .into();
            }
            results
                .summary
                .extend(more.summary.into_iter().map(|mut r| {
                    r.learner = renamed(&r.learner);
                    // some have learnt more than the best fixed decision knows
                    r.regret = 1.3 * r.regret - 300.0 * k as f64;
                    r.regret_least = 0.0;
                    r
                }));
            results.trace.extend(more.trace.into_iter().map(|mut r| {
                r.learner = renamed(&r.learner);
                r
            }));
            results
                .pictures
                .extend(more.pictures.into_iter().map(|mut p| {
                    p.learner = renamed(&p.learner);
                    p
                }));
        }
        results.timing.clear();
        let palette = Palette::new(std::slice::from_ref(&results));
        let colours: HashSet<_> = results
            .experiment
            .learners
            .keys()
            .map(|name| palette.look(name).light())
            .collect();
        assert_eq!(colours.len(), 12);
        let page = sample_page(std::slice::from_ref(&results));
        keep(&page, "EXTREMAL_CROWDED_REPORT");
        assert!(page.contains("gauge-ftrl, in an…</text>"));
        assert!(page.contains("gauge-ftrl, in another manner 1</button>"));
        assert!(page.contains("A regret ≤ 0 can’t be shown"));
        assert!(
            !page.contains("seconds inside the learner"),
            "nothing was timed"
        );
    }

    #[test]
    fn the_page_stands_alone() {
        let page = sample_page(&[sample::results()]);
        keep(&page, "EXTREMAL_SAMPLE_REPORT");
        for outside in [
            "src=",
            "url(",
            "@import",
            "href=\"h",
            "//cdn",
            "fetch(",
            "XMLHttpRequest",
        ] {
            assert!(!page.contains(outside), "{outside}");
        }
        let namespace = page.matches("http://www.w3.org/2000/svg").count();
        assert_eq!(page.matches("http").count(), namespace);
        assert!(!page.contains("NaN"));
    }

    #[test]
    fn what_comes_from_files_is_escaped_everywhere() {
        let mut results = sample::results();
        let bad = "</script><script>alert(1)//";
        results.experiment.about = bad.into();
        results.experiment.problems[0].title = bad.into();
        results.pictures[0].set = bad.into();
        results.run.version = bad.into();
        results.summary[5].exponent_note = bad.into();
        results.summary[5].theorem = bad.into();
        results.checks[0].detail = bad.into();
        let name = results.experiment.problems[0].learners[0].clone();
        let config = results.experiment.learners[&name].clone();
        results.experiment.learners.insert(bad.into(), config);
        results.experiment.problems[0].learners[0] = bad.into();
        for row in results.summary.iter_mut().filter(|r| r.learner == name) {
            row.learner = bad.into();
        }
        let page = sample_page(&[results]);
        assert!(!page.contains("<script>alert"));
        let scripts = page.matches("<script").count();
        assert_eq!(scripts, page.matches("</script>").count());
    }

    #[test]
    fn several_experiments_share_a_page_and_no_file_name() {
        let all = [sample::results(), sample::results()];
        let page = sample_page(&all);
        assert_eq!(page.matches("<table class=\"headline\">").count(), 2);
        let one = plots(&all[..1]);
        let two = plots(&all);
        assert_eq!(two.len(), 2 * one.len());
        let names: HashSet<_> = two.iter().map(|p| &p.name).collect();
        assert_eq!(names.len(), two.len());
    }

    #[test]
    fn an_experiment_without_rows_has_a_page() {
        let mut results = sample::results();
        results.summary.clear();
        results.trace.clear();
        results.timing.clear();
        results.checks.clear();
        results.comparators.clear();
        results.pictures.clear();
        let page = sample_page(&[results]);
        assert!(page.contains("no runs yet") && page.contains("nothing to draw"));
        assert!(!page.contains("id=\"pictures\""));
    }

    #[test]
    fn file_names_are_plain() {
        assert_eq!(file_name("../a b/c"), "-a-b-c");
        assert_eq!(file_name("ℓ2-drift"), "ℓ2-drift");
    }
}
