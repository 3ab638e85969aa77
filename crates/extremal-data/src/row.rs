//! Sorting of an example's non-zeros.

use crate::Batch;

/// The treatment of an index that appears twice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum OnDuplicate {
    /// Add the values: the names have the same hash.
    Add,
    /// Return an error: the file gives the indices itself.
    Refuse,
}

/// The reason why an example is invalid.
#[derive(Debug, PartialEq)]
pub(crate) enum RowError {
    /// The index appears twice.
    Duplicate(u32),
    /// The sum of the values at this index exceeds the largest `f64`.
    Overflow(u32),
}

impl RowError {
    /// The message. It shows the index in the file, which is the example's index minus `shift`.
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
    /// Keys and values. The upper half of a key is the index, the lower half the position in the row.
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
