//! A vector as it is saved: what is not 0.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

#[derive(Serialize, Deserialize)]
pub(super) struct Saved {
    dim: u64,
    /// Of each entry how many zeros come before it, and its value.
    entries: Vec<(u32, f64)>,
}

impl Saved {
    pub fn of(x: &[f64]) -> Self {
        let mut next = 0;
        let mut entries = Vec::new();
        for (i, &v) in x.iter().enumerate().filter(|(_, v)| v.to_bits() != 0) {
            entries.push(((i - next) as u32, v));
            next = i + 1;
        }
        let dim = x.len() as u64;
        Self { dim, entries }
    }

    /// The vector itself; an error unless it has `dim` entries, all finite.
    pub fn restore(&self, dim: usize) -> Result<Vec<f64>> {
        let ends = self.entries.iter().map(|entry| entry.0 as usize + 1);
        if self.dim != dim as u64 || ends.sum::<usize>() > dim {
            let found = self.dim;
            return Err(Error::State(format!(
                "a vector has {found} entries, the set {dim}"
            )));
        }
        let mut x = vec![0.0; dim];
        let mut next = 0;
        for &(skipped, v) in &self.entries {
            if !v.is_finite() {
                return Err(Error::State(format!("a vector has an entry {v}")));
            }
            x[next + skipped as usize] = v;
            next += skipped as usize + 1;
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
        let beyond = Saved {
            dim: 3,
            entries: vec![(1, 1.0), (1, 1.0)],
        };
        assert!(beyond.restore(3).is_err());
        let infinite = Saved {
            dim: 3,
            entries: vec![(1, f64::INFINITY)],
        };
        assert!(infinite.restore(3).is_err());
    }
}
