//! The table in a terminal.

use crate::format;
use crate::problem::Problem;
use crate::run::{Level, Plan};
use crate::summary::{Bound, Row, Summary};

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
pub(crate) const COLUMNS: [(&str, &str, bool); 9] = [
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
pub(crate) fn cells(problem: &Problem, row: &Row) -> [String; 9] {
    let name = if row.baseline {
        format!("{} *", row.learner)
    } else {
        row.learner.into()
    };
    [
        name,
        problem.set_label.into(),
        format::significant(row.regret.lower, 4),
        match row.regret.level {
            Level::Exact => format!("{} exact", format::significant(row.regret.lower, 6)),
            _ => format::interval(row.regret.lower, row.regret.upper),
        },
        format::measured(row.exponent),
        row.guarantee
            .map_or("—".into(), |g| format::exponent(g.exponent())),
        match row.bound {
            Bound::Proven(bound) => format::significant(bound, 3),
            Bound::Vacuous(_) => "vacuous".into(),
            Bound::NotApplicable => "not met".into(),
            Bound::NoneProven => "none proven".into(),
        },
        format::count(row.oracle_calls),
        format::duration(row.seconds_per_round),
    ]
}

/// The constants of a problem that everybody was told, for its heading.
pub(crate) fn constants(problem: &Problem, seeds: usize) -> String {
    let mut text = String::new();
    if problem.ridge > 0.0 {
        text.push_str(&format!("λ = {} · ", problem.ridge));
    }
    text.push_str(&format!(
        "T = {} · mean of {seeds} seeds",
        format::count(problem.horizon())
    ));
    text
}

/// What holds for all runs, in sentences.
pub(crate) fn verdicts(summary: &Summary) -> Vec<String> {
    let mut lines = vec![format!(
        "Largest violation of a set by any decision in {} runs ({} rounds): {}.",
        format::count(summary.runs as u64),
        format::count(summary.rounds),
        format::violation(summary.violation)
    )];
    let telling = format::count((summary.proven - summary.vacuous) as u64);
    let vacuous = format::count(summary.vacuous as u64);
    lines.push(match summary.exceeded {
        0 => format!(
            "Bounds: all {telling} runs with a telling bound kept below it ({vacuous} more have a vacuous one)."
        ),
        n => format!("Bounds: {n} runs EXCEED a proven bound ({telling} have a telling one); this is a defect."),
    });
    if summary.broken > 0 {
        lines.push(format!(
            "{} runs did not keep to an assumption; their bounds are not shown.",
            summary.broken
        ));
    }
    lines
}

/// How to read the table, in sentences.
pub(crate) const READING: [&str; 3] = [
    "Every horizon is a run of its own. Exponents are slopes of log regret on log T over the longer half of the horizons. Everybody is told the same T, G and λ, but for the problem that says otherwise, and nothing is tuned: theory's step sizes are careful, so with a drift the exponents show how the step size depends on T rather than how hard the problem is.",
    "A bound is vacuous where it exceeds G·D·T, which no feasible learner can; a dash marks what can't be fitted (a regret ≤ 0) or has no theorem on this set. A measured exponent above the theorem's is no contradiction: the theorem's constant leaves room for it at these T.",
    "* The baseline projects in every round; the others only minimise linear functions over the set. Time is spent inside the learner, measured while other runs go on.",
];

/// The whole table with its notes, each line at most 110 columns wide.
pub fn render(plan: &Plan, summary: &Summary, paint: Paint) -> String {
    let groups: Vec<Vec<[String; 9]>> = plan
        .problems
        .iter()
        .zip(&summary.rows)
        .map(|(problem, rows)| rows.iter().map(|row| cells(problem, row)).collect())
        .collect();
    let header = [
        COLUMNS.map(|c| c.0.to_string()),
        COLUMNS.map(|c| c.1.to_string()),
    ];
    let mut widths = [0; 9];
    for line in header.iter().chain(groups.iter().flatten()) {
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
    for ((problem, rows), texts) in plan.problems.iter().zip(&summary.rows).zip(&groups) {
        out.push_str(&format!(
            "\n{}  {}\n",
            paint.bold(problem.title),
            paint.dim(&constants(problem, plan.seeds.len()))
        ));
        for (row, cells) in rows.iter().zip(texts) {
            let text = line(cells);
            out.push_str(&if row.baseline { paint.dim(&text) } else { text });
            out.push('\n');
        }
    }
    out.push('\n');
    for sentence in verdicts(summary) {
        out.push_str(&sentence);
        out.push('\n');
    }
    for sentence in READING {
        out.push('\n');
        out.push_str(&wrap(sentence, 100, ""));
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
