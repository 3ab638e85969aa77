//! Tables: CSV and TSV, with a header.
//!
//! - The first line holds the names of the columns. A name must not be a number. Every other line
//!   has the same number of fields. A field may be quoted with `"`. A quoted field may contain
//!   separators, line ends and `""` for a quote. The reader drops blanks around fields and skips
//!   blank lines.
//! - The label is in `label_column`. By default it is in the column called `label`, `y`, `target`
//!   or `class`, and otherwise in the first column, with a warning. If labels are optional and the
//!   given `label_column` does not exist, examples have no label and every column is a feature. The
//!   same holds if labels are ignored and no column has one of the four names.
//! - The weight is in `weight_column`. Without that option it is 1.
//! - All other columns are features. They are numbered from 0 in the order of the columns. In a
//!   column of numbers, this number is the index of the value. In a column of text, the reader
//!   hashes `column=text` (MurmurHash3, seed 0, the last `bits` bits, 18 by default). It stores 1
//!   at the index that is the hash plus the number of feature columns.
//! - The first field that is not empty decides whether a column holds numbers or text. A column
//!   that mixes both is an error. If `categorical` contains the column, all its values are text.
//! - An empty field is a missing value, which counts as 0.
//! - If [`ReadOptions::columns`] has the columns of a model, the reader finds each of them by its
//!   name, in any order. A column keeps its feature number and its type, or remains label or weight.
//!
//! ```
//! use extremal_data::{Format, ReadOptions, Reader};
//!
//! let text = b"age,city,label\n31,\"Bath, UK\",1\n,Paris,0\n";
//! let options = ReadOptions { format: Some(Format::Csv), ..Default::default() };
//! let mut reader = Reader::from_read(Box::new(&text[..]), "example", &options)?;
//! let batch = reader.next()?.unwrap();
//! let (first, second) = (batch.get(0), batch.get(1));
//! assert_eq!((first.indices[0], first.values), (0, &[31.0, 1.0][..]));
//! assert!(first.indices[1] >= 2, "text is stored after the two columns");
//! assert_eq!((second.label, second.values), (Some(0.0), &[1.0][..]));
//! # Ok::<(), extremal_data::Error>(())
//! ```

use std::ops::Range;
use std::sync::Arc;

use crate::hash::murmur3;
use crate::options;
use crate::parse::{self, LabelWeight, Parse, ParseError, Record, Warnings};
use crate::row::OnDuplicate;
use crate::{Batch, Column, Holds, Labels, ReadOptions, columns, number};

/// A column of the file.
#[derive(Debug)]
struct Place {
    name: String,
    holds: Holds,
    /// Whether the user declared the column as text, so that its numbers are text too.
    categorical: bool,
    /// The index of the feature.
    index: u32,
    /// The position in `Table::known`.
    known: usize,
}

/// Reads the records of a table.
#[derive(Debug)]
pub(crate) struct Table {
    options: ReadOptions,
    separator: u8,
    columns: Vec<Place>,
    /// The columns that a model stores: those of the file, or the model's own in their order.
    known: Vec<Column>,
    /// A copy of `known` for the batches, dropped when `known` changes.
    shared: Option<Arc<[Column]>>,
    /// The first index of hashed text.
    text_start: u32,
    mask: u32,
    fields: Fields,
    /// Columns whose first non-empty field is in this row.
    decided: Vec<usize>,
    key: String,
}

impl Table {
    pub(crate) fn new(options: &ReadOptions, separator: u8) -> Table {
        Table {
            options: options.clone(),
            separator,
            columns: Vec::new(),
            known: Vec::new(),
            shared: None,
            text_start: 0,
            mask: options.mask(),
            fields: Fields::default(),
            decided: Vec::new(),
            key: String::new(),
        }
    }

    fn header(&mut self, record: &[u8], warnings: &mut Warnings) -> Result<(), String> {
        let names: Vec<String> = (0..self.fields.len())
            .map(|k| String::from_utf8_lossy(self.fields.get(k, record)).into_owned())
            .collect();
        if let Some(name) = (names.iter()).find(|name| number::parse(name.as_bytes()).is_some()) {
            return Err(format!(
                "`{name}` is a number, not a column's name: add a first line with the names of the columns"
            ));
        }
        let mut sorted: Vec<&String> = names.iter().filter(|name| !name.is_empty()).collect();
        sorted.sort_unstable();
        if let Some(two) = sorted.windows(2).find(|two| two[0] == two[1]) {
            return Err(format!("two columns are called `{}`", two[0]));
        }
        let (known, found) = match self.options.columns.take() {
            Some(model) => {
                let found = columns::matched(&names, &model, self.options.needs_label())?;
                (model, found)
            }
            None => {
                let found = (0..names.len()).collect();
                (self.choose_columns(&names, warnings)?, found)
            }
        };
        let mut index = u32::from(self.options.intercept);
        let mut indices = Vec::with_capacity(known.len());
        for column in &known {
            indices.push(index);
            index += u32::from(column.holds.is_feature());
        }
        for (name, known_as) in std::iter::zip(names, found) {
            let categorical = self.options.categorical.contains(&name);
            let holds = match known[known_as].holds {
                Holds::Nothing if categorical => Holds::Text,
                holds => holds,
            };
            self.columns.push(Place {
                name,
                holds,
                categorical: categorical && holds == Holds::Text,
                index: indices[known_as],
                known: known_as,
            });
        }
        self.text_start = index;
        self.known = known;
        Ok(())
    }

