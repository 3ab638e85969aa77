//! How to read a file.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Column, number};

/// How the examples are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// [`libsvm`](crate::libsvm): `label index:value index:value …`
    Libsvm,
    /// [Vowpal Wabbit's text](crate::vw): `label weight 'tag |namespace name:value …`
    Vw,
    /// [A table](crate::table) with commas between its columns, and a header.
    Csv,
    /// [A table](crate::table) with tabs.
    Tsv,
    /// [One JSON object per line](crate::jsonl).
    Jsonl,
}

impl Format {
    /// All of them.
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
            .ok_or_else(|| format!("no format `{text}`: expected libsvm, vw, csv, tsv or jsonl"))
    }
}

/// What labels mean.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Labels {
    /// Any finite number.
    #[default]
    Number,
    /// One of two texts, which become −1 and +1. A number that equals one of them will do.
    Pair {
        /// Becomes −1.
        negative: String,
        /// Becomes +1.
        positive: String,
    },
    /// Classes: the place in this list, from 0. A number that equals one of them will do.
    Names(Vec<String>),
    /// They are not looked at, and need not be there.
    None,
}

impl Labels {
    /// What a label's text means; where it is not admitted, what would have been.
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
                None => Err(format!("the label is none of {}", list(names))),
            },
            Labels::None => Ok(f64::NAN),
        }
    }

    /// What is wrong with them, if anything.
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
        if names.is_empty() {
            return Some("there are no labels to choose from".into());
        }
        names.iter().enumerate().find_map(|(k, name)| {
            let earlier = names[..k]
                .iter()
                .find(|earlier| same(name.as_bytes(), earlier))?;
            Some(format!("the labels {earlier} and {name} are the same"))
        })
    }
}

/// Equal as texts or as finite numbers.
fn same(text: &[u8], name: &str) -> bool {
    text == name.as_bytes()
        || match (number::parse(text), number::parse(name.as_bytes())) {
            (Some(a), Some(b)) => a == b && a.is_finite(),
            _ => false,
        }
}

/// The first few, for a message.
fn list(names: &[String]) -> String {
    const MOST: usize = 8;
    let shown = names[..names.len().min(MOST)].join(", ");
    match names.len() {
        0..=MOST => shown,
        more => format!("{shown}, … ({more} in all)"),
    }
}

/// What to do about a line that can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// Give the examples before it, then the error.
    #[default]
    Stop,
    /// Leave it out, and count.
    Skip,
}

/// How to read a file. The default takes the format from the name or the content and asks for
/// labels that are numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// Otherwise by the name, otherwise by the content.
    pub format: Option<Format>,
    /// libsvm: the first index is 0, not 1.
    pub zero_based: bool,
    /// Names are hashed to 2^bits numbers; 18 unless given.
    pub bits: Option<u32>,
    /// Tables and JSON: where the label is.
    pub label_column: Option<String>,
    /// Tables and JSON: where the weight is.
    pub weight_column: Option<String>,
    /// Tables: columns that hold text even where it looks like numbers.
    pub categorical: Vec<String>,
    /// What labels mean.
    pub labels: Labels,
    /// Whether an example without a label is an error.
    pub labels_required: bool,
    /// What to do about a line that can't be read.
    pub on_error: OnError,
    /// What a model was learnt from: a file whose features are numbered in another way is refused.
    pub learnt_from: Option<Format>,
    /// Tables: the columns that a model was learnt from. They are found by name, keep their
    /// numbers and what they hold, and must be there, but for label and weight where labels are
    /// not required; no others may.
    pub columns: Option<Vec<Column>>,
    /// Put a 1 at index 0 of every example, and move all others up by one.
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
    /// What is wrong with them, if anything.
    pub(crate) fn problem(&self) -> Option<String> {
        match self.bits {
            Some(bits) if !(1..=31).contains(&bits) => Some(format!(
                "names can be hashed to 1 to 31 bits, but {bits} were asked for"
            )),
            _ => self.labels.problem(),
        }
    }

    /// How a format numbers its features.
    fn numbering(&self, format: Format) -> &'static str {
        match format {
            Format::Csv | Format::Tsv => "are a table's columns",
            Format::Libsvm if !self.zero_based => "are numbered from 1",
            Format::Libsvm | Format::Vw | Format::Jsonl => "are numbered from 0",
        }
    }

    /// Why a file of this format is not for the model, if it is not.
    pub(crate) fn misfit(&self, format: Format) -> Option<String> {
        let model = self.learnt_from?;
        let (here, there) = (self.numbering(format), self.numbering(model));
        (here != there).then(|| {
            format!(
                "the model was learnt from {model}, whose features {there}; those of {format} {here}"
            )
        })
    }

    /// Whether an example without a label, or a table without a column for it, is an error.
    pub(crate) fn needs_label(&self) -> bool {
        self.labels_required && self.labels != Labels::None
    }

    /// Keeps of a hash what is asked for.
    pub(crate) fn mask(&self) -> u32 {
        (1 << self.bits.unwrap_or(18)) - 1
    }

    /// A label's meaning; `None` is one that is not there.
    pub(crate) fn label(&self, text: Option<&[u8]>) -> Result<f64, String> {
        match text {
            Some(text) => self.labels.read(text),
            None if self.needs_label() => Err("the label is missing".into()),
            None => Ok(f64::NAN),
        }
    }
}

/// A weight: finite, not negative.
pub(crate) fn weight(text: &[u8]) -> Result<f64, String> {
    number::parse(text)
        .filter(|weight| weight.is_finite() && *weight >= 0.0)
        .ok_or_else(|| "the weight is not a finite number of at least 0".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_read_as_it_is_written() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        assert_eq!(
            "xml".parse::<Format>().unwrap_err(),
            "no format `xml`: expected libsvm, vw, csv, tsv or jsonl"
        );
    }

    #[test]
    fn a_long_list_of_labels_is_shown_in_part() {
        let names = Labels::Names((0..100).map(|k| format!("c{k}")).collect());
        assert_eq!(
            names.read(b"x").unwrap_err(),
            "the label is none of c0, c1, c2, c3, c4, c5, c6, c7, … (100 in all)"
        );
    }
}
