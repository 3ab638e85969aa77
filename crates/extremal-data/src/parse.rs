//! What the readers of all formats have in common.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::row::RowError;
use crate::{Batch, Column, number};

/// The largest index: one below 2^32 − 1, so that the number of features is a `u32` too.
pub(crate) const LARGEST_INDEX: u64 = u32::MAX as u64 - 1;

/// Reads one record after another.
pub(crate) trait Parse: Send {
    /// Whether the record goes on behind this line, which began inside of quotes if `open`.
    fn goes_on(&self, _line: &[u8], _open: bool) -> bool {
        false
    }

    /// Adds the features and the tag of the record `text[..end]` to the example being written.
    /// What follows may be looked at, but is not the record's. `None` where there is no example,
    /// as in a blank line.
    fn record(
        &mut self,
        text: &[u8],
        end: usize,
        batch: &mut Batch,
    ) -> Result<Option<LabelWeight>, ParseError>;

    /// What the user should know.
    fn warnings(&mut self) -> &mut Warnings;

    /// A table's columns, as far as they are known.
    fn columns(&mut self) -> Option<Arc<[Column]>> {
        None
    }
}

/// What an example has besides features.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LabelWeight {
    /// NaN where there is none.
    pub(crate) label: f64,
    pub(crate) weight: f64,
}

/// What is wrong with a record.
#[derive(Debug)]
pub(crate) struct ParseError {
    pub(crate) what: Cow<'static, str>,
    /// Where in the record.
    pub(crate) place: Range<usize>,
    /// Whether nothing behind it can be read either.
    pub(crate) fatal: bool,
}

impl ParseError {
    pub(crate) fn new(what: impl Into<Cow<'static, str>>, place: Range<usize>) -> ParseError {
        ParseError {
            what: what.into(),
            place,
            fatal: false,
        }
    }

    pub(crate) fn from_row(error: RowError, shift: i64, end: usize) -> ParseError {
        ParseError::new(error.message(shift), 0..end)
    }
}

/// Things to tell, once each.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    known: Vec<String>,
    new: Vec<String>,
}

impl Warnings {
    /// Past so many, what is in the file is too odd to be listed.
    const MOST: usize = 16;

    pub(crate) fn add(&mut self, warning: &str) {
        self.add_about(warning, || warning.into());
    }

    /// A warning that is only written if there was none about this subject.
    pub(crate) fn add_about(&mut self, subject: &str, warning: impl FnOnce() -> String) {
        if self.known.len() < Warnings::MOST && !self.known.iter().any(|known| known == subject) {
            self.known.push(subject.into());
            self.new.push(warning());
        }
    }

    /// Those that were not taken before.
    pub(crate) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.new)
    }
}

pub(crate) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// The first place from `at` on that is not blank.
pub(crate) fn skip_blanks(line: &[u8], at: usize) -> usize {
    line[at..]
        .iter()
        .position(|&byte| !is_blank(byte))
        .map_or(line.len(), |skipped| at + skipped)
}

/// Takes the `index:value` pairs from `at` on that are short and have one blank between them, up
/// to the end of the line or the first that is different, and gives the place behind them.
/// An index must be at least `first`, and is stored with `shift` added.
pub(crate) fn short_pairs(
    text: &[u8],
    end: usize,
    mut at: usize,
    (first, shift): (u32, u32),
    batch: &mut Batch,
) -> usize {
    // Copied from time to time: a push looks at more than it takes to write here.
    const SIZE: usize = 64;
    let (mut indices, mut values) = ([0; SIZE], [0.0; SIZE]);
    let mut count = 0;
    while let Some((index, value, next)) = number::short_pair(text, at)
        && (next == end || text.get(next) == Some(&b' '))
        && index >= first
    {
        indices[count % SIZE] = index.wrapping_add(shift);
        values[count % SIZE] = value;
        count += 1;
        if count.is_multiple_of(SIZE) {
            batch.extend(&indices, &values);
        }
        at = next + 1;
        if at >= end {
            at = end;
            break;
        }
    }
    let rest = count % SIZE;
    batch.extend(&indices[..rest], &values[..rest]);
    at
}

/// A whole number that may be an index once `shift` is added to it.
pub(crate) fn index(digits: &[u8], shift: i64) -> Result<u32, &'static str> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err("the index is not a whole number");
    }
    // Leading zeros are harmless; past 10^18 the number is too large anyway.
    let number = digits.iter().fold(0, |number: i64, digit| {
        (number * 10 + i64::from(digit - b'0')).min(1_000_000_000_000_000_000 / 10)
    });
    let number = number + shift;
    if number < 0 {
        return Err("indices begin with 1");
    }
    match u32::try_from(number) {
        Ok(index) if u64::from(index) <= LARGEST_INDEX => Ok(index),
        _ => Err("the index is too large"),
    }
}

/// A feature's value: any finite number.
pub(crate) fn value(text: &[u8]) -> Result<f64, &'static str> {
    match number::parse(text) {
        Some(value) if value.is_finite() => Ok(value),
        Some(_) => Err("the value is not finite"),
        None => Err("the value is not a number"),
    }
}

/// Text that may be shown and stored.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, &'static str> {
    if memchr::memchr(0, bytes).is_some() {
        return Err("a NUL byte");
    }
    std::str::from_utf8(bytes).map_err(|_| "not UTF-8")
}

/// Names and numbers as text, for a message: short, and without what would upset a terminal.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const MOST: usize = 80;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * MOST)]);
    let mut shown = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == MOST {
            shown.push('…');
            return shown;
        }
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    if bytes.len() > 4 * MOST {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_a_whole_number_that_fits() {
        assert_eq!(index(b"7", -1), Ok(6));
        assert_eq!(index(b"007", 0), Ok(7));
        assert_eq!(index(b"0", -1), Err("indices begin with 1"));
        assert_eq!(index(b"4294967294", 0), Ok(u32::MAX - 1));
        assert_eq!(index(b"4294967295", 0), Err("the index is too large"));
        assert_eq!(index(b"4294967295", -1), Ok(u32::MAX - 1));
        assert_eq!(index(b"4294967294", 1), Err("the index is too large"));
        assert_eq!(
            index("9".repeat(400).as_bytes(), 0),
            Err("the index is too large")
        );
        for bad in ["", "-1", "+1", "1.0", "1e3", "a", " 1"] {
            assert!(index(bad.as_bytes(), 0).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn an_excerpt_is_short_and_harmless() {
        assert_eq!(excerpt(b"a\x1b[31m\0b"), "a\\u{1b}[31m\\u{0}b");
        let long = excerpt("ä".repeat(1000).as_bytes());
        assert_eq!(long.chars().count(), 81);
        assert_eq!(excerpt(b"\xff\xfe"), "\u{fffd}\u{fffd}");
    }

    #[test]
    fn a_note_is_told_once() {
        let mut warnings = Warnings::default();
        warnings.add("a");
        warnings.add("a");
        assert_eq!(warnings.take(), ["a"]);
        warnings.add("a");
        assert_eq!(warnings.take(), [""; 0]);
        for k in 0..1000 {
            warnings.add(&k.to_string());
        }
        assert_eq!(warnings.take().len(), Warnings::MOST - 1);
    }
}
