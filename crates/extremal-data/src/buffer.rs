//! A buffer that reads large blocks and returns lines.

use std::io::{self, Read};

/// The size of a read. It is large enough for few calls, and small enough to stay in the cache.
const BLOCK: usize = 64 << 10;

/// The largest size of a record.
pub(crate) const LONGEST: usize = 16 << 20;

/// The bytes that have been read but not consumed. The size of the buffer is a block, or up to twice the
/// longest record so far.
pub(crate) struct Buffer<R> {
    read: R,
    bytes: Vec<u8>,
    start: usize,
    filled: usize,
    /// The search for the next line break can start at this position.
    searched: usize,
    at_end: bool,
    short: bool,
}

impl<R: Read> Buffer<R> {
    pub(crate) fn new(read: R) -> Buffer<R> {
        Buffer {
            read,
            bytes: vec![0; BLOCK],
            start: 0,
            filled: 0,
            searched: 0,
            at_end: false,
            short: false,
        }
    }

    pub(crate) fn source(&self) -> &R {
        &self.read
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
        let count = self.read.read(room)?;
        self.short = count < room.len();
        self.at_end = count == 0;
        self.filled += count;
        Ok(true)
    }
}
