//! Sorting of an example's non-zeros.

use crate::Batch;

/// What to do about an index that appears twice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum OnDuplicate {
    /// Add the values: the names have the same hash.
    Add,
    /// Return an error: the file gives the indices itself.
    Refuse,
}

/// Why an example is invalid.
#[derive(Debug, PartialEq)]
pub(crate) enum RowError {
    /// The index appears twice.
    Duplicate(u32),
    /// The sum of the values at this index exceeds the largest `f64`.
    Overflow(u32),
}

impl RowError {
    /// The message, with the index as in the file: `shift` less than the example's.
    pub(crate) fn message(&self, shift: i64) -> String {
        match *self {
            RowError::Duplicate(index) => {
                format!("index {} appears twice", i64::from(index) - shift)
            }
            RowError::Overflow(index) => {
                let index = i64::from(index) - shift;
                format!("the sum of the values at index {index} is too large for a number")
            }
        }
    }
}

/// Sorts examples, in memory that it reuses.
#[derive(Debug, Default)]
pub(crate) struct Sorter {
    /// The index in the upper half, the position in the row in the lower.
    entries: Vec<(u64, f64)>,
}

impl Sorter {
    /// Sorts the example being written, merges duplicates and drops zeros.
    pub(crate) fn sort_row(
        &mut self,
        batch: &mut Batch,
        on_duplicate: OnDuplicate,
    ) -> Result<(), RowError> {
        let (indices, values, start) = batch.row_mut();
        let rising = is_rising(&indices[start..]);
        if rising && !has_zero(&values[start..]) {
            return Ok(());
        }
        self.entries.clear();
        for (place, (&index, &value)) in
            std::iter::zip(&indices[start..], &values[start..]).enumerate()
        {
            self.entries
                .push((u64::from(index) << 32 | place as u64, value));
        }
        if !rising {
            // The keys are distinct, so an unstable sort is deterministic.
            self.entries.sort_unstable_by_key(|entry| entry.0);
        }
        indices.truncate(start);
        values.truncate(start);
        let mut entries = self.entries.iter().peekable();
        while let Some(&(key, mut value)) = entries.next() {
            let index = (key >> 32) as u32;
            while let Some(&&(_, more)) = entries.peek().filter(|next| next.0 >> 32 == key >> 32) {
                if on_duplicate == OnDuplicate::Refuse {
                    return Err(RowError::Duplicate(index));
                }
                value += more;
                entries.next();
            }
            if !value.is_finite() {
                return Err(RowError::Overflow(index));
            }
            if value != 0.0 {
                indices.push(index);
                values.push(value);
            }
        }
        Ok(())
    }
}

/// Without an early exit, so that the compiler can vectorise the loop.
pub(crate) fn is_rising(indices: &[u32]) -> bool {
    let next = indices.get(1..).unwrap_or(&[]);
    std::iter::zip(indices, next).fold(true, |rising, (a, b)| rising & (a < b))
}

fn has_zero(values: &[f64]) -> bool {
    values
        .iter()
        .fold(false, |zero, &value| zero | (value == 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(
        pairs: &[(u32, f64)],
        on_duplicate: OnDuplicate,
    ) -> Result<Vec<(u32, f64)>, RowError> {
        let mut batch = Batch::default();
        batch.push(9, 9.0);
        batch.finish(1.0, 1.0, 1);
        for &(index, value) in pairs {
            batch.push(index, value);
        }
        Sorter::default().sort_row(&mut batch, on_duplicate)?;
        batch.finish(1.0, 1.0, 2);
        assert_eq!(
            batch.get(0).indices,
            [9],
            "the previous example is unchanged"
        );
        let row = batch.get(1);
        Ok(std::iter::zip(row.indices.iter().copied(), row.values.iter().copied()).collect())
    }

    #[test]
    fn indices_are_sorted_and_zeros_dropped() {
        assert_eq!(
            sorted(&[(5, 1.0), (2, 0.0), (1, 3.0)], OnDuplicate::Refuse),
            Ok(vec![(1, 3.0), (5, 1.0)])
        );
        assert_eq!(
            sorted(&[(1, 1.0), (2, -0.0), (3, 3.0)], OnDuplicate::Refuse),
            Ok(vec![(1, 1.0), (3, 3.0)])
        );
    }

    #[test]
    fn duplicates_are_added_or_refused() {
        let pairs = [(5, 1.0), (2, 4.0), (5, 2.5)];
        assert_eq!(
            sorted(&pairs, OnDuplicate::Add),
            Ok(vec![(2, 4.0), (5, 3.5)])
        );
        assert_eq!(
            sorted(&pairs, OnDuplicate::Refuse),
            Err(RowError::Duplicate(5))
        );
        assert_eq!(
            sorted(&[(3, 0.0), (3, 0.0)], OnDuplicate::Refuse),
            Err(RowError::Duplicate(3))
        );
        assert_eq!(sorted(&[(3, 1.0), (3, -1.0)], OnDuplicate::Add), Ok(vec![]));
    }

    #[test]
    fn sums_are_taken_in_the_order_of_the_line() {
        let pairs = [(3, 1e16), (3, 1.0), (3, 1.0), (3, -1e16)];
        assert_eq!(
            sorted(&pairs, OnDuplicate::Add),
            Ok(vec![]),
            "1e16 + 1 rounds to 1e16"
        );
    }

    #[test]
    fn a_sum_that_is_too_large_is_refused() {
        assert_eq!(
            sorted(&[(3, 1e308), (3, 1e308)], OnDuplicate::Add),
            Err(RowError::Overflow(3))
        );
    }
}
