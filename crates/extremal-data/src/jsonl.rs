//! JSON lines: one object per line. An array of objects is read too.
//!
//! There are two forms. The first record decides: it has the second form if its key `features` is an
//! object or a list.
//!
//! **Records**, as programs for tables write them:
//!
//! ```text
//! {"label": 1, "age": 31, "new": true, "user": {"city": "Bath"}, "words": ["a", "b"], "size": [2, 3]}
//! ```
//!
//! - Every key is a column, as in a [table](crate::table). It has the same options, kinds, missing
//!   values and dates. `null` is a missing value, `true` is 1 and `false` is 0. A key that a record
//!   does not have adds nothing to its example.
//! - A key in an object is called by both keys: `user.city`. Each text in a list is a category:
//!   `words=a`. The numbers in a list are called by their positions: `size[0]`.
//! - The label is in `label_column`. By default it is the key `label`, `y`, `target` or `class`, and
//!   otherwise the first key, with a warning. The weight is in `weight_column`.
//! - Features have names. Their indices follow the order of appearance. If `bits` is given, the
//!   names are hashed instead.
//!
//! **Records with features**:
//!
//! ```text
//! {"label": 1, "weight": 2, "tag": "a7", "features": {"7": 0.5, "age": 31, "colour": "red", "new": true}}
//! {"label": -1, "features": [[0, 1.5], [12, 2]]}
//! {"label": -1, "features": [1.5, 0, null, 2]}
//! ```
//!
//! - `features` is an object, a list of `[index, value]` pairs, or a list of values with indices
//!   from 0.
//! - In an object, a name that is a whole number is the index itself. The reader hashes every
//!   other name (MurmurHash3, seed 0, the last `bits` bits, 18 by default). If the value is a
//!   string, the reader hashes `name=value` and stores 1 at this index. `true` is 1, `false` is 0,
//!   and `null` is a missing value. If several names have the same hash, their values are added.
//! - Indices given as numbers must be distinct. They may have any order.
//! - `label` (or `label_column`) is a number, a string, `true` or `false`; `null` means no label.
//!   `weight` (or `weight_column`) defaults to 1. `tag` is a string or a number. The reader ignores
//!   other keys and warns once about each.
//!
//! The reader skips blank lines. In an array, the line of a record is its number.
//!
//! ```
//! use extremal_data::{Format, ReadOptions, Reader};
//!
//! let text = br#"{"label": 1, "age": 31, "user": {"city": "Bath"}}"#;
//! let options = ReadOptions { format: Some(Format::Jsonl), ..Default::default() };
//! let mut reader = Reader::from_read(Box::new(&text[..]), "example", &options)?;
//! let batch = reader.next()?.unwrap();
//! assert_eq!(batch.get(0).values, [31.0, 1.0]);
//! assert_eq!(batch.features().unwrap().to_vec(), ["age", "user.city=Bath"]);
//!
//! let text = br#"{"label": 1, "tag": "a7", "features": {"7": 0.5, "12": true}}"#;
//! let mut reader = Reader::from_read(Box::new(&text[..]), "example", &options)?;
//! let first = reader.next()?.unwrap().get(0);
//! assert_eq!((first.label, first.weight, first.tag), (Some(1.0), 1.0, "a7"));
//! assert_eq!((first.indices, first.values), (&[7, 12][..], &[0.5, 1.0][..]));
//! # Ok::<(), extremal_data::Error>(())
//! ```

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde_json::value::RawValue;

use crate::hash::murmur3;
use crate::labels::Census;
use crate::missing::Missing;
use crate::options;
use crate::parse::{self, Block, BlockError, LabelWeight, Parse, ParseError, Record, Warnings};
use crate::records::Records;
use crate::row::{OnDuplicate, RowError, is_rising};
use crate::{Column, Format, Labels, ReadOptions};

/// An error quotes the line from this many bytes before its column.
const CONTEXT: usize = 40;

