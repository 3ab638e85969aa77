//! Tables: CSV, TSV and similar files.
//!
//! - The first line has the names of the columns. With `no_header` it is a row, and the columns are
//!   called by their numbers, from 1. If the first line looks like a row, it is an error unless
//!   `no_header` is set. Every other line has as many fields as the first one.
//! - The separator is a comma in CSV, and a tab in TSV. If the first block of lines does not fit it,
//!   the reader uses `,`, a tab, `;`, `|` or blanks, whichever fits. `delimiter` sets the separator.
//! - A field may be quoted with `"`. A quoted field may contain separators, line ends and `""` for a
//!   quote. The reader drops blanks around fields and skips blank lines.
//! - The label is in `label_column`. By default it is in the column called `label`, `y`, `target`
//!   or `class`, and otherwise in the first column, with a warning. If labels are optional and the
//!   given `label_column` does not exist, examples have no label and every column is a feature. The
//!   same holds if labels are ignored and no column has one of the four names.
//! - The weight is in `weight_column`. Without that option it is 1.
//! - All other columns are features, except those in `ignore`. The first block decides about a
//!   column. It is a column of text if more than a twentieth of its fields are not numbers, and a column
//!   of dates if at most a twentieth of them are not dates such as `2024-03-01` or
//!   `2024-03-01 14:30:00`. Missing fields do not count. `categorical`, `numeric` and `date` set the
//!   kinds of columns.
//! - A number is the value of its column's feature. In a column of text, every text is a feature
//!   `column=text`, with the value 1. A date has the number `column:trend`, which is the years since
//!   2000, and the texts `column:year`, `column:month`, `column:weekday`, and with a time also
//!   `column:hour`.
//! - `NA`, `N/A`, `?`, an empty field, and `nan`, `null` and `none` in any case are missing values.
//!   `missing` adds others. A missing value of a feature is left out, and the feature
//!   `column (missing)` is 1. A missing label means that the example has no label.
//! - The numbers' features have the first indices, in the order of the columns. The other features
//!   follow in the order of their first appearance. With `bits`, the reader hashes their names instead
//!   (MurmurHash3, seed 0, the last `bits` bits).
//! - If [`ReadOptions::columns`] has the columns of a model, the reader finds each of them by its
//!   name, in any order. A column keeps its kind and its features.
//!
//! ```
//! use extremal_data::{Format, ReadOptions, Reader};
//!
//! let text = b"age,city,label\n31,\"Bath, UK\",1\nNA,Paris,0\n";
//! let options = ReadOptions { format: Some(Format::Csv), ..Default::default() };
//! let mut reader = Reader::from_read(Box::new(&text[..]), "example", &options)?;
//! let batch = reader.next()?.unwrap();
//! let (first, second) = (batch.get(0), batch.get(1));
//! assert_eq!((first.indices, first.values), (&[0, 1][..], &[31.0, 1.0][..]));
//! assert_eq!((second.indices, second.values), (&[2, 3][..], &[1.0, 1.0][..]));
//! let names = batch.features().unwrap().to_vec();
//! assert_eq!(names, ["age", "city=Bath, UK", "age (missing)", "city=Paris"]);
//! # Ok::<(), extremal_data::Error>(())
//! ```

use std::ops::Range;
use std::sync::Arc;

use crate::columns::{is_not, unknown};
use crate::dates;
use crate::fields::{self, Fields, records};
use crate::kinds::{Tally, look_like_a_row};
use crate::labels::Census;
use crate::missing::Missing;
use crate::names::Dictionary;
use crate::parse::{self, Block, BlockError, LabelWeight, Parse, ParseError, Record, Warnings};
use crate::row::OnDuplicate;
use crate::{Batch, Column, Holds, Labels, ReadOptions, columns, options};

/// A column of the file.
#[derive(Debug)]
struct Place {
    name: String,
    holds: Holds,
    /// The index of its numbers.
    index: u32,
    /// `name=` for text, `name:` for dates.
    prefix: String,
    /// `name (missing)`.
    missing: String,
}

/// Reads the records of a table.
#[derive(Debug)]
pub(crate) struct Table {
    options: ReadOptions,
    missing: Missing,
    /// Whether the columns are those of a model.
    is_trained: bool,
    /// The separator unless the first block shows another one.
    usual: u8,
    separator: u8,
    /// Whether the next record is the header.
    heading: bool,
    columns: Vec<Place>,
    /// The columns that a model stores: those of the file, or the model's own in their order.
    known: Option<Arc<[Column]>>,
    fields: Fields,
    /// A part of a feature's name.
    text: String,
}

