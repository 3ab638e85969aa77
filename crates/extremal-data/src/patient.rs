//! A source that may be silent for long, such as a pipe.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A source that can be read with a limit on the waiting time. While this limit is needed, another
/// thread reads the source. After [`release`](Patient::release), that thread gives the source back.
pub(crate) struct Patient<R> {
    source: Option<R>,
    thread: Option<Thread<R>>,
    /// Bytes that the thread has read.
    block: Vec<u8>,
    used: usize,
}

struct Thread<R> {
    handle: JoinHandle<R>,
    blocks: Receiver<io::Result<Vec<u8>>>,
    is_released: Arc<AtomicBool>,
}

impl<R> Patient<R> {
    pub(crate) fn new(source: R) -> Patient<R> {
        Patient {
            source: Some(source),
            thread: None,
            block: Vec::new(),
            used: 0,
        }
    }

    /// The source, unless the thread has it. After an error, the thread has given it back.
    pub(crate) fn source(&self) -> Option<&R> {
        self.source.as_ref()
    }

    /// Ends the thread after its next read.
    pub(crate) fn release(&mut self) {
        if let Some(thread) = &self.thread {
            thread.is_released.store(true, Ordering::Relaxed);
        }
    }

    /// Takes the source back from the thread, which has ended.
    fn take_back(&mut self) -> io::Result<()> {
        if let Some(thread) = self.thread.take() {
            let lost = |_| io::Error::other("the reading thread stopped unexpectedly");
            self.source = Some(thread.handle.join().map_err(lost)?);
        }
        Ok(())
    }

    /// Copies bytes that the thread has read.
    fn copy(&mut self, buffer: &mut [u8]) -> usize {
        let rest = &self.block[self.used..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.used += count;
        count
    }
}

impl<R: Read + Send + 'static> Patient<R> {
    /// Reads like [`Read::read`], but returns `None` if no bytes arrive in time.
    pub(crate) fn read_within(
        &mut self,
        buffer: &mut [u8],
        time: Duration,
    ) -> io::Result<Option<usize>> {
        if let Some(source) = self.source.take() {
            self.thread = Some(Thread::start(source, buffer.len())?);
        }
        self.receive(buffer, Some(time))
    }

    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.source {
            Some(source) => source.read(buffer),
            None => Ok(self.receive(buffer, None)?.unwrap_or(0)),
        }
    }

    fn receive(&mut self, buffer: &mut [u8], time: Option<Duration>) -> io::Result<Option<usize>> {
        if self.used < self.block.len() {
            return Ok(Some(self.copy(buffer)));
        }
        let received = match (&self.thread, time) {
            (None, _) => Err(RecvTimeoutError::Disconnected),
            (Some(thread), Some(time)) => thread.blocks.recv_timeout(time),
            (Some(thread), None) => thread.blocks.recv().map_err(RecvTimeoutError::from),
        };
        match received {
            Ok(Ok(block)) => {
                (self.block, self.used) = (block, 0);
                Ok(Some(self.copy(buffer)))
            }
            Ok(Err(error)) => {
                self.take_back()?;
                Err(error)
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                self.take_back()?;
                (self.block, self.used) = (Vec::new(), 0);
                match &mut self.source {
                    Some(source) => source.read(buffer).map(Some),
                    None => Ok(Some(0)),
                }
            }
        }
    }
}

impl<R: Read + Send + 'static> Thread<R> {
    /// Starts a thread that reads blocks of `size` bytes until it is released, or the source ends.
    fn start(mut source: R, size: usize) -> io::Result<Thread<R>> {
        let (sender, blocks) = sync_channel(1);
        let is_released = Arc::new(AtomicBool::new(false));
        let released = is_released.clone();
        let read = move || {
            while !released.load(Ordering::Relaxed) {
                let mut block = vec![0; size];
                let read = source.read(&mut block).map(|count| {
                    block.truncate(count);
                    block
                });
                let is_last = read.as_ref().map_or(true, Vec::is_empty);
                if sender.send(read).is_err() || is_last {
                    break;
                }
            }
            source
        };
        let handle = thread::Builder::new()
            .name("first block".into())
            .spawn(read)?;
        Ok(Thread {
            handle,
            blocks,
            is_released,
        })
    }
}
