//! Vowpal Wabbit's text: `label weight 'tag |namespace name:value name … |namespace …`
//!
//! - A line begins with the label, the weight (1 by default), a base and a tag, in this order. Each
//!   is optional. The first `|` ends this part. The reader ignores the base and warns once. A tag
//!   begins with `'` or touches the `|`. A label that is a token for a missing value is no label.
//! - If a blank follows a `|`, the next features have no namespace. Otherwise the name of their
//!   namespace follows. If `:factor` follows the name, the reader multiplies the values in the
//!   namespace by the factor.
//! - A feature is `name:value` or `name`. Without a value, the value is 1. The reader drops zeros.
//!   If the value is not a number, the feature is a category: `city:paris` has the value 1, and its
//!   index depends on both texts. A factor does not change this value.
//! - Outside namespaces, a name that is a number is the index: `| 7:0.5` is feature 7. If `bits` is
//!   given, only its last bits count. All other names are hashed as in Vowpal Wabbit: MurmurHash3 of
//!   the name, with the hash of the namespace as the seed. For a category, this hash is the seed for
//!   the hash of the text. The last `bits` bits (18 by default) are the index. Within a namespace, a
//!   name that is a number is not hashed, but added to the namespace's hash.
//! - Features without a name, such as `:0.5`, have the numbers 0, 1, … as their names, in their order
//!   within the namespace.
//! - If several features have the same index, their values are added.
//!
//! The reader skips blank lines.
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
use crate::missing::Missing;
use crate::options;
use crate::parse::{
    self, Block, BlockError, LabelWeight, Parse, ParseError, Record, Warnings, skip_blanks,
};
use crate::row::OnDuplicate;
use crate::{Labels, ReadOptions, number};

/// Reads lines of Vowpal Wabbit's text.
#[derive(Debug)]
pub(crate) struct Vw {
    options: ReadOptions,
    missing: Missing,
    /// Added to every index.
    shift: u32,
    mask: u32,
    /// Whether names that are numbers are reduced to the last bits.
    reduces: bool,
}

/// The namespace that features belong to.
#[derive(Clone, Copy)]
struct Namespace {
    /// `None` for features without a namespace.
    hash: Option<u32>,
    factor: f64,
    /// The number of features without a name so far.
    unnamed: u32,
}

impl Namespace {
    const NONE: Namespace = Namespace {
        hash: None,
        factor: 1.0,
        unnamed: 0,
    };

    fn scaled(&self, value: f64) -> Result<f64, &'static str> {
        let value = self.factor * value;
        match value.is_finite() {
            true => Ok(value),
            false => Err("the product of the value and its namespace's factor is not finite"),
        }
    }
}

impl Vw {
    pub(crate) fn new(options: &ReadOptions) -> Vw {
        Vw {
            options: options.clone(),
            missing: options.missing(),
            shift: u32::from(options.intercept),
            mask: options.mask(),
            reduces: options.bits.is_some(),
        }
    }

    /// Reads label, weight, base and tag, which precede the first `|` at `bar`.
    fn label_and_weight(
        &self,
        bar: usize,
        record: &mut Record<'_>,
    ) -> Result<LabelWeight, ParseError> {
        let line = record.line();
        let mut label = None;
        let mut weight = 1.0;
        let mut place = 0;
        let mut tag = None;
        let mut at = skip_blanks(&line[..bar], 0);
        while at < bar {
            let (_, stop) = token(&line[..bar], at);
            let token = &line[at..stop];
            let error = |what: String| ParseError::new(what, at..stop);
            if tag.is_some() {
                return Err(error("the tag is not the last item before |".into()));
            }
            if token[0] == b'\'' || stop == bar {
                let name = token.strip_prefix(b"'").unwrap_or(token);
                let name = parse::text(name).map_err(|what| error(what.into()))?;
                record.batch.set_tag(name);
                tag = Some(at..stop);
            } else {
                match place {
                    0 => label = Some(at..stop),
                    1 => weight = options::weight(token).map_err(error)?,
                    2 => {
                        parse::value(token)
                            .map_err(|_| error("the base is not a finite number".into()))?;
                        record
                            .warnings
                            .add("the base (the third number before |) is ignored");
                    }
                    _ => {
                        return Err(error(
                            "expected only label, weight, base and tag before |".into(),
                        ));
                    }
                }
                place += 1;
            }
            at = skip_blanks(&line[..bar], stop);
        }
        if label.is_none()
            && let Some(tag) = tag
            && number::parse(&line[tag.clone()]).is_some()
            && self.options.labels != Labels::None
        {
            record.warnings.add_about("tag", || {
                let tag = parse::excerpt(&line[tag]);
                format!("`{tag}|` is a tag, not a label. Put a blank before | if it is a label")
            });
        }
        let text = label.clone().map(|label| &line[label]);
        let read = self.options.label(text, &self.missing);
        let label = read.map_err(|what| ParseError::new(what, label.unwrap_or(0..line.len())))?;
        Ok(LabelWeight { label, weight })
    }

    /// The namespace that a `|` begins.
    fn namespace(
        &self,
        line: &[u8],
        (at, colon, stop): (usize, usize, usize),
    ) -> Result<Namespace, ParseError> {
        let error = |what| ParseError::new(what, at..stop);
        if at == stop {
            return Ok(Namespace::NONE);
        }
        let name = &line[at..colon];
        if name.is_empty() {
            return Err(error("the namespace has no name"));
        }
        let factor = match colon == stop {
            true => 1.0,
            false => parse::value(&line[colon + 1..stop])
                .map_err(|_| error("the namespace's factor is not a finite number"))?,
        };
        let hash = Some(hash(name, 0));
        Ok(Namespace {
            hash,
            factor,
            unnamed: 0,
        })
    }

