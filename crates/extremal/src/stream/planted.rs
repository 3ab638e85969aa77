//! Regression and classification with a planted solution.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{MakeStream, Round, Stream, fill_sphere, generator, round};
use crate::pair::Point;
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
        Ok(Box::new(Planted::new(
            dim,
            seed,
            self.norm,
            Label::Value { noise: self.noise },
        )))
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
        Ok(Box::new(Planted::new(dim, seed, self.norm, Label::Sign)))
    }
}

#[derive(Clone, Copy)]
enum Label {
    Value { noise: f64 },
    Sign,
}

struct Planted {
    rng: ChaCha8Rng,
    w: Vec<f64>,
    row: Vec<f64>,
    norm: f64,
    label: Label,
}

impl Planted {
    fn new(dim: usize, seed: u64, norm: f64, label: Label) -> Self {
        let mut rng = generator(seed);
        let mut w = vec![0.0; dim];
        fill_sphere(&mut rng, &mut w);
        w.iter_mut().for_each(|v| *v *= norm);
        Self {
            rng,
            w,
            row: vec![0.0; dim],
            norm,
            label,
        }
    }
}

impl Stream for Planted {
    fn next(&mut self, _decision: &dyn Point) -> Result<Option<Round<'_>>> {
        fill_sphere(&mut self.rng, &mut self.row);
        let clean = kernel::dot(&self.row, &self.w);
        let label = match self.label {
            Label::Value { noise } => {
                let z: f64 = StandardNormal.sample(&mut self.rng);
                clean + noise * z.clamp(-3.0, 3.0)
            }
            Label::Sign => {
                let chance = 1.0 / (1.0 + (-clean).exp());
                if self.rng.random::<f64>() < chance {
                    1.0
                } else {
                    -1.0
                }
            }
        };
        Ok(Some(round(&self.row, label)))
    }

    fn row_bound(&self) -> f64 {
        1.0 + 1e-12
    }

    fn label_bound(&self) -> f64 {
        match self.label {
            Label::Value { noise } => self.norm * (1.0 + 1e-12) + 3.0 * noise,
            Label::Sign => 1.0,
        }
    }

    fn is_adaptive(&self) -> bool {
        false
    }
}
