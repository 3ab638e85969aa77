//! Regression and classification with a planted solution.

use rand_chacha::ChaCha8Rng;

use super::{
    MakeStream, Oblivious, Stream, fill_sphere, generator, label_noise, largest_label, planted,
    sign_label,
};
use crate::parameter::fields;
use crate::spec::{Described, Entry, Kind};
use crate::{Result, kernel};

fields! {
    /// Spec of `regression`: y = ⟨a, w⟩ + noise, rows on the unit sphere.
    pub struct Regression {
        /// the norm of w
        pub norm: f64 = 1.0 => Kind::NOT_NEGATIVE,
        /// the noise's standard deviation
        pub noise: f64 = 0.1 => Kind::NOT_NEGATIVE,
    }
}

impl Described for Regression {
    const ENTRY: Entry = Entry {
        name: "regression",
        summary: "labels ⟨a, w⟩ + noise with a planted w, rows on the unit sphere",
        parameters: Self::PARAMETERS,
        cost: "O(d)",
        guarantee: "rows of norm 1, |y| ≤ norm + 3·noise",
        reference: "linear regression",
        citations: &[],
        examples: &["regression", "regression:noise=0"],
    };
}

impl MakeStream for Regression {
    fn make(&self, dim: usize, seed: u64) -> Result<Box<dyn Stream>> {
        let mut rng = generator(seed);
        let (w, noise) = (planted(&mut rng, dim, self.norm), self.noise);
        let draw = move |rng: &mut ChaCha8Rng, row: &mut [f64]| {
            fill_sphere(rng, row);
            kernel::dot(row, &w) + label_noise(rng, noise)
        };
        let stream = Oblivious::new(dim, rng, draw);
        Ok(Box::new(
            stream.with_labels(largest_label(self.norm, noise)),
        ))
    }
}

fields! {
    /// Spec of `classification`: y = ±1 with the logistic chance of ⟨a, w⟩.
    pub struct Classification {
        /// the norm of w; the larger, the cleaner the labels
        pub norm: f64 = 10.0 => Kind::NOT_NEGATIVE,
    }
}

impl Described for Classification {
    const ENTRY: Entry = Entry {
        name: "classification",
        summary: "labels ±1 with the logistic chance of ⟨a, w⟩, rows on the unit sphere",
        parameters: Self::PARAMETERS,
        cost: "O(d)",
        guarantee: "rows of norm 1, labels ±1",
        reference: "logistic regression",
        citations: &[],
        examples: &["classification"],
    };
}

impl MakeStream for Classification {
    fn make(&self, dim: usize, seed: u64) -> Result<Box<dyn Stream>> {
        let mut rng = generator(seed);
        let w = planted(&mut rng, dim, self.norm);
        let draw = move |rng: &mut ChaCha8Rng, row: &mut [f64]| {
            fill_sphere(rng, row);
            let clean = kernel::dot(row, &w);
            sign_label(rng, clean)
        };
        Ok(Box::new(Oblivious::new(dim, rng, draw).with_labels(1.0)))
    }
}
