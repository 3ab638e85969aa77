//! JSON records without the key `features`: see [`jsonl`](crate::jsonl).

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::columns::{is_not, unknown};
use crate::jsonl::{WithKey, located};
use crate::kinds::Tally;
use crate::labels::Census;
use crate::missing::Missing;
use crate::names::Dictionary;
use crate::parse::{self, Block, LabelWeight, ParseError, Record};
use crate::row::OnDuplicate;
use crate::{Batch, Column, Holds, Labels, ReadOptions, dates, options};

/// Reads records whose keys are columns.
#[derive(Debug)]
pub(crate) struct Records {
    options: ReadOptions,
    missing: Missing,
    /// The kinds of the columns that the first block shows, or those of the model.
    kinds: HashMap<String, Holds>,
    known: Option<Arc<[Column]>>,
    path: String,
    writer: Writer,
}

/// Writes features. It has the memory for the parts of their names.
#[derive(Debug, Default)]
struct Writer {
    is_trained: bool,
    prefix: String,
    text: String,
}

/// A key of the first block, in the order of appearance.
struct Key {
    name: String,
    tally: Tally,
    is_list: bool,
}

impl Records {
    pub(crate) fn new(options: &ReadOptions) -> Records {
        Records {
            missing: options.missing(),
            options: options.clone(),
            kinds: HashMap::new(),
            known: None,
            path: String::new(),
            writer: Writer {
                is_trained: options.columns.is_some(),
                ..Writer::default()
            },
        }
    }

    pub(crate) fn columns(&self) -> Option<Arc<[Column]>> {
        self.known.clone()
    }

    /// Decides about the keys of the first block.
    pub(crate) fn examine(&mut self, block: &mut Block<'_>) -> Result<(), String> {
        let keys = self.keys(block.text);
        let columns = match self.options.columns.take() {
            Some(model) => model,
            None => self.choose_columns(&keys, block)?,
        };
        let kind = |column: &Column| (column.name.clone(), column.holds);
        self.kinds = columns.iter().map(kind).collect();
        self.known = Some(columns.into());
        (block.names).begin(self.options.intercept.then_some("intercept"));
        if self.options.labels == Labels::None {
            return Ok(());
        }
        let (mut census, mut label) = (Census::default(), None);
        let Records { kinds, missing, .. } = self;
        each(block.text, &mut self.path, &mut |place, leaf| {
            if kinds.get(place.column()) == Some(&Holds::Label) {
                census.add(leaf.text().as_bytes(), missing);
                label.get_or_insert_with(|| place.column().to_string());
            }
            Ok(())
        });
        let found = self.options.decide(census);
        *block.labels = found.map_err(|what| {
            let other = match self.options.label_column {
                Some(_) => "",
                None => ", or --label if another key has the labels",
            };
            let label = parse::excerpt(label.unwrap_or_default().as_bytes());
            format!("key `{label}`: {what}{other}")
        })?;
        Ok(())
    }

    /// The keys of the block.
    fn keys(&mut self, block: &[u8]) -> Vec<Key> {
        let mut keys: Vec<Key> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let missing = &self.missing;
        each(block, &mut self.path, &mut |place, leaf| {
            let k = match places.get(place.column()) {
                Some(&k) => k,
                None => {
                    let name = place.column().to_string();
                    places.insert(name.clone(), keys.len());
                    let (tally, is_list) = (Tally::default(), false);
                    keys.push(Key {
                        name,
                        tally,
                        is_list,
                    });
                    keys.len() - 1
                }
            };
            keys[k].is_list |= place.is_listed;
            if !place.is_listed {
                let text = match leaf {
                    Leaf::Truth(_) => "1".into(),
                    leaf => leaf.text(),
                };
                keys[k].tally.add(text.as_bytes(), missing);
            }
            Ok(())
        });
        keys
    }

