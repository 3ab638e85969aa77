//! JSON lines: one object per line.
//!
//! ```text
//! {"label": 1, "weight": 2, "tag": "a7", "features": {"7": 0.5, "age": 31, "colour": "red", "new": true}}
//! {"label": -1, "features": [[0, 1.5], [12, 2]]}
//! {"label": -1, "features": [1.5, 0, null, 2]}
//! ```
//!
//! - `features` is an object, a list of `[index, value]`, or a list of values with indices from 0.
//! - In an object, a name that is a whole number is the index itself; any other is hashed
//!   (MurmurHash3, seed 0, the last `bits` bits, 18 unless given). A value that is a string is
//!   hashed as `name=value`, and counts 1. `true` is 1, `false` 0, `null` missing. Names that are
//!   hashed to the same index are added up.
//! - Indices that are given as numbers are distinct, in any order.
//! - `label` (or `label_column`) is a number or a string; `null` is none. `weight` (or
//!   `weight_column`) is 1 unless given. `tag` is a string or a number. Other keys are
//!   ignored, with a note.
//!
//! Blank lines are skipped.
//!
//! ```
//! use extremal_data::{Format, ReadOptions, Reader};
//!
//! let text = br#"{"label": 1, "tag": "a7", "features": {"7": 0.5, "12": true}}"#;
//! let options = ReadOptions { format: Some(Format::Jsonl), ..Default::default() };
//! let mut reader = Reader::from_read(Box::new(&text[..]), "example", &options)?;
//! let first = reader.next()?.unwrap().get(0);
//! assert_eq!((first.label, first.weight, first.tag), (Some(1.0), 1.0, "a7"));
//! assert_eq!((first.indices, first.values), (&[7, 12][..], &[0.5, 1.0][..]));
//! # Ok::<(), extremal_data::Error>(())
//! ```

use std::ops::Range;

use crate::hash::murmur3;
use crate::json::{Json, Kind};
use crate::options;
use crate::parse::{self, LARGEST_INDEX, LabelWeight, Parse, ParseError, Warnings};
use crate::row::{OnDuplicate, RowError, Sorter, is_rising};
use crate::{Batch, Labels, ReadOptions};

/// Reads lines of JSON.
#[derive(Debug)]
pub(crate) struct Jsonl {
    options: ReadOptions,
    shift: u32,
    mask: u32,
    label: String,
    weight: String,
    sorter: Sorter,
    warnings: Warnings,
    /// The indices that were given as numbers.
    numbers: Vec<u32>,
    /// Memory for a key, and for a value.
    key: String,
    text: String,
}

impl Jsonl {
    pub(crate) fn new(options: &ReadOptions) -> Jsonl {
        let or = |name: &Option<String>, default: &str| name.clone().unwrap_or(default.into());
        Jsonl {
            shift: u32::from(options.intercept),
            mask: options.mask(),
            label: or(&options.label_column, "label"),
            weight: or(&options.weight_column, "weight"),
            options: options.clone(),
            sorter: Sorter::default(),
            warnings: Warnings::default(),
            numbers: Vec::new(),
            key: String::new(),
            text: String::new(),
        }
    }

    /// A number as it is written or what a string says, in `self.text`; false for `null`.
    fn scalar(&mut self, json: &mut Json<'_>, line: &[u8]) -> Result<bool, ParseError> {
        self.text.clear();
        match json.kind()? {
            Kind::String => json.string(&mut self.text)?,
            Kind::Number => {
                let place = json.number()?;
                let number = parse::text(&line[place.clone()]);
                (self.text).push_str(number.map_err(|what| ParseError::new(what, place))?);
            }
            Kind::Null => {
                json.word(Kind::Null)?;
                return Ok(false);
            }
            _ => return Err(json.error("expected a number or a string")),
        }
        Ok(true)
    }

