//! The format of libsvm and SVMlight: `label index:value index:value …`
//!
//! - Each line is an example. Blanks or tabs separate its items. The reader skips blank lines and
//!   everything after a `#`.
//! - Indices start at 1, or at 0 with `zero_based`. They are distinct within a line and may have any
//!   order. The reader sorts them and numbers features from 0: `1:0.5` is feature 0.
//! - Values are finite decimal numbers. The reader drops zeros.
//! - `qid:7` after the label is the query of a ranking. The reader ignores it and warns once.
//! - A line whose first item contains a colon has no label, and neither has a line whose first item
//!   is a token for a missing value.
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

use crate::ReadOptions;
use crate::missing::Missing;
use crate::parse::{
    self, Block, BlockError, LabelWeight, Parse, ParseError, Record, Warnings, is_blank,
    skip_blanks,
};
use crate::row::OnDuplicate;

/// Reads lines of libsvm.
#[derive(Debug)]
pub(crate) struct Libsvm {
    options: ReadOptions,
    missing: Missing,
    /// Added to the file's indices.
    shift: i64,
}

impl Libsvm {
    pub(crate) fn new(options: &ReadOptions) -> Libsvm {
        Libsvm {
            options: options.clone(),
            missing: options.missing(),
            shift: i64::from(options.intercept) - i64::from(!options.zero_based),
        }
    }

    /// Reads one `index:value` of any form. A query gives `None`.
    fn pair(
        &self,
        line: &[u8],
        at: usize,
        end: usize,
        warnings: &mut Warnings,
    ) -> Result<Option<(u32, f64)>, ParseError> {
        let token = &line[at..end];
        let Some(colon) = memchr::memchr(b':', token) else {
            return Err(ParseError::new("expected index:value", at..end));
        };
        let (index, value) = (&token[..colon], &token[colon + 1..]);
        if index == b"qid" && !value.is_empty() && value.iter().all(u8::is_ascii_digit) {
            warnings.add("qid is ignored");
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
            // Index 0 of the file would take the place of the intercept.
            return Err(ParseError::new(parse::FROM_ONE, at..end));
        }
        let value = parse::value(value).map_err(|what| ParseError::new(what, at..end))?;
        Ok(Some((index, value)))
    }

    /// Reads the features, which begin at `at`.
    fn features(&self, mut at: usize, record: &mut Record<'_>) -> Result<(), ParseError> {
        let (text, line, end) = (record.text, record.line(), record.end);
        let bounds = (u32::from(!self.options.zero_based), self.shift as u32);
        loop {
            at = parse::short_pairs(text, end, at, bounds, record.batch);
            at = skip_blanks(line, at);
            if at == end {
                break;
            }
            if line[at] == b'#' {
                parse::text(&line[at..]).map_err(|what| ParseError::new(what, at..end))?;
                break;
            }
            let stop = token_end(line, at);
            if let Some((index, value)) = self.pair(line, at, stop, record.warnings)? {
                record.batch.push(index, value);
            }
            at = skip_blanks(line, stop);
        }
        record.sort(OnDuplicate::Refuse, self.shift)
    }
}

/// The end of the token that begins at `at`.
fn token_end(line: &[u8], at: usize) -> usize {
    line[at..]
        .iter()
        .position(|&byte| is_blank(byte) || byte == b'#')
        .map_or(line.len(), |length| at + length)
}

/// The label, if the first token of a line is one.
fn label_text(token: &[u8]) -> Option<&[u8]> {
    Some(token).filter(|token| !token.is_empty() && memchr::memchr(b':', token).is_none())
}

impl Parse for Libsvm {
    fn examine(&mut self, block: &mut Block<'_>) -> Result<bool, BlockError> {
        block.decide(&mut self.options, &self.missing, |line| {
            let at = skip_blanks(line, 0);
            label_text(&line[at..token_end(line, at)])
        })
    }

    fn record(&mut self, record: &mut Record<'_>) -> Result<Option<LabelWeight>, ParseError> {
        let (line, end) = (record.line(), record.end);
        let mut at = skip_blanks(line, 0);
        if at == end || line[at] == b'#' {
            parse::text(&line[at..]).map_err(|what| ParseError::new(what, at..end))?;
            return Ok(None);
        }
        let stop = token_end(line, at);
        let text = label_text(&line[at..stop]);
        let label = self.options.label(text, &self.missing);
        let label = label.map_err(|what| ParseError::new(what, at..stop))?;
        if text.is_some() {
            at = skip_blanks(line, stop);
        }
        self.features(at, record)?;
        Ok(Some(LabelWeight { label, weight: 1.0 }))
    }
}
