//! The table in a terminal.

use crate::experiment::{LearnerConfig, ProblemConfig};
use crate::format;
use crate::headline::{Facts, HeadRow, headlines};
use crate::results::{Results, SummaryRow, Verdict};

/// Whether escape codes may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Text alone.
    Plain,
    /// With weight and colour, for terminals.
    Ansi,
}

impl Paint {
    fn style(self, code: &str, text: &str) -> String {
        match self {
            Self::Plain => text.into(),
            Self::Ansi => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }

    /// A heading.
    pub fn bold(self, text: &str) -> String {
        self.style("1", text)
    }

    /// Something of less weight.
    pub fn dim(self, text: &str) -> String {
        self.style("2", text)
    }
}

/// The columns: two header lines each, and whether the numbers in them are right-aligned.
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

/// A row's cells, in the order of the columns.
fn cells(problem: &ProblemConfig, row: &HeadRow<'_>, shown: &SummaryRow) -> [String; 9] {
    let mut name = row.name.to_string();
    if row.learner.projects() {
        name.push_str(" *");
    }
    if row.best.is_some() || shown.scale != 1.0 {
        name.push_str(&format!(" ×{}", shown.scale));
    }
    let timed = row.seconds.map_or("—".into(), format::duration);
    [
        name,
        set_label(problem),
        format::significant(shown.regret, 4),
        match shown.level.as_str() {
            "exact" => format!("{} exact", format::significant(shown.regret, 6)),
            _ => {
                let mark = if shown.is_upper_vacuous() {
                    " vacuous"
                } else {
                    ""
                };
                format::interval(shown.regret, shown.regret_upper) + mark
            }
        },
        format::fitted(shown.exponent, shown.exponent_low, shown.exponent_high),
        shown.theorem_exponent.map_or("—".into(), format::exponent),
        match (shown.verdict, shown.bound) {
            (Verdict::Kept | Verdict::FewSeeds, Some(bound)) => format::significant(bound, 3),
            (Verdict::Exceeded, _) => "EXCEEDED".into(),
            (Verdict::Vacuous | Verdict::Kept | Verdict::FewSeeds, _) => "vacuous".into(),
            (Verdict::Undecided, _) => "undecided".into(),
            (Verdict::NotMet, _) => "not met".into(),
            (Verdict::NoneProven, _) => "none proven".into(),
        },
        format::count(shown.oracle_calls),
        timed,
    ]
}

/// The set in a column: its name, and what matters of its keys.
fn set_label(problem: &ProblemConfig) -> String {
    let name = problem.set.entry().name;
    match problem.set.value("p") {
        Some(p) => format!("{name} p={p}"),
        None => name.into(),
    }
}

/// The constants of a problem that everybody was told, for its heading.
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

/// What holds for all runs, in sentences.
pub(crate) fn verdicts(results: &Results) -> Vec<String> {
    let facts = Facts::of(std::slice::from_ref(results));
    let count = |n: usize| format::count(n as u64);
    let violation = match facts.violation {
        Some(v) => format::violation(v),
        None => "not known, no set can tell".into(),
    };
    let mut lines = vec![format!(
        "Largest violation of a set by any decision in {} runs ({} rounds): {violation}.",
        format::count(facts.runs),
        format::count(facts.rounds),
    )];
    lines.push(match facts.exceeded {
        0 => format!(
            "Bounds: {} kept, {} vacuous, none exceeded; each of a learner at one horizon.",
            count(facts.kept),
            count(facts.vacuous)
        ),
        n => format!("Bounds: {n} EXCEEDED, although proven; this is a defect."),
    });
    if facts.undecided > 0 {
        lines.push(format!(
            "Bounds neither kept nor exceeded for certain, as they lie inside the interval of the regret: {}.",
            count(facts.undecided)
        ));
    }
    if facts.not_met > 0 {
        lines.push(format!(
            "Bounds that do not apply, as an assumption of the theorem is not met: {}.",
            count(facts.not_met)
        ));
    }
    if facts.few_seeds > 0 {
        lines.push(format!(
            "Bounds of the mean over seeds, with fewer than the thirty that it takes to speak of it: {}.",
            count(facts.few_seeds)
        ));
    }
    let above: Vec<String> = results
        .summary
        .iter()
        .filter(|row| row.is_above_theorem())
        .map(|row| {
            let measured = format::fitted(row.exponent, row.exponent_low, row.exponent_high);
            let room = row.bound.unwrap_or(f64::NAN) / row.regret;
            format!(
                "{} on {} ({measured}, the bound is {} times the regret)",
                row.learner,
                row.problem,
                format::significant(room, 2)
            )
        })
        .collect();
    if !above.is_empty() {
        lines.push(format!(
            "Exponents above the theorem's even at the low end of their interval: {}. That is no contradiction: a bound holds for every T, and as long as it is above the regret, that may grow faster than it.",
            above.join("; ")
        ));
    } else if results.summary.iter().any(|r| r.exponent.is_some()) {
        lines.push("Exponents: none is above its theorem's, its interval considered.".into());
    }
    lines
}

/// How to read the table, in sentences.
pub(crate) fn reading(results: &Results) -> Vec<String> {
    let mut all = Vec::new();
    if results.summary.iter().any(|r| r.exponent.is_some()) {
        all.push("Every horizon is a run of its own. Exponents are slopes of log regret on log T over the longer half of the horizons, ± half a 95 % interval over seeds; log T has none, and is held against the slope of its bound there. With theory's step sizes, which are careful, an exponent on a drifting stream shows how the step size depends on T rather than how hard the problem is.".into());
    }
    all.push("A bound or an upper end of a regret is vacuous if it is at least G·D·T, G the largest gradient met, or at least the total loss where no loss is below 0: no feasible learner's regret is larger. A dash marks what was not measured, has no exponent to fit (fewer than three horizons, or a regret ≤ 0), or no theorem on this set.".to_string());
    let learners = || results.experiment.learners.values();
    if learners().any(|l| l.scales.len() > 1) {
        all.push("×: the factor on the step size. The second row of a learner has the factor that did best, chosen in hindsight on these very runs; everyone tried as many. †: it is the smallest or the largest that was tried.".into());
    }
    if learners().any(LearnerConfig::projects) {
        all.push("* It projects onto the set in every round, which the others avoid.".into());
    }
    if !results.timing.is_empty() {
        all.push("Time is spent inside the learner, measured in a run of its own with nothing beside it.".into());
    }
    all
}

/// The whole table with its notes, each line at most 110 columns wide.
pub fn render(results: &Results, paint: Paint) -> String {
    let headlines = headlines(results);
    let groups: Vec<Vec<(bool, [String; 9])>> = headlines
        .iter()
        .map(|head| {
            let one = |row: &HeadRow<'_>| {
                let plain = cells(head.problem, row, row.plain);
                let best = row.best.as_ref().filter(|b| b.row.scale != row.plain.scale);
                let best = best.map(|b| {
                    let mut cells = cells(head.problem, row, b.row);
                    if b.at_edge {
                        cells[0].push('†');
                    }
                    cells
                });
                let soft = row.learner.projects();
                [Some(plain), best]
                    .into_iter()
                    .flatten()
                    .map(move |c| (soft, c))
            };
            head.rows.iter().flat_map(one).collect()
        })
        .collect();
    let header = [
        COLUMNS.map(|c| c.0.to_string()),
        COLUMNS.map(|c| c.1.to_string()),
    ];
    let mut widths = [0; 9];
    for line in header.iter().chain(groups.iter().flatten().map(|(_, c)| c)) {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |cells: &[String; 9]| {
        let mut text = String::new();
        for ((cell, width), (_, _, right)) in cells.iter().zip(widths).zip(COLUMNS) {
            let padding = " ".repeat(width - cell.chars().count());
            let (before, after) = if right {
                (&*padding, "")
            } else {
                ("", &*padding)
            };
            text.push_str(&format!("{before}{cell}{after}  "));
        }
        text.trim_end().to_string()
    };
    let mut out = String::new();
    for cells in &header {
        out.push_str(&paint.dim(&line(cells)));
        out.push('\n');
    }
    for (head, rows) in headlines.iter().zip(&groups) {
        out.push_str(&format!(
            "\n{}  {}\n",
            paint.bold(&head.problem.title),
            paint.dim(&constants(head.problem))
        ));
        for (soft, cells) in rows {
            let text = line(cells);
            out.push_str(&if *soft { paint.dim(&text) } else { text });
            out.push('\n');
        }
    }
    out.push('\n');
    for sentence in verdicts(results) {
        out.push_str(&wrap(&sentence, 100, ""));
    }
    for sentence in reading(results) {
        out.push('\n');
        out.push_str(&wrap(&sentence, 100, ""));
    }
    out
}

/// Breaks a text into lines of at most `width` characters, those after the first indented.
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
