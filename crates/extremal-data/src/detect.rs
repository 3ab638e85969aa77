//! Detection of a file's format.

use std::path::Path;

use crate::archive::{Unpacked, without_extension};
use crate::buffer::Buffer;
use crate::jsonl::Jsonl;
use crate::libsvm::Libsvm;
use crate::names::Dictionary;
use crate::parse::{Parse, Record, Warnings, text};
use crate::reader::{broken, is_damaged};
use crate::row::Sorter;
use crate::table::Table;
use crate::vw::Vw;
use crate::{Batch, Error, Format, ReadOptions, Result, number};

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
        "jsonl" | "ndjson" => Some(Format::Jsonl),
        _ => None,
    }
}

/// Detects the format from the first line that is neither blank nor a comment. It fails unless
/// exactly one format fits.
pub(crate) fn by_content(
    buffer: &mut Buffer<Unpacked>,
    name: &str,
    options: &ReadOptions,
) -> Result<Format> {
    let mut from = 0;
    let candidates = loop {
        match buffer.line(from) {
            Some(end) => {
                let line = buffer.rest()[from..end].trim_ascii();
                let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
                if !line.is_empty() && line[0] != b'#' {
                    break fitting(line, options);
                }
                from = (end + 1).min(buffer.rest().len());
            }
            None if buffer.at_end() => break Vec::new(),
            None => {
                let filled = buffer.fill().map_err(|error| {
                    let lines = memchr::memchr_iter(b'\n', buffer.rest()).count();
                    broken(name, lines as u64, is_damaged(buffer), error)
                })?;
                if !filled {
                    break Vec::new();
                }
            }
        }
    };
    buffer.rewind();
    match candidates[..] {
        [format] => Ok(format),
        _ => Err(Error::content(
            name,
            "neither the name nor the first line identifies the format: \
             use --format libsvm, vw, csv, tsv or jsonl",
        )),
    }
}

/// The formats that accept a line.
fn fitting(line: &[u8], options: &ReadOptions) -> Vec<Format> {
    if line[0] == b'{' {
        // No other format's first line is an object.
        return vec![Format::Jsonl];
    }
    let unlabelled = ReadOptions {
        labels_required: false,
        intercept: false,
        ..options.clone()
    };
    let fits = |format: Format| match format {
        Format::Jsonl => false,
        Format::Csv => is_header(line, b','),
        Format::Tsv => is_header(line, b'\t'),
        Format::Libsvm | Format::Vw => {
            let mut batch = Batch::default();
            let read = parser(format, &unlabelled).record(&mut Record {
                text: line,
                end: line.len(),
                batch: &mut batch,
                sorter: &mut Sorter::default(),
                names: &mut Dictionary::default(),
                warnings: &mut Warnings::default(),
            });
            matches!(read, Ok(Some(_))) && batch.stored() > 0
        }
    };
    Format::ALL.into_iter().filter(|&f| fits(f)).collect()
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
