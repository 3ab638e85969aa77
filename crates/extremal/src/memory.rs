//! Reserves memory. A failure is returned as an error and does not abort the program. A learner that
//! can't grow therefore stays unchanged.

use crate::{Error, Result};

/// Reserves memory for `len` entries of `vector`. An error message states `features`, the size of the
/// decision.
pub(crate) fn reserve<T>(vector: &mut Vec<T>, len: usize, features: usize) -> Result<()> {
    let more = len.saturating_sub(vector.len());
    vector
        .try_reserve(more)
        .or_else(|_| vector.try_reserve_exact(more))
        .map_err(|_| Error::Memory { features })
}
