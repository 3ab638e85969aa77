//! Examples that can be kept and compared, and files that come in pieces.

#![allow(dead_code)] // every test file takes what it needs

use std::io::{self, Read};

use extremal_data::{Example, Format, ReadOptions, Reader};

/// An example of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub label: Option<f64>,
    pub weight: f64,
    pub tag: String,
    pub features: Vec<(u32, f64)>,
    pub line: u64,
}

impl From<Example<'_>> for Row {
    fn from(example: Example<'_>) -> Row {
        Row {
            label: example.label,
            weight: example.weight,
            tag: example.tag.into(),
            features: std::iter::zip(
                example.indices.iter().copied(),
                example.values.iter().copied(),
            )
            .collect(),
            line: example.line,
        }
    }
}

/// All that a reader gives, and the error at the end, if any.
pub fn drain(reader: &mut Reader) -> (Vec<Row>, Option<String>) {
    let mut rows = Vec::new();
    loop {
        match reader.next() {
            Ok(Some(batch)) => {
                let news = batch.len() + batch.skipped().len();
                assert!(news > 0, "batches hold examples or skipped records");
                rows.extend(batch.iter().map(Row::from));
            }
            Ok(None) => return (rows, None),
            Err(error) => {
                assert!(matches!(reader.next(), Ok(None)), "an error is the end");
                return (rows, Some(error.to_string()));
            }
        }
    }
}

pub fn options(format: Format) -> ReadOptions {
    ReadOptions {
        format: Some(format),
        ..ReadOptions::default()
    }
}

/// All examples of a text, and the error at the end, if any.
pub fn read(text: impl Into<Vec<u8>>, options: &ReadOptions) -> (Vec<Row>, Option<String>) {
    let text = io::Cursor::new(text.into());
    match Reader::from_read(Box::new(text), "f", options) {
        Ok(mut reader) => drain(&mut reader),
        Err(error) => (Vec::new(), Some(error.to_string())),
    }
}

/// All examples of a text without errors.
pub fn rows(text: impl Into<Vec<u8>>, options: &ReadOptions) -> Vec<Row> {
    let (rows, error) = read(text, options);
    assert_eq!(error, None);
    rows
}

/// Features only.
pub fn features(text: impl Into<Vec<u8>>, options: &ReadOptions) -> Vec<Vec<(u32, f64)>> {
    rows(text, options)
        .into_iter()
        .map(|row| row.features)
        .collect()
}

/// A text that comes in pieces of the given sizes, again and again.
pub struct Pieces {
    pub text: Vec<u8>,
    pub at: usize,
    pub sizes: Vec<usize>,
    pub turn: usize,
}

impl Pieces {
    pub fn new(text: &[u8], sizes: &[usize]) -> Pieces {
        Pieces {
            text: text.into(),
            at: 0,
            sizes: sizes.into(),
            turn: 0,
        }
    }
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.sizes[self.turn % self.sizes.len()];
        self.turn += 1;
        let rest = &self.text[self.at..];
        let count = size.min(rest.len()).min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}

/// A small generator, so that every run is the same.
pub struct Rng(pub u64);

impl Rng {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// Long versions run when `EXTREMAL_SOAK` is set.
pub fn soak() -> bool {
    std::env::var_os("EXTREMAL_SOAK").is_some()
}
