//! Files and pipes, read on a thread of their own.

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
use crate::parse::{Parse, ParseError, Warnings, excerpt};
use crate::{Batch, Error, Format, OnError, ReadOptions, Result};

/// Batches under way: one that is written, one that is used, and two between them.
const BATCHES: usize = 4;

/// A batch is passed on when it has so many examples, non-zeros or bytes of tags.
const EXAMPLES: usize = 512;
const STORED: usize = 1 << 15;
const TAGS: usize = 1 << 16;

/// Examples from a file or a pipe. A thread reads ahead, a few batches at most.
///
/// Archives (gzip, bzip2, zstd, xz) are known by their first bytes. A line that can't be read is
/// an error with its position, or is left out and counted: see [`OnError`]. A pipe's examples
/// come as soon as their lines have.
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
    format: Format,
    warnings: Vec<String>,
    skipped: u64,
    consumed: Arc<AtomicU64>,
    total: Option<u64>,
    done: bool,
    name: String,
}

/// What [`Reader::next_within`] finds.
#[derive(Debug)]
pub enum Next<'a> {
    /// Examples.
    Batch(&'a Batch),
    /// Nothing came in that time.
    Nothing,
    /// There are no more.
    End,
}

/// What the thread has to say.
struct Message {
    what: What,
    warnings: Vec<String>,
    skipped: u64,
}

enum What {
    Batch(Batch),
    End(Result<()>),
}

impl Reader {
    /// Opens a file; nothing or `-` is standard input. Waits for its beginning only where the
    /// format has to be told from the content.
    pub fn open(path: Option<&Path>, options: &ReadOptions) -> Result<Reader> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return Reader::start(Box::new(io::stdin()), "-", None, options);
        };
        let problem = |source| Error::File {
            path: path.into(),
            what: "can't be opened",
            source,
        };
        let file = File::open(path).map_err(problem)?;
        let metadata = file.metadata().map_err(problem)?;
        let total = metadata.is_file().then_some(metadata.len());
        Reader::start(Box::new(file), &path.display().to_string(), total, options)
    }

    /// Reads from anything; errors call it `name`, and the format may be told from that.
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
            return Err(Error::Content {
                file: name.into(),
                what,
            });
        }
        let consumed = Arc::new(AtomicU64::new(0));
        let mut source = Source::Closed(read, consumed.clone());
        let format = match options.format.or_else(|| detect::by_name(name)) {
            Some(format) => format,
            None => {
                let buffer = source.open(name)?;
                detect::by_content(buffer, name, options)?
            }
        };
        if let Some(what) = options.misfit(format) {
            return Err(Error::Content {
                file: name.into(),
                what,
            });
        }
        let (sender, batches) = sync_channel(BATCHES + 1);
        let (pool, recycled) = sync_channel(BATCHES);
        for _ in 0..BATCHES {
            // The channel has room for all of them, and both its ends are here.
            let _ = pool.send(Batch::default());
        }
        let mut reading = ReaderThread {
            name: name.into(),
            on_error: options.on_error,
            intercept: options.intercept,
            parser: detect::parser(format, options),
            line: 0,
            scanned: (0, 0),
            skipped: 0,
            warnings: Warnings::default(),
            batch: Batch::default(),
            sender,
            recycled,
        };
        thread::Builder::new()
            .name("reader".into())
            .spawn(move || reading.run(source))
            .map_err(|source| Error::File {
                path: name.into(),
                what: "no thread to read it",
                source,
            })?;
        Ok(Reader {
            batches,
            pool,
            current: None,
            format,
            warnings: Vec::new(),
            skipped: 0,
            consumed,
            total,
            done: false,
            name: name.into(),
        })
    }

    /// More examples, never an empty batch; `None` at the end. Those before a bad line come
    /// first, then the error, and that is the end.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<&Batch>> {
        self.recycle();
        if self.done {
            return Ok(None);
        }
        let message = self
            .batches
            .recv()
            .map_err(|_| RecvTimeoutError::Disconnected);
        match self.take(message)? {
            Next::Batch(batch) => Ok(Some(batch)),
            Next::Nothing | Next::End => Ok(None),
        }
    }

    /// The same for whoever has other things to look after: waits no longer than `patience`.
    pub fn next_within(&mut self, patience: Duration) -> Result<Next<'_>> {
        self.recycle();
        if self.done {
            return Ok(Next::End);
        }
        let message = self.batches.recv_timeout(patience);
        self.take(message)
    }

    fn recycle(&mut self) {
        if let Some(batch) = self.current.take() {
            // The thread may have ended, and not need it any more.
            let _ = self.pool.try_send(batch);
        }
    }

    fn take(
        &mut self,
        message: std::result::Result<Message, RecvTimeoutError>,
    ) -> Result<Next<'_>> {
        let message = match message {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => return Ok(Next::Nothing),
            Err(RecvTimeoutError::Disconnected) => {
                self.done = true;
                return Err(Error::Content {
                    file: self.name.clone(),
                    what: "reading stopped without an end: please report this".into(),
                });
            }
        };
        self.skipped = message.skipped;
        self.warnings.extend(message.warnings);
        match message.what {
            What::Batch(batch) => Ok(Next::Batch(self.current.insert(batch))),
            What::End(result) => {
                self.done = true;
                result.map(|()| Next::End)
            }
        }
    }

    /// How the examples are written.
    pub fn format(&self) -> Format {
        self.format
    }

    /// What the user should know about the part that was read: each note comes once.
    pub fn warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// How many records were left out, with [`OnError::Skip`].
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The bytes of the file (of the archive, where it is one) that were read, and how many there
    /// are, where that is known. The thread reads ahead.
    pub fn progress(&self) -> (u64, Option<u64>) {
        (self.consumed.load(Ordering::Relaxed), self.total)
    }
}

