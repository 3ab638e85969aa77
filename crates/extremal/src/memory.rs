//! Reserves memory with an error instead of an abort: a learner that can't grow stays as it was.

use crate::{Error, Result};

/// Reserves memory for `len` entries of `vector`, for a decision of `features` entries.
pub(crate) fn reserve<T>(vector: &mut Vec<T>, len: usize, features: usize) -> Result<()> {
    let more = len.saturating_sub(vector.len());
    vector
        .try_reserve(more)
        .or_else(|_| vector.try_reserve_exact(more))
        .map_err(|_| Error::Memory { features })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_an_error_and_changes_nothing() {
        let mut vector = vec![1.0, 2.0];
        assert_eq!(reserve(&mut vector, 100, 100), Ok(()));
        assert!(vector.capacity() >= 100);
        let features = usize::MAX / 8;
        let error = reserve(&mut vector, features, features).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("not enough memory for {features} features")
        );
        assert_eq!(vector, [1.0, 2.0]);
    }
}
