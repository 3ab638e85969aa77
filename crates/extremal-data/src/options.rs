//! Options of the reader.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Column, number};

/// The format of a file of examples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// [`libsvm`](crate::libsvm): `label index:value index:value …`
    Libsvm,
    /// [Vowpal Wabbit's text](crate::vw): `label weight 'tag |namespace name:value …`
    Vw,
    /// [A table](crate::table) with a header and commas between its columns.
    Csv,
    /// [A table](crate::table) with a header and tabs between its columns.
    Tsv,
    /// [One JSON object per line](crate::jsonl).
    Jsonl,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 5] = [
        Format::Libsvm,
        Format::Vw,
        Format::Csv,
        Format::Tsv,
        Format::Jsonl,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Libsvm => "libsvm",
            Format::Vw => "vw",
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::Jsonl => "jsonl",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        Format::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| {
                format!("unknown format `{text}`: expected libsvm, vw, csv, tsv or jsonl")
            })
    }
}

/// The kind of labels.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Labels {
    /// Any finite number.
    #[default]
    Number,
    /// One of two texts, which become −1 and +1. Numbers are compared by value.
    Pair {
        /// The text that becomes −1.
        negative: String,
        /// The text that becomes +1.
        positive: String,
    },
    /// Classes: a label becomes its position in this list, from 0. Numbers are compared by value.
    Names(Vec<String>),
    /// Labels are ignored and may be missing.
    None,
}

impl Labels {
    /// The label as a number, or an error that lists the valid labels.
    pub(crate) fn read(&self, text: &[u8]) -> Result<f64, String> {
        match self {
            Labels::Number => number::parse(text)
                .filter(|number| number.is_finite())
                .ok_or_else(|| "the label is not a finite number".into()),
            Labels::Pair { negative, positive } => {
                if same(text, positive) {
                    Ok(1.0)
                } else if same(text, negative) {
                    Ok(-1.0)
                } else {
                    Err(format!("the label is neither {negative} nor {positive}"))
                }
            }
            Labels::Names(names) => match names.iter().position(|name| same(text, name)) {
                Some(place) => Ok(place as f64),
                None => Err(format!("the label is not one of {}", list(names))),
            },
            Labels::None => Ok(f64::NAN),
        }
    }

    /// Why the labels are invalid, if they are.
    fn problem(&self) -> Option<String> {
        let pair;
        let names = match self {
            Labels::Number | Labels::None => return None,
            Labels::Pair { negative, positive } => {
                pair = [negative.clone(), positive.clone()];
                &pair[..]
            }
            Labels::Names(names) => names,
        };
        if names.is_empty() || names.iter().any(String::is_empty) {
            return Some("a label, or the list of labels, is empty".into());
        }
        names.iter().enumerate().find_map(|(k, name)| {
            let earlier = names[..k]
                .iter()
                .find(|earlier| same(name.as_bytes(), earlier))?;
            Some(format!("the labels {earlier} and {name} are equal"))
        })
    }
}

/// Whether both are equal as text or as finite numbers.
fn same(text: &[u8], name: &str) -> bool {
    text == name.as_bytes()
        || match (number::parse(text), number::parse(name.as_bytes())) {
            (Some(a), Some(b)) => a == b && a.is_finite(),
            _ => false,
        }
}

/// The first names, for a message.
fn list(names: &[String]) -> String {
    const MOST: usize = 8;
    let shown = names[..names.len().min(MOST)].join(", ");
    match names.len() {
        0..=MOST => shown,
        more => format!("{shown}, … ({more} in all)"),
    }
}

/// What to do about an invalid line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// Return the examples before it, then the error.
    #[default]
    Stop,
    /// Skip and count it.
    Skip,
}

