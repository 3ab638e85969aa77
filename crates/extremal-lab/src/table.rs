//! The table of results, and its form for the terminal. The table has one row per problem and learner
//! at the longest horizon. If several step sizes were tried, a second row shows the best step size. The
//! report shows the same rows.

use crate::experiment::{LearnerConfig, ProblemConfig};
use crate::format;
use crate::remarks::{Facts, remarks};
use crate::results::{Level, Results, SummaryRow, Verdict};
use crate::view::View;

/// Whether text for the terminal contains escape codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Text without escape codes.
    Plain,
    /// Text with escape codes for bold and dim type.
    Ansi,
}

impl Paint {
    fn style(self, code: &str, text: &str) -> String {
        match self {
            Self::Plain => text.into(),
            Self::Ansi => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }

    /// The text in bold, for headings.
    pub fn bold(self, text: &str) -> String {
        self.style("1", text)
    }

    /// The text in a weaker colour.
    pub fn dim(self, text: &str) -> String {
        self.style("2", text)
    }
}

/// A row of the table.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    /// The problem's name in the experiment.
    pub problem: &'a str,
    /// The learner's name in the experiment.
    pub learner: &'a str,
    /// Whether the learner projects onto the set in every round.
    pub projects: bool,
    /// How decisions are stored. `None` for dense storage.
    pub storage: Option<&'static str>,
    /// The step size of the row's runs.
    pub step_size: StepSize,
    /// The row's other cells. `None` if there are no runs yet.
    pub cells: Option<Cells<'a>>,
}

/// The step size of a row's runs, as a factor on the theorem's step size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepSize {
    /// The factor 1 if this factor was tried, otherwise the first factor.
    Plain(f64),
    /// The tried factor with the least regret, chosen in hindsight.
    Best {
        /// The factor.
        factor: f64,
        /// The number of factors that were tried.
        of: usize,
        /// Whether the factor is the smallest or the largest that was tried. If so, a factor outside
        /// the grid may be better.
        at_edge: bool,
    },
}

impl StepSize {
    /// The factor on the theorem's step size.
    pub fn factor(&self) -> f64 {
        match *self {
            Self::Plain(factor) | Self::Best { factor, .. } => factor,
        }
    }

    /// Whether the factor was chosen in hindsight.
    pub fn is_best(&self) -> bool {
        matches!(self, Self::Best { .. })
    }
}

/// The cells of a row that depend on runs.
#[derive(Debug, Clone)]
pub struct Cells<'a> {
    /// The results at the longest horizon.
    pub summary: &'a SummaryRow,
    /// The seconds that the learner takes per round, if they were measured.
    pub seconds: Option<f64>,
}

/// A theorem's bound as the table shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// The bound's value, or a word that compares the regret with the bound, such as `vacuous`.
    pub text: String,
    /// The bound's value, if the text is a word but readers need the value too.
    pub value: Option<String>,
    /// An explanation of the text. `None` if the text needs no explanation.
    pub meaning: Option<&'static str>,
    /// How much attention the bound deserves.
    pub tone: Tone,
}

/// How much attention a cell deserves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Normal attention, for a number.
    Plain,
    /// Little attention, for a word in place of a number.
    Muted,
    /// Much attention, for a reason for caution.
    Warning,
    /// The most attention, for a defect of the program.
    Defect,
}

