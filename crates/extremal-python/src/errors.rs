//! Errors as Python exceptions, with the library's words.

use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pyo3::create_exception!(
    extremal,
    Error,
    PyValueError,
    "What the library refused, or where its numbers broke down."
);

/// Exceptions that a user's function raised, on their way through the library, which knows only
/// text: each comes out in the thread that it was raised in.
#[derive(Default)]
pub struct Raised(Mutex<Vec<(ThreadId, PyErr)>>);

impl Raised {
    /// Keeps it, and gives the text for the library.
    pub fn keep(&self, error: PyErr) -> String {
        let text = error.to_string();
        let me = std::thread::current().id();
        let mut all = self.lock();
        all.retain(|(thread, _)| *thread != me);
        all.push((me, error));
        text
    }

    /// The exception that was raised in this thread since, if one was.
    pub fn take(&self) -> Option<PyErr> {
        let me = std::thread::current().id();
        let mut all = self.lock();
        let at = all.iter().position(|(thread, _)| *thread == me)?;
        Some(all.swap_remove(at).1)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(ThreadId, PyErr)>> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// The library's error as an exception.
pub fn raise(error: &dyn std::fmt::Display) -> PyErr {
    Error::new_err(error.to_string())
}

/// The library's error as an exception, unless one of a user's functions had raised one.
pub fn raise_or(error: &dyn std::fmt::Display, raised: &[Arc<Raised>]) -> PyErr {
    let own = raised.iter().find_map(|slot| slot.take());
    own.unwrap_or_else(|| raise(error))
}
