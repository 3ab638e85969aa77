//! Memory that a set keeps for what it computes of a point, without asking for it every time.

use std::sync::Mutex;

/// A buffer that several threads may want: one has it, the others make their own for the call.
#[derive(Debug, Default)]
pub(crate) struct Scratch(Mutex<Vec<f64>>);

impl Scratch {
    /// Gives the buffer, empty.
    pub fn lend<T>(&self, work: impl FnOnce(&mut Vec<f64>) -> T) -> T {
        match self.0.try_lock() {
            Ok(mut buffer) => {
                buffer.clear();
                work(&mut buffer)
            }
            Err(_) => work(&mut Vec::new()),
        }
    }
}