/// Options of the reader. By default it detects the format, and every example needs a numeric
/// label.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// The format. Without it, the reader uses the name of the file, then the content.
    pub format: Option<Format>,
    /// libsvm: indices start at 0, not at 1.
    pub zero_based: bool,
    /// The number of bits to which names are hashed, 18 by default.
    pub bits: Option<u32>,
    /// Tables and JSON: the column or key of the label.
    pub label_column: Option<String>,
    /// Tables and JSON: the column or key of the weight.
    pub weight_column: Option<String>,
    /// Tables: columns whose values are text even if they are numbers.
    pub categorical: Vec<String>,
    /// The kind of labels.
    pub labels: Labels,
    /// Whether an example without a label is an error.
    pub labels_required: bool,
    /// What to do about an invalid line.
    pub on_error: OnError,
    /// The format of the model's training data. A format with another numbering is an error.
    pub learnt_from: Option<Format>,
    /// Tables: the columns that a model was trained on. The reader finds them by name, and they
    /// keep their feature numbers and types. A missing or additional column is an error, except
    /// that label and weight may be missing if labels are not required.
    pub columns: Option<Vec<Column>>,
    /// Whether every example gets a 1 at index 0, which increases all other indices by one.
    pub intercept: bool,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            format: None,
            zero_based: false,
            bits: None,
            label_column: None,
            weight_column: None,
            categorical: Vec::new(),
            labels: Labels::Number,
            labels_required: true,
            on_error: OnError::Stop,
            learnt_from: None,
            columns: None,
            intercept: false,
        }
    }
}

impl ReadOptions {
    /// Why the options are invalid, if they are.
    pub fn problem(&self) -> Option<String> {
        match self.bits {
            Some(bits) if !(1..=31).contains(&bits) => {
                Some(format!("bits must be between 1 and 31, not {bits}"))
            }
            _ => self.labels.problem(),
        }
    }

    /// The numbering of a format's features.
    fn numbering(&self, format: Format) -> &'static str {
        match format {
            Format::Csv | Format::Tsv => "are a table's columns",
            Format::Libsvm if !self.zero_based => "are numbered from 1",
            Format::Libsvm | Format::Vw | Format::Jsonl => "are numbered from 0",
        }
    }

    /// Why the model can't read files of this format, if it can't.
    pub(crate) fn misfit(&self, format: Format) -> Option<String> {
        let model = self.learnt_from?;
        let (here, there) = (self.numbering(format), self.numbering(model));
        (here != there).then(|| {
            format!(
                "the model was trained on {model}, whose features {there}; those of {format} {here}"
            )
        })
    }

    /// Whether an example without a label, or a table without a column for it, is an error.
    pub(crate) fn needs_label(&self) -> bool {
        self.labels_required && self.labels != Labels::None
    }

    /// The bits of a hash that form the index.
    pub(crate) fn mask(&self) -> u32 {
        (1 << self.bits.unwrap_or(18)) - 1
    }

    /// The label as a number. `None` means that the label is missing.
    pub(crate) fn label(&self, text: Option<&[u8]>) -> Result<f64, String> {
        match text {
            Some(text) => self.labels.read(text),
            None if self.needs_label() => Err("the label is missing".into()),
            None => Ok(f64::NAN),
        }
    }
}

/// Reads a weight, a finite number of at least 0.
pub(crate) fn weight(text: &[u8]) -> Result<f64, String> {
    number::parse(text)
        .filter(|weight| weight.is_finite() && *weight >= 0.0)
        .ok_or_else(|| "the weight is not a finite number of at least 0".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_parsed_from_their_names() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        assert_eq!(
            "xml".parse::<Format>().unwrap_err(),
            "unknown format `xml`: expected libsvm, vw, csv, tsv or jsonl"
        );
    }

    #[test]
    fn a_long_list_of_labels_is_shortened() {
        let names = Labels::Names((0..100).map(|k| format!("c{k}")).collect());
        assert_eq!(
            names.read(b"x").unwrap_err(),
            "the label is not one of c0, c1, c2, c3, c4, c5, c6, c7, … (100 in all)"
        );
    }
}
