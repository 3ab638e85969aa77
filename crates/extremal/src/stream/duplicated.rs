//! Regression with duplicated columns. Several entries of every gradient are exactly equal.

use rand_chacha::ChaCha8Rng;

use super::{
    MakeStream, Stream, fill_sphere, generator, label_noise, oblivious, regression_bounds,
};
use crate::parameter::fields;
use crate::spec::{About, Described, Kind};
use crate::{Result, kernel};

fields! {
    /// Spec of `duplicated`: y = ⟨a, w⟩ + noise, where entry i of a equals entry i mod m, and m is the
    /// number of different columns.
    pub struct Duplicated {
        /// the number of copies of each column
        pub copies: usize = 2 => Kind::COUNT,
        /// the norm of w; equal columns have equal weights
        pub norm: f64 = 1.0 => Kind::NOT_NEGATIVE,
        /// the standard deviation of the noise
        pub noise: f64 = 0.1 => Kind::NOT_NEGATIVE,
    }
}

impl Described for Duplicated {
    const ABOUT: About = About {
        summary: "regression with duplicated columns, so that entries of a gradient are exactly equal",
        cost: "O(d)",
        guarantee: "rows of norm 1, |y| ≤ norm + 3·noise",
        reference: "collinear features",
        citations: &[],
        examples: &["duplicated", "duplicated:copies=3,noise=0"],
    };
}

impl MakeStream for Duplicated {
    fn make(&self, dim: usize, seed: u64) -> Result<Box<dyn Stream>> {
        let (distinct, norm, noise) = (dim.div_ceil(self.copies), self.norm, self.noise);
        let (mut rng, mut w) = (generator(seed), vec![0.0; dim]);
        fill_copies(&mut rng, distinct, &mut w);
        oblivious(
            vec![0.0; dim],
            rng,
            regression_bounds(norm, noise),
            move |rng, row| {
                fill_copies(rng, distinct, row);
                norm * kernel::dot(row, &w) + label_noise(rng, noise)
            },
        )
    }
}

/// Fills `out` with a vector of norm 1 whose entry i equals entry i mod `distinct`.
fn fill_copies(rng: &mut ChaCha8Rng, distinct: usize, out: &mut [f64]) {
    fill_sphere(rng, &mut out[..distinct]);
    for i in distinct..out.len() {
        out[i] = out[i - distinct];
    }
    let norm = kernel::norm(out);
    out.iter_mut().for_each(|v| *v /= norm);
}
