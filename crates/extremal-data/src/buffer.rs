//! Bytes read in large blocks, handed out record by record.

use std::io::{self, Read};

/// Read at once: few calls, and still in the cache when it is parsed.
const BLOCK: usize = 64 << 10;

/// The longest record.
pub(crate) const LONGEST: usize = 16 << 20;

/// What has been read and not yet been handed out. It holds a block, or twice the longest record
/// so far.
pub(crate) struct Buffer<R> {
    read: R,
    bytes: Vec<u8>,
    start: usize,
    filled: usize,
    /// Behind the lines that were asked for, there is no end of line up to here.
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

    /// All that is there, from the next record on.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[self.start..self.filled]
    }

    /// How long the next line is: behind the first `from` bytes that are known to belong to the
    /// record, up to the end of a line, or to the end of the file. `None` if that is not there yet.
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

    /// Begins again with the first line that was not dropped.
    pub(crate) fn rewind(&mut self) {
        self.searched = self.start;
    }

    /// Drops the first `count` bytes.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.filled);
        self.rewind();
    }

    /// Whether everything has been read.
    pub(crate) fn at_end(&self) -> bool {
        self.at_end
    }

    /// Whether the last block came short, so that the next may have to be waited for.
    pub(crate) fn may_wait(&self) -> bool {
        self.short
    }

    /// Reads another block. False if there is no room for it: the record is too long.
    pub(crate) fn fill(&mut self) -> io::Result<bool> {
        let held = self.filled - self.start;
        if held >= LONGEST {
            return Ok(false);
        }
        // Where that is no more than was dropped: all in all, a byte is moved once or twice.
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