    /// Chooses the columns of label, weight and declared text. The data decide about the others.
    fn choose_columns(
        &self,
        names: &[String],
        warnings: &mut Warnings,
    ) -> Result<Vec<Column>, String> {
        let options = &self.options;
        let find = |name: &str| names.iter().position(|column| column == name);
        let find_given = |name: &str, required: bool| match find(name) {
            None if required => Err(format!("no column is called `{name}`")),
            found => Ok(found),
        };
        for name in &options.categorical {
            find_given(name, true)?;
        }
        let required = options.needs_label();
        let label = match &options.label_column {
            Some(name) => find_given(name, required)?,
            None => {
                let usual = ["label", "y", "target", "class"].into_iter().find_map(find);
                if usual.is_none() && options.labels != Labels::None {
                    let first = parse::excerpt(names[0].as_bytes());
                    warnings.add(&format!(
                        "no column is called label, y, target or class: the first column, `{first}`, is used as the label"
                    ));
                    Some(0)
                } else {
                    usual
                }
            }
        };
        let weight = match &options.weight_column {
            Some(name) => find_given(name, required)?,
            None => None,
        };
        let column = |(k, name): (usize, &String)| {
            let holds = match Some(k) {
                k if k == label && k == weight => {
                    return Err(format!("column `{name}` is both label and weight"));
                }
                k if k == label => Holds::Label,
                k if k == weight => Holds::Weight,
                _ if options.categorical.contains(name) => Holds::Text,
                _ => Holds::Nothing,
            };
            Ok(Column {
                name: name.clone(),
                holds,
            })
        };
        names.iter().enumerate().map(column).collect()
    }

    /// Adds the features of a row and reads its label and weight.
    fn row(&mut self, text: &[u8], batch: &mut Batch) -> Result<LabelWeight, ParseError> {
        let mut label = f64::NAN;
        let mut weight = 1.0;
        for (k, column) in self.columns.iter_mut().enumerate() {
            let field = self.fields.get(k, text);
            let read = match column.holds {
                Holds::Label => {
                    let text = Some(field).filter(|field| !field.is_empty());
                    self.options.label(text).map(|read| label = read)
                }
                Holds::Weight if field.is_empty() => Err("the weight is missing".into()),
                Holds::Weight => options::weight(field).map(|read| weight = read),
                _ if field.is_empty() => Ok(()),
                holds => column
                    .feature(|| self.fields.number(k, text))
                    .map(|number| {
                        if holds == Holds::Nothing {
                            self.decided.push(k);
                        }
                        match number {
                            Some(value) => {
                                column.holds = Holds::Numbers;
                                batch.push(column.index, value);
                            }
                            None => {
                                column.holds = Holds::Text;
                                self.key.clear();
                                self.key.push_str(&column.name);
                                self.key.push('=');
                                // The record was checked as a whole.
                                let field = std::str::from_utf8(field).unwrap_or("\u{fffd}");
                                self.key.push_str(field);
                                let hash = murmur3(self.key.as_bytes(), 0) & self.mask;
                                batch.push(self.text_start + hash, 1.0);
                            }
                        }
                    }),
            };
            if let Err(what) = read {
                let name = parse::excerpt(column.name.as_bytes());
                let what = format!("column `{name}`: {what}");
                return Err(ParseError::new(what, self.fields.place(k)));
            }
        }
        Ok(LabelWeight { label, weight })
    }
}

impl Place {
    /// The number in a field, or `None` for text.
    fn feature(&self, number: impl FnOnce() -> Option<f64>) -> Result<Option<f64>, String> {
        if self.categorical {
            return Ok(None);
        }
        let number = number();
        let mixed = match (self.holds, number) {
            (_, Some(number)) if !number.is_finite() => return Err(parse::NOT_FINITE.into()),
            (Holds::Numbers, None) => "text after numbers",
            (Holds::Text, Some(_)) => "a number after text",
            _ => return Ok(number),
        };
        let name = parse::excerpt(self.name.as_bytes());
        Err(format!(
            "{mixed}; use --categorical {name} to treat all its values as text"
        ))
    }
}

impl Parse for Table {
    fn goes_on(&self, line: &[u8], open: bool) -> bool {
        if !open && memchr::memchr(b'"', line).is_none() {
            return false;
        }
        ends_open(line, self.separator, open)
    }

