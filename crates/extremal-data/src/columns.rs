//! The columns of a table, as a model stores them.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::parse::excerpt;

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// The name in the header.
    pub name: String,
    /// The kind of its values.
    pub holds: Holds,
}

/// The kind of values in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// Labels.
    Label,
    /// Weights.
    Weight,
    /// Numbers.
    Numbers,
    /// Text.
    Text,
    /// Dates.
    Date,
    /// Values that are not used.
    Ignored,
}

impl Holds {
    pub(crate) fn is_feature(self) -> bool {
        matches!(self, Holds::Numbers | Holds::Text | Holds::Date)
    }
}

/// A line for people, for example `3 numbers, 2 texts (city, shop), 1 date (day); label price`.
pub fn describe(columns: &[Column]) -> String {
    let named = |holds| {
        let of_kind = move |column: &&Column| column.holds == holds;
        let name = |column: &Column| excerpt(column.name.as_bytes());
        columns.iter().filter(of_kind).map(name).collect::<Vec<_>>()
    };
    let mut kinds = Vec::new();
    for (holds, one, many) in [
        (Holds::Numbers, "number", "numbers"),
        (Holds::Text, "text", "texts"),
        (Holds::Date, "date", "dates"),
        (Holds::Ignored, "ignored", "ignored"),
    ] {
        let names = named(holds);
        let kind = if names.len() == 1 { one } else { many };
        let listed = match holds {
            Holds::Numbers => String::new(),
            _ => format!(" ({})", first(&names)),
        };
        if !names.is_empty() {
            kinds.push(format!("{} {kind}{listed}", names.len()));
        }
    }
    let mut line = kinds.join(", ");
    for (holds, role) in [(Holds::Label, "label"), (Holds::Weight, "weight")] {
        for name in named(holds) {
            line.push_str(&format!("; {role} {name}"));
        }
    }
    line
}

/// The first names of a list, separated by commas.
pub(crate) fn first(names: &[String]) -> String {
    const MOST: usize = 5;
    let shown = names[..names.len().min(MOST)].join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// An error for a name that no column has. It suggests a similar name, or lists the names.
pub(crate) fn unknown(name: &str, names: &[String]) -> String {
    let edits = |near: &String| (strsim::levenshtein(name, near), near.clone());
    let hint = match names.iter().map(edits).min() {
        Some((edits, near)) if 3 * edits <= name.len() => format!("did you mean `{near}`?"),
        _ => format!("the columns are {}", first(names)),
    };
    format!("no column is called `{name}`; {hint}")
}

/// The error about text in a column of another kind.
pub(crate) fn is_not(kind: &str, name: &str, field: &[u8], is_trained: bool) -> String {
    let (token, name) = (String::from_utf8_lossy(field), quoted(name));
    let advice = match is_trained {
        true => "Train the model with",
        false => "Use",
    };
    format!(
        "text in a column of {kind}. {advice} --missing {} if it means a missing value, or --categorical {name} to treat all values as text",
        quoted(&token)
    )
}

/// A name as the value of a flag.
pub(crate) fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.:+/,".contains(c);
    match !name.is_empty() && name.chars().all(is_plain) {
        true => name.into(),
        false => format!("'{}'", excerpt(name.as_bytes())),
    }
}

/// Finds the position of each name in the model's columns. An additional column is an error, and so
/// is a missing one. Only ignored columns may be missing, and label and weight unless `required`.
pub(crate) fn matched(
    names: &[String],
    model: &[Column],
    required: bool,
) -> Result<Vec<usize>, String> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (k, column) in model.iter().enumerate().rev() {
        places.entry(&column.name).or_default().push(k);
    }
    let mut unknown = Vec::new();
    let mut found = Vec::with_capacity(names.len());
    let mut used = vec![false; model.len()];
    for name in names {
        match places.get_mut(name.as_str()).and_then(Vec::pop) {
            Some(k) => {
                used[k] = true;
                found.push(k);
            }
            None => unknown.push(name.as_str()),
        }
    }
    let missing: Vec<&str> = std::iter::zip(model, used)
        .filter(|(column, used)| {
            !used
                && match column.holds {
                    Holds::Label | Holds::Weight => required,
                    holds => holds.is_feature(),
                }
        })
        .map(|(column, _)| column.name.as_str())
        .collect();
    let list = |what: &str, names: &[&str]| {
        let shown = |name: &&str| format!("`{}`", excerpt(name.as_bytes()));
        let shown: Vec<String> = names.iter().map(shown).collect();
        format!("{what} {}", first(&shown))
    };
    let problems: Vec<String> = [("missing", missing), ("unknown", unknown)]
        .iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| list(what, names))
        .collect();
    if problems.is_empty() {
        return Ok(found);
    }
    Err(format!(
        "the columns differ from those that the model was trained on: {}",
        problems.join("; ")
    ))
}
