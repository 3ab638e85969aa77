//! Linear losses that do not look at the decision: drift, noise, alternating signs.

use rand_chacha::ChaCha8Rng;

use super::{MakeStream, Round, Stream, fill_normal, fill_sphere, generator, round};
use crate::pair::Point;
use crate::parameter::fields;
use crate::spec::{Described, Entry, Kind};
use crate::{Result, kernel};

fields! {
    /// Spec of `drift`: a fixed mean direction under noise, cut to norm 1.
    pub struct Drift {
        /// the mean's norm
        pub mean: f64 = 0.5 => Kind::between(0.0, 1.0),
        /// the noise's norm, roughly
        pub noise: f64 = 0.5 => Kind::NOT_NEGATIVE,
    }
}

impl Described for Drift {
    const ENTRY: Entry = Entry {
        name: "drift",
        summary: "gradients with a fixed mean under Gaussian noise, norm at most 1",
        parameters: Self::PARAMETERS,
        cost: "O(d)",
        guarantee: "rows of norm ≤ 1",
        reference: "stochastic losses with a best decision that stands out",
        citations: &[],
        examples: &["drift", "drift:mean=0.9,noise=0.1"],
    };
}

impl MakeStream for Drift {
    fn make(&self, dim: usize, seed: u64) -> Result<Box<dyn Stream>> {
        let mut rng = generator(seed);
        let mut mean = vec![0.0; dim];
        fill_sphere(&mut rng, &mut mean);
        mean.iter_mut().for_each(|v| *v *= self.mean);
        Ok(Box::new(DriftStream {
            rng,
            mean,
            noise: self.noise / (dim as f64).sqrt(),
            row: vec![0.0; dim],
        }))
    }
}

struct DriftStream {
    rng: ChaCha8Rng,
    mean: Vec<f64>,
    noise: f64,
    row: Vec<f64>,
}

impl Stream for DriftStream {
    fn next(&mut self, _decision: &dyn Point) -> Result<Option<Round<'_>>> {
        fill_normal(&mut self.rng, &mut self.row);
        for (v, mean) in self.row.iter_mut().zip(&self.mean) {
            *v = mean + self.noise * *v;
        }
        let norm = kernel::norm(&self.row);
        if norm > 1.0 {
            self.row.iter_mut().for_each(|v| *v /= norm);
        }
        Ok(Some(round(&self.row, 0.0)))
    }

    fn row_bound(&self) -> f64 {
        1.0 + 1e-12
    }

    fn is_adaptive(&self) -> bool {
        false
    }
}

fields! {
    /// Spec of `noise`: zero-mean gradients on the unit sphere.
    pub struct Noise {}
}

impl Described for Noise {
    const ENTRY: Entry = Entry {
        name: "noise",
        summary: "zero-mean gradients, drawn evenly from the unit sphere",
        parameters: Self::PARAMETERS,
        cost: "O(d)",
        guarantee: "rows of norm 1",
        reference: "stochastic losses without a best decision",
        citations: &[],
        examples: &["noise"],
    };
}

impl MakeStream for Noise {
    fn make(&self, dim: usize, seed: u64) -> Result<Box<dyn Stream>> {
        Ok(Box::new(NoiseStream {
            rng: generator(seed),
            row: vec![0.0; dim],
        }))
    }
}

struct NoiseStream {
    rng: ChaCha8Rng,
    row: Vec<f64>,
}

impl Stream for NoiseStream {
    fn next(&mut self, _decision: &dyn Point) -> Result<Option<Round<'_>>> {
        fill_sphere(&mut self.rng, &mut self.row);
        Ok(Some(round(&self.row, 0.0)))
    }

    fn row_bound(&self) -> f64 {
        1.0 + 1e-12
    }

    fn is_adaptive(&self) -> bool {
        false
    }
}

fields! {
    /// Spec of `alternating`: u, −u, u, −u, …
    pub struct Alternating {}
}

impl Described for Alternating {
    const ENTRY: Entry = Entry {
        name: "alternating",
        summary: "a unit gradient whose sign alternates",
        parameters: Self::PARAMETERS,
        cost: "O(d)",
        guarantee: "rows of norm 1",
        reference: "the stream on which following the leader fails",
        citations: &[],
        examples: &["alternating"],
    };
}

impl MakeStream for Alternating {
    fn make(&self, dim: usize, seed: u64) -> Result<Box<dyn Stream>> {
        let mut row = vec![0.0; dim];
        fill_sphere(&mut generator(seed), &mut row);
        Ok(Box::new(AlternatingStream { row }))
    }
}

struct AlternatingStream {
    row: Vec<f64>,
}

impl Stream for AlternatingStream {
    fn next(&mut self, _decision: &dyn Point) -> Result<Option<Round<'_>>> {
        self.row.iter_mut().for_each(|v| *v = -*v);
        Ok(Some(round(&self.row, 0.0)))
    }

    fn row_bound(&self) -> f64 {
        1.0 + 1e-12
    }

    fn is_adaptive(&self) -> bool {
        false
    }
}
