//! Regression with duplicated columns: gradients whose entries tie exactly, round after round.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{MakeStream, Round, Stream, fill_sphere, generator, round};
use crate::pair::Point;
use crate::parameter::fields;
use crate::spec::{Described, Entry, Kind};
use crate::{Result, kernel};

fields! {
    /// Spec of `duplicated`: y = ⟨a, w⟩ + noise, where column i equals column i mod m.
    pub struct Duplicated {
        /// how often each column appears
        pub copies: usize = 2 => Kind::COUNT,
        /// the norm of w, which is equal on equal columns
        pub norm: f64 = 1.0 => Kind::NOT_NEGATIVE,
        /// the noise's standard deviation
        pub noise: f64 = 0.1 => Kind::NOT_NEGATIVE,
    }
}

impl Described for Duplicated {
    const ENTRY: Entry = Entry {
        name: "duplicated",
        summary: "regression with duplicated columns, so that gradients tie exactly",
        parameters: Self::PARAMETERS,
        cost: "O(d)",
        guarantee: "rows of norm 1, |y| ≤ norm + 3·noise",
        reference: "collinear features",
        citations: &[],
        examples: &["duplicated", "duplicated:copies=3,noise=0"],
    };
}

impl MakeStream for Duplicated {
    fn make(&self, dim: usize, seed: u64) -> Result<Box<dyn Stream>> {
        let mut stream = DuplicatedStream {
            distinct: dim.div_ceil(self.copies),
            norm: self.norm,
            noise: self.noise,
            rng: generator(seed),
            w: vec![0.0; dim],
            row: vec![0.0; dim],
        };
        fill_copies(&mut stream.rng, stream.distinct, &mut stream.w);
        Ok(Box::new(stream))
    }
}

struct DuplicatedStream {
    /// m.
    distinct: usize,
    norm: f64,
    noise: f64,
    rng: ChaCha8Rng,
    w: Vec<f64>,
    row: Vec<f64>,
}

/// out = a vector of norm 1 whose entry i equals entry i mod `distinct`.
fn fill_copies(rng: &mut ChaCha8Rng, distinct: usize, out: &mut [f64]) {
    fill_sphere(rng, &mut out[..distinct]);
    for i in distinct..out.len() {
        out[i] = out[i - distinct];
    }
    let norm = kernel::norm(out);
    out.iter_mut().for_each(|v| *v /= norm);
}

impl Stream for DuplicatedStream {
    fn next(&mut self, _decision: &dyn Point) -> Result<Option<Round<'_>>> {
        fill_copies(&mut self.rng, self.distinct, &mut self.row);
        let z: f64 = StandardNormal.sample(&mut self.rng);
        let clean = self.norm * kernel::dot(&self.row, &self.w);
        let label = clean + self.noise * z.clamp(-3.0, 3.0);
        Ok(Some(round(&self.row, label)))
    }

    fn row_bound(&self) -> f64 {
        1.0 + 1e-12
    }

    fn label_bound(&self) -> f64 {
        self.norm * (1.0 + 1e-12) + 3.0 * self.noise
    }

    fn is_adaptive(&self) -> bool {
        false
    }
}
