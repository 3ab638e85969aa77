//! The reader of files and pipes, which parses on its own thread.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use crate::archive::Unpacked;
use crate::buffer::{Buffer, LONGEST};
use crate::detect;
use crate::names::Dictionary;
use crate::parse::{Block, OPEN_QUOTE, Parse, ParseError, Record, Warnings, excerpt};
use crate::row::Sorter;
use crate::{Batch, Column, Error, Format, LabelFacts, OnError, ReadOptions, Result};

/// The number of batches: one being written, one being used, two in between.
const BATCHES: usize = 4;

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

/// The time between two calls of `is_stopped`.
const PATIENCE: Duration = Duration::from_millis(100);

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

const UNREADABLE: &str = "can't be read";

/// Reads examples from a file or a pipe. A thread reads ahead by a few batches.
///
/// The reader recognises archives (gzip, bzip2, zstd, xz, zip) by their first bytes. An invalid line is
/// an error with its position, or is skipped and counted ([`OnError`]). The reader returns an example
/// from a pipe as soon as its line is complete.
///
/// ```
/// use extremal_data::{ReadOptions, Reader};
///
/// let text = b"1 1:0.5 7:2\n-1 3:x\n";
/// let mut reader = Reader::from_read(Box::new(&text[..]), "data.svm", &ReadOptions::default())?;
/// assert_eq!(reader.next()?.unwrap().get(0).indices, [0, 6]);
/// let error = reader.next().unwrap_err().to_string();
/// assert_eq!(error, "data.svm:2: the value is not a number: 3:x");
/// assert!(reader.next()?.is_none());
/// # Ok::<(), extremal_data::Error>(())
/// ```
#[derive(Debug)]
pub struct Reader {
    batches: Receiver<Message>,
    pool: SyncSender<Batch>,
    current: Option<Batch>,
    /// Messages that [`peek`](Reader::peek) has received, but [`next`](Reader::next) has not returned.
    ahead: VecDeque<Message>,
    format: Format,
    facts: Option<Facts>,
    warnings: Vec<String>,
    skipped: u64,
    fault: Option<String>,
    consumed: Arc<AtomicU64>,
    total: Option<u64>,
    done: bool,
    name: String,
}

/// What the first block of records shows. The block has at most 512 lines. A pipe that is silent for
/// 0.2 s ends it.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The labels.
    pub labels: LabelFacts,
    /// The columns of a table.
    pub columns: Option<Arc<[Column]>>,
}

/// The result of [`Reader::next_unless`].
#[derive(Debug)]
pub enum Next<'a> {
    /// A batch of examples.
    Batch(&'a Batch),
    /// The caller stopped the reader before the next batch.
    Stopped,
    /// The end of the file.
    End,
}

/// A message from the reader thread.
#[derive(Debug)]
struct Message {
    what: What,
    warnings: Vec<String>,
    skipped: u64,
}

#[derive(Debug)]
enum What {
    /// The first message.
    Start(Facts),
    Batch(Batch),
    /// The end, with the most frequent problem of skipped records.
    End(Result<()>, Option<String>),
}

