//! Tables: CSV and TSV, with a header.
//!
//! - The first line names the columns, and no name is a number; every other has as many fields. A field may be quoted
//!   with `"`, and then hold separators, ends of lines and `""` for a quote. Blanks around fields
//!   are dropped, blank lines skipped.
//! - The label is in `label_column`; unless given, in the column called `label`, `y`, `target` or
//!   `class`; otherwise in the first, with a note. Where labels are not required and the
//!   `label_column` that was given is not there, there are none, and all columns are features;
//!   likewise where labels are not looked at and no column has such a name.
//! - The weight is in `weight_column`; unless given, it is 1.
//! - All other columns are features, numbered from 0 in their order. A column holds numbers, and
//!   then has its number as the index, or text: `column=text` is hashed (MurmurHash3, seed 0, the
//!   last `bits` bits, 18 unless given) and counts 1 at that place *behind* all columns. What a
//!   column holds is decided by its first field that is not empty; a column that mixes
//!   both is an error unless it is named in `categorical`, which makes it text.
//! - An empty field is missing, which is 0.
//! - For a model ([`ReadOptions::columns`]) columns are found by their names, in any order, and are
//!   what they were: the same features, label and weight, numbers or text.
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
//! assert!(first.indices[1] >= 2, "text comes behind the two columns");
//! assert_eq!((second.label, second.values), (Some(0.0), &[1.0][..]));
//! # Ok::<(), extremal_data::Error>(())
//! ```

use std::ops::Range;
use std::sync::Arc;

use crate::hash::murmur3;
use crate::options;
use crate::parse::{self, LabelWeight, Parse, ParseError, Warnings};
use crate::row::{OnDuplicate, Sorter};
use crate::{Batch, Column, Holds, Labels, ReadOptions, columns, number};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Role {
    Label,
    Weight,
    /// Nothing yet.
    Unknown,
    Numbers,
    Text {
        /// Because the user said so: it need not look like text.
        given: bool,
    },
}

impl Role {
    fn holds(self) -> Holds {
        match self {
            Role::Label => Holds::Label,
            Role::Weight => Holds::Weight,
            Role::Unknown => Holds::Nothing,
            Role::Numbers => Holds::Numbers,
            Role::Text { .. } => Holds::Text,
        }
    }
}

/// A column of the file.
#[derive(Debug)]
struct Place {
    name: String,
    role: Role,
    /// The place among the features.
    index: u32,
    /// The place among the columns that are remembered.
    known: usize,
}

/// Reads the records of a table.
#[derive(Debug)]
pub(crate) struct Table {
    options: ReadOptions,
    separator: u8,
    columns: Vec<Place>,
    /// What a model remembers: these columns, or its own in their order.
    known: Vec<Column>,
    /// The same to pass on, unless it has changed.
    shared: Option<Arc<[Column]>>,
    /// Where hashed text begins.
    behind: u32,
    mask: u32,
    fields: Fields,
    /// Columns whose first field is in this row.
    decided: Vec<usize>,
    key: String,
    sorter: Sorter,
    warnings: Warnings,
}

impl Table {
    pub(crate) fn new(options: &ReadOptions, separator: u8) -> Table {
        Table {
            options: options.clone(),
            separator,
            columns: Vec::new(),
            known: Vec::new(),
            shared: None,
            behind: 0,
            mask: options.mask(),
            fields: Fields::default(),
            decided: Vec::new(),
            key: String::new(),
            sorter: Sorter::default(),
            warnings: Warnings::default(),
        }
    }

