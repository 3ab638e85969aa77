//! A mutex for learners. If a callback uses the learner that called the callback, the mutex raises an
//! exception instead of waiting forever.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::ThreadId;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

/// A value that only one thread at a time can use.
pub struct Exclusive<T: ?Sized> {
    /// The thread that holds the lock.
    holder: Mutex<Option<ThreadId>>,
    /// The number of threads that wait for the lock.
    waiting: AtomicUsize,
    value: Mutex<Box<T>>,
}

/// Access to the value. The lock is released when the guard is dropped.
pub struct Guard<'a, T: ?Sized> {
    owner: &'a Exclusive<T>,
    value: MutexGuard<'a, Box<T>>,
}

impl<T: ?Sized> Exclusive<T> {
    pub fn new(value: Box<T>) -> Self {
        Self {
            holder: Mutex::new(None),
            waiting: AtomicUsize::new(0),
            value: Mutex::new(value),
        }
    }

    fn holder(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized + Send> Exclusive<T> {
    /// Acquires the lock. Other Python threads can run while this thread waits. If this thread already
    /// holds the lock, raises an exception with the text `busy`.
    pub fn lock(&self, py: Python<'_>, busy: &'static str) -> PyResult<Guard<'_, T>> {
        let me = std::thread::current().id();
        let value = match self.value.try_lock() {
            Ok(value) => value,
            Err(TryLockError::Poisoned(value)) => value.into_inner(),
            Err(TryLockError::WouldBlock) => {
                if *self.holder() == Some(me) {
                    return Err(PyRuntimeError::new_err(busy));
                }
                self.waiting.fetch_add(1, Ordering::Relaxed);
                let waited = self.value.lock_py_attached(py);
                self.waiting.fetch_sub(1, Ordering::Relaxed);
                waited.unwrap_or_else(PoisonError::into_inner)
            }
        };
        *self.holder() = Some(me);
        Ok(Guard { owner: self, value })
    }

    /// Pauses if another thread waits for the lock, so that the other thread can acquire the lock.
    /// Without the pause, a long run would acquire the lock again before the other thread wakes up.
    pub fn yield_to_waiting(&self, py: Python<'_>) {
        if self.waiting.load(Ordering::Relaxed) > 0 {
            py.detach(|| std::thread::sleep(Duration::from_micros(200)));
        }
    }
}

impl<T: ?Sized> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        *self.owner.holder() = None;
    }
}

impl<T: ?Sized> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: ?Sized> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
