//! Opponents whose best decision moves: on a circle, or by leaps.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{MakeStream, Round, Stream, fill_normal, fill_sphere, generator, round};
use crate::pair::Point;
use crate::parameter::{choices, fields};
use crate::spec::{Described, Entry, Kind};
use crate::{Result, kernel};

choices! {
    /// What the rounds are made of.
    pub enum Rounds {
        /// rows on the unit sphere, labels ⟨a, w⟩ + noise with the moving w
        Regression = "regression",
        /// rows w/norm + noise of norm at most 1, for linear losses
        Linear = "linear",
    }
}

fields! {
    /// Spec of `rotating`: w goes round a circle.
    pub struct Rotating {
        /// what the rounds are made of
        pub kind: Rounds = Rounds::Regression => Rounds::KIND,
        /// rounds per turn
        pub period: u64 = 1000 => Kind::COUNT,
        /// the norm of w, for regression
        pub norm: f64 = 1.0 => Kind::NOT_NEGATIVE,
        /// standard deviation of a label's noise, or norm of a row's
        pub noise: f64 = 0.1 => Kind::NOT_NEGATIVE,
    }
}

impl Described for Rotating {
    const ENTRY: Entry = Entry {
        name: "rotating",
        summary: "a planted solution that goes round a circle",
        parameters: Self::PARAMETERS,
        cost: "O(d)",
        guarantee: "rows of norm ≤ 1; regression: |y| ≤ norm + 3·noise",
        reference: "drifting concepts, dynamic regret",
        citations: &[],
        examples: &["rotating", "rotating:kind=linear,period=300"],
    };
}

impl MakeStream for Rotating {
    fn make(&self, dim: usize, seed: u64) -> Result<Box<dyn Stream>> {
        let mut rng = generator(seed);
        let (mut u, mut v) = (vec![0.0; dim], vec![0.0; dim]);
        fill_sphere(&mut rng, &mut u);
        // In one dimension there is no circle, and w swings between u and −u.
        let mut norm = if dim == 1 { 1.0 } else { 0.0 };
        while norm < 1e-3 {
            fill_sphere(&mut rng, &mut v);
            let along = kernel::dot(&u, &v);
            kernel::axpy(-along, &u, &mut v);
            norm = kernel::norm(&v);
        }
        v.iter_mut().for_each(|v| *v /= norm);
        Ok(Box::new(RotatingStream {
            spec: self.clone(),
            rng,
            u,
            v,
            w: vec![0.0; dim],
            row: vec![0.0; dim],
            phase: 0,
        }))
    }
}

struct RotatingStream {
    spec: Rotating,
    rng: ChaCha8Rng,
    u: Vec<f64>,
    v: Vec<f64>,
    w: Vec<f64>,
    row: Vec<f64>,
    /// The round within the turn.
    phase: u64,
}

impl Stream for RotatingStream {
    fn next(&mut self, _decision: &dyn Point) -> Result<Option<Round<'_>>> {
        let Self {
            spec,
            rng,
            u,
            v,
            w,
            row,
            phase,
        } = self;
        let angle = std::f64::consts::TAU * (*phase as f64 / spec.period as f64);
        *phase = (*phase + 1) % spec.period;
        let (sin, cos) = angle.sin_cos();
        for ((w, u), v) in w.iter_mut().zip(u.iter()).zip(v.iter()) {
            *w = cos * u + sin * v;
        }
        if spec.kind == Rounds::Regression {
            fill_sphere(rng, row);
            let label = spec.norm * kernel::dot(row, w) + label_noise(rng, spec.noise);
            return Ok(Some(round(row, label)));
        }
        fill_normal(rng, row);
        let noise = spec.noise / (row.len() as f64).sqrt();
        for (row, w) in row.iter_mut().zip(w.iter()) {
            *row = w + noise * *row;
        }
        let norm = kernel::norm(row);
        if norm > 1.0 {
            row.iter_mut().for_each(|v| *v /= norm);
        }
        Ok(Some(round(row, 0.0)))
    }

    fn row_bound(&self) -> f64 {
        1.0 + 1e-12
    }

    fn label_bound(&self) -> f64 {
        match self.spec.kind {
            Rounds::Regression => self.spec.norm * (1.0 + 1e-12) + 3.0 * self.spec.noise,
            Rounds::Linear => 0.0,
        }
    }

    fn is_adaptive(&self) -> bool {
        false
    }
}

/// Gaussian, cut at three standard deviations.
fn label_noise(rng: &mut ChaCha8Rng, deviation: f64) -> f64 {
    let z: f64 = StandardNormal.sample(rng);
    deviation * z.clamp(-3.0, 3.0)
}

fields! {
    /// Spec of `switching`: regression whose planted solution is drawn anew every so many rounds.
    pub struct Switching {
        /// rounds between two changes
        pub every: u64 = 100 => Kind::COUNT,
        /// the norm of w
        pub norm: f64 = 1.0 => Kind::NOT_NEGATIVE,
        /// the noise's standard deviation
        pub noise: f64 = 0.1 => Kind::NOT_NEGATIVE,
    }
}

impl Described for Switching {
    const ENTRY: Entry = Entry {
        name: "switching",
        summary: "regression whose planted solution changes every so many rounds",
        parameters: Self::PARAMETERS,
        cost: "O(d)",
        guarantee: "rows of norm 1, |y| ≤ norm + 3·noise",
        reference: "piecewise stationary losses, tracking regret",
        citations: &[],
        examples: &["switching", "switching:every=7,noise=0"],
    };
}

impl MakeStream for Switching {
    fn make(&self, dim: usize, seed: u64) -> Result<Box<dyn Stream>> {
        Ok(Box::new(SwitchingStream {
            spec: self.clone(),
            rng: generator(seed),
            w: vec![0.0; dim],
            row: vec![0.0; dim],
            left: 0,
        }))
    }
}

struct SwitchingStream {
    spec: Switching,
    rng: ChaCha8Rng,
    w: Vec<f64>,
    row: Vec<f64>,
    /// Rounds until the next change.
    left: u64,
}

impl Stream for SwitchingStream {
    fn next(&mut self, _decision: &dyn Point) -> Result<Option<Round<'_>>> {
        if self.left == 0 {
            fill_sphere(&mut self.rng, &mut self.w);
            self.left = self.spec.every;
        }
        self.left -= 1;
        fill_sphere(&mut self.rng, &mut self.row);
        let clean = self.spec.norm * kernel::dot(&self.row, &self.w);
        let label = clean + label_noise(&mut self.rng, self.spec.noise);
        Ok(Some(round(&self.row, label)))
    }

    fn row_bound(&self) -> f64 {
        1.0 + 1e-12
    }

    fn label_bound(&self) -> f64 {
        self.spec.norm * (1.0 + 1e-12) + 3.0 * self.spec.noise
    }

    fn is_adaptive(&self) -> bool {
        false
    }
}
