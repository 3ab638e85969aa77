//! Classification with a planted solution and sparse rows. The features follow Zipf's law, like words
//! of a text.

use rand::RngExt;
use rand_distr::{Distribution, Zipf as ZipfLaw};

use super::{MakeStream, Stream, UNIT, fill_normal, generator, oblivious, sign_label};
use crate::parameter::fields;
use crate::spec::{About, Described, Kind};
use crate::{Error, Result};

fields! {
    /// Spec of `zipf`: sparse rows with Zipf-distributed features.
    pub struct Zipf {
        /// the number of features per row; a number above the dimension is reduced to the dimension
        pub nonzeros: usize = 75 => Kind::COUNT,
        /// the exponent of Zipf's law
        pub exponent: f64 = 1.0 => Kind::NOT_NEGATIVE,
        /// the standard deviation of the planted weights
        pub weight: f64 = 10.0 => Kind::NOT_NEGATIVE,
    }
}

impl Described for Zipf {
    const ABOUT: About = About {
        summary: "sparse rows with Zipf-distributed features, labels ±1 from planted weights",
        cost: "O(non-zeros)",
        guarantee: "rows of norm 1, labels ±1",
        reference: "text classification",
        citations: &[],
        examples: &["zipf", "zipf:nonzeros=5"],
    };
}

impl MakeStream for Zipf {
    fn make(&self, dim: usize, seed: u64) -> Result<Box<dyn Stream>> {
        let nonzeros = self.nonzeros.min(dim);
        let law = ZipfLaw::new(dim as f64, self.exponent)
            .map_err(|e| Error::Unsupported(format!("zipf: {e}")))?;
        let mut rng = generator(seed);
        let mut weights = vec![0.0; dim];
        fill_normal(&mut rng, &mut weights);
        weights.iter_mut().for_each(|w| *w *= self.weight);
        // The last round in which each feature was drawn. No round draws a feature twice.
        let (mut round, mut last) = (0_u64, vec![0; dim]);
        // The features of the round, and whether their values are positive.
        let mut drawn: Vec<(u32, bool)> = Vec::with_capacity(nonzeros);
        let size = 1.0 / (nonzeros as f64).sqrt();
        let value = move |positive: bool| if positive { size } else { -size };
        let row = (vec![0; nonzeros], vec![0.0; nonzeros]);
        oblivious(row, rng, (UNIT, 1.0), move |rng, (indices, values)| {
            round += 1;
            drawn.clear();
            let (mut clean, mut misses) = (0.0, 0);
            for _ in 0..nonzeros {
                let mut i = law.sample(rng) as usize - 1;
                while last[i] == round {
                    // After many draws of features that are already used, the next unused feature is
                    // taken.
                    misses += 1;
                    i = if misses < 1000 {
                        law.sample(rng) as usize - 1
                    } else {
                        (i + 1) % weights.len()
                    };
                }
                last[i] = round;
                let positive = rng.random::<bool>();
                drawn.push((i as u32, positive));
                clean += value(positive) * weights[i];
            }
            drawn.sort_unstable();
            for (k, (index, positive)) in drawn.iter().enumerate() {
                indices[k] = *index;
                values[k] = value(*positive);
            }
            sign_label(rng, clean)
        })
    }
}
