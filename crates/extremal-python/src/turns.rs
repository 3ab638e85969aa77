//! What threads take turns at, and a user's function that asks for what is being used by whoever called
//! it is told so, instead of waiting for itself.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::ThreadId;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

/// Something behind a lock.
pub struct Turns<T: ?Sized> {
    /// Who holds the lock.
    holder: Mutex<Option<ThreadId>>,
    /// How many wait for it.
    waiting: AtomicUsize,
    thing: Mutex<Box<T>>,
}

/// The thing, held. Gives it back when it goes.
pub struct Held<'a, T: ?Sized> {
    owner: &'a Turns<T>,
    thing: MutexGuard<'a, Box<T>>,
}

impl<T: ?Sized> Turns<T> {
    pub fn new(thing: Box<T>) -> Self {
        Self {
            holder: Mutex::new(None),
            waiting: AtomicUsize::new(0),
            thing: Mutex::new(thing),
        }
    }

    fn holder(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized + Send> Turns<T> {
    /// Waits for its turn, without keeping Python from the others meanwhile; raises `busy` where this
    /// thread would wait for itself.
    pub fn hold(&self, py: Python<'_>, busy: &'static str) -> PyResult<Held<'_, T>> {
        let me = std::thread::current().id();
        let thing = match self.thing.try_lock() {
            Ok(thing) => thing,
            Err(TryLockError::Poisoned(thing)) => thing.into_inner(),
            Err(TryLockError::WouldBlock) => {
                if *self.holder() == Some(me) {
                    return Err(PyRuntimeError::new_err(busy));
                }
                self.waiting.fetch_add(1, Ordering::Relaxed);
                let waited = self.thing.lock_py_attached(py);
                self.waiting.fetch_sub(1, Ordering::Relaxed);
                waited.unwrap_or_else(PoisonError::into_inner)
            }
        };
        *self.holder() = Some(me);
        Ok(Held { owner: self, thing })
    }

    /// Lets those have it who wait. A lock is not given to who waits longest, but to who is there
    /// first, which would be the run that has just given it back.
    pub fn give_way(&self, py: Python<'_>) {
        if self.waiting.load(Ordering::Relaxed) > 0 {
            py.detach(|| std::thread::sleep(Duration::from_micros(200)));
        }
    }
}

impl<T: ?Sized> Drop for Held<'_, T> {
    fn drop(&mut self) {
        *self.owner.holder() = None;
    }
}

impl<T: ?Sized> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.thing
    }
}

impl<T: ?Sized> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.thing
    }
}
