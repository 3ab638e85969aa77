//! Types and functions that the parsers of all formats share.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::labels::Census;
use crate::missing::Missing;
use crate::names::Dictionary;
use crate::row::{OnDuplicate, Sorter};
use crate::{Batch, Column, LabelFacts, Labels, ReadOptions, number};

/// The largest index is 2^32 − 2, so that the number of features fits into a `u32` too.
const LARGEST_INDEX: u64 = u32::MAX as u64 - 1;

/// Errors of several formats.
pub(crate) const NOT_FINITE: &str = "the value is not finite";
pub(crate) const NOT_A_NUMBER: &str = "the value is not a number";
pub(crate) const FROM_ONE: &str =
    "the index is 0, but indices start at 1. Use --zero-based if they start at 0 in this file";
pub(crate) const OPEN_QUOTE: &str = "the quote is never closed";

/// The parser of a format.
pub(crate) trait Parse: Send {
    /// Whether the record continues after this line. The line begins inside quotes if `open`.
    fn goes_on(&self, _line: &[u8], _open: bool) -> bool {
        false
    }

    /// Decides from the first block of lines what the records hold. The parser then reads the same
    /// lines as records. `Ok(false)` asks for a longer block, unless this one is complete.
    fn examine(&mut self, _block: &mut Block<'_>) -> Result<bool, BlockError> {
        Ok(true)
    }

    /// Adds the features and the tag of the record to its example. `None` means that there is no
    /// example, as in a blank line.
    fn record(&mut self, record: &mut Record<'_>) -> Result<Option<LabelWeight>, ParseError>;

    /// The columns of a table, as far as they are known.
    fn columns(&mut self) -> Option<Arc<[Column]>> {
        None
    }
}

/// The first block of lines.
pub(crate) struct Block<'a> {
    /// Complete lines, at most 512.
    pub(crate) text: &'a [u8],
    /// Whether no longer block will follow.
    pub(crate) complete: bool,
    pub(crate) names: &'a mut Dictionary,
    pub(crate) warnings: &'a mut Warnings,
    /// The parser sets these.
    pub(crate) labels: &'a mut LabelFacts,
}

impl Block<'_> {
    /// Decides about the labels. `label` finds the label of a line.
    pub(crate) fn decide<'a>(
        &'a mut self,
        options: &mut ReadOptions,
        missing: &Missing,
        label: impl Fn(&'a [u8]) -> Option<&'a [u8]>,
    ) -> Result<bool, BlockError> {
        if options.labels == Labels::None {
            return Ok(true);
        }
        let mut census = Census::default();
        for line in self.text.split(|&byte| byte == b'\n') {
            let label = label(line.trim_ascii_end());
            label.iter().for_each(|label| census.add(label, missing));
        }
        *self.labels = options.decide(census).map_err(|what| self.error(what))?;
        Ok(true)
    }

    /// An error about the whole block. It quotes the first line.
    pub(crate) fn error(&self, what: String) -> BlockError {
        let end = memchr::memchr(b'\n', self.text).unwrap_or(self.text.len());
        BlockError {
            lines: 0,
            error: ParseError::new(what, 0..end),
        }
    }
}

/// An error in the first block, with the number of lines before it.
#[derive(Debug)]
pub(crate) struct BlockError {
    pub(crate) lines: u64,
    /// Its place is in the block.
    pub(crate) error: ParseError,
}

/// A record, and the memory for its example.
pub(crate) struct Record<'a> {
    /// The record and the bytes after it. A parser may read those bytes, but its result must not
    /// depend on them.
    pub(crate) text: &'a [u8],
    /// The end of the record in `text`.
    pub(crate) end: usize,
    /// The example being written is the last one of this batch.
    pub(crate) batch: &'a mut Batch,
    pub(crate) sorter: &'a mut Sorter,
    pub(crate) names: &'a mut Dictionary,
    pub(crate) warnings: &'a mut Warnings,
}

impl<'a> Record<'a> {
    /// The record without the bytes after it.
    pub(crate) fn line(&self) -> &'a [u8] {
        &self.text[..self.end]
    }

    /// Sorts the features of the example. Its indices are `shift` more than those in the file.
    pub(crate) fn sort(&mut self, on_duplicate: OnDuplicate, shift: i64) -> Result<(), ParseError> {
        let sorted = self.sorter.sort_row(self.batch, on_duplicate);
        sorted.map_err(|error| ParseError::new(error.message(shift), 0..self.end))
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
    /// Whether the rest of the file can't be read either.
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

/// The first position that is not blank, from `at` on.
pub(crate) fn skip_blanks(line: &[u8], at: usize) -> usize {
    line[at..]
        .iter()
        .position(|&byte| !is_blank(byte))
        .map_or(line.len(), |skipped| at + skipped)
}

/// Reads short `index:value` pairs, separated by one blank, from `at` on. It stops at the end of the
/// line or at the first item of another form, and returns that position. An index must be at least
/// `first`. It is stored with `shift` added.
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

/// Reads an index, and adds `shift` to it.
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

/// Checks that an index is small enough.
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
        None => Err(NOT_A_NUMBER),
    }
}

/// Checks that the bytes are UTF-8 without NUL, and returns them as text.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, &'static str> {
    if memchr::memchr(0, bytes).is_some() {
        return Err("the line contains a NUL byte");
    }
    std::str::from_utf8(bytes).map_err(|_| "the line is not UTF-8")
}

/// Shortens bytes for a message, and escapes control characters.
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
