//! Options of the reader.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::labels::Census;
use crate::missing::Missing;
use crate::{Column, Features, LabelFacts, Labels, number};

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

    /// The name of the format on the command line.
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

/// The character between the columns of a table. A blank stands for any number of blanks and tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Delimiter(pub(crate) u8);

impl fmt::Display for Delimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b'\t' => f.pad("tab"),
            b' ' => f.pad("blank"),
            other => f.pad(char::from(other).encode_utf8(&mut [0; 4])),
        }
    }
}

impl FromStr for Delimiter {
    type Err = String;

    fn from_str(text: &str) -> Result<Delimiter, String> {
        match *text.as_bytes() {
            _ if text == "tab" || text == "\\t" => Ok(Delimiter(b'\t')),
            _ if text == "blank" || text == "space" => Ok(Delimiter(b' ')),
            [one]
                if matches!(one, b'\t' | b' '..=b'~')
                    && !b"\"+-._".contains(&one)
                    && !one.is_ascii_alphanumeric() =>
            {
                Ok(Delimiter(one))
            }
            _ => Err(
                "expected one character such as ; or |, or one of the words tab and blank".into(),
            ),
        }
    }
}

impl TryFrom<String> for Delimiter {
    type Error = String;

    fn try_from(text: String) -> Result<Delimiter, String> {
        text.parse()
    }
}

impl From<Delimiter> for String {
    fn from(delimiter: Delimiter) -> String {
        delimiter.to_string()
    }
}

/// The treatment of invalid lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnError {
    /// The reader returns the examples before the line, then the error.
    #[default]
    Stop,
    /// The reader skips the line and counts it.
    Skip,
}

/// Options of the reader. By default it detects the format, and every example needs a numeric
/// label.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// The format. By default the reader detects it from the name of the file, then from the content.
    pub format: Option<Format>,
    /// Whether the indices of libsvm files start at 0. By default they start at 1.
    pub zero_based: bool,
    /// The number of bits to which names are hashed. By default the dictionary numbers the names.
    pub bits: Option<u32>,
    /// The column of the label in a table, or its key in JSON.
    pub label_column: Option<String>,
    /// The column of the weight in a table, or its key in JSON.
    pub weight_column: Option<String>,
    /// The columns of a table whose values are text, even if they look like numbers.
    pub categorical: Vec<String>,
    /// The columns of a table whose values are numbers.
    pub numeric: Vec<String>,
    /// The columns of a table whose values are dates.
    pub date: Vec<String>,
    /// The columns of a table that are not features.
    pub ignore: Vec<String>,
    /// More tokens that mean that a value is missing. The usual ones are `NA`, `N/A`, `?`, an empty
    /// field, and `nan`, `null` and `none` in any case.
    pub missing: Vec<String>,
    /// The separator of a table. By default the first block of rows decides.
    pub delimiter: Option<Delimiter>,
    /// Whether the first line of a table is a row. The columns are called by their numbers, from 1.
    pub no_header: bool,
    /// The kind of labels.
    pub labels: Labels,
    /// Whether an example without a label is an error.
    pub labels_required: bool,
    /// Whether a record without a label is an example without one, although labels are required.
    pub labels_may_miss: bool,
    /// The treatment of invalid lines.
    pub on_error: OnError,
    /// The format that the model was trained on. A file of a format that numbers its features
    /// differently is an error.
    pub learnt_from: Option<Format>,
    /// The columns of the table that a model was trained on. The reader finds them by name, and they
    /// keep their feature numbers and types. An additional column is an error, and so is a missing
    /// one. Only label and weight may be missing, if labels are not required.
    pub columns: Option<Vec<Column>>,
    /// The names of a model's features, which the dictionary continues.
    pub features: Option<Features>,
    /// Whether features that the dictionary does not have are left out.
    pub frozen: bool,
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
            numeric: Vec::new(),
            date: Vec::new(),
            ignore: Vec::new(),
            missing: Vec::new(),
            delimiter: None,
            no_header: false,
            labels: Labels::Number,
            labels_required: true,
            labels_may_miss: false,
            on_error: OnError::Stop,
            learnt_from: None,
            columns: None,
            features: None,
            frozen: false,
            intercept: false,
        }
    }
}

impl ReadOptions {
    /// The problem with the options, if there is one.
    pub fn problem(&self) -> Option<String> {
        match self.bits {
            Some(bits) if !(1..=31).contains(&bits) => {
                Some(format!("bits must be between 1 and 31, not {bits}"))
            }
            _ => self.labels.problem(),
        }
    }

    /// The numbering of a format's features, in words.
    fn numbering(&self, format: Format) -> &'static str {
        match format {
            Format::Csv | Format::Tsv => "are a table's columns",
            Format::Libsvm if !self.zero_based => "are numbered from 1",
            Format::Libsvm | Format::Vw | Format::Jsonl => "are numbered from 0",
        }
    }

    /// The reason why the model can't read files of this format, if there is one.
    pub(crate) fn misfit(&self, format: Format) -> Option<String> {
        let model = self.learnt_from?;
        let is_named = (self.features.as_ref()).is_some_and(|features| !features.is_empty());
        if model == Format::Jsonl && format != model && is_named {
            return Some(format!(
                "the features of {format} have no names as in JSON records, on which the model was trained"
            ));
        }
        let (here, there) = (self.numbering(format), self.numbering(model));
        (here != there).then(|| {
            format!(
                "the features of {format} {here}, but the model was trained on {model}, whose features {there}"
            )
        })
    }

    /// Whether a missing label is an error, and so is a table without a label column.
    pub(crate) fn needs_label(&self) -> bool {
        self.labels_required && self.labels != Labels::None
    }

    /// The mask for the bits of a hash that form the index.
    pub(crate) fn mask(&self) -> u32 {
        (1 << self.bits.unwrap_or(18)) - 1
    }

    /// The tokens for missing values.
    pub(crate) fn missing(&self) -> Missing {
        Missing::new(&self.missing)
    }

    /// Decides [`Labels::Auto`] from the labels of the first block.
    pub(crate) fn decide(&mut self, labels: Census) -> Result<LabelFacts, String> {
        labels.decide(&mut self.labels)
    }

    /// Whether a label is missing: it is one of the tokens, and not a label that the user named.
    pub(crate) fn is_missing(&self, label: &[u8], missing: &Missing) -> bool {
        let names = matches!(self.labels, Labels::Pair { .. } | Labels::Names(_));
        missing.is(label) && !(names && self.labels.read(label).is_ok())
    }

    /// The label as a number. NaN means that the label is missing: it is `None` or one of the tokens.
    pub(crate) fn label(&self, text: Option<&[u8]>, missing: &Missing) -> Result<f64, String> {
        match text {
            Some(text) if !self.is_missing(text, missing) => self.labels.read(text),
            _ if self.needs_label() && !self.labels_may_miss => Err("the label is missing".into()),
            _ => Ok(f64::NAN),
        }
    }
}

/// Reads a weight, a finite number of at least 0.
pub(crate) fn weight(text: &[u8]) -> Result<f64, String> {
    number::parse(text)
        .filter(|weight| weight.is_finite() && *weight >= 0.0)
        .ok_or_else(|| "the weight is not a finite number of at least 0".into())
}