    fn hashed(&self, name: &[u8]) -> Result<u32, &'static str> {
        (murmur3(name, 0) & self.mask)
            .checked_add(self.shift)
            .filter(|&index| u64::from(index) <= LARGEST_INDEX)
            .ok_or("the index is too large")
    }

    fn features(
        &mut self,
        json: &mut Json<'_>,
        line: &[u8],
        batch: &mut Batch,
    ) -> Result<(), ParseError> {
        let start = json.at();
        let twice = match json.kind()? {
            Kind::Object => {
                self.named(json, line, batch)?;
                OnDuplicate::Add
            }
            Kind::Array => {
                self.listed(json, line, batch)?;
                OnDuplicate::Refuse
            }
            _ => return Err(json.error("the features are neither an object nor a list")),
        };
        self.sorter.sort_row(batch, twice).map_err(|error| {
            let error = ParseError::from_row(error, i64::from(self.shift), 0);
            ParseError::new(error.what, start..json.at())
        })
    }

    /// `{"name": value, …}`
    fn named(
        &mut self,
        json: &mut Json<'_>,
        line: &[u8],
        batch: &mut Batch,
    ) -> Result<(), ParseError> {
        json.expect(b'{', "expected an object")?;
        let begin = json.at();
        self.numbers.clear();
        let mut first = true;
        while json.more(b'}', &mut first)? {
            let start = json.at();
            let mut key = std::mem::take(&mut self.key);
            let pair = json
                .key(&mut key)
                .and_then(|()| self.named_value(json, line, &mut key, start));
            self.key = key;
            if let Some((index, value)) = pair? {
                batch.push(index, value);
            }
        }
        if !is_rising(&self.numbers) {
            self.numbers.sort_unstable();
            let twice = self.numbers.windows(2).find(|two| two[0] == two[1]);
            if let Some(&[index, _]) = twice {
                let error =
                    ParseError::from_row(RowError::Duplicate(index), i64::from(self.shift), 0);
                return Err(ParseError::new(error.what, begin - 1..json.at()));
            }
        }
        Ok(())
    }

    fn named_value(
        &mut self,
        json: &mut Json<'_>,
        line: &[u8],
        key: &mut String,
        start: usize,
    ) -> Result<Option<(u32, f64)>, ParseError> {
        let kind = json.kind()?;
        let value = match kind {
            Kind::String => {
                key.push('=');
                json.string(key)?;
                1.0
            }
            Kind::Number => number(json, line)?,
            Kind::True | Kind::False | Kind::Null => {
                json.word(kind)?;
                f64::from(u8::from(kind == Kind::True))
            }
            Kind::Object | Kind::Array => {
                return Err(json.error("a feature is a number, a string, true, false or null"));
            }
        };
        let name = key.as_bytes();
        let is_number = !name.is_empty() && name.iter().all(u8::is_ascii_digit);
        let index = if is_number {
            parse::index(name, i64::from(self.shift))
        } else {
            self.hashed(name)
        };
        let index = index.map_err(|what| ParseError::new(what, start..json.at()))?;
        if is_number && kind != Kind::Null {
            self.numbers.push(index);
        }
        Ok(Some((index, value)).filter(|_| kind != Kind::Null))
    }

    /// `[[index, value], …]` or `[value, …]`
    fn listed(
        &mut self,
        json: &mut Json<'_>,
        line: &[u8],
        batch: &mut Batch,
    ) -> Result<(), ParseError> {
        json.expect(b'[', "expected a list")?;
        let mut first = true;
        let mut pairs = None;
        let mut place = i64::from(self.shift);
        while json.more(b']', &mut first)? {
            let kind = json.kind()?;
            if *pairs.get_or_insert(kind == Kind::Array) != (kind == Kind::Array) {
                return Err(json.error("expected either pairs or values, not both"));
            }
            match kind {
                Kind::Array => {
                    let (index, value) = self.pair(json, line)?;
                    batch.push(index, value);
                }
                Kind::Number => {
                    let value = number(json, line)?;
                    // The list is no longer than a line.
                    batch.push(place as u32, value);
                }
                Kind::Null => json.word(kind)?,
                _ => return Err(json.error("expected a number or [index, value]")),
            }
            place += 1;
        }
        Ok(())
    }

    fn pair(&self, json: &mut Json<'_>, line: &[u8]) -> Result<(u32, f64), ParseError> {
        const WHAT: &str = "expected [index, value]";
        json.expect(b'[', WHAT)?;
        if json.kind()? != Kind::Number {
            return Err(json.error(WHAT));
        }
        let place = json.number()?;
        let index = parse::index(&line[place.clone()], i64::from(self.shift))
            .map_err(|what| ParseError::new(what, place))?;
        json.expect(b',', WHAT)?;
        if json.kind()? != Kind::Number {
            return Err(json.error(WHAT));
        }
        let value = number(json, line)?;
        json.expect(b']', WHAT)?;
        Ok((index, value))
    }
}

