//! Types and functions that the parsers of all formats share.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::row::RowError;
use crate::{Batch, Column, number};

/// The largest index is 2^32 − 2, so that the number of features fits into a `u32` too.
const LARGEST_INDEX: u64 = u32::MAX as u64 - 1;

/// Errors of several formats.
pub(crate) const NOT_FINITE: &str = "the value is not finite";
pub(crate) const FROM_ONE: &str = "indices start at 1; use --zero-based if the file's start at 0";
pub(crate) const OPEN_QUOTE: &str = "the quote is never closed";

/// Reads one record after another.
pub(crate) trait Parse: Send {
    /// Whether the record continues on the next line. This line begins inside quotes if `open`.
    fn goes_on(&self, _line: &[u8], _open: bool) -> bool {
        false
    }

    /// Adds the features and the tag of the record `text[..end]` to the example being written.
    /// The parser may read the bytes after the record, but the result must not depend on them.
    /// `None` means that there is no example, as in a blank line.
    fn record(
        &mut self,
        text: &[u8],
        end: usize,
        batch: &mut Batch,
        warnings: &mut Warnings,
    ) -> Result<Option<LabelWeight>, ParseError>;

    /// The columns of a table, as far as they are known.
    fn columns(&mut self) -> Option<Arc<[Column]>> {
        None
    }
}

/// The label and the weight of an example.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LabelWeight {
    /// NaN if the example has no label.
    pub(crate) label: f64,
    pub(crate) weight: f64,
}

/// An error in a record.
#[derive(Debug)]
pub(crate) struct ParseError {
    pub(crate) what: Cow<'static, str>,
    /// The part of the record that the message quotes.
    pub(crate) place: Range<usize>,
    /// Whether the rest of the file is unreadable too.
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

/// Warnings for the user. Each is reported once.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    known: Vec<String>,
    new: Vec<String>,
}

impl Warnings {
    /// Further warnings are dropped.
    const MOST: usize = 16;

    pub(crate) fn add(&mut self, warning: &str) {
        self.add_about(warning, || warning.into());
    }

    /// Adds a warning unless there was one about the same subject.
    pub(crate) fn add_about(&mut self, subject: &str, warning: impl FnOnce() -> String) {
        if self.known.len() < Warnings::MOST && !self.known.iter().any(|known| known == subject) {
            self.known.push(subject.into());
            self.new.push(warning());
        }
    }

    /// Returns the warnings added since the last call.
    pub(crate) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.new)
    }
}

pub(crate) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// The first position from `at` on that is not blank.
pub(crate) fn skip_blanks(line: &[u8], at: usize) -> usize {
    line[at..]
        .iter()
        .position(|&byte| !is_blank(byte))
        .map_or(line.len(), |skipped| at + skipped)
}

/// Reads short `index:value` pairs with one blank between them, from `at` to the end of the line or
/// to the first item of another form, and returns the position after them. An index must be at
/// least `first`. It is stored with `shift` added.
pub(crate) fn short_pairs(
    text: &[u8],
    end: usize,
    mut at: usize,
    (first, shift): (u32, u32),
    batch: &mut Batch,
) -> usize {
    // Pairs are collected here and copied in blocks: a push per pair costs more.
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

/// Reads an index and adds `shift`.
pub(crate) fn index(digits: &[u8], shift: i64) -> Result<u32, &'static str> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err("the index is not a whole number");
    }
    // The cap prevents overflow. Leading zeros are harmless.
    let number = digits.iter().fold(0, |number: i64, digit| {
        (number * 10 + i64::from(digit - b'0')).min(1_000_000_000_000_000_000 / 10)
    });
    let number = number + shift;
    if number < 0 {
        return Err(FROM_ONE);
    }
    in_range(number as u64)
}

/// An index that is small enough.
pub(crate) fn in_range(index: u64) -> Result<u32, &'static str> {
    match index {
        ..=LARGEST_INDEX => Ok(index as u32),
        _ => Err("the index is too large"),
    }
}

/// Reads the value of a feature, a finite number.
pub(crate) fn value(text: &[u8]) -> Result<f64, &'static str> {
    match number::parse(text) {
        Some(value) if value.is_finite() => Ok(value),
        Some(_) => Err(NOT_FINITE),
        None => Err("the value is not a number"),
    }
}

/// The bytes as text, if they are UTF-8 without NUL.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, &'static str> {
    if memchr::memchr(0, bytes).is_some() {
        return Err("the line contains a NUL byte");
    }
    std::str::from_utf8(bytes).map_err(|_| "the line is not UTF-8")
}

/// A short quotation for a message, with control characters escaped.
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
        assert_eq!(index(b"0", -1), Err(FROM_ONE));
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
    fn an_excerpt_is_short_and_escapes_control_characters() {
        assert_eq!(excerpt(b"a\x1b[31m\0b"), "a\\u{1b}[31m\\u{0}b");
        let long = excerpt("ä".repeat(1000).as_bytes());
        assert_eq!(long.chars().count(), 81);
        assert_eq!(excerpt(b"\xff\xfe"), "\u{fffd}\u{fffd}");
    }

    #[test]
    fn a_warning_is_reported_once() {
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