/// Reads lines of JSON.
#[derive(Debug)]
pub(crate) struct Jsonl {
    options: ReadOptions,
    missing: Missing,
    /// The reader of records without features.
    records: Option<Records>,
    /// Added to every index.
    shift: u32,
    mask: u32,
    label: String,
    weight: String,
    /// The row's indices that are given as numbers.
    numbers: Vec<u32>,
    /// A feature's name. If its value is a string, `=` and the value follow.
    name: String,
}

impl Jsonl {
    pub(crate) fn new(options: &ReadOptions) -> Jsonl {
        let or = |name: &Option<String>, default: &str| name.clone().unwrap_or(default.into());
        Jsonl {
            shift: u32::from(options.intercept),
            mask: options.mask(),
            label: or(&options.label_column, "label"),
            weight: or(&options.weight_column, "weight"),
            missing: options.missing(),
            // A model of such records has the names of its features.
            records: (options.features.is_some()).then(|| Records::new(options)),
            options: options.clone(),
            numbers: Vec::new(),
            name: String::new(),
        }
    }

    fn key(&self, key: &str, warnings: &mut Warnings) -> Key {
        match key {
            _ if key == self.label => Key::Label,
            _ if key == self.weight => Key::Weight,
            "features" => Key::Features,
            "tag" => Key::Tag,
            _ => {
                warnings.add_about(key, || {
                    format!("key `{}` is ignored", parse::excerpt(key.as_bytes()))
                });
                Key::Other
            }
        }
    }

    /// The index of the feature called `self.name`.
    fn named_index(&mut self) -> Result<u32, &'static str> {
        let name = self.name.as_bytes();
        if name.is_empty() || !name.iter().all(u8::is_ascii_digit) {
            return self.shifted(u64::from(murmur3(name, 0) & self.mask));
        }
        // Parsing fails only where the number exceeds 64 bits.
        let index = self.shifted(self.name.parse().unwrap_or(u64::MAX))?;
        self.numbers.push(index);
        Ok(index)
    }

    fn shifted(&self, index: u64) -> Result<u32, &'static str> {
        parse::in_range(index.saturating_add(u64::from(self.shift)))
    }
}

/// The key that distinguishes the two forms.
#[derive(Deserialize)]
struct Form<'a> {
    #[serde(borrow)]
    features: Option<&'a RawValue>,
}

impl Parse for Jsonl {
    fn examine(&mut self, block: &mut Block<'_>) -> Result<bool, BlockError> {
        if self.records.is_none() && self.options.learnt_from != Some(Format::Jsonl) {
            let mut lines = block.text.split(|&byte| byte == b'\n');
            let form = lines.find_map(|line| serde_json::from_slice::<Form<'_>>(line).ok());
            let is_list = |features: &RawValue| features.get().starts_with(['{', '[']);
            if form.is_some_and(|form| !form.features.is_some_and(is_list)) {
                if let Some(model) = self.options.learnt_from {
                    return Err(block.error(format!(
                        "the records have names for features, but the model was trained on {model}, whose features have numbers"
                    )));
                }
                self.records = Some(Records::new(&self.options));
            }
        }
        if let Some(records) = &mut self.records {
            let examined = records.examine(block);
            examined.map_err(|what| block.error(what))?;
            return Ok(true);
        }
        if self.options.labels == Labels::None {
            return Ok(true);
        }
        let mut census = Census::default();
        for line in block.text.split(|&byte| byte == b'\n') {
            let keys: Option<HashMap<Cow<'_, str>, &RawValue>> = serde_json::from_slice(line).ok();
            let label = keys.and_then(|keys| keys.get(&*self.label).copied());
            if let Some(Ok(Some(label))) = label.map(scalar::<serde_json::Error>) {
                census.add(label.as_bytes(), &self.missing);
            }
        }
        let decided = self.options.decide(census);
        *block.labels = decided.map_err(|what| block.error(what))?;
        Ok(true)
    }

    fn columns(&mut self) -> Option<Arc<[Column]>> {
        self.records.as_ref().and_then(Records::columns)
    }

    fn record(&mut self, record: &mut Record<'_>) -> Result<Option<LabelWeight>, ParseError> {
        let line = parse::text(record.line());
        let line = line.map_err(|what| ParseError::new(what, 0..record.end))?;
        if line.trim_ascii().is_empty() {
            return Ok(None);
        }
        if let Some(records) = &mut self.records {
            return records.record(line, record).map(Some);
        }
        let mut json = serde_json::Deserializer::from_str(line);
        let reader = self;
        let found = json.deserialize_map(Object { reader, record });
        found
            .and_then(|found| json.end().map(|()| Some(found)))
            .map_err(|error| located(&error, line, true))
    }
}

/// Adds the column to an error, unless the message names the place otherwise. Every record is one
/// line.
pub(crate) fn located(error: &serde_json::Error, line: &str, with_column: bool) -> ParseError {
    let message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let what = match message.strip_suffix(&position) {
        _ if error.is_eof() => "the line ends before the JSON object does",
        what => what.unwrap_or(&message),
    };
    let column = error.column().max(1);
    let mut start = column.saturating_sub(CONTEXT);
    while !line.is_char_boundary(start) {
        start -= 1;
    }
    let what = match with_column {
        true => format!("{what} at column {column}"),
        false => what.into(),
    };
    ParseError::new(what, start..line.len())
}

/// The keys of a record.
#[derive(Clone, Copy, PartialEq)]
enum Key {
    Label,
    Weight,
    Features,
    Tag,
    Other,
}

/// Passes a key to a function, without a copy.
pub(crate) struct WithKey<F>(pub(crate) F);

impl<'de, T, F: FnOnce(&str) -> T> DeserializeSeed<'de> for WithKey<F> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<T, D::Error> {
        json.deserialize_str(self)
    }
}

