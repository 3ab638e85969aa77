//! Streams whose best decision moves, on a circle or in jumps.

use super::{
    MakeStream, Stream, UNIT, fill_around, fill_sphere, generator, label_noise, oblivious, planted,
    regression_bounds,
};
use crate::parameter::{choices, fields};
use crate::spec::{About, Described, Kind};
use crate::{Result, kernel};

choices! {
    /// The kind of rounds.
    pub enum Rounds {
        /// rows on the unit sphere, labels ⟨a, w⟩ + noise with the moving w
        Regression = "regression",
        /// rows w/‖w‖ plus noise, of norm at most 1, for linear losses
        Linear = "linear",
    }
}

fields! {
    /// Spec of `rotating`: the best decision w moves on a circle.
    pub struct Rotating {
        /// the kind of rounds
        pub kind: Rounds = Rounds::Regression => Rounds::KIND,
        /// the number of rounds per full circle
        pub period: u64 = 1000 => Kind::COUNT,
        /// the norm of w, for regression
        pub norm: f64 = 1.0 => Kind::NOT_NEGATIVE,
        /// the standard deviation of the labels' noise; for linear, the norm of the rows' noise
        pub noise: f64 = 0.1 => Kind::NOT_NEGATIVE,
    }
}

impl Described for Rotating {
    const ABOUT: About = About {
        summary: "a planted solution that moves on a circle",
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
        let (u, mut v) = (planted(&mut rng, dim, 1.0), vec![0.0; dim]);
        // In one dimension there is no circle. There w moves between u and −u.
        let mut length = if dim == 1 { 1.0 } else { 0.0 };
        while length < 1e-3 {
            fill_sphere(&mut rng, &mut v);
            let along = kernel::dot(&u, &v);
            kernel::axpy(-along, &u, &mut v);
            length = kernel::norm(&v);
        }
        v.iter_mut().for_each(|v| *v /= length);
        let Self {
            kind,
            period,
            norm,
            noise,
        } = *self;
        let bounds = match kind {
            Rounds::Regression => regression_bounds(norm, noise),
            Rounds::Linear => (UNIT, 0.0),
        };
        let (mut w, mut phase) = (vec![0.0; dim], 0);
        oblivious(vec![0.0; dim], rng, bounds, move |rng, row| {
            let angle = std::f64::consts::TAU * (phase as f64 / period as f64);
            phase = (phase + 1) % period;
            let (sin, cos) = angle.sin_cos();
            for ((w, u), v) in w.iter_mut().zip(&u).zip(&v) {
                *w = cos * u + sin * v;
            }
            if kind == Rounds::Linear {
                fill_around(rng, &w, noise, row);
                return 0.0;
            }
            fill_sphere(rng, row);
            norm * kernel::dot(row, &w) + label_noise(rng, noise)
        })
    }
}

fields! {
    /// Spec of `switching`: regression with a planted solution w. A new w is drawn every `every` rounds.
    pub struct Switching {
        /// the number of rounds between two changes
        pub every: u64 = 100 => Kind::COUNT,
        /// the norm of w
        pub norm: f64 = 1.0 => Kind::NOT_NEGATIVE,
        /// the standard deviation of the noise
        pub noise: f64 = 0.1 => Kind::NOT_NEGATIVE,
    }
}

impl Described for Switching {
    const ABOUT: About = About {
        summary: "regression whose planted solution changes at fixed intervals",
        cost: "O(d)",
        guarantee: "rows of norm 1, |y| ≤ norm + 3·noise",
        reference: "piecewise stationary losses, tracking regret",
        citations: &[],
        examples: &["switching", "switching:every=7,noise=0"],
    };
}

impl MakeStream for Switching {
    fn make(&self, dim: usize, seed: u64) -> Result<Box<dyn Stream>> {
        let Self { every, norm, noise } = *self;
        let (mut w, mut left) = (vec![0.0; dim], 0);
        let bounds = regression_bounds(norm, noise);
        oblivious(vec![0.0; dim], generator(seed), bounds, move |rng, row| {
            if left == 0 {
                fill_sphere(rng, &mut w);
                left = every;
            }
            left -= 1;
            fill_sphere(rng, row);
            norm * kernel::dot(row, &w) + label_noise(rng, noise)
        })
    }
}
