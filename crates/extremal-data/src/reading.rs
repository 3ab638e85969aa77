//! The thread of a reader.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::Duration;

use crate::archive::Unpacked;
use crate::buffer::{Buffer, LONGEST};
use crate::detect;
use crate::names::Dictionary;
use crate::parse::{Block, OPEN_QUOTE, Parse, ParseError, Record, Warnings, excerpt};
use crate::reader::{Facts, Message, Source, What, broken, is_damaged};
use crate::row::Sorter;
use crate::{Batch, Error, Format, LabelFacts, OnError, ReadOptions};

/// A batch is complete when it has this many examples, non-zeros or bytes of tags.
const EXAMPLES: usize = 512;
const STORED: usize = 1 << 15;
const TAGS: usize = 1 << 16;

/// The largest number of different problems that are counted.
const MOST_FAULTS: usize = 64;

/// The largest number of lines in the first block.
const FIRST: usize = 512;

/// A pipe that is silent for this time ends the first block.
const SILENCE: Duration = Duration::from_millis(200);

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The thread that reads and parses.
pub(crate) struct ReaderThread {
    name: String,
    on_error: OnError,
    intercept: bool,
    parser: Box<dyn Parse>,
    /// Whether the source is a pipe, so that a read may wait.
    pub(crate) may_be_silent: bool,
    /// The error of a read in the first block. It follows the examples of that block.
    failure: Option<io::Error>,
    names: Dictionary,
    /// The number of lines before the record.
    line: u64,
    /// The bytes and lines that were searched for the end of a record whose quote is never closed.
    /// If one of these lines ends inside quotes, all lines after it do too.
    scanned: (usize, u64),
    skipped: u64,
    /// The problems of skipped records: text, number, and the first error with its position.
    faults: Vec<(String, u64, String)>,
    warnings: Warnings,
    batch: Batch,
    sorter: Sorter,
    sender: SyncSender<Message>,
    recycled: Receiver<Batch>,
}

/// The reason why the thread stops early.
enum Stop {
    /// The [`Reader`] was dropped.
    Gone,
    Error(Error),
}

impl ReaderThread {
    pub(crate) fn new(
        name: &str,
        format: Format,
        options: &ReadOptions,
        (sender, recycled): (SyncSender<Message>, Receiver<Batch>),
    ) -> ReaderThread {
        ReaderThread {
            name: name.into(),
            on_error: options.on_error,
            intercept: options.intercept,
            parser: detect::parser(format, options),
            may_be_silent: false,
            failure: None,
            names: Dictionary::new(options),
            line: 0,
            scanned: (0, 0),
            skipped: 0,
            faults: Vec::new(),
            warnings: Warnings::default(),
            batch: Batch::default(),
            sorter: Sorter::default(),
            sender,
            recycled,
        }
    }

    pub(crate) fn run(&mut self, mut source: Source) {
        let name = self.name.clone();
        let result = match source.open(&name) {
            Ok(buffer) => self.examine(buffer).and_then(|()| self.read(buffer)),
            Err(error) => Err(Stop::Error(error)),
        };
        let result = match result {
            Ok(()) => Ok(()),
            Err(Stop::Error(error)) => Err(error),
            Err(Stop::Gone) => return,
        };
        if self.has_news() && self.pass_on().is_err() {
            return;
        }
        let most = std::mem::take(&mut self.faults).into_iter();
        // The first one of several.
        let most = most.rev().max_by_key(|(_, count, _)| *count);
        let _ = self.send(What::End(result, most.map(|(.., first)| first)));
    }