impl<T, F: FnOnce(&str) -> T> Visitor<'_> for WithKey<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<T, E> {
        Ok((self.0)(key))
    }
}

/// Reads an object with label, weight, tag and features.
struct Object<'a, 'b> {
    reader: &'a mut Jsonl,
    record: &'a mut Record<'b>,
}

impl<'de> Visitor<'de> for Object<'_, '_> {
    type Value = LabelWeight;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the key features")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LabelWeight, A::Error> {
        let Object { reader, record } = self;
        let (mut label, mut weight) = (None, None);
        let mut seen = [false; 4];
        while let Some(key) =
            map.next_key_seed(WithKey(|key: &str| reader.key(key, record.warnings)))?
        {
            if key != Key::Other && std::mem::replace(&mut seen[key as usize], true) {
                return Err(A::Error::custom("the key appears twice"));
            }
            match key {
                Key::Label if reader.options.labels != Labels::None => {
                    let text = scalar::<A::Error>(map.next_value()?)?;
                    let text = text.as_deref().map(str::as_bytes);
                    let read = reader.options.label(text, &reader.missing);
                    label = Some(read.map_err(A::Error::custom)?);
                }
                Key::Weight => {
                    let text = scalar::<A::Error>(map.next_value()?)?;
                    let text = text.ok_or_else(|| A::Error::custom("the weight is missing"))?;
                    weight = Some(options::weight(text.as_bytes()).map_err(A::Error::custom)?);
                }
                Key::Features => map.next_value_seed(Features { reader, record })?,
                Key::Tag => {
                    if let Some(tag) = scalar::<A::Error>(map.next_value()?)? {
                        record.batch.set_tag(&tag);
                    }
                }
                Key::Label | Key::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let options = &reader.options;
        if !seen[Key::Features as usize] {
            return Err(A::Error::custom("the features are missing"));
        }
        if weight.is_none() && options.weight_column.is_some() && options.labels_required {
            return Err(A::Error::custom("the weight is missing"));
        }
        let label = match label {
            Some(label) => label,
            None => options
                .label(None, &reader.missing)
                .map_err(A::Error::custom)?,
        };
        Ok(LabelWeight {
            label,
            weight: weight.unwrap_or(1.0),
        })
    }
}

/// The text of a number, or the content of a string. `null` gives `None`.
fn scalar<E: Error>(value: &RawValue) -> Result<Option<Cow<'_, str>>, E> {
    let text = value.get();
    match text.as_bytes()[0] {
        b'n' => Ok(None),
        b'-' | b'0'..=b'9' | b't' | b'f' => Ok(Some(text.into())),
        b'"' if text.contains('\\') => match serde_json::from_str(text) {
            Ok(text) => Ok(Some(Cow::Owned(text))),
            Err(_) => Err(E::custom("the string has an invalid escape")),
        },
        b'"' => Ok(Some(text[1..text.len() - 1].into())),
        _ => Err(E::custom("expected a number, a string, true or false")),
    }
}

