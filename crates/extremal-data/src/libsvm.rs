//! The format of libsvm and SVMlight: `label index:value index:value …`
//!
//! - One example per line; blanks and tabs between its parts; blank lines are skipped, and so is
//!   everything from a `#` on.
//! - Indices begin with 1 (with `zero_based`, with 0) and are distinct within a line. They need
//!   not rise: the line is sorted. The example has them from 0: `1:0.5` is feature 0.
//! - Values are finite decimal numbers. Zeros are left out.
//! - `qid:7` behind the label, the query of a ranking, is ignored, with a note.
//! - A line whose first part has a colon has no label.
//!
//! ```
//! use extremal_data::{Format, ReadOptions, Reader};
//!
//! let text = b"+1 1:0.5 3:2 # the first\n\n-1 2:1e-3\n";
//! let options = ReadOptions { format: Some(Format::Libsvm), ..Default::default() };
//! let mut reader = Reader::from_read(Box::new(&text[..]), "example", &options)?;
//! let batch = reader.next()?.unwrap();
//! let first = batch.get(0);
//! assert_eq!(first.label, Some(1.0));
//! assert_eq!(first.indices, [0, 2]);
//! assert_eq!(first.values, [0.5, 2.0]);
//! assert_eq!(batch.get(1).line, 3);
//! # Ok::<(), extremal_data::Error>(())
//! ```

use crate::parse::{self, LabelWeight, Parse, ParseError, Warnings, is_blank, skip_blanks};
use crate::row::{OnDuplicate, Sorter};
use crate::{Batch, ReadOptions};

/// Reads lines of libsvm.
#[derive(Debug)]
pub(crate) struct Libsvm {
    options: ReadOptions,
    /// What has to be added to the file's indices.
    shift: i64,
    sorter: Sorter,
    warnings: Warnings,
}

impl Libsvm {
    pub(crate) fn new(options: &ReadOptions) -> Libsvm {
        Libsvm {
            options: options.clone(),
            shift: i64::from(options.intercept) - i64::from(!options.zero_based),
            sorter: Sorter::default(),
            warnings: Warnings::default(),
        }
    }

    /// One `index:value` by the book; `None` for a query.
    fn pair(
        &mut self,
        line: &[u8],
        at: usize,
        end: usize,
    ) -> Result<Option<(u32, f64)>, ParseError> {
        let token = &line[at..end];
        let Some(colon) = memchr::memchr(b':', token) else {
            return Err(ParseError::new("expected index:value", at..end));
        };
        let (index, value) = (&token[..colon], &token[colon + 1..]);
        if index == b"qid" && !value.is_empty() && value.iter().all(u8::is_ascii_digit) {
            self.warnings.add("qid ignored");
            return Ok(None);
        }
        let index = parse::index(index, self.shift).map_err(|what| {
            let what = match index {
                [b'-', ..] => "the index is negative",
                _ => what,
            };
            ParseError::new(what, at..end)
        })?;
        if index == 0 && self.options.intercept {
            // Below the first index of the file: its place is the intercept's.
            return Err(ParseError::new("indices begin with 1", at..end));
        }
        let value = parse::value(value).map_err(|what| ParseError::new(what, at..end))?;
        Ok(Some((index, value)))
    }
}

/// Where the part of the line that begins at `at` ends.
fn token_end(line: &[u8], at: usize) -> usize {
    line[at..]
        .iter()
        .position(|&byte| is_blank(byte) || byte == b'#')
        .map_or(line.len(), |length| at + length)
}

impl Parse for Libsvm {
    fn record(
        &mut self,
        text: &[u8],
        end: usize,
        batch: &mut Batch,
    ) -> Result<Option<LabelWeight>, ParseError> {
        let line = &text[..end];
        let mut at = skip_blanks(line, 0);
        if at < end && line[at] != b'#' {
            let stop = token_end(line, at);
            let token = &line[at..stop];
            let label = Some(token).filter(|token| memchr::memchr(b':', token).is_none());
            let head = LabelWeight {
                label: (self.options.label(label))
                    .map_err(|what| ParseError::new(what, at..stop))?,
                weight: 1.0,
            };
            if label.is_some() {
                at = skip_blanks(line, stop);
            }
            self.features(text, end, at, batch)?;
            return Ok(Some(head));
        }
        parse::text(&line[at..]).map_err(|what| ParseError::new(what, at..end))?;
        Ok(None)
    }

    fn warnings(&mut self) -> &mut Warnings {
        &mut self.warnings
    }
}

impl Libsvm {
    fn features(
        &mut self,
        text: &[u8],
        end: usize,
        mut at: usize,
        batch: &mut Batch,
    ) -> Result<(), ParseError> {
        let line = &text[..end];
        let bounds = (u32::from(!self.options.zero_based), self.shift as u32);
        loop {
            at = parse::short_pairs(text, end, at, bounds, batch);
            at = skip_blanks(line, at);
            if at == end {
                break;
            }
            if line[at] == b'#' {
                parse::text(&line[at..]).map_err(|what| ParseError::new(what, at..end))?;
                break;
            }
            let stop = token_end(line, at);
            if let Some((index, value)) = self.pair(line, at, stop)? {
                batch.push(index, value);
            }
            at = skip_blanks(line, stop);
        }
        self.sorter
            .sort_row(batch, OnDuplicate::Refuse)
            .map_err(|error| ParseError::from_row(error, self.shift, end))
    }
}