    /// Reads the feature from `at` to `stop`. Its first colon is at `colon`.
    fn feature(
        &self,
        text: &[u8],
        (at, colon, stop): (usize, usize, usize),
        namespace: &mut Namespace,
        warnings: &mut Warnings,
    ) -> Result<(u32, f64), &'static str> {
        let name = &text[at..colon];
        let value = if colon == stop {
            Some(1.0)
        } else {
            number::finite(text, colon + 1).and_then(|(value, end)| (end == stop).then_some(value))
        };
        let Some(value) = value.filter(|_| !name.is_empty()) else {
            return self.odd_feature(&text[at..stop], colon - at, namespace, warnings);
        };
        Ok((self.index(name, namespace)?, namespace.scaled(value)?))
    }

    /// Reads a feature without a name, a category, or a value in an unusual form.
    #[cold]
    fn odd_feature(
        &self,
        feature: &[u8],
        colon: usize,
        namespace: &mut Namespace,
        warnings: &mut Warnings,
    ) -> Result<(u32, f64), &'static str> {
        let name = &feature[..colon];
        let Some(value) = category_or_value(feature, colon + 1, warnings)? else {
            if name.is_empty() {
                return Err("the feature has no name");
            }
            let seed = hash(name, namespace.hash.unwrap_or(0));
            return Ok((self.reduced(hash(&feature[colon + 1..], seed))?, 1.0));
        };
        let index = if name.is_empty() {
            let first = namespace.hash.unwrap_or(0);
            namespace.unnamed += 1;
            self.reduced(first.wrapping_add(namespace.unnamed - 1))?
        } else {
            self.index(name, namespace)?
        };
        Ok((index, namespace.scaled(value)?))
    }

    /// The index of a feature with a number.
    fn index(&self, name: &[u8], namespace: &Namespace) -> Result<u32, &'static str> {
        match namespace.hash {
            None if !self.reduces && is_number(name) => parse::index(name, i64::from(self.shift)),
            seed => self.reduced(hash(name, seed.unwrap_or(0))),
        }
    }

    /// The index that a hash gives.
    fn reduced(&self, hash: u32) -> Result<u32, &'static str> {
        parse::in_range(u64::from(hash & self.mask) + u64::from(self.shift))
    }

    /// Reads the features, which begin with the `|` at `bar`.
    // Inlined into `record`, this loop takes a tenth more instructions.
    #[inline(never)]
    fn features(&self, bar: usize, record: &mut Record<'_>) -> Result<(), ParseError> {
        let (text, end) = (record.text, record.end);
        let line = &text[..end];
        let batch = &mut *record.batch;
        let mut at = bar;
        let mut namespace = Namespace::NONE;
        let mut checked = false;
        loop {
            if namespace.hash.is_none() && !self.reduces {
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
                    .feature(text, (at, colon, stop), &mut namespace, record.warnings)
                    .map_err(|what| ParseError::new(what, at..stop))?;
                batch.push(index, value);
            }
            at = skip_blanks(line, stop);
        }
        record.sort(OnDuplicate::Add, i64::from(self.shift))
    }
}

/// Finds the end of the token that begins at `at`, and its first colon. A token without a colon has
/// both at its end. A `|` ends a token too.
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

/// Reads the value of a feature, if [`number::finite`] could not read it. The value begins at `at`.
/// `None` means that it is a category.
fn category_or_value(
    feature: &[u8],
    at: usize,
    warnings: &mut Warnings,
) -> Result<Option<f64>, &'static str> {
    let text = &feature[at..];
    match parse::value(text) {
        Err(parse::NOT_A_NUMBER) if !text.is_empty() => {
            if matches!(text[0], b'0'..=b'9' | b'.' | b'-' | b'+') {
                warnings.add_about("category", || {
                    let feature = parse::excerpt(feature);
                    format!("`{feature}` and similar features are categories, since their values are not numbers")
                });
            }
            Ok(None)
        }
        read => read.map(Some),
    }
}

fn is_number(name: &[u8]) -> bool {
    name.iter().all(u8::is_ascii_digit)
}

/// Vowpal Wabbit's hash of a name. Callers use only its last 31 bits.
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
    fn examine(&mut self, block: &mut Block<'_>) -> Result<bool, BlockError> {
        block.decide(&mut self.options, &self.missing, |line| {
            let bar = memchr::memchr(b'|', line)?;
            let at = skip_blanks(&line[..bar], 0);
            let (_, stop) = token(&line[..bar], at);
            Some(&line[at..stop]).filter(|token| stop < bar && token[0] != b'\'')
        })
    }

    fn record(&mut self, record: &mut Record<'_>) -> Result<Option<LabelWeight>, ParseError> {
        let (line, end) = (record.line(), record.end);
        if skip_blanks(line, 0) == end {
            return Ok(None);
        }
        let Some(bar) = memchr::memchr(b'|', line) else {
            return Err(ParseError::new("expected | before the features", 0..end));
        };
        let found = self.label_and_weight(bar, record)?;
        // Also the ignored parts: whether a line is valid must not depend on the path that reads
        // its features.
        parse::text(&line[..bar]).map_err(|what| ParseError::new(what, 0..end))?;
        self.features(bar, record)?;
        Ok(Some(found))
    }
}
