//! Regression and classification with a planted solution.

use super::{
    MakeStream, Stream, UNIT, fill_sphere, generator, label_noise, oblivious, planted,
    regression_bounds, sign_label,
};
use crate::parameter::fields;
use crate::spec::{About, Described, Kind};
use crate::{Result, kernel};

fields! {
    /// Spec of `regression`: rows a on the unit sphere, with labels y = ⟨a, w⟩ + noise.
    pub struct Regression {
        /// the norm of w
        pub norm: f64 = 1.0 => Kind::NOT_NEGATIVE,
        /// the standard deviation of the noise
        pub noise: f64 = 0.1 => Kind::NOT_NEGATIVE,
    }
}

impl Described for Regression {
    const ABOUT: About = About {
        summary: "labels ⟨a, w⟩ + noise with a planted w, rows on the unit sphere",
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
        let Self { norm, noise } = *self;
        let w = planted(&mut rng, dim, norm);
        oblivious(
            vec![0.0; dim],
            rng,
            regression_bounds(norm, noise),
            move |rng, row| {
                fill_sphere(rng, row);
                kernel::dot(row, &w) + label_noise(rng, noise)
            },
        )
    }
}

fields! {
    /// Spec of `classification`: labels y = ±1, where +1 has the logistic probability of ⟨a, w⟩.
    pub struct Classification {
        /// the norm of w; a larger norm gives cleaner labels
        pub norm: f64 = 10.0 => Kind::NOT_NEGATIVE,
    }
}

impl Described for Classification {
    const ABOUT: About = About {
        summary: "labels ±1 with logistic probability of ⟨a, w⟩, rows on the unit sphere",
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
        oblivious(vec![0.0; dim], rng, (UNIT, 1.0), move |rng, row| {
            fill_sphere(rng, row);
            sign_label(rng, kernel::dot(row, &w))
        })
    }
}