    /// Shows the parser the first block, and sends the facts.
    fn examine(&mut self, buffer: &mut Buffer<Unpacked>) -> std::result::Result<(), Stop> {
        // The searched bytes, the lines in them, and the end of the last line.
        let (mut searched, mut lines, mut end) = (0, 0, 0);
        let mut labels = LabelFacts::default();
        let mut is_long_enough = true;
        loop {
            let rest = buffer.rest();
            for place in memchr::memchr_iter(b'\n', &rest[searched..]).take(FIRST - lines) {
                end = searched + place + 1;
                lines += 1;
            }
            searched = rest.len();
            let at_end = buffer.at_end();
            if at_end && lines < FIRST {
                end = rest.len();
            }
            let mut complete = at_end || lines == FIRST;
            if !complete {
                let filled = match self.may_be_silent && end > 0 && is_long_enough {
                    true => buffer.fill_within(SILENCE),
                    false => buffer.fill(),
                };
                if matches!(filled, Ok(true)) {
                    is_long_enough = true;
                    continue;
                }
                self.failure = filled.err();
                complete = self.failure.is_some() || buffer.rest().len() >= LONGEST;
            }
            let text = &buffer.rest()[..end];
            let mark = if text.starts_with(MARK) {
                MARK.len()
            } else {
                0
            };
            let mut block = Block {
                text: &text[mark..],
                complete,
                names: &mut self.names,
                warnings: &mut self.warnings,
                labels: &mut labels,
            };
            match self.parser.examine(&mut block) {
                Ok(is_enough) if is_enough || complete => break,
                Ok(_) => is_long_enough = false,
                // More lines of a silent pipe may mend it, such as a second label.
                Err(_) if !complete => is_long_enough = false,
                Err(found) => {
                    self.line += found.lines;
                    let error = self.located(&found.error, &text[mark..]);
                    return Err(Stop::Error(error));
                }
            }
        }
        buffer.release();
        let columns = self.parser.columns();
        self.send(What::Start(Facts { labels, columns }))
    }

    fn read(&mut self, buffer: &mut Buffer<Unpacked>) -> std::result::Result<(), Stop> {
        // The bytes and lines of the buffer that certainly belong to the record.
        let (mut known, mut lines) = (0, 0);
        loop {
            let Some(end) = buffer.line(known) else {
                if buffer.at_end() {
                    if known == 0 {
                        return Ok(());
                    }
                    self.refuse_open(buffer, known, lines)?;
                    (known, lines) = (0, 0);
                    continue;
                }
                if buffer.may_wait() && self.has_news() {
                    self.pass_on()?;
                }
                self.fill(buffer, &mut known, &mut lines)?;
                continue;
            };
            let rest = buffer.rest();
            let open = known > 0;
            if self.line == 0 && !open && rest.starts_with(MARK) {
                buffer.consume(MARK.len());
                continue;
            }
            let line = &rest[known..end];
            lines += 1;
            if self.parser.goes_on(line, open) {
                known = (end + 1).min(rest.len());
                if known < self.scanned.0 {
                    (known, lines) = self.scanned;
                }
                continue;
            }
            self.record(rest, end, lines)?;
            buffer.consume(end + 1);
            self.pass_over(end + 1, lines);
            (known, lines) = (0, 0);
            if self.batch.len() >= EXAMPLES
                || self.batch.stored() >= STORED
                || self.batch.tag_bytes() >= TAGS
            {
                self.pass_on()?;
            }
        }
    }

    /// Reads more. Refuses and skips a record that is too long.
    fn fill(
        &mut self,
        buffer: &mut Buffer<Unpacked>,
        known: &mut usize,
        lines: &mut u64,
    ) -> std::result::Result<(), Stop> {
        if self.more(buffer)? {
            return Ok(());
        }
        if *known > 0 {
            self.refuse_open(buffer, *known, *lines)?;
        } else {
            let what = format!("the line is longer than {} MiB", LONGEST >> 20);
            let shown = buffer.rest().len().min(LONGEST);
            self.refuse(&ParseError::new(what, 0..shown), &buffer.rest()[..shown])?;
            self.line += 1;
            self.scanned = (0, 0);
            loop {
                match buffer.line(0) {
                    Some(end) => {
                        buffer.consume(end + 1);
                        break;
                    }
                    None if buffer.at_end() => break,
                    None => buffer.consume(usize::MAX),
                }
                self.more(buffer)?;
            }
        }
        (*known, *lines) = (0, 0);
        Ok(())
    }

