//! Detection of a file's format.

use std::path::Path;

use crate::archive::{Unpacked, without_extension};
use crate::buffer::Buffer;
use crate::jsonl::Jsonl;
use crate::libsvm::Libsvm;
use crate::names::Dictionary;
use crate::parse::{Parse, Record, Warnings, excerpt, is_blank, text};
use crate::reader::{broken, is_damaged};
use crate::row::Sorter;
use crate::table::Table;
use crate::vw::Vw;
use crate::{Batch, Error, Format, Labels, ReadOptions, Result, number};

/// The parser of a format.
pub(crate) fn parser(format: Format, options: &ReadOptions) -> Box<dyn Parse> {
    match format {
        Format::Libsvm => Box::new(Libsvm::new(options)),
        Format::Vw => Box::new(Vw::new(options)),
        Format::Csv => Box::new(Table::new(options, b',')),
        Format::Tsv => Box::new(Table::new(options, b'\t')),
        Format::Jsonl => Box::new(Jsonl::new(options)),
    }
}

/// Detects the format from the extension of the name. The extension of an archive is removed first.
pub(crate) fn by_name(name: &str) -> Option<Format> {
    let name = without_extension(name);
    match Path::new(name).extension()?.to_str()? {
        "svm" | "libsvm" | "svmlight" => Some(Format::Libsvm),
        "vw" => Some(Format::Vw),
        "csv" => Some(Format::Csv),
        "tsv" | "tab" => Some(Format::Tsv),
        "jsonl" | "ndjson" | "json" => Some(Format::Jsonl),
        _ => None,
    }
}

/// Detects the format from the name of the file in a zip archive, or from the first line that has
/// more than one item and is not a comment. If no format accepts the line, the error is that of the
/// nearest format.
pub(crate) fn by_content(
    buffer: &mut Buffer<Unpacked>,
    name: &str,
    options: &ReadOptions,
) -> Result<Format> {
    if let Some(format) = (buffer.source())
        .and_then(Unpacked::member)
        .and_then(by_name)
    {
        return Ok(format);
    }
    let (mut from, mut lines) = (0, 0);
    let guess = loop {
        match buffer.line(from) {
            Some(end) => {
                lines += 1;
                let line = buffer.rest()[from..end].trim_ascii();
                let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
                if !line.is_empty() && line[0] != b'#' && line.iter().any(|byte| !is_plain(*byte)) {
                    break guess(line, options);
                }
                from = (end + 1).min(buffer.rest().len());
            }
            None if buffer.at_end() => break Guess::Nothing,
            None => {
                let filled = buffer.fill().map_err(|error| {
                    let lines = memchr::memchr_iter(b'\n', buffer.rest()).count();
                    broken(name, lines as u64, is_damaged(buffer), error)
                })?;
                if !filled {
                    break Guess::Nothing;
                }
            }
        }
    };
    buffer.rewind();
    match guess {
        Guess::Fits(format) => Ok(format),
        Guess::Nearest(format, what, text) => {
            let (file, line) = (name.into(), lines);
            let error = Error::Parse {
                file,
                line,
                what,
                text,
            };
            let what = format!(
                "the file looks most like {format}, but {error}; use --format if it has another format"
            );
            Err(Error::content(name, what))
        }
        Guess::Nothing => Err(Error::content(
            name,
            "neither the name nor the first line identifies the format: \
             use --format libsvm, vw, csv, tsv or jsonl",
        )),
    }
}

/// Whether a byte may be part of a single number or name. A line of such bytes identifies no format.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+-._".contains(&byte)
}

/// The format of a line.
enum Guess {
    Fits(Format),
    /// The nearest format, the error in the line, and the text that the error quotes.
    Nearest(Format, String, String),
    Nothing,
}

fn guess(line: &[u8], options: &ReadOptions) -> Guess {
    if matches!(line[0], b'{' | b'[') {
        // No other format's first line begins so.
        return Guess::Fits(Format::Jsonl);
    }
    let tables = [(Format::Csv, b','), (Format::Tsv, b'\t')];
    let mut tables = tables
        .iter()
        .filter(|(_, separator)| is_header(line, *separator));
    let near = match line.contains(&b'|') {
        true => Format::Vw,
        false => Format::Libsvm,
    };
    // Labels and zeros do not matter here.
    let unlabelled = ReadOptions {
        labels: Labels::None,
        zero_based: true,
        ..options.clone()
    };
    let mut batch = Batch::default();
    let read = parser(near, &unlabelled).record(&mut Record {
        text: line,
        end: line.len(),
        batch: &mut batch,
        sorter: &mut Sorter::default(),
        names: &mut Dictionary::default(),
        warnings: &mut Warnings::default(),
    });
    let items = line
        .split(|&byte| is_blank(byte))
        .filter(|item| !item.is_empty());
    match (read, tables.next(), tables.next()) {
        (Ok(Some(_)), ..) if has_features(near, items.clone()) => Guess::Fits(near),
        (_, Some((format, _)), None) => Guess::Fits(*format),
        (Err(error), ..) if has_features(near, items) => {
            let text = excerpt(line.get(error.place).unwrap_or(line));
            Guess::Nearest(near, error.what.into(), text)
        }
        _ if has_fields(line) => Guess::Fits(Format::Csv),
        _ => Guess::Nothing,
    }
}

/// Whether a line may be a row of a table. The table's first block decides about the separator.
fn has_fields(line: &[u8]) -> bool {
    let is_number = |item: &[u8]| item.is_empty() || number::parse(item).is_some();
    text(line).is_ok()
        && (line.iter().any(|byte| b",;\t".contains(byte))
            || line.split(|byte| is_blank(*byte)).all(is_number))
}

/// Whether a line of these items resembles the format.
fn has_features<'a>(format: Format, mut items: impl Iterator<Item = &'a [u8]>) -> bool {
    let is_pair = |item: &[u8]| {
        let digits = item.iter().take_while(|byte| byte.is_ascii_digit()).count();
        digits > 0 && item.get(digits) == Some(&b':')
    };
    match format {
        // A feature follows the first `|`, or the line ends there.
        Format::Vw => {
            let mut items = items.skip_while(|item| !item.contains(&b'|'));
            let bar = items.next().unwrap_or_default();
            let mut items = items.peekable();
            items.peek().is_none() && bar == b"|" || items.any(|item| item[0] != b'|')
        }
        _ => items.any(is_pair),
    }
}

/// Whether a line consists of two or more distinct names that are not numbers.
fn is_header(line: &[u8], separator: u8) -> bool {
    let names: Vec<&[u8]> = line
        .split(|&byte| byte == separator)
        .map(<[u8]>::trim_ascii)
        .collect();
    text(line).is_ok()
        && names.len() > 1
        && names.iter().enumerate().all(|(k, name)| {
            !name.is_empty() && number::parse(name).is_none() && !names[..k].contains(name)
        })
}
