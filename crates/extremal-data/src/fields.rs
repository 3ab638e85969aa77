//! The fields of a table's records.

use std::ops::Range;

use crate::{number, parse};

// csv-core can't replace the functions below: it reads a numeric CSV at 0.75 of their speed, and it
// reports neither text after a closing quote nor a quote that never closes.

/// The separators that the first block may show.
const SEPARATORS: [u8; 5] = [b',', b'\t', b';', b'|', BLANKS];

/// The separator that stands for any number of blanks and tabs.
const BLANKS: u8 = b' ';

/// The position of the next separator.
fn find(separator: u8, text: &[u8]) -> Option<usize> {
    match separator {
        BLANKS => memchr::memchr2(b' ', b'\t', text),
        _ => memchr::memchr(separator, text),
    }
}

/// Finds the separator of a table: with it, most records of the block have as many fields as the first
/// one. The usual separator wins if it fits half of them.
pub(crate) fn separator(block: &[u8], usual: u8) -> u8 {
    let others = SEPARATORS.into_iter().filter(|&other| other != usual);
    let mut fields = Fields::default();
    let mut best = (0.0, usual);
    for separator in std::iter::once(usual).chain(others) {
        let (mut width, mut same, mut all) = (None, 0, 0);
        for (_, place) in records(block, separator) {
            let count = fields
                .split(&block[place], separator)
                .map_or(0, |()| fields.len());
            let width = *width.get_or_insert(count);
            same += usize::from(count == width);
            all += 1;
        }
        if width.is_none_or(|width| width < 2) {
            continue;
        }
        let share = f64::from(same as u32) / f64::from(all);
        if separator == usual && share >= 0.5 {
            return usual;
        }
        if share > best.0 {
            best = (share, separator);
        }
    }
    best.1
}

/// The records of a block that are not blank: the number of lines before each one, and its place.
pub(crate) fn records(block: &[u8], separator: u8) -> impl Iterator<Item = (u64, Range<usize>)> {
    let (mut at, mut lines) = (0, 0);
    // Whether a quote was never closed. Then no later one that is open at the end of its line is.
    let mut is_torn = false;
    let all = std::iter::from_fn(move || {
        if at >= block.len() {
            return None;
        }
        let (start, before) = (at, lines);
        let line_end =
            |at: usize| memchr::memchr(b'\n', &block[at..]).map_or(block.len(), |n| at + n);
        let first = line_end(at);
        let (mut end, mut count) = (first, 1);
        let mut open = ends_open(&block[at..end], separator, false);
        while open && !is_torn && end + 1 < block.len() {
            let from = end + 1;
            (end, count) = (line_end(from), count + 1);
            open = ends_open(&block[from..end], separator, true);
        }
        if open {
            // The reader skips only the line.
            (end, count, is_torn) = (first, 1, true);
        }
        (at, lines) = (end + 1, lines + count);
        let end = end - usize::from(block[start..end].ends_with(b"\r"));
        Some((before, start..end))
    });
    all.filter(|(_, place)| !is_blank_line(&block[place.clone()]))
}

/// Whether a line has only blanks.
pub(crate) fn is_blank_line(line: &[u8]) -> bool {
    line.iter().all(|&byte| byte == b' ')
}

/// Whether a line ends inside quotes. The line begins inside quotes if `open`, otherwise with a field.
pub(crate) fn ends_open(line: &[u8], separator: u8, mut open: bool) -> bool {
    if !open && memchr::memchr(b'"', line).is_none() {
        return false;
    }
    let mut at = 0;
    loop {
        if open {
            match closing_quote(line, at) {
                None => return true,
                Some(quote) => at = quote + 1,
            }
            match find(separator, &line[at..]) {
                None => return false,
                Some(length) => at += length + 1,
            }
        }
        at = skip_spaces(line, at);
        open = line.get(at) == Some(&b'"');
        if open {
            at += 1;
            continue;
        }
        match find(separator, &line[at..]) {
            None => return false,
            Some(length) => at += length + 1,
        }
    }
}

/// The position of the next quote that is not doubled.
fn closing_quote(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr::memchr(b'"', &text[at..])?;
        if text.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

fn skip_spaces(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take_while(|&&byte| byte == b' ').count()
}

/// The fields of a record.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    /// The range of each field in the record. A quoted field also has the range of its content in
    /// `unquoted`.
    places: Vec<(Range<usize>, Option<Range<usize>>)>,
    /// The contents of quoted fields.
    unquoted: Vec<u8>,
}

impl Fields {
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn place(&self, k: usize) -> Range<usize> {
        self.places[k].0.clone()
    }

    pub(crate) fn get<'a>(&'a self, k: usize, record: &'a [u8]) -> &'a [u8] {
        match &self.places[k] {
            (place, None) => &record[place.clone()],
            (_, Some(inside)) => &self.unquoted[inside.clone()],
        }
    }

    pub(crate) fn number(&self, k: usize, text: &[u8]) -> Option<f64> {
        match &self.places[k] {
            (place, None) => number::parse_within(text, place.clone()),
            (_, Some(inside)) => number::parse(&self.unquoted[inside.clone()]),
        }
    }

    pub(crate) fn split(
        &mut self,
        record: &[u8],
        separator: u8,
    ) -> Result<(), (&'static str, Range<usize>)> {
        self.places.clear();
        self.unquoted.clear();
        if separator == BLANKS {
            return self.split_at_blanks(record);
        }
        let mut at = 0;
        loop {
            let start = skip_spaces(record, at);
            let stop;
            if record.get(start) == Some(&b'"') {
                let quote = closing_quote(record, start + 1)
                    .ok_or((parse::OPEN_QUOTE, start..record.len()))?;
                stop = skip_spaces(record, quote + 1);
                if stop < record.len() && record[stop] != separator {
                    return Err(("text after a closing quote", start..record.len()));
                }
                self.take_quoted(record, start..quote + 1);
            } else {
                stop = memchr::memchr(separator, &record[start..])
                    .map_or(record.len(), |length| start + length);
                let blanks = (record[start..stop].iter().rev())
                    .take_while(|&&byte| byte == b' ')
                    .count();
                self.places.push((start..stop - blanks, None));
            }
            if stop == record.len() {
                return Ok(());
            }
            at = stop + 1;
        }
    }

    fn split_at_blanks(&mut self, record: &[u8]) -> Result<(), (&'static str, Range<usize>)> {
        let mut at = parse::skip_blanks(record, 0);
        while at < record.len() {
            let stop = if record[at] == b'"' {
                let quote =
                    closing_quote(record, at + 1).ok_or((parse::OPEN_QUOTE, at..record.len()))?;
                self.take_quoted(record, at..quote + 1);
                quote + 1
            } else {
                let stop = find(BLANKS, &record[at..]).map_or(record.len(), |n| at + n);
                self.places.push((at..stop, None));
                stop
            };
            let next = parse::skip_blanks(record, stop);
            if next == stop && stop < record.len() {
                return Err(("text after a closing quote", at..record.len()));
            }
            at = next;
        }
        Ok(())
    }

    fn take_quoted(&mut self, record: &[u8], place: Range<usize>) {
        let from = self.unquoted.len();
        let mut rest = &record[place.start + 1..place.end - 1];
        while let Some(quote) = memchr::memchr(b'"', rest) {
            self.unquoted.extend_from_slice(&rest[..=quote]);
            rest = &rest[quote + 2..];
        }
        self.unquoted.extend_from_slice(rest);
        self.places.push((place, Some(from..self.unquoted.len())));
    }
}