/// A finite number.
fn number(json: &mut Json<'_>, line: &[u8]) -> Result<f64, ParseError> {
    let place: Range<usize> = json.number()?;
    parse::value(&line[place.clone()]).map_err(|what| ParseError::new(what, place))
}

impl Parse for Jsonl {
    fn record(
        &mut self,
        text: &[u8],
        end: usize,
        batch: &mut Batch,
    ) -> Result<Option<LabelWeight>, ParseError> {
        let line = &text[..end];
        let mut json = Json::new(line);
        if json.at_end() {
            return Ok(None);
        }
        json.expect(b'{', "expected an object")?;
        let (mut label, mut weight, mut features, mut tagged) = (None, None, false, false);
        let mut first = true;
        while json.more(b'}', &mut first)? {
            let start = json.at();
            let mut key = std::mem::take(&mut self.key);
            let read = json.key(&mut key);
            let is_label = key == self.label;
            let is_weight = !is_label && key == self.weight;
            let is_features = key == "features" && !is_label && !is_weight;
            let is_tag = key == "tag" && !is_label && !is_weight;
            if !(is_label || is_weight || is_features || is_tag) && read.is_ok() {
                self.warnings.add_about(&key, || {
                    format!("key `{}` ignored", parse::excerpt(key.as_bytes()))
                });
            }
            self.key = key;
            read?;
            if is_label && label.is_some()
                || is_weight && weight.is_some()
                || is_features && features
                || is_tag && tagged
            {
                return Err(ParseError::new("a key that comes twice", start..json.at()));
            }
            json.kind()?;
            let start = json.at();
            if is_label && self.options.labels == Labels::None {
                json.skip(&mut self.text)?;
                label = Some(f64::NAN);
            } else if is_label {
                let there = self.scalar(&mut json, line)?;
                let read = (self.options).label(Some(self.text.as_bytes()).filter(|_| there));
                label = Some(read.map_err(|what| ParseError::new(what, start..json.at()))?);
            } else if is_weight {
                if !self.scalar(&mut json, line)? {
                    return Err(ParseError::new("the weight is missing", start..json.at()));
                }
                let read = options::weight(self.text.as_bytes());
                weight = Some(read.map_err(|what| ParseError::new(what, start..json.at()))?);
            } else if is_features {
                self.features(&mut json, line, batch)?;
                features = true;
            } else if is_tag {
                if self.scalar(&mut json, line)? {
                    batch.set_tag(&self.text);
                }
                tagged = true;
            } else {
                json.skip(&mut self.text)?;
            }
        }
        if !json.at_end() {
            return Err(json.error("text behind the object"));
        }
        if !features {
            return Err(ParseError::new("the features are missing", 0..end));
        }
        if weight.is_none() && self.options.weight_column.is_some() && self.options.labels_required
        {
            return Err(ParseError::new("the weight is missing", 0..end));
        }
        let label = match label {
            Some(label) => label,
            None => (self.options.label(None)).map_err(|what| ParseError::new(what, 0..end))?,
        };
        Ok(Some(LabelWeight {
            label,
            weight: weight.unwrap_or(1.0),
        }))
    }

    fn warnings(&mut self) -> &mut Warnings {
        &mut self.warnings
    }
}
