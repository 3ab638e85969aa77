//! Vowpal Wabbit's text: `label weight 'tag |namespace name:value name … |namespace …`
//!
//! - Before the first `|`: the label; the example's weight, 1 unless given; a base, which is
//!   ignored, with a note; a tag, which begins with `'` or touches the `|`. All of them may be
//!   left out, in this order.
//! - Behind a `|` that is followed by a blank come features without a namespace, otherwise the
//!   namespace's name and perhaps `:factor`, by which its values are multiplied.
//! - A feature is `name:value`, or `name` alone, which is 1. Zeros are left out.
//! - A name that is a number, outside of namespaces, is taken as it is: `| 7:0.5` is feature 7.
//!   Everything else is hashed as Vowpal Wabbit hashes it: MurmurHash3 of the name with the
//!   namespace's own hash as the seed, and the last `bits` bits (18 unless given) are the index;
//!   within a namespace a number is added to its hash instead. Features that share an index are
//!   added up.
//!
//! Blank lines are skipped.
//!
//! ```
//! use extremal_data::{Format, ReadOptions, Reader};
//!
//! let text = b"1 2.5 'first | 7:0.5 12 |word:2 hello\n-1 | 3\n";
//! let options = ReadOptions { format: Some(Format::Vw), ..Default::default() };
//! let mut reader = Reader::from_read(Box::new(&text[..]), "example", &options)?;
//! let batch = reader.next()?.unwrap();
//! let first = batch.get(0);
//! assert_eq!((first.label, first.weight, first.tag), (Some(1.0), 2.5, "first"));
//! assert_eq!(first.indices[..2], [7, 12]);
//! assert_eq!(first.values, [0.5, 1.0, 2.0]);
//! # Ok::<(), extremal_data::Error>(())
//! ```

use crate::hash::murmur3;
use crate::options;
use crate::parse::{self, LARGEST_INDEX, LabelWeight, Parse, ParseError, Warnings, skip_blanks};
use crate::row::{OnDuplicate, Sorter};
use crate::{Batch, ReadOptions, number};

/// Reads lines of Vowpal Wabbit's text.
#[derive(Debug)]
pub(crate) struct Vw {
    options: ReadOptions,
    /// What has to be added to indices.
    shift: u32,
    mask: u32,
    sorter: Sorter,
    warnings: Warnings,
}

/// The namespace that features belong to.
#[derive(Clone, Copy)]
struct Namespace {
    /// `None` for features without one.
    hash: Option<u32>,
    factor: f64,
}

impl Vw {
    pub(crate) fn new(options: &ReadOptions) -> Vw {
        Vw {
            options: options.clone(),
            shift: u32::from(options.intercept),
            mask: options.mask(),
            sorter: Sorter::default(),
            warnings: Warnings::default(),
        }
    }

    /// Label, weight, base and tag.
    fn head(
        &mut self,
        line: &[u8],
        bar: usize,
        batch: &mut Batch,
    ) -> Result<LabelWeight, ParseError> {
        let mut label = None;
        let mut weight = 1.0;
        let mut place = 0;
        let mut tagged = false;
        let mut at = skip_blanks(&line[..bar], 0);
        while at < bar {
            let (_, stop) = token(&line[..bar], at);
            let token = &line[at..stop];
            let error = |what: String| ParseError::new(what, at..stop);
            if tagged {
                return Err(error("the tag is not the last before |".into()));
            }
            if token[0] == b'\'' || stop == bar {
                let tag = token.strip_prefix(b"'").unwrap_or(token);
                batch.set_tag(parse::text(tag).map_err(|what| error(what.into()))?);
                tagged = true;
            } else {
                match place {
                    0 => label = Some(at..stop),
                    1 => weight = options::weight(token).map_err(error)?,
                    2 => {
                        parse::value(token)
                            .map_err(|_| error("the base is not a finite number".into()))?;
                        self.warnings
                            .add("base (the third number before |) ignored");
                    }
                    _ => return Err(error("expected label, weight, base and a tag".into())),
                }
                place += 1;
            }
            at = skip_blanks(&line[..bar], stop);
        }
        let text = label.clone().map(|label| &line[label]);
        let label = self.options.label(text).map_err(|what| {
            let what = match label {
                None if tagged => format!("{what} (what touches | is a tag)"),
                _ => what,
            };
            ParseError::new(what, label.unwrap_or(0..line.len()))
        })?;
        Ok(LabelWeight { label, weight })
    }

