//! A stream whose beginning can be looked at before it is played.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use extremal_data::{Batch, Next, ReadOptions, Reader};

use crate::error::Result;

/// How long a silent input is waited for before the host is asked whether to stop.
pub(crate) const PATIENCE: Duration = Duration::from_millis(100);

/// Examples from a reader, some of them seen before.
pub(crate) struct Source {
    reader: Reader,
    ahead: VecDeque<Batch>,
    /// How the stream ended, if it did while it was looked at.
    ended: Option<extremal_data::Result<()>>,
    held: Batch,
}

impl Source {
    pub fn open(path: Option<&Path>, options: &ReadOptions) -> Result<Self> {
        Ok(Self {
            reader: Reader::open(path, options)?,
            ahead: VecDeque::new(),
            ended: None,
            held: Batch::default(),
        })
    }

    /// Looks at the first examples, `count` of them or all there are. False if told to stop.
    pub fn look(
        &mut self,
        count: usize,
        is_stopped: &dyn Fn() -> bool,
        mut each: impl FnMut(&Batch),
    ) -> bool {
        let mut seen = 0;
        while seen < count && self.ended.is_none() {
            if is_stopped() {
                return false;
            }
            match self.reader.next_within(PATIENCE) {
                Ok(Next::Batch(batch)) => {
                    seen += batch.len();
                    each(batch);
                    self.ahead.push_back(batch.clone());
                }
                Ok(Next::Nothing) => {}
                Ok(Next::End) => self.ended = Some(Ok(())),
                Err(error) => self.ended = Some(Err(error)),
            }
        }
        true
    }

    /// What comes next, within a moment.
    pub fn next(&mut self) -> extremal_data::Result<Next<'_>> {
        if let Some(batch) = self.ahead.pop_front() {
            self.held = batch;
            return Ok(Next::Batch(&self.held));
        }
        match self.ended.take() {
            Some(Ok(())) => Ok(Next::End),
            Some(Err(error)) => Err(error),
            None => self.reader.next_within(PATIENCE),
        }
    }

    /// Lines left out, notes to show, and bytes read of how many.
    pub fn reader(&mut self) -> &mut Reader {
        &mut self.reader
    }
}

/// What a data file is called in messages.
pub(crate) fn name_of(path: Option<&Path>) -> String {
    match path {
        Some(path) => path.display().to_string(),
        None => "-".into(),
    }
}