impl Table {
    pub(crate) fn new(options: &ReadOptions, separator: u8) -> Table {
        Table {
            missing: options.missing(),
            is_trained: options.columns.is_some(),
            usual: separator,
            separator: options.delimiter.map_or(separator, |delimiter| delimiter.0),
            heading: !options.no_header,
            options: options.clone(),
            columns: Vec::new(),
            known: None,
            fields: Fields::default(),
            text: String::new(),
        }
    }

    /// Decides about all columns. The first record is at `place` of the block.
    fn head(&mut self, block: &mut Block<'_>, place: Range<usize>) -> Result<(), String> {
        let record = &block.text[place];
        let has_header = !self.options.no_header;
        let name = |k: usize| match String::from_utf8_lossy(self.fields.get(k, record)) {
            name if name.is_empty() || !has_header => (k + 1).to_string(),
            name => name.into_owned(),
        };
        let names: Vec<String> = (0..self.fields.len()).map(name).collect();
        let mut tallies = vec![Tally::default(); names.len()];
        let (mut rows, mut fitting) = (0, 0);
        for (_, place) in records(block.text, self.separator).skip(usize::from(has_header)) {
            let mut fits = false;
            self.row_of_block(&block.text[place], |k, field, missing| {
                tallies[k].add(field, missing);
                fits = true;
            });
            (rows, fitting) = (rows + 1, fitting + usize::from(fits));
        }
        if rows > 1 && fitting == 0 && has_header {
            return Err(format!(
                "the first line has {} fields, but no other line has as many. If it is no part of the table, remove it by tail -n +2, and use --no-header if the next line is a row",
                names.len()
            ));
        }
        if has_header && !self.is_named(&names) {
            if look_like_a_row(&names, &tallies, &self.missing) {
                return Err("the first line looks like a row, not like names of columns. If it is a row, use --no-header, and --label N if the label is not in the first column. If it has the names, use --label NAME".into());
            }
            let mut sorted: Vec<&String> = names.iter().collect();
            sorted.sort_unstable();
            if let Some(two) = sorted.windows(2).find(|two| two[0] == two[1]) {
                return Err(format!(
                    "two columns are called `{}`. Use --no-header if the first line is a row",
                    two[0]
                ));
            }
        }
        let (known, found) = match self.options.columns.take() {
            Some(model) => {
                let found = columns::matched(&names, &model, self.options.needs_label())?;
                (model, found)
            }
            None => {
                let found = (0..names.len()).collect();
                let chosen = self.choose_columns(&names, &tallies, block.warnings)?;
                (chosen, found)
            }
        };
        let intercept = self.options.intercept;
        let mut fixed = Vec::from_iter(intercept.then(|| "intercept".to_string()));
        let mut indices = Vec::with_capacity(known.len());
        for Column { name, holds } in &known {
            indices.push(fixed.len() as u32);
            match holds {
                Holds::Numbers => fixed.push(name.clone()),
                Holds::Date => fixed.push(format!("{name}:trend")),
                _ => {}
            }
        }
        block.names.begin(fixed);
        for (name, k) in std::iter::zip(names, found) {
            let holds = known[k].holds;
            self.columns.push(Place {
                holds,
                index: indices[k],
                prefix: format!("{name}{}", if holds == Holds::Date { ':' } else { '=' }),
                missing: format!("{name} (missing)"),
                name,
            });
        }
        self.known = Some(known.into());
        Ok(())
    }

    /// Whether an option names a column, so that the first line must have the names.
    fn is_named(&self, names: &[String]) -> bool {
        let options = &self.options;
        let lists = [
            &options.categorical,
            &options.numeric,
            &options.date,
            &options.ignore,
        ];
        let mut given = options.label_column.iter().chain(&options.weight_column);
        let is_name = |name: &String| name.parse::<f64>().is_err() && names.contains(name);
        options.columns.is_some() || given.any(is_name) || lists.into_iter().flatten().any(is_name)
    }

    /// Passes the fields of a row in the first block to `add`, if there are as many as columns.
    fn row_of_block(&self, record: &[u8], mut add: impl FnMut(usize, &[u8], &Missing)) {
        let width = self.fields.len();
        let mut fields = Fields::default();
        if fields.split(record, self.separator).is_ok() && fields.len() == width {
            (0..width).for_each(|k| add(k, fields.get(k, record), &self.missing));
        }
    }