    fn record(&mut self, record: &mut Record<'_>) -> Result<Option<LabelWeight>, ParseError> {
        let (line, end) = (record.line(), record.end);
        let heading = self.columns.is_empty();
        let fatal = |mut error: ParseError| {
            error.fatal = heading;
            error
        };
        if line.iter().all(|&byte| byte == b' ') {
            return Ok(None);
        }
        parse::text(line).map_err(|what| fatal(ParseError::new(what, 0..end)))?;
        (self.fields.split(line, self.separator))
            .map_err(|(what, place)| fatal(ParseError::new(what, place)))?;
        if heading {
            self.header(line, record.warnings)
                .map_err(|what| fatal(ParseError::new(what, 0..end)))?;
            return Ok(None);
        }
        if self.fields.len() != self.columns.len() {
            let (expected, found) = (self.columns.len(), self.fields.len());
            let what = format!("expected {expected} fields as in the header, found {found}");
            return Err(ParseError::new(what, 0..end));
        }
        self.decided.clear();
        let found = self.row(record.text, record.batch).inspect_err(|_| {
            // A row with an error decides nothing.
            for &k in &self.decided {
                self.columns[k].holds = Holds::Nothing;
            }
        })?;
        for &k in &self.decided {
            let Place { known, holds, .. } = self.columns[k];
            self.known[known].holds = holds;
            self.shared = None;
        }
        record.sort(OnDuplicate::Add, i64::from(self.options.intercept))?;
        Ok(Some(found))
    }

    fn columns(&mut self) -> Option<Arc<[Column]>> {
        if self.known.is_empty() {
            return None;
        }
        let known = &self.known;
        Some(self.shared.get_or_insert_with(|| known[..].into()).clone())
    }
}

// csv-core can't replace the functions below: it reads a numeric CSV at 0.75 of their speed, and it
// reports neither text after a closing quote nor a quote that never closes.

/// Whether a line ends inside quotes. The line begins inside quotes if `open`, otherwise with a field.
fn ends_open(line: &[u8], separator: u8, mut open: bool) -> bool {
    let mut at = 0;
    loop {
        if open {
            match closing_quote(line, at) {
                None => return true,
                Some(quote) => at = quote + 1,
            }
            match memchr::memchr(separator, &line[at..]) {
                None => return false,
                Some(length) => at += length + 1,
            }
        }
        at = skip_spaces(line, at);
        open = line.get(at) == Some(&b'"');
        if open {
            at += 1;
            continue;
        }
        match memchr::memchr(separator, &line[at..]) {
            None => return false,
            Some(length) => at += length + 1,
        }
    }
}

/// The position of the next quote that is not doubled.
fn closing_quote(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr::memchr(b'"', &text[at..])?;
        if text.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

fn skip_spaces(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take_while(|&&byte| byte == b' ').count()
}

/// The fields of a record.
#[derive(Debug, Default)]
struct Fields {
    /// The range of each field in the record. A quoted field also has the range of its content in
    /// `unquoted`.
    places: Vec<(Range<usize>, Option<Range<usize>>)>,
    /// The contents of quoted fields.
    unquoted: Vec<u8>,
}

impl Fields {
    fn len(&self) -> usize {
        self.places.len()
    }

    fn place(&self, k: usize) -> Range<usize> {
        self.places[k].0.clone()
    }

    fn get<'a>(&'a self, k: usize, record: &'a [u8]) -> &'a [u8] {
        match &self.places[k] {
            (place, None) => &record[place.clone()],
            (_, Some(inside)) => &self.unquoted[inside.clone()],
        }
    }

    fn number(&self, k: usize, text: &[u8]) -> Option<f64> {
        match &self.places[k] {
            (place, None) => number::parse_within(text, place.clone()),
            (_, Some(inside)) => number::parse(&self.unquoted[inside.clone()]),
        }
    }

    fn split(&mut self, record: &[u8], separator: u8) -> Result<(), (&'static str, Range<usize>)> {
        self.places.clear();
        self.unquoted.clear();
        let mut at = 0;
        loop {
            let start = skip_spaces(record, at);
            let stop;
            if record.get(start) == Some(&b'"') {
                let quote = closing_quote(record, start + 1)
                    .ok_or((parse::OPEN_QUOTE, start..record.len()))?;
                stop = skip_spaces(record, quote + 1);
                if stop < record.len() && record[stop] != separator {
                    return Err(("text after a closing quote", start..record.len()));
                }
                self.take_quoted(record, start..quote + 1);
            } else {
                stop = memchr::memchr(separator, &record[start..])
                    .map_or(record.len(), |length| start + length);
                let blanks = (record[start..stop].iter().rev())
                    .take_while(|&&byte| byte == b' ')
                    .count();
                self.places.push((start..stop - blanks, None));
            }
            if stop == record.len() {
                return Ok(());
            }
            at = stop + 1;
        }
    }

    fn take_quoted(&mut self, record: &[u8], place: Range<usize>) {
        let from = self.unquoted.len();
        let mut rest = &record[place.start + 1..place.end - 1];
        while let Some(quote) = memchr::memchr(b'"', rest) {
            self.unquoted.extend_from_slice(&rest[..=quote]);
            rest = &rest[quote + 2..];
        }
        self.unquoted.extend_from_slice(rest);
        self.places.push((place, Some(from..self.unquoted.len())));
    }
}
