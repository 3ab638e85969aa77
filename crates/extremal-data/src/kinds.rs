//! The kinds of a table's columns, which the first block decides.

use crate::missing::Missing;
use crate::{Holds, dates, number};

/// The fields of a column in the first block.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    /// Fields that are not missing.
    fields: usize,
    numbers: usize,
    dates: usize,
}

impl Tally {
    pub(crate) fn add(&mut self, field: &[u8], missing: &Missing) {
        if missing.is(field) {
            return;
        }
        self.fields += 1;
        if number::parse(field).is_some() {
            self.numbers += 1;
        } else if dates::parse(field).is_some() {
            self.dates += 1;
        }
    }

    /// A column holds numbers or dates if at most a twentieth of its fields is anything else.
    pub(crate) fn holds(self) -> Holds {
        let are_most = |count| 20 * (self.fields - count) <= self.fields;
        match () {
            () if are_most(self.numbers) => Holds::Numbers,
            () if are_most(self.dates) => Holds::Date,
            () => Holds::Text,
        }
    }

    /// Whether a column's name could be one of its values. `None` if nothing is unusual in this column.
    fn suits(self, name: &[u8], missing: &Missing) -> Option<bool> {
        let is_value = match self.holds() {
            _ if self.fields == 0 => return None,
            Holds::Numbers => number::parse(name).is_some(),
            Holds::Date => dates::parse(name).is_some(),
            _ => return None,
        };
        Some(is_value || missing.is(name))
    }
}

/// Whether the names of the columns look like a row: all are numbers or missing, or there are numbers
/// among them and each could be a value of its column.
pub(crate) fn look_like_a_row(names: &[String], columns: &[Tally], missing: &Missing) -> bool {
    let is_number = |name: &String| number::parse(name.as_bytes()).is_some();
    let is_value = |name: &String| is_number(name) || missing.is(name.as_bytes());
    let mut pairs = std::iter::zip(names, columns);
    names.iter().any(is_number)
        && (names.iter().all(is_value)
            || pairs.all(|(name, tally)| tally.suits(name.as_bytes(), missing) != Some(false)))
}
