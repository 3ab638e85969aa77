//! Sparse rows whose features follow Zipf's law, as words do: classification with a planted
//! solution.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal, Zipf as ZipfLaw};

use super::{MakeStream, Round, Stream, UNIT, generator, sign_label};
use crate::parameter::fields;
use crate::spec::{Described, Entry, Kind};
use crate::{Error, Point, Result, Row};

fields! {
    /// Spec of `zipf`.
    pub struct Zipf {
        /// features per row, the dimension if that is smaller
        pub nonzeros: usize = 75 => Kind::COUNT,
        /// the law's exponent
        pub exponent: f64 = 1.0 => Kind::NOT_NEGATIVE,
        /// standard deviation of the planted weights
        pub weight: f64 = 10.0 => Kind::NOT_NEGATIVE,
    }
}

impl Described for Zipf {
    const ENTRY: Entry = Entry {
        name: "zipf",
        summary: "sparse rows with Zipf-distributed features, labels ±1 from planted weights",
        parameters: Self::PARAMETERS,
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
        let weights = (0..dim)
            .map(|_| {
                let z: f64 = StandardNormal.sample(&mut rng);
                self.weight * z
            })
            .collect();
        Ok(Box::new(ZipfStream {
            rng,
            law,
            weights,
            seen: vec![0; dim],
            round: 0,
            drawn: Vec::with_capacity(nonzeros),
            indices: vec![0; nonzeros],
            values: vec![0.0; nonzeros],
        }))
    }
}

struct ZipfStream {
    rng: ChaCha8Rng,
    law: ZipfLaw<f64>,
    weights: Vec<f64>,
    /// The last round in which a feature was drawn, so that none is drawn twice.
    seen: Vec<u64>,
    round: u64,
    /// The features drawn, and whether their values are positive.
    drawn: Vec<(u32, bool)>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Stream for ZipfStream {
    fn next(&mut self, _decision: &dyn Point) -> Result<Option<Round<'_>>> {
        let Self {
            rng,
            law,
            weights,
            seen,
            round,
            drawn,
            indices,
            values,
        } = self;
        *round += 1;
        let size = 1.0 / (indices.len() as f64).sqrt();
        let value = |positive: bool| if positive { size } else { -size };
        drawn.clear();
        let mut clean = 0.0;
        let mut misses = 0;
        for _ in 0..indices.len() {
            let mut i = law.sample(rng) as usize - 1;
            while seen[i] == *round {
                // Where the frequent features are used up, the next free one serves.
                misses += 1;
                i = if misses < 1000 {
                    law.sample(rng) as usize - 1
                } else {
                    (i + 1) % weights.len()
                };
            }
            seen[i] = *round;
            let positive = rng.random::<bool>();
            drawn.push((i as u32, positive));
            clean += value(positive) * weights[i];
        }
        drawn.sort_unstable();
        for (k, (index, positive)) in drawn.iter().enumerate() {
            indices[k] = *index;
            values[k] = value(*positive);
        }
        Ok(Some(Round {
            row: Row::Sparse { indices, values },
            label: sign_label(rng, clean),
            weight: 1.0,
        }))
    }

    fn row_bound(&self) -> f64 {
        UNIT
    }

    fn label_bound(&self) -> f64 {
        1.0
    }

    fn is_adaptive(&self) -> bool {
        false
    }
}
