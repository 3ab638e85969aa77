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
use crate::buffer::Buffer;
use crate::detect;
use crate::reading::ReaderThread;
use crate::{Batch, Column, Error, Format, LabelFacts, ReadOptions, Result};

/// The number of batches: one being written, one being used, two in between.
const BATCHES: usize = 4;

/// The time between two calls of `is_stopped`.
const PATIENCE: Duration = Duration::from_millis(100);

const UNREADABLE: &str = "can't be read";

/// Reads examples from a file or a pipe. A thread reads ahead by a few batches.
///
/// The reader recognises archives (gzip, bzip2, zstd, xz, zip) by their first bytes. An invalid line is
/// an error with its position, or is skipped and counted ([`OnError`](crate::OnError)). The reader
/// returns an example from a pipe as soon as its line is complete.
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
pub(crate) struct Message {
    pub(crate) what: What,
    pub(crate) warnings: Vec<String>,
    pub(crate) skipped: u64,
}

#[derive(Debug)]
pub(crate) enum What {
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
        let mut reading = ReaderThread::new(name, format, options, (sender, recycled));
        reading.may_be_silent = total.is_none();
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

    /// The number of invalid records skipped with [`OnError::Skip`](crate::OnError::Skip).
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
    pub(crate) fn open(&mut self, name: &str) -> Result<&mut Buffer<Unpacked>> {
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
