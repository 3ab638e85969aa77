//! Linear losses whose gradients have heavy tails, or a scale that jumps. All gradients g have
//! ⟨g, u⟩ ≥ 0 for a planted unit vector u, so that there is a best decision.

use rand::RngExt;
use rand_distr::{Distribution, StudentT};

use super::{MakeStream, Stream, UNIT, fill_sphere, generator, oblivious, planted};
use crate::parameter::{choices, fields};
use crate::spec::{About, Described, Kind};
use crate::{Error, Result, kernel};

/// Negates `row` if ⟨u, row⟩ < 0.
fn turn_towards(u: &[f64], row: &mut [f64]) {
    if kernel::dot(u, row) < 0.0 {
        row.iter_mut().for_each(|v| *v = -*v);
    }
}

choices! {
    /// A distribution of sizes for which P(size > r) falls like r^(−index).
    pub enum Law {
        /// norms with P(‖g‖ > r) = r^(−index) for r ≥ 1, and uniform directions
        Pareto = "pareto",
        /// independent entries from Student's t distribution with `index` degrees of freedom
        Student = "student",
    }
}

fields! {
    /// Spec of `heavy-tailed`: gradients with heavy-tailed norms.
    pub struct HeavyTailed {
        /// the distribution that sizes are drawn from
        pub law: Law = Law::Pareto => Law::KIND,
        /// the tail index; moments of this order and higher are infinite
        // Below 1/2, squares of the largest draws would overflow.
        pub index: f64 = 1.5 => Kind::between(0.5, 100.0),
    }
}

impl Described for HeavyTailed {
    const ABOUT: About = About {
        summary: "gradients around a planted direction, with heavy-tailed norms",
        cost: "O(d)",
        guarantee: "no bound G on the rows' norms is known",
        reference: "Zhang & Cutkosky, NeurIPS 2022 (heavy-tailed online learning)",
        citations: &[],
        examples: &["heavy-tailed", "heavy-tailed:law=student,index=2"],
    };
}

impl MakeStream for HeavyTailed {
    fn make(&self, dim: usize, seed: u64) -> Result<Box<dyn Stream>> {
        let student = StudentT::new(self.index)
            .map_err(|e| Error::Unsupported(format!("heavy-tailed: {e}")))?;
        let mut rng = generator(seed);
        let u = planted(&mut rng, dim, 1.0);
        let Self { law, index } = *self;
        oblivious(
            vec![0.0; dim],
            rng,
            (f64::INFINITY, 0.0),
            move |rng, row| {
                match law {
                    Law::Pareto => {
                        fill_sphere(rng, row);
                        // the random number is below 1, so that 1 minus this number is positive
                        let size = (1.0 - rng.random::<f64>()).powf(-1.0 / index);
                        row.iter_mut().for_each(|v| *v *= size);
                    }
                    Law::Student => row.iter_mut().for_each(|v| *v = student.sample(rng)),
                }
                turn_towards(&u, row);
                0.0
            },
        )
    }
}

fields! {
    /// Spec of `scale-jump`: gradients of norm 1, F, 1, 1/F, 1, …, each for `every` rounds.
    pub struct ScaleJump {
        /// the factor by which the scale jumps: 1, factor, 1, 1/factor, and so on
        pub factor: f64 = 1e8 => Kind::between(1.0, 1e100),
        /// the number of rounds between two jumps
        pub every: u64 = 100 => Kind::COUNT,
    }
}

impl Described for ScaleJump {
    const ABOUT: About = About {
        summary: "gradients whose scale jumps up and down by a large factor",
        cost: "O(d)",
        guarantee: "rows of norm 1, factor or 1/factor",
        reference: "scale-free online learning",
        citations: &[],
        examples: &["scale-jump", "scale-jump:factor=1000,every=10"],
    };
}

impl MakeStream for ScaleJump {
    fn make(&self, dim: usize, seed: u64) -> Result<Box<dyn Stream>> {
        let mut rng = generator(seed);
        let u = planted(&mut rng, dim, 1.0);
        let Self { factor, every } = *self;
        let scales = [1.0, factor, 1.0, 1.0 / factor];
        let (mut level, mut played) = (0, 0);
        oblivious(
            vec![0.0; dim],
            rng,
            (factor * UNIT, 0.0),
            move |rng, row| {
                if played == every {
                    (level, played) = ((level + 1) % scales.len(), 0);
                }
                played += 1;
                fill_sphere(rng, row);
                turn_towards(&u, row);
                row.iter_mut().for_each(|v| *v *= scales[level]);
                0.0
            },
        )
    }
}