/// Reads the features into the batch.
struct Features<'a, 'b> {
    reader: &'a mut Jsonl,
    record: &'a mut Record<'b>,
}

impl Features<'_, '_> {
    fn sort<E: Error>(self, on_duplicate: OnDuplicate) -> Result<(), E> {
        let sorted = self.record.sort(on_duplicate, i64::from(self.reader.shift));
        sorted.map_err(|error| E::custom(error.what))
    }
}

impl<'de> DeserializeSeed<'de> for Features<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Features<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("features as an object or a list")
    }

    /// `{"name": value, …}`
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let reader = &mut *self.reader;
        reader.numbers.clear();
        loop {
            let name = &mut reader.name;
            name.clear();
            let Some(()) = map.next_key_seed(WithKey(|key: &str| name.push_str(key)))? else {
                break;
            };
            if let Entry::Value(value) = map.next_value_seed(Feature { name: Some(name) })? {
                let index = reader.named_index().map_err(A::Error::custom)?;
                self.record.batch.push(index, value);
            }
        }
        if !is_rising(&reader.numbers) {
            reader.numbers.sort_unstable();
            if let Some(two) = reader.numbers.windows(2).find(|two| two[0] == two[1]) {
                let error = RowError::Duplicate(two[0]);
                return Err(A::Error::custom(error.message(i64::from(reader.shift))));
            }
        }
        self.sort(OnDuplicate::Add)
    }

    /// `[[index, value], …]` or `[value, …]`
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut pairs = None;
        let mut place = 0;
        while let Some(entry) = list.next_element_seed(Feature { name: None })? {
            let is_pair = matches!(entry, Entry::Pair(..));
            if *pairs.get_or_insert(is_pair) != is_pair {
                let what = "the list mixes values and [index, value] pairs";
                return Err(A::Error::custom(what));
            }
            let (index, value) = match entry {
                Entry::Pair(index, value) => (index, value),
                Entry::Value(value) => (place, value),
                Entry::Missing => (place, 0.0),
            };
            let index = self.reader.shifted(index).map_err(A::Error::custom)?;
            self.record.batch.push(index, value);
            place += 1;
        }
        self.sort(OnDuplicate::Refuse)
    }
}

/// A feature's value, or an entry of a list.
enum Entry {
    Missing,
    Value(f64),
    Pair(u64, f64),
}

/// Reads an [`Entry`]. In an object, appends a string value to the feature's name.
struct Feature<'a> {
    name: Option<&'a mut String>,
}

impl<'de> DeserializeSeed<'de> for Feature<'_> {
    type Value = Entry;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Entry, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Feature<'_> {
    type Value = Entry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.name {
            Some(_) => "a number, a string, true, false or null",
            None => "a number, null or [index, value]",
        })
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Entry, E> {
        Ok(Entry::Value(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Entry, E> {
        Ok(Entry::Value(value as f64))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Entry, E> {
        Ok(Entry::Value(value as f64))
    }

    fn visit_unit<E: Error>(self) -> Result<Entry, E> {
        Ok(Entry::Missing)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Entry, E> {
        match self.name {
            Some(_) => Ok(Entry::Value(f64::from(u8::from(value)))),
            None => Err(E::invalid_type(Unexpected::Bool(value), &self)),
        }
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Entry, E> {
        let Some(name) = self.name else {
            return Err(E::invalid_type(Unexpected::Str(value), &self));
        };
        name.push('=');
        name.push_str(value);
        Ok(Entry::Value(1.0))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<Entry, A::Error> {
        if self.name.is_some() {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        match (pair.next_element(), pair.next_element()) {
            (Ok(Some(index)), Ok(Some(value))) => Ok(Entry::Pair(index, value)),
            _ => Err(A::Error::custom(
                "expected [index, value], a whole number and a number",
            )),
        }
    }
}