impl Reader {
    /// Opens a file. Standard input is `None` or `-`. The call waits for the first line only if the
    /// format must be detected from the content.
    pub fn open(path: Option<&Path>, options: &ReadOptions) -> Result<Reader> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return Reader::start(Box::new(io::stdin()), "-", None, options);
        };
        let problem = Error::file(path, "can't be opened");
        let metadata = path.metadata().map_err(&problem)?;
        let total = metadata.is_file().then_some(metadata.len());
        let read: Box<dyn Read + Send> = match total {
            Some(_) => Box::new(File::open(path).map_err(problem)?),
            None => Box::new(Unopened(path.into(), None)),
        };
        Reader::start(read, &path.display().to_string(), total, options)
    }

    /// Reads from any source. Errors show `name`, and its extension may identify the format.
    pub fn from_read(
        read: Box<dyn Read + Send>,
        name: &str,
        options: &ReadOptions,
    ) -> Result<Reader> {
        Reader::start(read, name, None, options)
    }

    fn start(
        read: Box<dyn Read + Send>,
        name: &str,
        total: Option<u64>,
        options: &ReadOptions,
    ) -> Result<Reader> {
        if let Some(what) = options.problem() {
            return Err(Error::content(name, what));
        }
        let consumed = Arc::new(AtomicU64::new(0));
        let known = options.format.or_else(|| detect::by_name(name));
        let may_be_json = known.is_none_or(|format| format == Format::Jsonl);
        let mut source = Source::Closed(read, consumed.clone(), may_be_json);
        let format = match known {
            Some(format) => format,
            None => {
                let buffer = source.open(name)?;
                detect::by_content(buffer, name, options)?
            }
        };
        if let Some(what) = options.misfit(format) {
            return Err(Error::content(name, what));
        }
        let (sender, batches) = sync_channel(BATCHES + 2);
        let (pool, recycled) = sync_channel(BATCHES);
        for _ in 0..BATCHES {
            // This can't fail: the channel holds them all, and both its ends are open.
            let _ = pool.send(Batch::default());
        }
        let mut reading = ReaderThread {
            name: name.into(),
            on_error: options.on_error,
            intercept: options.intercept,
            parser: detect::parser(format, options),
            may_be_silent: total.is_none(),
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
        };
        thread::Builder::new()
            .name("reader".into())
            .spawn(move || reading.run(source))
            .map_err(Error::file(name, "the reader thread can't be started"))?;
        Ok(Reader {
            batches,
            pool,
            current: None,
            ahead: VecDeque::new(),
            format,
            facts: None,
            warnings: Vec::new(),
            skipped: 0,
            fault: None,
            consumed,
            total,
            done: false,
            name: name.into(),
        })
    }

    /// Returns the next batch, or `None` at the end. A batch has at least one example or one skipped
    /// record. If a line is invalid, the reader first returns the examples before it, then the error.
    /// After an error it ends.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<&Batch>> {
        match self.next_unless(&|| false)? {
            Next::Batch(batch) => Ok(Some(batch)),
            Next::Stopped | Next::End => Ok(None),
        }
    }

    /// Like [`next`](Reader::next), but returns [`Next::Stopped`] once `is_stopped` returns true.
    /// The reader calls `is_stopped` once at the start, then every tenth of a second while it waits.
    pub fn next_unless(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<Next<'_>> {
        if let Some(batch) = self.current.take() {
            // This fails only if the thread has ended.
            let _ = self.pool.try_send(batch);
        }
        loop {
            if self.done {
                return Ok(Next::End);
            }
            let message = match self.ahead.pop_front() {
                Some(message) => message,
                None => match self.receive(is_stopped)? {
                    Some(message) => message,
                    None => return Ok(Next::Stopped),
                },
            };
            self.skipped = message.skipped;
            self.warnings.extend(message.warnings);
            match message.what {
                What::Start(facts) => self.facts = Some(facts),
                What::Batch(batch) => return Ok(Next::Batch(self.current.insert(batch))),
                What::End(result, fault) => {
                    self.done = true;
                    self.fault = fault;
                    return result.map(|()| Next::End);
                }
            }
        }
    }

    /// Waits for the first block, and returns what it shows. `None` means that `is_stopped` returned
    /// true. An error in the block ends the reader.
    pub fn facts(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<Option<&Facts>> {
        if self.facts.is_none() && !self.done {
            let Some(message) = self.receive(is_stopped)? else {
                return Ok(None);
            };
            self.warnings.extend(message.warnings);
            match message.what {
                What::Start(facts) => self.facts = Some(facts),
                // The file ended before its first block.
                What::End(result, _) => {
                    self.done = true;
                    result?;
                }
                What::Batch(_) => unreachable!("the first message is the start"),
            }
        }
        Ok(Some(self.facts.get_or_insert_default()))
    }

    /// Reads ahead until there are `count` examples or the file ends, and returns the batches. The
    /// calls of [`next`](Reader::next) that follow return them again. `None` means that `is_stopped`
    /// returned true.
    pub fn peek(
        &mut self,
        count: usize,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<impl Iterator<Item = &Batch>>> {
        let mut read = 0;
        let is_end = |message: &Message| matches!(message.what, What::End(..));
        while read < count && !self.ahead.back().is_some_and(is_end) {
            let Some(message) = self.receive(is_stopped)? else {
                return Ok(None);
            };
            if let What::Start(facts) = message.what {
                self.facts = Some(facts);
                self.warnings.extend(message.warnings);
                continue;
            }
            if let What::Batch(batch) = &message.what {
                read += batch.len();
                // The thread needs another batch, since this one is not returned soon.
                let _ = self.pool.try_send(Batch::default());
            }
            self.ahead.push_back(message);
        }
        Ok(Some(self.ahead.iter().filter_map(
            |message| match &message.what {
                What::Batch(batch) => Some(batch),
                What::Start(_) | What::End(..) => None,
            },
        )))
    }

    /// Waits for a message. `None` means that `is_stopped` returned true.
    fn receive(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<Option<Message>> {
        while !is_stopped() {
            match self.batches.recv_timeout(PATIENCE) {
                Ok(message) => return Ok(Some(message)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.done = true;
                    let what = "the reader thread stopped unexpectedly; please report this bug";
                    return Err(Error::content(&self.name, what));
                }
            }
        }
        Ok(None)
    }

    /// The format of the file.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The warnings since the last call. Each is reported once.
    pub fn warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// The number of invalid records skipped with [`OnError::Skip`].
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The most frequent problem of the skipped records, as the error of the first one. It is known
    /// after the last batch.
    pub fn skip_reason(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// The number of bytes read so far, and the size of the file if known. For an archive, both are
    /// those of the archive. The number includes bytes of batches that were not returned yet.
    pub fn progress(&self) -> (u64, Option<u64>) {
        (self.consumed.load(Ordering::Relaxed), self.total)
    }
}

/// A pipe that is opened when it is first read, since opening waits for a writer.
struct Unopened(PathBuf, Option<File>);

impl Read for Unopened {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Self(path, file) = self;
        if file.is_none() {
            *file = Some(File::open(path)?);
        }
        file.as_mut().map_or(Ok(0), |file| file.read(buffer))
    }
}

/// A source before and after the reader has examined its first bytes.
pub(crate) enum Source {
    /// The boolean tells whether the file may be a JSON array.
    Closed(Box<dyn Read + Send>, Arc<AtomicU64>, bool),
    Open(Box<Buffer<Unpacked>>),
}

impl Source {
    fn open(&mut self, name: &str) -> Result<&mut Buffer<Unpacked>> {
        if let Source::Closed(read, consumed, may_be_json) = self {
            let read = std::mem::replace(read, Box::new(io::empty()));
            let unpacked = Unpacked::new(read, name, consumed.clone(), *may_be_json)
                .map_err(Error::file(name, UNREADABLE))?;
            *self = Source::Open(Box::new(Buffer::new(unpacked)));
        }
        match self {
            Source::Open(buffer) => Ok(buffer),
            Source::Closed(..) => unreachable!("opened above"),
        }
    }
}

/// Whether a failed read means that the archive is damaged.
pub(crate) fn is_damaged(buffer: &Buffer<Unpacked>) -> bool {
    buffer.source().is_some_and(Unpacked::is_damaged)
}

/// The error of a read that failed after `line` lines. The archive may be `damaged`.
pub(crate) fn broken(name: &str, line: u64, damaged: bool, error: io::Error) -> Error {
    if !damaged || error.kind() == io::ErrorKind::Unsupported {
        return Error::file(name, UNREADABLE)(error);
    }
    Error::Parse {
        file: name.into(),
        line,
        what: "the archive is damaged or truncated after this line".into(),
        text: error.to_string(),
    }
}

/// The thread that reads and parses.
struct ReaderThread {
    name: String,
    on_error: OnError,
    intercept: bool,
    parser: Box<dyn Parse>,
    may_be_silent: bool,
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
    fn run(&mut self, mut source: Source) {
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

    /// Refuses a record whose quote is never closed, and skips only its first line. The next `known`
    /// bytes, which are `lines` lines, were searched for the end of the record.
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