impl Cells<'_> {
    /// The measured exponent, such as `0.66 ±0.02`.
    pub fn exponent(&self) -> String {
        let row = self.summary;
        format::fitted(row.exponent, row.exponent_low, row.exponent_high)
    }

    /// The theorem's exponent, such as `2/3`.
    pub fn theorem_exponent(&self) -> String {
        let exponent = self.summary.theorem_exponent;
        exponent.map_or("—".into(), format::exponent)
    }

    /// The mean regret, such as `25.31`.
    pub fn regret(&self) -> String {
        format::significant(self.summary.regret, 4)
    }

    /// The standard error of the regret. `None` with one seed.
    pub fn error(&self) -> Option<String> {
        let error = self.summary.regret_error;
        error.map(|error| format::significant(error, 2))
    }

    /// The interval that contains the regret, such as `[25.310, 25.311]`. `None` if the regret is exact.
    pub fn interval(&self) -> Option<String> {
        let row = self.summary;
        (row.level != Level::Exact).then(|| format::interval(row.regret, row.regret_upper))
    }

    /// The theorem's bound.
    pub fn bound(&self) -> Bound {
        let row = self.summary;
        let value = row.bound.map(|b| format::significant(b, 3));
        let number = || value.clone().unwrap_or("—".into());
        let (text, value, meaning, tone) = match row.verdict {
            Verdict::Kept => (number(), None, None, Tone::Plain),
            Verdict::FewSeeds => {
                let meaning =
                    "the theorem bounds the mean over seeds, and there are fewer than 30 seeds";
                (number(), None, Some(meaning), Tone::Plain)
            }
            Verdict::Vacuous => {
                let meaning = "no feasible learner can have a larger regret than the bound";
                ("vacuous".into(), None, Some(meaning), Tone::Muted)
            }
            Verdict::Undecided => {
                let meaning = "the bound lies inside the interval that contains the regret";
                ("undecided".into(), value, Some(meaning), Tone::Muted)
            }
            Verdict::NotMet => {
                let meaning = "an assumption of the theorem is not met";
                ("not met".into(), None, Some(meaning), Tone::Warning)
            }
            Verdict::Exceeded => {
                let meaning = "the regret exceeds a proven bound";
                ("EXCEEDED".into(), value, Some(meaning), Tone::Defect)
            }
            Verdict::NoneProven => ("none proven".into(), None, None, Tone::Muted),
        };
        Bound {
            text,
            value,
            meaning,
            tone,
        }
    }

    /// The number of oracle calls of one run.
    pub fn oracle_calls(&self) -> String {
        format::count(self.summary.oracle_calls)
    }

    /// The time per round, such as `230 ns`.
    pub fn time(&self) -> String {
        self.seconds.map_or("—".into(), format::duration)
    }
}

/// All rows of the table, ordered by problem and learner as in the experiment's file.
pub fn rows(results: &Results) -> Vec<Row<'_>> {
    let views = View::all(results);
    views.iter().flat_map(rows_of).collect()
}

/// The rows of one problem in the table.
pub(crate) fn rows_of<'a>(view: &View<'a>) -> Vec<Row<'a>> {
    let of_learner = |(_, learner): (usize, &'a str)| {
        let config = view.learner(learner);
        let projects = config.is_some_and(LearnerConfig::projects);
        let row = |step_size, summary: Option<&'a SummaryRow>| Row {
            problem: view.name,
            learner,
            projects,
            storage: config.and_then(LearnerConfig::storage_note),
            step_size,
            cells: summary.map(|summary| Cells {
                summary,
                seconds: view.seconds_per_round(learner, summary.scale),
            }),
        };
        let scale = view.scale(learner);
        let grid = view.grid(learner);
        let best = grid.iter().copied().filter(|_| grid.len() > 1);
        let best = best.min_by(|a, b| a.regret.total_cmp(&b.regret));
        let best = best.map(|best| {
            let step_size = StepSize::Best {
                factor: best.scale,
                of: grid.len(),
                at_edge: [grid[0].scale, grid[grid.len() - 1].scale].contains(&best.scale),
            };
            row(step_size, Some(best))
        });
        let plain = row(StepSize::Plain(scale), view.last(learner, scale));
        [Some(plain), best].into_iter().flatten()
    };
    view.learners().flat_map(of_learner).collect()
}

/// Paragraphs that explain the table to its readers.
pub(crate) fn explanations(results: &[Results]) -> Vec<&'static str> {
    let any = |has: fn(&SummaryRow) -> bool| results.iter().flat_map(|r| &r.summary).any(has);
    let learners = || results.iter().flat_map(|r| r.experiment.learners.values());
    let mut all = vec![
        "The regret is a learner’s total loss minus the total loss of the best fixed decision in hindsight. The table shows the mean over the seeds at the longest T. The regret is exact if one oracle call or a closed form gives the best decision. Otherwise the regret is certified to lie in the interval.",
    ];
    if any(|r| r.exponent.is_some()) {
        all.push("Each horizon T is a separate run. The measured exponent is the slope of log regret against log T over the longer half of the horizons, ± half of its 95 % interval over the seeds. The program compares the measured exponent with the theorem’s exponent, or with the slope of the bound if the bound is logarithmic. The theorems’ step sizes are conservative. On drifting streams, the exponent mainly reflects how the step sizes depend on T.");
    }
    all.push("A theorem’s bound counts only if its assumptions are met. The bound is kept if it is not below the upper end of the interval. Every feasible learner’s regret is at most G·D·T, where G is the largest gradient norm seen and D is the set’s diameter. If losses are never negative, the regret is also at most the total loss. A bound or an upper end is called vacuous if it is not below the smaller of these limits.");
    all.push("A dash stands for a value that was not measured, for an exponent that can’t be fitted (fewer than three horizons, or a regret ≤ 0), or for a missing theorem.");
    if learners().any(|l| l.scales.len() > 1) {
        all.push("“best ×” gives the factor on the step size that had the least regret in these runs. This factor is known only in hindsight. A † marks a best factor that is the smallest or the largest factor tried.");
    }
    if learners().any(LearnerConfig::projects) {
        all.push(
            "* This learner projects onto the set in every round. The other learners avoid projections.",
        );
    }
    if results.iter().any(|r| !r.timing.is_empty()) {
        all.push("Oracle calls are counted in one run. Time is measured inside the learner, in separate runs that are made one after another.");
    }
    all
}