    fn header(&mut self, record: &[u8]) -> Result<(), String> {
        let names: Vec<String> = (0..self.fields.len())
            .map(|k| String::from_utf8_lossy(self.fields.get(k, record)).into_owned())
            .collect();
        if let Some(name) = (names.iter()).find(|name| number::parse(name.as_bytes()).is_some()) {
            return Err(format!(
                "a table needs a header line with the columns' names, and `{name}` is a number"
            ));
        }
        let mut sorted: Vec<&String> = names.iter().filter(|name| !name.is_empty()).collect();
        sorted.sort_unstable();
        if let Some(two) = sorted.windows(2).find(|two| two[0] == two[1]) {
            return Err(format!("two columns are called `{}`", two[0]));
        }
        if let Some(model) = self.options.columns.take() {
            return self.recognise(names, model);
        }
        let find = |name: &str| names.iter().position(|column| column == name);
        for name in &self.options.categorical {
            find(name).ok_or_else(|| format!("no column is called `{name}`"))?;
        }
        let required = self.options.needs_label();
        let label = match &self.options.label_column {
            Some(name) => match find(name) {
                None if required => return Err(format!("no column is called `{name}`")),
                found => found,
            },
            None => {
                let usual = ["label", "y", "target", "class"];
                let found = usual.into_iter().find_map(find);
                let is_optional = self.options.labels == Labels::None;
                found.or_else(|| (!is_optional).then(|| {
                    self.warnings.add_about("label", || {
                        format!(
                            "no column is called label, y, target or class: the first, `{}`, is taken for the label",
                            parse::excerpt(names[0].as_bytes())
                        )
                    });
                    0
                }))
            }
        };
        let weight = match &self.options.weight_column {
            Some(name) => match find(name) {
                None if required => return Err(format!("no column is called `{name}`")),
                found => found,
            },
            None => None,
        };
        if label.is_some() && label == weight {
            return Err(format!(
                "`{}` is both label and weight",
                names[label.unwrap_or(0)]
            ));
        }
        let mut index = u32::from(self.options.intercept);
        for (k, name) in names.into_iter().enumerate() {
            let role = if Some(k) == label {
                Role::Label
            } else if Some(k) == weight {
                Role::Weight
            } else if self.options.categorical.contains(&name) {
                Role::Text { given: true }
            } else {
                Role::Unknown
            };
            self.known.push(Column {
                name: name.clone(),
                holds: role.holds(),
            });
            self.columns.push(Place {
                name,
                role,
                index,
                known: k,
            });
            index += u32::from(role.holds().is_feature());
        }
        self.behind = index;
        Ok(())
    }

    /// Finds the columns of a model.
    fn recognise(&mut self, names: Vec<String>, model: Vec<Column>) -> Result<(), String> {
        let found = columns::matched(&names, &model, self.options.needs_label())?;
        let mut index = u32::from(self.options.intercept);
        let mut indices = Vec::with_capacity(model.len());
        for column in &model {
            indices.push(index);
            index += u32::from(column.holds.is_feature());
        }
        for (name, known) in std::iter::zip(names, found) {
            let given = self.options.categorical.contains(&name);
            let role = match model[known].holds {
                Holds::Label => Role::Label,
                Holds::Weight => Role::Weight,
                Holds::Nothing if given => Role::Text { given },
                Holds::Nothing => Role::Unknown,
                Holds::Numbers => Role::Numbers,
                Holds::Text => Role::Text { given },
            };
            self.columns.push(Place {
                name,
                role,
                index: indices[known],
                known,
            });
        }
        self.behind = index;
        self.known = model;
        Ok(())
    }