    fn choose_columns(&self, keys: &[Key], block: &mut Block<'_>) -> Result<Vec<Column>, String> {
        let options = &self.options;
        let find = |name: &String| keys.iter().position(|key| key.name == *name);
        let required = |name: &String| {
            find(name).ok_or_else(|| {
                let names: Vec<String> = keys.iter().map(|key| key.name.clone()).collect();
                unknown(name, &names)
            })
        };
        let mut holds: Vec<Holds> = (keys.iter())
            .map(|key| match key.is_list {
                true => Holds::Text,
                false => key.tally.holds(),
            })
            .collect();
        for (list, kind) in [
            (&options.categorical, Holds::Text),
            (&options.numeric, Holds::Numbers),
            (&options.date, Holds::Date),
        ] {
            for name in list {
                holds[required(name)?] = kind;
            }
        }
        for (k, key) in keys.iter().enumerate() {
            if options.ignore.iter().any(|name| is_within(&key.name, name)) {
                holds[k] = Holds::Ignored;
            }
        }
        for name in &options.ignore {
            if !keys.iter().any(|key| is_within(&key.name, name)) {
                required(name)?;
            }
        }
        if let Some(name) = &options.weight_column {
            holds[required(name)?] = Holds::Weight;
        }
        let usual = |usual: &&str| {
            let is_usual = |key: &Key| key.name.eq_ignore_ascii_case(usual);
            keys.iter().position(is_usual)
        };
        let label = match &options.label_column {
            Some(name) if options.needs_label() => Some(required(name)?),
            Some(name) => find(name),
            None => ["label", "y", "target", "class"].iter().find_map(usual),
        };
        let is_free = |k: &usize| holds[*k].is_feature() && !keys[*k].is_list;
        let label = label.or_else(|| {
            let is_needed = options.label_column.is_none() && options.labels != Labels::None;
            let first = (0..keys.len()).find(is_free).filter(|_| is_needed)?;
            let name = parse::excerpt(keys[first].name.as_bytes());
            block.warnings.add(&format!(
                "no key is called label, y, target or class: the first key, `{name}`, is used as the label. Use --label for another one"
            ));
            Some(first)
        });
        if let Some(k) = label {
            if holds[k] == Holds::Weight {
                return Err(format!("key `{}` is both label and weight", keys[k].name));
            }
            holds[k] = Holds::Label;
        }
        let column = |(key, holds): (&Key, Holds)| Column {
            name: key.name.clone(),
            holds,
        };
        Ok(std::iter::zip(keys, holds).map(column).collect())
    }

    pub(crate) fn record(
        &mut self,
        line: &str,
        record: &mut Record<'_>,
    ) -> Result<LabelWeight, ParseError> {
        let Records {
            options,
            missing,
            kinds,
            path,
            writer,
            ..
        } = self;
        let (mut label, mut weight, mut is_ours) = (None, None, false);
        let (batch, names) = (&mut *record.batch, &mut *record.names);
        let mut leaf = |place: Place<'_>, leaf: Leaf<'_>| {
            let holds = kinds.get(place.column()).copied();
            let read = match holds {
                _ if options
                    .ignore
                    .iter()
                    .any(|name| is_within(place.path, name)) =>
                {
                    Ok(())
                }
                Some(Holds::Ignored) => Ok(()),
                Some(Holds::Label) if place.is_listed || label.is_some() => {
                    Err("a record must have one label".into())
                }
                Some(Holds::Weight) if place.is_listed || weight.is_some() => {
                    Err("a record must have at most one weight".into())
                }
                Some(Holds::Label) => {
                    let text = leaf.text();
                    let text = Some(text.as_bytes()).filter(|_| leaf != Leaf::Missing);
                    options.label(text, missing).map(|read| label = Some(read))
                }
                Some(Holds::Weight) if leaf == Leaf::Missing => Err("the weight is missing".into()),
                Some(Holds::Weight) => {
                    options::weight(leaf.text().as_bytes()).map(|read| weight = Some(read))
                }
                _ if place.is_listed => {
                    let is_text = options
                        .categorical
                        .iter()
                        .any(|name| name == place.column());
                    writer.add_listed(place, leaf, is_text, batch, names);
                    Ok(())
                }
                _ => writer.add(place.path, holds, leaf, missing, batch, names),
            };
            read.map_err(|what| {
                let name = parse::excerpt(place.column().as_bytes());
                is_ours = true;
                format!("key `{name}`: {what}")
            })
        };
        let walked = walk(line, path, &mut leaf);
        walked.map_err(|error| located(&error, line, !is_ours))?;
        if weight.is_none() && options.weight_column.is_some() && options.labels_required {
            return Err(ParseError::new("the weight is missing", 0..record.end));
        }
        let label = match label {
            Some(label) => label,
            None => (options.label(None, missing))
                .map_err(|what| ParseError::new(what, 0..record.end))?,
        };
        record.sort(OnDuplicate::Add, i64::from(options.intercept))?;
        Ok(LabelWeight {
            label,
            weight: weight.unwrap_or(1.0),
        })
    }
}

