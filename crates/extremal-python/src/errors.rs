//! Turns errors of the library into Python exceptions.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pyo3::create_exception!(
    extremal,
    Error,
    PyValueError,
    "The library refused an input, or a computation failed."
);

/// Exceptions that a user's callback raised. The library's errors contain only the text of these
/// exceptions. Each exception is therefore kept here, with its thread, until the call that caused the
/// exception returns.
#[derive(Default)]
pub struct PendingException(Mutex<Vec<(ThreadId, PyErr)>>);

impl PendingException {
    /// Keeps the exception for this thread, and returns its text.
    pub fn keep(&self, error: PyErr) -> String {
        let text = error.to_string();
        self.take();
        self.lock().push((std::thread::current().id(), error));
        text
    }

    /// Removes and returns this thread's exception.
    pub fn take(&self) -> Option<PyErr> {
        let me = std::thread::current().id();
        let mut all = self.lock();
        let at = all.iter().position(|(thread, _)| *thread == me)?;
        Some(all.swap_remove(at).1)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(ThreadId, PyErr)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Turns an error of the library into an exception.
pub fn raise(error: &dyn std::fmt::Display) -> PyErr {
    Error::new_err(error.to_string())
}

/// Returns the exception that a callback raised in this thread. If there is none, turns the library's
/// error into an exception.
pub fn raise_pending(error: &dyn std::fmt::Display, pending: &[Arc<PendingException>]) -> PyErr {
    let own = pending.iter().find_map(|slot| slot.take());
    own.unwrap_or_else(|| raise(error))
}