    /// What follows a `|`.
    fn namespace(
        &self,
        line: &[u8],
        (at, colon, stop): (usize, usize, usize),
    ) -> Result<Namespace, ParseError> {
        let error = |what| ParseError::new(what, at..stop);
        if at == stop {
            return Ok(Namespace {
                hash: None,
                factor: 1.0,
            });
        }
        let name = &line[at..colon];
        if name.is_empty() {
            return Err(error("a namespace without a name"));
        }
        let factor = match colon == stop {
            true => 1.0,
            false => parse::value(&line[colon + 1..stop])
                .map_err(|_| error("the namespace's factor is not a finite number"))?,
        };
        let hash = Some(hash(name, 0));
        Ok(Namespace { hash, factor })
    }

    /// The feature at `at`, which ends at `stop` and has its first colon at `colon`.
    fn feature(
        &self,
        text: &[u8],
        (at, colon, stop): (usize, usize, usize),
        namespace: Namespace,
    ) -> Result<(u32, f64), &'static str> {
        let name = &text[at..colon];
        if name.is_empty() {
            return Err("a feature without a name");
        }
        let index = match namespace.hash {
            None if is_number(name) => parse::index(name, i64::from(self.shift))?,
            seed => {
                let index = hash(name, seed.unwrap_or(0)) & self.mask;
                index
                    .checked_add(self.shift)
                    .filter(|&index| u64::from(index) <= LARGEST_INDEX)
                    .ok_or("the index is too large")?
            }
        };
        let value = if colon == stop {
            1.0
        } else if let Some((value, end)) = number::finite(text, colon + 1)
            && end == stop
        {
            value
        } else {
            parse::value(&text[colon + 1..stop])?
        };
        let value = namespace.factor * value;
        if !value.is_finite() {
            return Err("the value times its namespace's factor is not finite");
        }
        Ok((index, value))
    }

    fn features(
        &mut self,
        text: &[u8],
        end: usize,
        bar: usize,
        batch: &mut Batch,
    ) -> Result<(), ParseError> {
        let line = &text[..end];
        let mut at = bar;
        let mut namespace = Namespace {
            hash: None,
            factor: 1.0,
        };
        let mut checked = false;
        loop {
            if namespace.hash.is_none() {
                at = parse::short_pairs(text, end, at, (0, self.shift), batch);
            }
            at = skip_blanks(line, at);
            if at == end {
                break;
            }
            let bar = line[at] == b'|';
            let start = at + usize::from(bar);
            let (colon, stop) = token(line, start);
            if !checked && stop > start {
                parse::text(&line[start..]).map_err(|what| ParseError::new(what, 0..end))?;
                checked = true;
            }
            if bar {
                namespace = self.namespace(line, (start, colon, stop))?;
            } else {
                let (index, value) = self
                    .feature(text, (at, colon, stop), namespace)
                    .map_err(|what| ParseError::new(what, at..stop))?;
                batch.push(index, value);
            }
            at = skip_blanks(line, stop);
        }
        self.sorter
            .sort_row(batch, OnDuplicate::Add)
            .map_err(|error| ParseError::from_row(error, i64::from(self.shift), end))
    }
}

/// Where the part of the line that begins at `at` has its first colon, if any, and where it ends:
/// a `|` needs no blank before it.
fn token(line: &[u8], at: usize) -> (usize, usize) {
    let mut colon = None;
    for (place, &byte) in line.iter().enumerate().skip(at) {
        match byte {
            b':' => colon = colon.or(Some(place)),
            b' ' | b'\t' | b'|' => return (colon.unwrap_or(place), place),
            _ => {}
        }
    }
    (colon.unwrap_or(line.len()), line.len())
}

fn is_number(name: &[u8]) -> bool {
    name.iter().all(u8::is_ascii_digit)
}

/// Vowpal Wabbit's hash of a name; only its last 31 bits are ever used.
pub(crate) fn hash(name: &[u8], seed: u32) -> u32 {
    if is_number(name) {
        name.iter()
            .fold(0_u32, |number, digit| {
                number
                    .wrapping_mul(10)
                    .wrapping_add(u32::from(digit - b'0'))
            })
            .wrapping_add(seed)
    } else {
        murmur3(name, seed)
    }
}

impl Parse for Vw {
    fn record(
        &mut self,
        text: &[u8],
        end: usize,
        batch: &mut Batch,
    ) -> Result<Option<LabelWeight>, ParseError> {
        let line = &text[..end];
        if skip_blanks(line, 0) == end {
            return Ok(None);
        }
        let Some(bar) = memchr::memchr(b'|', line) else {
            return Err(ParseError::new("no | before the features", 0..end));
        };
        let head = self.head(line, bar, batch)?;
        // All of it, also what is not looked at: whether a line is text may not depend on how fast
        // its features can be read.
        parse::text(&line[..bar]).map_err(|what| ParseError::new(what, 0..end))?;
        self.features(text, end, bar, batch)?;
        Ok(Some(head))
    }

    fn warnings(&mut self) -> &mut Warnings {
        &mut self.warnings
    }
}
