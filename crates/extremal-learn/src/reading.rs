//! The options for reading, which `learn` and experiments share.

use extremal_data::{Delimiter, ReadOptions};
use serde::{Deserialize, Serialize};

#[cfg(feature = "clap")]
use crate::flag;

/// Options for reading a file. Every field is a flag of `learn`, a key in the model file, and a key of
/// an experiment's stream.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(next_help_heading = flag::READING))]
pub struct Reading {
    /// Hash feature names to 2^B indices. By default the names are numbered
    #[cfg_attr(feature = "clap", arg(long, value_name = "B", value_parser = clap::value_parser!(u32).range(1..=31)))]
    pub bits: Option<u32>,
    /// Indices of libsvm files start at 0
    #[cfg_attr(feature = "clap", arg(long))]
    pub zero_based: bool,
    /// Name of the label column in a table, or its number with --no-header
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub label: Option<String>,
    /// Name of the column with importance weights in a table
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub weight: Option<String>,
    /// Treat the values of these columns as text, even if the values look like numbers
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "COL,COL", value_delimiter = ',')
    )]
    pub categorical: Option<Vec<String>>,
    /// Treat the values of these columns as numbers
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "COL,COL", value_delimiter = ',')
    )]
    pub numeric: Option<Vec<String>>,
    /// Treat the values of these columns as dates
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "COL,COL", value_delimiter = ',')
    )]
    pub date: Option<Vec<String>>,
    /// Leave out these columns of a table
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "COL,COL", value_delimiter = ',')
    )]
    pub ignore: Option<Vec<String>>,
    /// More texts for a missing value, in addition to NA, N/A, nan, null, none, ? and an empty field
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_name = "X,X",
            value_delimiter = ',',
            allow_hyphen_values = true
        )
    )]
    pub missing: Option<Vec<String>>,
    /// Separator of a table's columns: one character, or one of the words tab and blank [default:
    /// detected from the first rows]
    #[cfg_attr(feature = "clap", arg(long, value_name = "CHAR"))]
    pub delimiter: Option<Delimiter>,
    /// Read the first line of a table as a row. The columns are called 1, 2, ..
    #[cfg_attr(feature = "clap", arg(long))]
    pub no_header: bool,
}

impl Reading {
    /// The options of the reader.
    pub fn options(&self) -> ReadOptions {
        let list = |names: &Option<Vec<String>>| names.clone().unwrap_or_default();
        ReadOptions {
            bits: self.bits,
            zero_based: self.zero_based,
            label_column: self.label.clone(),
            weight_column: self.weight.clone(),
            categorical: list(&self.categorical),
            numeric: list(&self.numeric),
            date: list(&self.date),
            ignore: list(&self.ignore),
            missing: list(&self.missing),
            delimiter: self.delimiter,
            no_header: self.no_header,
            ..ReadOptions::default()
        }
    }
}