/// A file before and after a look at its first bytes.
pub(crate) enum Source {
    Closed(Box<dyn Read + Send>, Arc<AtomicU64>),
    Open(Box<Buffer<Unpacked>>),
}

impl Source {
    fn open(&mut self, name: &str) -> Result<&mut Buffer<Unpacked>> {
        if let Source::Closed(read, consumed) = self {
            let read = std::mem::replace(read, Box::new(io::empty()));
            let unpacked = Unpacked::new(read, name, consumed.clone())
                .map_err(|source| unreadable(name, source))?;
            *self = Source::Open(Box::new(Buffer::new(unpacked)));
        }
        match self {
            Source::Open(buffer) => Ok(buffer),
            Source::Closed(..) => unreachable!("it was opened above"),
        }
    }
}

/// Reading itself went wrong.
pub(crate) fn unreadable(name: &str, source: io::Error) -> Error {
    Error::File {
        path: PathBuf::from(name),
        what: "can't be read",
        source,
    }
}

/// The same, after so many lines, where it may be the archive that is broken.
pub(crate) fn broken(name: &str, line: u64, damaged: bool, error: io::Error) -> Error {
    if !damaged {
        return unreadable(name, error);
    }
    Error::Parse {
        file: name.into(),
        line,
        what: "the archive is damaged or cut short after this line".into(),
        text: error.to_string(),
    }
}

/// The thread's work.
struct ReaderThread {
    name: String,
    on_error: OnError,
    intercept: bool,
    parser: Box<dyn Parse>,
    /// Lines before the record.
    line: u64,
    /// So many bytes and lines of the buffer were looked through for the end of a record that was
    /// then refused: every line within begins inside of quotes, if the one before ends so.
    scanned: (usize, u64),
    skipped: u64,
    warnings: Warnings,
    batch: Batch,
    sender: SyncSender<Message>,
    recycled: Receiver<Batch>,
}

/// Nobody listens any more.
struct Gone;

/// Why reading ends early.
enum Stop {
    Gone,
    Error(Error),
}

impl From<Gone> for Stop {
    fn from(_: Gone) -> Stop {
        Stop::Gone
    }
}

impl ReaderThread {
    fn run(&mut self, mut source: Source) {
        let name = self.name.clone();
        let result = match source.open(&name) {
            Ok(buffer) => self.read(buffer),
            Err(error) => Err(Stop::Error(error)),
        };
        let result = match result {
            Ok(()) => Ok(()),
            Err(Stop::Error(error)) => Err(error),
            Err(Stop::Gone) => return,
        };
        if !self.batch.is_empty() && self.pass_on().is_err() {
            return;
        }
        let _ = self.send(What::End(result));
    }