impl Writer {
    /// Adds a value in a list: a word, or a number with its position.
    fn add_listed(
        &mut self,
        place: Place<'_>,
        leaf: Leaf<'_>,
        is_text: bool,
        batch: &mut Batch,
        names: &mut Dictionary,
    ) {
        match leaf.number() {
            _ if leaf == Leaf::Missing => {}
            Some(number) if !is_text => push(batch, names.index(place.path, b""), number),
            _ => self.add_category(place.column(), &leaf, batch, names),
        }
    }

    /// Adds a value that is not in a list.
    fn add(
        &mut self,
        path: &str,
        holds: Option<Holds>,
        leaf: Leaf<'_>,
        missing: &Missing,
        batch: &mut Batch,
        names: &mut Dictionary,
    ) -> Result<(), String> {
        let is_missing = match &leaf {
            Leaf::Missing => true,
            Leaf::Text(text) => missing.is(text.as_bytes()),
            number => missing.has_numbers() && missing.is(number.text().as_bytes()),
        };
        if is_missing {
            push(batch, names.index(path, b" (missing)"), 1.0);
            return Ok(());
        }
        match (holds, &leaf) {
            (Some(Holds::Text), _) | (None, Leaf::Text(_)) => {
                self.add_category(path, &leaf, batch, names);
            }
            (Some(Holds::Date), _) => {
                let text = leaf.text();
                let date = dates::parse(text.as_bytes())
                    .ok_or_else(|| is_not("dates", path, text.as_bytes(), self.is_trained))?;
                push(batch, names.index(path, b":trend"), date.trend);
                self.prefix.clear();
                self.prefix.push_str(path);
                self.prefix.push(':');
                let prefix = &self.prefix;
                date.parts(&mut self.text, |part| {
                    push(batch, names.index(prefix, part.as_bytes()), 1.0);
                });
            }
            (_, Leaf::Text(text)) => {
                let number = parse::value(text.as_bytes());
                let error = |what| match what {
                    parse::NOT_A_NUMBER => {
                        is_not("numbers", path, text.as_bytes(), self.is_trained)
                    }
                    what => what.into(),
                };
                push(batch, names.index(path, b""), number.map_err(error)?);
            }
            (_, number) => push(
                batch,
                names.index(path, b""),
                number.number().unwrap_or_default(),
            ),
        }
        Ok(())
    }

    fn add_category(
        &mut self,
        column: &str,
        leaf: &Leaf<'_>,
        batch: &mut Batch,
        names: &mut Dictionary,
    ) {
        self.prefix.clear();
        self.prefix.push_str(column);
        self.prefix.push('=');
        push(
            batch,
            names.index(&self.prefix, leaf.text().as_bytes()),
            1.0,
        );
    }
}

/// Adds a feature unless it is unknown.
fn push(batch: &mut Batch, index: Option<u32>, value: f64) {
    if let Some(index) = index {
        batch.push(index, value);
    }
}

