//! Memory that belongs to a set rather than to an oracle: `violation` and `gauge` take `&self` and
//! are asked every round. What it holds between two uses never matters.

use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
pub(crate) struct Scratch<T>(Mutex<T>);

impl<T> Scratch<T> {
    pub(crate) fn new(memory: T) -> Self {
        Self(Mutex::new(memory))
    }

    pub(crate) fn take(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
