//! A vector as it is saved: what is not 0.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

#[derive(Serialize, Deserialize)]
pub(super) struct Saved {
    dim: usize,
    entries: Vec<(u32, f64)>,
}

impl Saved {
    pub fn of(x: &[f64]) -> Self {
        let entries = (0..).zip(x.iter().copied());
        Self {
            dim: x.len(),
            entries: entries.filter(|(_, v)| v.to_bits() != 0).collect(),
        }
    }

    /// The vector itself; an error unless it has `dim` entries.
    pub fn restore(&self, dim: usize) -> Result<Vec<f64>> {
        let inside = self.entries.iter().all(|(i, _)| (*i as usize) < dim);
        if self.dim != dim || !inside {
            let found = self.dim;
            return Err(Error::State(format!(
                "a vector has {found} entries, the set {dim}"
            )));
        }
        let mut x = vec![0.0; dim];
        for &(i, v) in &self.entries {
            x[i as usize] = v;
        }
        Ok(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_comes_back_bit_for_bit_and_takes_the_room_of_its_non_zeros() {
        let mut x = vec![0.0; 100_000];
        (x[0], x[7], x[99_999]) = (1.5, -0.0, f64::MIN_POSITIVE);
        let saved = Saved::of(&x);
        assert!(postcard::to_stdvec(&saved).unwrap().len() < 40);
        let back = saved.restore(x.len()).unwrap();
        let bits = |x: &[f64]| x.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back), bits(&x));
        assert!(saved.restore(99_999).is_err());
    }
}