/// Whether a path is a key, or is inside its object or list.
fn is_within(path: &str, key: &str) -> bool {
    path.strip_prefix(key)
        .is_some_and(|rest| matches!(rest.as_bytes(), [] | [b'.' | b'[', ..]))
}

/// The place of a value.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// All keys and positions: `user.tags[0]`.
    path: &'a str,
    /// The length of the path without the positions in a list.
    column: usize,
    is_listed: bool,
}

impl<'a> Place<'a> {
    /// The key, or the key of the list.
    fn column(&self) -> &'a str {
        &self.path[..self.column]
    }
}

/// A value that is no object and no list.
#[derive(Clone, Copy, PartialEq)]
enum Leaf<'a> {
    Missing,
    Truth(bool),
    Whole(i128),
    Real(f64),
    Text(&'a str),
}

impl<'a> Leaf<'a> {
    fn text(&self) -> Cow<'a, str> {
        match *self {
            Leaf::Missing => "".into(),
            Leaf::Truth(truth) => truth.to_string().into(),
            Leaf::Whole(number) => number.to_string().into(),
            Leaf::Real(number) => number.to_string().into(),
            Leaf::Text(text) => text.into(),
        }
    }

    fn number(&self) -> Option<f64> {
        match *self {
            Leaf::Truth(truth) => Some(f64::from(u8::from(truth))),
            Leaf::Whole(number) => Some(number as f64),
            Leaf::Real(number) => Some(number),
            Leaf::Missing | Leaf::Text(_) => None,
        }
    }
}

type Use<'a> = dyn FnMut(Place<'_>, Leaf<'_>) -> Result<(), String> + 'a;

/// Passes the values of all records in a block to a function. Broken records are left out.
fn each(block: &[u8], path: &mut String, leaf: &mut Use<'_>) {
    for line in block.split(|&byte| byte == b'\n') {
        if let Ok(line) = parse::text(line)
            && !line.trim_ascii().is_empty()
        {
            // The error appears when the line is read as a record.
            let _ = walk(line, path, leaf);
        }
    }
}

/// Passes the values of a record to a function, in their order.
fn walk(line: &str, path: &mut String, leaf: &mut Use<'_>) -> serde_json::Result<()> {
    path.clear();
    let mut json = serde_json::Deserializer::from_str(line);
    let list = None;
    json.deserialize_map(Walk { path, list, leaf })?;
    json.end()
}

struct Walk<'a, 'b> {
    path: &'a mut String,
    /// The length of the path before the positions in a list.
    list: Option<usize>,
    leaf: &'a mut Use<'b>,
}

impl Walk<'_, '_> {
    fn leaf<E: Error>(self, leaf: Leaf<'_>) -> Result<(), E> {
        let place = Place {
            path: self.path,
            column: self.list.unwrap_or(self.path.len()),
            is_listed: self.list.is_some(),
        };
        (self.leaf)(place, leaf).map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.leaf(Leaf::Missing)
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<(), E> {
        self.leaf(Leaf::Truth(truth))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.leaf(Leaf::Whole(number.into()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.leaf(Leaf::Whole(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.leaf(Leaf::Real(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.leaf(Leaf::Text(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Walk { path, leaf, .. } = self;
        let length = path.len();
        let push = |path: &mut String, key: &str| {
            if length > 0 {
                path.push('.');
            }
            path.push_str(key);
        };
        while let Some(()) = map.next_key_seed(WithKey(|key: &str| push(path, key)))? {
            let list = None;
            map.next_value_seed(Walk { path, list, leaf })?;
            path.truncate(length);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<(), A::Error> {
        let Walk { path, leaf, list } = self;
        let length = path.len();
        let list = Some(list.unwrap_or(length));
        for k in 0.. {
            path.push_str(&format!("[{k}]"));
            let found = all.next_element_seed(Walk { path, list, leaf })?;
            path.truncate(length);
            if found.is_none() {
                break;
            }
        }
        Ok(())
    }
}