    fn read(&mut self, buffer: &mut Buffer<Unpacked>) -> std::result::Result<(), Stop> {
        // How much of the buffer belongs to the record for sure, and how many lines that is.
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
                if buffer.may_wait() && !self.batch.is_empty() {
                    self.pass_on()?;
                }
                self.fill(buffer, &mut known, &mut lines)?;
                continue;
            };
            let rest = buffer.rest();
            let open = known > 0;
            if self.line == 0 && !open && rest.starts_with(b"\xef\xbb\xbf") {
                // The mark that some programs put at the beginning of UTF-8.
                buffer.consume(3);
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

    /// Reads more. A record that is too long is refused, and passed over.
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
            let what = format!("a line of more than {} MiB", LONGEST >> 20);
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

    /// Reads another block; false if there is no room.
    fn more(&mut self, buffer: &mut Buffer<Unpacked>) -> std::result::Result<bool, Stop> {
        buffer.fill().map_err(|error| {
            let damaged = buffer.source().is_damaged();
            Stop::Error(broken(&self.name, self.line, damaged, error))
        })
    }

    /// A record whose quotes don't close: only its first line is passed over.
    /// It was looked for in the next `known` bytes, which are `lines` lines.
    fn refuse_open(
        &mut self,
        buffer: &mut Buffer<Unpacked>,
        known: usize,
        lines: u64,
    ) -> std::result::Result<(), Stop> {
        let rest = buffer.rest();
        let first = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let what = "a quote that is not closed";
        self.refuse(&ParseError::new(what, 0..first), rest)?;
        self.line += 1;
        buffer.consume(first + 1);
        self.scanned = (known, lines);
        self.pass_over(first + 1, 1);
        Ok(())
    }

    /// Takes note that so much of the buffer was dropped.
    fn pass_over(&mut self, bytes: usize, lines: u64) {
        self.scanned.0 = self.scanned.0.saturating_sub(bytes);
        self.scanned.1 = self.scanned.1.saturating_sub(lines);
    }

    /// Parses a record that has `lines` lines.
    fn record(&mut self, rest: &[u8], end: usize, lines: u64) -> std::result::Result<(), Stop> {
        let end = end - usize::from(rest[..end].ends_with(b"\r"));
        if self.intercept {
            self.batch.push(0, 1.0);
        }
        match self.parser.record(rest, end, &mut self.batch) {
            Ok(Some(head)) => self.batch.finish(head.label, head.weight, self.line + 1),
            Ok(None) => self.batch.abandon(),
            Err(error) => {
                self.batch.abandon();
                self.refuse(&error, &rest[..end])?;
            }
        }
        self.line += lines;
        Ok(())
    }

    /// Stops, or counts.
    fn refuse(&mut self, error: &ParseError, record: &[u8]) -> std::result::Result<(), Stop> {
        if self.on_error == OnError::Skip && !error.fatal {
            if self.skipped == 0 {
                let error = self.located(error, record);
                self.warnings.add(&format!("skipped {error}"));
            }
            self.skipped += 1;
            return Ok(());
        }
        Err(Stop::Error(self.located(error, record)))
    }

    fn located(&self, error: &ParseError, record: &[u8]) -> Error {
        Error::Parse {
            file: self.name.clone(),
            line: self.line + 1,
            what: error.what.to_string(),
            text: excerpt(record.get(error.place.clone()).unwrap_or(record)),
        }
    }

    /// Hands the batch over and takes an empty one.
    fn pass_on(&mut self) -> std::result::Result<(), Gone> {
        let mut next = self.recycled.recv().map_err(|_| Gone)?;
        next.clear();
        self.batch.set_columns(self.parser.columns());
        let batch = std::mem::replace(&mut self.batch, next);
        self.send(What::Batch(batch))
    }

    fn send(&mut self, what: What) -> std::result::Result<(), Gone> {
        let mut warnings = self.parser.warnings().take();
        warnings.extend(self.warnings.take());
        let message = Message {
            what,
            warnings,
            skipped: self.skipped,
        };
        self.sender.send(message).map_err(|_| Gone)
    }
}
