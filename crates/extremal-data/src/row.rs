//! The non-zeros of one example, put in order.

use crate::Batch;

/// What to do with an index that comes twice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum OnDuplicate {
    /// Add the values up: names that hash to the same number.
    Add,
    /// Refuse: the file says where things are.
    Refuse,
}

/// Why an example can't be put in order.
#[derive(Debug, PartialEq)]
pub(crate) enum RowError {
    /// This index comes twice.
    Duplicate(u32),
    /// The values at this index add up to more than a number can hold.
    Overflow(u32),
}

impl RowError {
    /// In the file's own numbering, which is `shift` below the example's.
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

/// Puts examples in order, with memory that is used again.
#[derive(Debug, Default)]
pub(crate) struct Sorter {
    /// Index in the upper half, place of appearance in the lower.
    entries: Vec<(u64, f64)>,
}

impl Sorter {
    /// Makes the indices of the example being written distinct and rising, and leaves the zeros out.
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
            // The keys are distinct, so there is one order only.
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

/// Without a way out in the middle, so that it is done on several at once.
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
            "the example before is left alone"
        );
        let row = batch.get(1);
        Ok(std::iter::zip(row.indices.iter().copied(), row.values.iter().copied()).collect())
    }

    #[test]
    fn indices_are_sorted_and_zeros_left_out() {
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
    fn an_index_that_comes_twice_is_added_or_refused() {
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
            Ok(vec![(3, 1e16 + 1.0 + 1.0 - 1e16)]).map(|mut all: Vec<(u32, f64)>| {
                all.retain(|pair| pair.1 != 0.0);
                all
            })
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