/// The columns: the two lines of each header, and whether the column is right-aligned.
const COLUMNS: [(&str, &str, bool); 9] = [
    ("", "algorithm", false),
    ("", "set", false),
    ("", "regret", true),
    ("certified", "interval", false),
    ("exponent", "measured", true),
    ("exponent", "theorem", false),
    ("theorem's", "bound", true),
    ("oracle", "calls", true),
    ("time", "per round", true),
];

/// The cells of a row as text, in the order of the columns.
fn printed(problem: &ProblemConfig, row: &Row<'_>) -> [String; 9] {
    let name = match row.step_size {
        StepSize::Plain(1.0) => row.learner.to_string(),
        StepSize::Plain(factor) => format!("{} ×{factor}", row.learner),
        StepSize::Best {
            factor, at_edge, ..
        } => format!("  best ×{factor}{}", if at_edge { " †" } else { "" }),
    };
    let marks = [
        row.storage.map(|text| format!(", {text}")),
        row.projects.then(|| " *".into()),
    ];
    let marks = marks.into_iter().flatten();
    let marks = marks.filter(|_| !row.step_size.is_best());
    let name = name + &marks.collect::<String>();
    let Some(cells) = &row.cells else {
        let dash = || "—".to_string();
        let [a, b, c, d, e, f] = [(); 6].map(|()| dash());
        return [name, set_label(problem), "no runs".into(), a, b, c, d, e, f];
    };
    let vacuous = cells.summary.is_upper_vacuous();
    [
        name,
        set_label(problem),
        cells.regret(),
        match cells.interval() {
            None => format!("{} exact", format::significant(cells.summary.regret, 6)),
            Some(interval) => interval + if vacuous { " vacuous" } else { "" },
        },
        cells.exponent(),
        cells.theorem_exponent(),
        cells.bound().text,
        cells.oracle_calls(),
        cells.time(),
    ]
}

/// The name of the problem's set, with the parameter p if the set has one.
fn set_label(problem: &ProblemConfig) -> String {
    let name = problem.set.entry().name;
    match problem.set.value("p") {
        Some(p) => format!("{name} p={p}"),
        None => name.into(),
    }
}

/// The constants in a problem's heading.
fn constants(problem: &ProblemConfig) -> String {
    let mut text = String::new();
    if problem.l2 > 0.0 {
        text.push_str(&format!("λ = {} · ", problem.l2));
    }
    let seeds = match problem.seeds.len() {
        1 => "one seed".into(),
        n => format!("mean of {n} seeds"),
    };
    text.push_str(&format!(
        "T = {} · {seeds}",
        format::count(problem.horizon())
    ));
    text
}

/// Sentences about all runs: violations, bounds, exponents and remarks.
fn findings(results: &Results) -> Vec<String> {
    let facts = Facts::of(std::slice::from_ref(results));
    let violation = format::violation(facts.violation);
    let mut lines = vec![
        format!(
            "Largest violation of a set by any decision in {} runs ({} rounds): {violation}.",
            format::count(facts.runs),
            format::count(facts.rounds),
        ),
        format!(
            "Bounds, one per learner, problem and horizon: {} kept, {} exceeded, {}.",
            format::count(facts.kept as u64),
            format::count(facts.exceeded as u64),
            facts.other_bounds()
        ),
    ];
    let remarks = remarks(results);
    let fitted = results.summary.iter().any(|r| r.exponent.is_some());
    if fitted && remarks.iter().all(|r| r.defect) {
        let none = "No measured exponent is above its theorem’s exponent by more than the confidence interval allows.";
        lines.push(none.into());
    }
    lines.extend(remarks.into_iter().map(|r| r.text));
    lines
}