    /// Chooses the kinds of the columns.
    fn choose_columns(
        &self,
        names: &[String],
        tallies: &[Tally],
        warnings: &mut Warnings,
    ) -> Result<Vec<Column>, String> {
        let options = &self.options;
        let find = |name: &str| names.iter().position(|column| column == name);
        let find_given = |name: &String, required: bool| match find(name) {
            None if required => Err(unknown(name, names)),
            found => Ok(found),
        };
        let mut given = vec![None; names.len()];
        for (list, holds, flag) in [
            (&options.categorical, Holds::Text, "categorical"),
            (&options.numeric, Holds::Numbers, "numeric"),
            (&options.date, Holds::Date, "date"),
            (&options.ignore, Holds::Ignored, "ignore"),
        ] {
            for name in list {
                let Some(k) = find_given(name, true)? else {
                    continue;
                };
                if let Some((_, other)) = given[k].replace((holds, flag))
                    && other != flag
                {
                    return Err(format!(
                        "column `{name}` is both in --{other} and in --{flag}"
                    ));
                }
            }
        }
        let required = options.needs_label();
        let weight = match &options.weight_column {
            Some(name) => find_given(name, required)?,
            None => None,
        };
        let label = match &options.label_column {
            Some(name) => find_given(name, required)?,
            None => {
                let is_usual = |usual: &str| {
                    let is_usual =
                        |name: &String| usual.len() > 1 && name.eq_ignore_ascii_case(usual);
                    let k = find(usual).or_else(|| names.iter().position(is_usual));
                    k.filter(|k| given[*k].is_none())
                };
                let usual = ["label", "y", "target", "class"]
                    .into_iter()
                    .find_map(is_usual);
                let is_free = |k: &usize| given[*k].is_none() && Some(*k) != weight;
                match (0..names.len()).find(is_free) {
                    Some(k) if usual.is_none() && options.labels != Labels::None => {
                        let name = parse::excerpt(names[k].as_bytes());
                        let why = match options.no_header {
                            true => "",
                            false => "no column is called label, y, target or class: ",
                        };
                        warnings.add(&format!(
                            "{why}the first column, `{name}`, is used as the label. Use --label for another one"
                        ));
                        Some(k)
                    }
                    _ => usual,
                }
            }
        };
        let column = |(k, name): (usize, &String)| {
            let holds = match (Some(k) == label, Some(k) == weight, given[k]) {
                (true, true, _) => {
                    return Err(format!("column `{name}` is both label and weight"));
                }
                (true, _, Some((_, flag))) | (_, true, Some((_, flag))) => {
                    let role = if Some(k) == label {
                        "the label"
                    } else {
                        "the weight"
                    };
                    return Err(format!("column `{name}` is {role}, but also in --{flag}"));
                }
                (true, ..) => Holds::Label,
                (_, true, _) => Holds::Weight,
                (.., Some((holds, _))) => holds,
                _ => tallies[k].holds(),
            };
            Ok(Column {
                name: name.clone(),
                holds,
            })
        };
        names.iter().enumerate().map(column).collect()
    }

    /// Counts the labels of the first block.
    fn count_labels(&mut self, block: &mut Block<'_>) -> Result<(), String> {
        let is_label = |column: &Place| column.holds == Holds::Label;
        let Some(label) = self.columns.iter().position(is_label) else {
            return Ok(());
        };
        if self.options.labels == Labels::None {
            return Ok(());
        }
        let mut census = Census::default();
        for (_, place) in records(block.text, self.separator).skip(usize::from(self.heading)) {
            self.row_of_block(&block.text[place], |k, field, missing| {
                if k == label {
                    census.add(field, missing);
                }
            });
        }
        let found = self.options.decide(census);
        *block.labels = found.map_err(|what| {
            let name = parse::excerpt(self.columns[label].name.as_bytes());
            let other = match &self.options.label_column {
                Some(_) => "",
                None => ", or --label if another column has the labels",
            };
            format!("column `{name}`: {what}{other}")
        })?;
        Ok(())
    }

