//! The columns of a table, as a model stores them.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

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
    /// Not known yet, since all fields so far were empty.
    Nothing,
    /// Numbers.
    Numbers,
    /// Text.
    Text,
}

impl Holds {
    pub(crate) fn is_feature(self) -> bool {
        !matches!(self, Holds::Label | Holds::Weight)
    }
}

/// Finds the position of each name in the model's columns. An additional column is an error, and so
/// is a missing one. Only label and weight may be missing, unless `required`.
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
        .filter(|(column, used)| !used && (required || column.holds.is_feature()))
        .map(|(column, _)| column.name.as_str())
        .collect();
    let list = |what: &str, names: &[&str]| {
        const MOST: usize = 5;
        let shown: Vec<String> = (names.iter().take(MOST))
            .map(|name| format!("`{}`", crate::parse::excerpt(name.as_bytes())))
            .collect();
        let more = match names.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{what} {}{more}", shown.join(", "))
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
