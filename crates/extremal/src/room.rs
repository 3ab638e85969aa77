//! Memory that may not be there: a learner that can't grow says so, and stays as it was.

use crate::{Error, Result};

/// Makes sure that `vector` can have `len` entries, for a decision of `features` entries.
pub(crate) fn room<T>(vector: &mut Vec<T>, len: usize, features: usize) -> Result<()> {
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
        assert_eq!(room(&mut vector, 100, 100), Ok(()));
        assert!(vector.capacity() >= 100);
        let features = usize::MAX / 8;
        let error = room(&mut vector, features, features).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("not enough memory for {features} features")
        );
        assert_eq!(vector, [1.0, 2.0]);
    }
}