    /// Reads another block of bytes. Returns false if the record is too long.
    fn more(&mut self, buffer: &mut Buffer<Unpacked>) -> std::result::Result<bool, Stop> {
        let filled = self.failure.take().map_or_else(|| buffer.fill(), Err);
        filled
            .map_err(|error| Stop::Error(broken(&self.name, self.line, is_damaged(buffer), error)))
    }

    /// If a quote is never closed, refuses the record, skips the line where the record starts, and reads on
    /// from the next line. The next `known` bytes, which are `lines` lines, were searched for the
    /// end of the record.
    fn refuse_open(
        &mut self,
        buffer: &mut Buffer<Unpacked>,
        known: usize,
        lines: u64,
    ) -> std::result::Result<(), Stop> {
        let rest = buffer.rest();
        let first = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        self.refuse(&ParseError::new(OPEN_QUOTE, 0..first), rest)?;
        self.line += 1;
        buffer.consume(first + 1);
        self.scanned = (known, lines);
        self.pass_over(first + 1, 1);
        Ok(())
    }

    /// Updates `scanned` after bytes of the buffer were consumed.
    fn pass_over(&mut self, bytes: usize, lines: u64) {
        self.scanned.0 = self.scanned.0.saturating_sub(bytes);
        self.scanned.1 = self.scanned.1.saturating_sub(lines);
    }

    /// Parses a record of `lines` lines.
    fn record(&mut self, rest: &[u8], end: usize, lines: u64) -> std::result::Result<(), Stop> {
        let end = end - usize::from(rest[..end].ends_with(b"\r"));
        if self.intercept {
            self.batch.push(0, 1.0);
        }
        let names = self.names.len();
        let read = self.parser.record(&mut Record {
            text: rest,
            end,
            batch: &mut self.batch,
            sorter: &mut self.sorter,
            names: &mut self.names,
            warnings: &mut self.warnings,
        });
        match read {
            Ok(Some(head)) => self.batch.finish(head.label, head.weight, self.line + 1),
            Ok(None) => self.batch.abandon(),
            Err(error) => {
                self.batch.abandon();
                self.names.truncate(names);
                self.refuse(&error, &rest[..end])?;
            }
        }
        self.line += lines;
        Ok(())
    }

    /// Returns the error, or counts the record if invalid records are skipped.
    fn refuse(&mut self, error: &ParseError, record: &[u8]) -> std::result::Result<(), Stop> {
        if self.on_error == OnError::Skip && !error.fatal {
            if self.skipped == 0 {
                let error = self.located(error, record);
                self.warnings.add(&format!("skipped {error}"));
            }
            self.skipped += 1;
            self.batch.skip();
            if let Some(fault) = self.faults.iter_mut().find(|fault| fault.0 == error.what) {
                fault.1 += 1;
            } else if self.faults.len() < MOST_FAULTS {
                let first = self.located(error, record).to_string();
                self.faults.push((error.what.to_string(), 1, first));
            }
            if self.batch.skipped().len() >= EXAMPLES {
                self.pass_on()?;
            }
            return Ok(());
        }
        Err(Stop::Error(self.located(error, record)))
    }

    /// Whether the batch has anything to return.
    fn has_news(&self) -> bool {
        !self.batch.is_empty() || !self.batch.skipped().is_empty()
    }

    fn located(&self, error: &ParseError, record: &[u8]) -> Error {
        Error::Parse {
            file: self.name.clone(),
            line: self.line + 1,
            what: error.what.to_string(),
            text: excerpt(record.get(error.place.clone()).unwrap_or(record)),
        }
    }

    /// Sends the batch and continues with an empty one.
    fn pass_on(&mut self) -> std::result::Result<(), Stop> {
        let mut next = self.recycled.recv().map_err(|_| Stop::Gone)?;
        next.clear();
        self.batch.set_columns(self.parser.columns());
        self.batch.set_features(self.names.features());
        let batch = std::mem::replace(&mut self.batch, next);
        self.send(What::Batch(batch))
    }

    fn send(&mut self, what: What) -> std::result::Result<(), Stop> {
        let message = Message {
            what,
            warnings: self.warnings.take(),
            skipped: self.skipped,
        };
        self.sender.send(message).map_err(|_| Stop::Gone)
    }
}
