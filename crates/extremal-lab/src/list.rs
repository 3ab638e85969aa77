//! Descriptions of all sets, losses, learners, streams and data sets, for the terminal.

use extremal::learner::LearnerSpec;
use extremal::loss::LossSpec;
use extremal::set::SetSpec;
use extremal::spec::Entry;
use extremal::stream::StreamSpec;

use crate::rows::{Dataset, datasets};
use crate::table::{Paint, wrap};

/// A kind of components that `extremal list` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Constraint sets.
    Sets,
    /// Losses.
    Losses,
    /// Learners.
    Learners,
    /// Synthetic streams.
    Streams,
    /// Data sets that are built into the program.
    Data,
}

impl Kind {
    /// All kinds, in the order in which they are shown.
    pub const ALL: [Self; 5] = [
        Self::Sets,
        Self::Losses,
        Self::Learners,
        Self::Streams,
        Self::Data,
    ];

    fn title(self) -> &'static str {
        match self {
            Self::Sets => "SETS",
            Self::Losses => "LOSSES",
            Self::Learners => "LEARNERS",
            Self::Streams => "STREAMS",
            Self::Data => "DATA",
        }
    }

    fn entries(self) -> &'static [Entry] {
        match self {
            Self::Sets => SetSpec::ENTRIES,
            Self::Losses => LossSpec::ENTRIES,
            Self::Learners => LearnerSpec::ENTRIES,
            Self::Streams => StreamSpec::ENTRIES,
            Self::Data => &[],
        }
    }

    /// The label of an entry's `guarantee`. For a learner, the guarantee is a bound on the regret. For
    /// other kinds, it is a list of constants.
    fn guarantee_label(self) -> &'static str {
        match self {
            Self::Learners => "regret",
            _ => "constants",
        }
    }
}

/// The largest number of characters in a line.
const WIDTH: usize = 98;
/// The column in which values start.
const COLUMN: usize = 24;

/// Describes all components of these kinds. A parameter is shown as `key=default`, or as `key=` if it
/// has no default.
pub fn render(kinds: &[Kind], paint: Paint) -> String {
    let blocks = kinds.iter().map(|kind| {
        let entries = kind.entries().iter();
        let mut entries: Vec<_> = entries.map(|e| describe(*kind, e, paint)).collect();
        if *kind == Kind::Data {
            entries.extend(datasets().iter().map(|d| describe_data(d, paint)));
        }
        format!("{}\n\n{}", paint.bold(kind.title()), entries.join("\n"))
    });
    blocks.collect::<Vec<_>>().join("\n\n")
}

fn describe(kind: Kind, entry: &Entry, paint: Paint) -> String {
    let summary = wrap(entry.summary, WIDTH - 4, "    ");
    let mut out = format!("  {}\n    {summary}", paint.bold(entry.name));
    for p in entry.parameters {
        let key = format!("{}={}", p.name, p.default().unwrap_or_default());
        field(&mut out, &key, &format!("{} ({})", p.about, p.kind));
    }
    field(&mut out, "cost", entry.cost);
    field(&mut out, kind.guarantee_label(), entry.guarantee);
    field(&mut out, "reference", entry.reference);
    for example in entry.examples {
        field(&mut out, "example", example);
    }
    out
}

fn describe_data(data: &Dataset, paint: Paint) -> String {
    let summary = wrap(data.summary, WIDTH - 4, "    ");
    let mut out = format!("  {}\n    {summary}", paint.bold(data.name));
    let (rows, columns) = (data.rows, data.columns);
    field(
        &mut out,
        "size",
        &format!("{rows} examples, {columns} features"),
    );
    field(&mut out, "task", &data.task.to_string());
    field(&mut out, "licence", data.licence);
    let example = format!("stream = {{ data = \"{}\" }}", data.name);
    field(&mut out, "example", &example);
    out
}

fn field(out: &mut String, label: &str, value: &str) {
    let value = wrap(value, WIDTH - COLUMN, "");
    for (i, line) in value.lines().enumerate() {
        let label = if i == 0 { label } else { "" };
        out.push_str(&format!(
            "      {label:<width$} {line}\n",
            width = COLUMN - 7
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_listed_and_no_line_is_too_wide() {
        let text = render(&Kind::ALL, Paint::Plain);
        for kind in Kind::ALL {
            for entry in kind.entries() {
                assert!(text.contains(&format!("\n  {}\n", entry.name)));
                for example in entry.examples {
                    assert!(text.contains(example), "{example}");
                }
            }
        }
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }

    #[test]
    fn learners_come_in_the_order_of_the_registry() {
        let text = render(&[Kind::Learners], Paint::Plain);
        let at = |name: &str| text.find(&format!("\n  {name}\n")).unwrap();
        for pair in LearnerSpec::ENTRIES.windows(2) {
            assert!(at(pair[0].name) < at(pair[1].name));
        }
    }
}
