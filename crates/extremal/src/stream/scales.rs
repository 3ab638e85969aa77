//! Linear losses whose gradients have no scale that could be known beforehand: heavy tails, and
//! jumps. Their directions lie around a planted u, so that there is a best decision to find.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StudentT};

use super::{MakeStream, Round, Stream, fill_sphere, generator, round};
use crate::pair::Point;
use crate::parameter::{choices, fields};
use crate::spec::{Described, Entry, Kind};
use crate::{Error, Result, kernel};

/// Turns `row` to the side of `u`, which leaves its norm as it is.
fn turn_towards(u: &[f64], row: &mut [f64]) {
    if kernel::dot(u, row) < 0.0 {
        row.iter_mut().for_each(|v| *v = -*v);
    }
}

choices! {
    /// A law with P(size > r) falling like r^(−index).
    pub enum Law {
        /// norms with P(‖g‖ > r) = r^(−index) for r ≥ 1, directions even
        Pareto = "pareto",
        /// independent entries from Student's law with `index` degrees of freedom
        Student = "student",
    }
}

fields! {
    /// Spec of `heavy-tailed`.
    pub struct HeavyTailed {
        /// where the sizes come from
        pub law: Law = Law::Pareto => Law::KIND,
        /// the tail index; moments of this order and beyond are infinite
        // Below 1/2 the largest draws would leave the range where squares are numbers.
        pub index: f64 = 1.5 => Kind::between(0.5, 100.0),
    }
}

impl Described for HeavyTailed {
    const ENTRY: Entry = Entry {
        name: "heavy-tailed",
        summary: "gradients whose norms have a heavy tail, around a planted direction",
        parameters: Self::PARAMETERS,
        cost: "O(d)",
        guarantee: "none: no bound G of the rows' norms is known",
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
        let mut u = vec![0.0; dim];
        fill_sphere(&mut rng, &mut u);
        Ok(Box::new(HeavyTailedStream {
            law: self.law,
            index: self.index,
            student,
            rng,
            u,
            row: vec![0.0; dim],
        }))
    }
}

struct HeavyTailedStream {
    law: Law,
    index: f64,
    student: StudentT<f64>,
    rng: ChaCha8Rng,
    u: Vec<f64>,
    row: Vec<f64>,
}

impl Stream for HeavyTailedStream {
    fn next(&mut self, _decision: &dyn Point) -> Result<Option<Round<'_>>> {
        let Self {
            law,
            index,
            student,
            rng,
            u,
            row,
        } = self;
        match law {
            Law::Pareto => {
                fill_sphere(rng, row);
                // 1 − [0, 1) is never 0
                let size = (1.0 - rng.random::<f64>()).powf(-1.0 / *index);
                row.iter_mut().for_each(|v| *v *= size);
            }
            Law::Student => row.iter_mut().for_each(|v| *v = student.sample(rng)),
        }
        turn_towards(u, row);
        Ok(Some(round(row, 0.0)))
    }

    fn row_bound(&self) -> f64 {
        f64::INFINITY
    }

    fn is_adaptive(&self) -> bool {
        false
    }
}

fields! {
    /// Spec of `scale-jump`: gradients of norm 1, F, 1, 1/F, 1, … for so many rounds each.
    pub struct ScaleJump {
        /// how far the scale jumps: 1, factor, 1, 1/factor, and again
        pub factor: f64 = 1e8 => Kind::between(1.0, 1e100),
        /// rounds between two jumps
        pub every: u64 = 100 => Kind::COUNT,
    }
}

impl Described for ScaleJump {
    const ENTRY: Entry = Entry {
        name: "scale-jump",
        summary: "gradients whose scale jumps up and down by a large factor",
        parameters: Self::PARAMETERS,
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
        let mut u = vec![0.0; dim];
        fill_sphere(&mut rng, &mut u);
        Ok(Box::new(ScaleJumpStream {
            scales: [1.0, self.factor, 1.0, 1.0 / self.factor],
            every: self.every,
            rng,
            u,
            row: vec![0.0; dim],
            level: 0,
            played: 0,
        }))
    }
}

struct ScaleJumpStream {
    scales: [f64; 4],
    every: u64,
    rng: ChaCha8Rng,
    u: Vec<f64>,
    row: Vec<f64>,
    /// Which of the scales it is.
    level: usize,
    /// Rounds since the last jump.
    played: u64,
}

impl Stream for ScaleJumpStream {
    fn next(&mut self, _decision: &dyn Point) -> Result<Option<Round<'_>>> {
        if self.played == self.every {
            self.level = (self.level + 1) % self.scales.len();
            self.played = 0;
        }
        self.played += 1;
        fill_sphere(&mut self.rng, &mut self.row);
        turn_towards(&self.u, &mut self.row);
        let scale = self.scales[self.level];
        self.row.iter_mut().for_each(|v| *v *= scale);
        Ok(Some(round(&self.row, 0.0)))
    }

    fn row_bound(&self) -> f64 {
        self.scales[1] * (1.0 + 1e-12)
    }

    fn is_adaptive(&self) -> bool {
        false
    }
}
