//! Linear losses that do not depend on the decision: drift, noise and alternating signs.

use super::{MakeStream, Stream, UNIT, fill_around, fill_sphere, generator, oblivious, planted};
use crate::Result;
use crate::parameter::fields;
use crate::spec::{About, Described, Kind};

fields! {
    /// Spec of `drift`: a fixed mean plus noise. Gradients of norm above 1 are scaled to norm 1.
    pub struct Drift {
        /// the mean's norm
        pub mean: f64 = 0.5 => Kind::between(0.0, 1.0),
        /// the approximate norm of the noise
        pub noise: f64 = 0.5 => Kind::NOT_NEGATIVE,
    }
}

impl Described for Drift {
    const ABOUT: About = About {
        summary: "gradients with a fixed mean plus Gaussian noise, of norm at most 1",
        cost: "O(d)",
        guarantee: "rows of norm ≤ 1",
        reference: "stochastic losses with one clearly best decision",
        citations: &[],
        examples: &["drift", "drift:mean=0.9,noise=0.1"],
    };
}

impl MakeStream for Drift {
    fn make(&self, dim: usize, seed: u64) -> Result<Box<dyn Stream>> {
        let mut rng = generator(seed);
        let (mean, noise) = (planted(&mut rng, dim, self.mean), self.noise);
        oblivious(vec![0.0; dim], rng, (UNIT, 0.0), move |rng, row| {
            fill_around(rng, &mean, noise, row);
            0.0
        })
    }
}

fields! {
    /// Spec of `noise`: gradients with mean 0 on the unit sphere.
    pub struct Noise {}
}

impl Described for Noise {
    const ABOUT: About = About {
        summary: "zero-mean gradients, uniform on the unit sphere",
        cost: "O(d)",
        guarantee: "rows of norm 1",
        reference: "stochastic losses without a best decision",
        citations: &[],
        examples: &["noise"],
    };
}

impl MakeStream for Noise {
    fn make(&self, dim: usize, seed: u64) -> Result<Box<dyn Stream>> {
        oblivious(vec![0.0; dim], generator(seed), (UNIT, 0.0), |rng, row| {
            fill_sphere(rng, row);
            0.0
        })
    }
}

fields! {
    /// Spec of `alternating`: the gradients u, −u, u, −u, … for a unit vector u.
    pub struct Alternating {}
}

impl Described for Alternating {
    const ABOUT: About = About {
        summary: "a unit gradient whose sign alternates",
        cost: "O(d)",
        guarantee: "rows of norm 1",
        reference: "the stream on which following the leader fails",
        citations: &[],
        examples: &["alternating"],
    };
}

impl MakeStream for Alternating {
    fn make(&self, dim: usize, seed: u64) -> Result<Box<dyn Stream>> {
        let mut rng = generator(seed);
        let mut next = planted(&mut rng, dim, 1.0);
        oblivious(vec![0.0; dim], rng, (UNIT, 0.0), move |_, row| {
            next.iter_mut().for_each(|v| *v = -*v);
            row.copy_from_slice(&next);
            0.0
        })
    }
}