    /// Adds the features, finds label and weight.
    fn row(&mut self, text: &[u8], batch: &mut Batch) -> Result<LabelWeight, ParseError> {
        let mut label = None;
        let mut weight = 1.0;
        for (k, column) in self.columns.iter_mut().enumerate() {
            let field = self.fields.get(k, text);
            let read = match column.role {
                Role::Label => {
                    let text = Some(field).filter(|field| !field.is_empty());
                    (self.options.label(text)).map(|read| label = Some(read))
                }
                Role::Weight if field.is_empty() => Err("the weight is missing".into()),
                Role::Weight => options::weight(field).map(|read| weight = read),
                _ if field.is_empty() => Ok(()),
                role => feature(role, &column.name, || self.fields.number(k, text)).map(|found| {
                    match found {
                        Some(value) => {
                            if role == Role::Unknown {
                                column.role = Role::Numbers;
                                self.decided.push(k);
                            }
                            batch.push(column.index, value);
                        }
                        None => {
                            if role == Role::Unknown {
                                column.role = Role::Text { given: false };
                                self.decided.push(k);
                            }
                            self.key.clear();
                            self.key.push_str(&column.name);
                            self.key.push('=');
                            // The record was checked as a whole.
                            self.key
                                .push_str(std::str::from_utf8(field).unwrap_or("\u{fffd}"));
                            let hash = murmur3(self.key.as_bytes(), 0) & self.mask;
                            batch.push(self.behind + hash, 1.0);
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
        Ok(LabelWeight {
            label: label.unwrap_or(f64::NAN),
            weight,
        })
    }
}

/// The number in a field, or `None` where it is text.
fn feature(
    role: Role,
    column: &str,
    number: impl FnOnce() -> Option<f64>,
) -> Result<Option<f64>, String> {
    if role == (Role::Text { given: true }) {
        return Ok(None);
    }
    let number = number();
    if number.is_some_and(|number| !number.is_finite()) {
        return Err("the value is not finite".into());
    }
    let mixed = |found: &str, held: &str| {
        let column = parse::excerpt(column.as_bytes());
        Err(format!(
            "{found}, where {held} before (--categorical {column} takes all as text)"
        ))
    };
    match (role, number) {
        (Role::Numbers, None) => mixed("text", "numbers were"),
        (Role::Text { .. }, Some(_)) => mixed("a number", "text was"),
        (_, number) => Ok(number),
    }
}

impl Parse for Table {
    fn goes_on(&self, line: &[u8], open: bool) -> bool {
        if !open && memchr::memchr(b'"', line).is_none() {
            return false;
        }
        ends_open(line, self.separator, open)
    }

    fn record(
        &mut self,
        text: &[u8],
        end: usize,
        batch: &mut Batch,
    ) -> Result<Option<LabelWeight>, ParseError> {
        let record = &text[..end];
        let heading = self.columns.is_empty();
        let fatal = |mut error: ParseError| {
            error.fatal = heading;
            error
        };
        if record.iter().all(|&byte| byte == b' ') {
            return Ok(None);
        }
        parse::text(record).map_err(|what| fatal(ParseError::new(what, 0..end)))?;
        (self.fields.split(record, self.separator))
            .map_err(|(what, place)| fatal(ParseError::new(what, place)))?;
        if heading {
            self.header(record)
                .map_err(|what| fatal(ParseError::new(what, 0..end)))?;
            return Ok(None);
        }
        if self.fields.len() != self.columns.len() {
            let what = format!(
                "expected {} fields, found {}",
                self.columns.len(),
                self.fields.len()
            );
            return Err(ParseError::new(what, 0..end));
        }
        self.decided.clear();
        let head = self.row(text, batch).inspect_err(|_| {
            // A row that is left out decides nothing.
            for &k in &self.decided {
                self.columns[k].role = Role::Unknown;
            }
        })?;
        for &k in &self.decided {
            let Place { known, role, .. } = self.columns[k];
            self.known[known].holds = role.holds();
            self.shared = None;
        }
        let shift = i64::from(self.options.intercept);
        self.sorter
            .sort_row(batch, OnDuplicate::Add)
            .map_err(|error| ParseError::from_row(error, shift, end))?;
        Ok(Some(head))
    }

    fn warnings(&mut self) -> &mut Warnings {
        &mut self.warnings
    }

    fn columns(&mut self) -> Option<Arc<[Column]>> {
        if self.known.is_empty() {
            return None;
        }
        let known = &self.known;
        Some(self.shared.get_or_insert_with(|| known[..].into()).clone())
    }
}

/// Whether a line that begins inside of quotes (if `open`) or with a field ends inside of quotes.
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

/// The next quote that is not doubled.
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
    /// Where they are in the record, and what is in them where that is not the same.
    places: Vec<(Range<usize>, Option<Range<usize>>)>,
    /// What was written with doubled quotes.
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
                    .ok_or(("a quote that is not closed", start..record.len()))?;
                stop = skip_spaces(record, quote + 1);
                if stop < record.len() && record[stop] != separator {
                    return Err(("text behind a closing quote", start..record.len()));
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