/// The whole table with its explanations. No line is wider than 110 characters.
pub fn render(results: &Results, paint: Paint) -> String {
    let views = View::all(results);
    let of_problem = |view: &View<'_>| -> Vec<(bool, [String; 9])> {
        let rows = rows_of(view).into_iter();
        rows.map(|row| (row.projects, printed(view.config, &row)))
            .collect()
    };
    let groups: Vec<_> = views.iter().map(of_problem).collect();
    let header = [
        COLUMNS.map(|c| c.0.to_string()),
        COLUMNS.map(|c| c.1.to_string()),
    ];
    let mut widths = [0; 9];
    let lines = groups.iter().flatten().map(|(_, cells)| cells);
    for line in header.iter().chain(lines) {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().max(*width);
        }
    }
    let aligned = |cells: &[String; 9]| {
        let mut text = String::new();
        for ((cell, width), (_, _, right)) in cells.iter().zip(widths).zip(COLUMNS) {
            text.push_str(&match right {
                true => format!("{cell:>width$}  "),
                false => format!("{cell:<width$}  "),
            });
        }
        text.trim_end().to_string()
    };
    let mut out = String::new();
    for cells in &header {
        out.push_str(&paint.dim(&aligned(cells)));
        out.push('\n');
    }
    for (view, lines) in views.iter().zip(&groups) {
        out.push_str(&format!(
            "\n{}  {}\n",
            paint.bold(&view.config.title),
            paint.dim(&constants(view.config))
        ));
        for (soft, cells) in lines {
            let text = aligned(cells);
            out.push_str(&if *soft { paint.dim(&text) } else { text });
            out.push('\n');
        }
    }
    out.push('\n');
    for sentence in findings(results) {
        out.push_str(&wrap(&sentence, 100, ""));
    }
    for sentence in explanations(std::slice::from_ref(results)) {
        out.push('\n');
        out.push_str(&wrap(sentence, 100, ""));
    }
    out
}

/// Breaks a text into lines of at most `width` characters. All lines after the first are indented.
pub(crate) fn wrap(text: &str, width: usize, indent: &str) -> String {
    let (mut out, mut used) = (String::new(), 0);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            out.push('\n');
            out.push_str(indent);
            used = indent.chars().count();
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += length;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::fixture;

    #[test]
    fn every_learner_has_its_row_and_a_grid_its_best() {
        let results = fixture();
        let rows = rows(&results);
        let names: Vec<&str> = rows.iter().map(|r| r.learner).collect();
        let of_problem = ["ofw", "ofw", "ofw-ls", "gauge-ftrl", "ogd"];
        assert_eq!(names, [of_problem, of_problem].concat());
        let best = StepSize::Best {
            factor: 2.0,
            of: 5,
            at_edge: false,
        };
        assert_eq!(rows[1].step_size, best);
        assert_eq!(rows[0].step_size, StepSize::Plain(1.0));
        let seconds = rows[0].cells.as_ref().unwrap().seconds;
        assert!((seconds.unwrap() - 2.5e-7).abs() < 1e-12);
        assert_eq!(rows[1].cells.as_ref().unwrap().seconds, None);
    }

    #[test]
    fn a_best_factor_at_the_edge_is_marked() {
        let mut results = fixture();
        for row in results.summary.iter_mut().filter(|r| r.scale == 4.0) {
            row.regret = 0.001;
        }
        assert!(render(&results, Paint::Plain).contains("\n  best ×4 †"));
        results.experiment.learners["ofw"].scales = vec![0.5, 4.0];
        assert_eq!(rows(&results)[0].step_size, StepSize::Plain(0.5));
    }

    #[test]
    fn the_terminal_prints_every_row_and_remark() {
        let text = render(&fixture(), Paint::Plain);
        for part in ["ogd *", "not met", "none proven", "0.84 ±0.02"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let mut none = fixture();
        none.summary.clear();
        assert_eq!(render(&none, Paint::Plain).matches("no runs").count(), 8);
    }

    #[test]
    fn lines_are_broken_at_words_and_indented() {
        assert_eq!(wrap("one two three", 9, "  "), "one two\n  three\n");
        assert_eq!(wrap("unbreakable", 4, ""), "unbreakable\n");
    }

    #[test]
    fn plain_text_has_no_escape_codes() {
        assert_eq!(Paint::Plain.bold("a"), "a");
        assert_eq!(Paint::Ansi.bold("a"), "\x1b[1ma\x1b[0m");
    }
}