    /// Adds the features of a row and reads its label and weight.
    fn row(
        &mut self,
        text: &[u8],
        batch: &mut Batch,
        names: &mut Dictionary,
    ) -> Result<LabelWeight, ParseError> {
        let mut label = f64::NAN;
        let mut weight = 1.0;
        let missing = &self.missing;
        let all_numbers_count = !missing.has_numbers();
        for (k, column) in self.columns.iter().enumerate() {
            let field = || self.fields.get(k, text);
            let read = match column.holds {
                Holds::Numbers => match self.fields.number(k, text) {
                    Some(value)
                        if value.is_finite() && (all_numbers_count || !missing.is(field())) =>
                    {
                        batch.push(column.index, value);
                        continue;
                    }
                    _ if missing.is(field()) => column.add_missing(batch, names),
                    Some(_) => Err(parse::NOT_FINITE.into()),
                    None => Err(is_not("numbers", &column.name, field(), self.is_trained)),
                },
                Holds::Text if missing.is(field()) => column.add_missing(batch, names),
                Holds::Text => {
                    add(batch, names.index(&column.prefix, field()));
                    Ok(())
                }
                Holds::Date if missing.is(field()) => column.add_missing(batch, names),
                Holds::Date => {
                    let added = column.add_date(field(), &mut self.text, batch, names);
                    added.ok_or_else(|| is_not("dates", &column.name, field(), self.is_trained))
                }
                Holds::Label if self.options.is_missing(field(), missing) => Ok(()),
                Holds::Label => {
                    let read = self.options.labels.read(field());
                    read.map(|read| label = read)
                        .map_err(|what| match &self.options.label_column {
                            None if self.options.labels == Labels::Number => {
                                format!("{what}. Use --label NAME if another column has the label")
                            }
                            _ => what,
                        })
                }
                Holds::Weight if field().is_empty() => Err("the weight is missing".into()),
                Holds::Weight => options::weight(field()).map(|read| weight = read),
                Holds::Ignored => Ok(()),
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

/// Adds a feature with the value 1, unless it is unknown.
fn add(batch: &mut Batch, index: Option<u32>) {
    if let Some(index) = index {
        batch.push(index, 1.0);
    }
}

impl Place {
    /// Adds the feature that stands for a missing value.
    fn add_missing(&self, batch: &mut Batch, names: &mut Dictionary) -> Result<(), String> {
        add(batch, names.index(&self.missing, b""));
        Ok(())
    }

    /// Adds the features of a date. `None` if the field is no date.
    fn add_date(
        &self,
        field: &[u8],
        text: &mut String,
        batch: &mut Batch,
        names: &mut Dictionary,
    ) -> Option<()> {
        let date = dates::parse(field)?;
        batch.push(self.index, date.trend);
        date.parts(text, |part| {
            add(batch, names.index(&self.prefix, part.as_bytes()));
        });
        Some(())
    }
}

impl Parse for Table {
    fn goes_on(&self, line: &[u8], open: bool) -> bool {
        fields::ends_open(line, self.separator, open)
    }

    fn examine(&mut self, block: &mut Block<'_>) -> Result<bool, BlockError> {
        if self.options.delimiter.is_none() {
            self.separator = fields::separator(block.text, self.usual);
        }
        let mut all = records(block.text, self.separator);
        let Some((lines, place)) = all.next() else {
            return Ok(false);
        };
        if all.next().is_none() && self.heading && !block.complete {
            return Ok(false);
        }
        let error = |what: String, place| BlockError {
            lines,
            error: ParseError::new(what, place),
        };
        let record = &block.text[place.clone()];
        parse::text(record).map_err(|what| error(what.into(), place.clone()))?;
        let split = self.fields.split(record, self.separator);
        split.map_err(|(what, at)| {
            error(what.into(), place.start + at.start..place.start + at.end)
        })?;
        let head = self.head(block, place.clone());
        head.and_then(|()| self.count_labels(block))
            .map_err(|what| error(what, place))?;
        Ok(true)
    }

    fn record(&mut self, record: &mut Record<'_>) -> Result<Option<LabelWeight>, ParseError> {
        let (line, end) = (record.line(), record.end);
        if fields::is_blank_line(line) {
            return Ok(None);
        }
        if std::mem::take(&mut self.heading) {
            return Ok(None);
        }
        parse::text(line).map_err(|what| ParseError::new(what, 0..end))?;
        (self.fields.split(line, self.separator))
            .map_err(|(what, place)| ParseError::new(what, place))?;
        if self.fields.len() != self.columns.len() {
            let (expected, found) = (self.columns.len(), self.fields.len());
            let what = format!("expected {expected} fields as in the first line, found {found}");
            return Err(ParseError::new(what, 0..end));
        }
        let found = self.row(record.text, record.batch, record.names)?;
        record.sort(OnDuplicate::Add, i64::from(self.options.intercept))?;
        Ok(Some(found))
    }

    fn columns(&mut self) -> Option<Arc<[Column]>> {
        self.known.clone()
    }
}
