//! A buffer that reads large blocks and returns lines.

use std::io::{self, Read};
use std::time::Duration;

use crate::patient::Patient;

/// The size of a read. It is large enough for few calls, and small enough to stay in the cache.
const BLOCK: usize = 64 << 10;

/// The largest size of a record.
pub(crate) const LONGEST: usize = 16 << 20;

/// The bytes that have been read but not consumed. The size of the buffer is a block, or up to twice the
/// longest record so far.
pub(crate) struct Buffer<R> {
    read: Patient<R>,
    bytes: Vec<u8>,
    start: usize,
    filled: usize,
    /// The search for the next line break can start at this position.
    searched: usize,
    at_end: bool,
    short: bool,
}

impl<R: Read + Send + 'static> Buffer<R> {
    pub(crate) fn new(read: R) -> Buffer<R> {
        Buffer {
            read: Patient::new(read),
            bytes: vec![0; BLOCK],
            start: 0,
            filled: 0,
            searched: 0,
            at_end: false,
            short: false,
        }
    }

    /// The source. After [`fill_within`](Buffer::fill_within), it is available only after an error.
    pub(crate) fn source(&self) -> Option<&R> {
        self.read.source()
    }

    /// All bytes from the next record on.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[self.start..self.filled]
    }

    /// The end of the line that begins `from` bytes into the record: the line break, or the end of
    /// the file. `None` means that the buffer must read more.
    pub(crate) fn line(&mut self, from: usize) -> Option<usize> {
        let searched = self.searched.max(self.start + from);
        match memchr::memchr(b'\n', &self.bytes[searched..self.filled]) {
            Some(length) => Some(searched + length - self.start),
            None => {
                self.searched = self.filled;
                let all = self.filled - self.start;
                (self.at_end && all > from).then_some(all)
            }
        }
    }

    /// Searches again from the first line that was not consumed.
    pub(crate) fn rewind(&mut self) {
        self.searched = self.start;
    }

    /// Drops the first `count` bytes.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.filled);
        self.rewind();
    }

    /// Whether the source has ended.
    pub(crate) fn at_end(&self) -> bool {
        self.at_end
    }

    /// Whether the last read was short, so that the next read may wait for data.
    pub(crate) fn may_wait(&self) -> bool {
        self.short
    }

    /// Reads another block. Returns false if the record is too long.
    pub(crate) fn fill(&mut self) -> io::Result<bool> {
        self.fill_or_wait(None)
    }

    /// Like [`fill`](Buffer::fill), but also returns false if nothing arrives within this time.
    pub(crate) fn fill_within(&mut self, time: Duration) -> io::Result<bool> {
        self.fill_or_wait(Some(time))
    }

    /// Ends the limits on the waiting time.
    pub(crate) fn release(&mut self) {
        self.read.release();
    }

    fn fill_or_wait(&mut self, time: Option<Duration>) -> io::Result<bool> {
        let held = self.filled - self.start;
        if held >= LONGEST {
            return Ok(false);
        }
        // The bytes are moved only if at least as many were consumed. Each byte is therefore moved at
        // most twice on average.
        if self.start > 0 && self.start >= held {
            self.bytes.copy_within(self.start..self.filled, 0);
            self.filled -= self.start;
            self.searched -= self.start;
            self.start = 0;
        }
        if self.filled == self.bytes.len() {
            self.bytes.resize(2 * self.bytes.len(), 0);
        }
        let end = self.bytes.len().min(self.filled + BLOCK);
        let room = &mut self.bytes[self.filled..end];
        let count = match time {
            None => self.read.read(room)?,
            Some(time) => match self.read.read_within(room, time)? {
                Some(count) => count,
                None => return Ok(false),
            },
        };
        self.short = count < room.len();
        self.at_end = count == 0;
        self.filled += count;
        Ok(true)
    }
}
