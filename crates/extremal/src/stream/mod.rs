//! Synthetic streams with a seed. A stream receives the decision before it reveals the round. An adaptive
//! adversary is therefore an ordinary stream.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::spec::registry;
use crate::{Error, Point, Result, Row, kernel};

pub mod adversary;
pub mod duplicated;
pub mod linear;
pub mod moving;
pub mod planted;
pub mod scales;
pub mod zipf;

registry! {
    /// The streams, by name.
    "stream" StreamSpec: MakeStream {
        "drift" => Drift(linear::Drift),
        "noise" => Noise(linear::Noise),
        "alternating" => Alternating(linear::Alternating),
        "adversary" => Adversary(adversary::Adversary),
        "regression" => Regression(planted::Regression),
        "classification" => Classification(planted::Classification),
        "zipf" => Zipf(zipf::Zipf),
        "rotating" => Rotating(moving::Rotating),
        "switching" => Switching(moving::Switching),
        "heavy-tailed" => HeavyTailed(scales::HeavyTailed),
        "scale-jump" => ScaleJump(scales::ScaleJump),
        "duplicated" => Duplicated(duplicated::Duplicated),
    }
}

/// Builds a stream from its spec.
pub(crate) trait MakeStream {
    fn make(&self, dim: usize, seed: u64) -> Result<Box<dyn Stream>>;
}

impl StreamSpec {
    /// Builds the stream in this dimension. The same seed gives the same rounds.
    pub fn build(&self, dim: usize, seed: u64) -> Result<Box<dyn Stream>> {
        if dim == 0 {
            return Err(Error::parameter("stream", "dim", dim, "1 or more"));
        }
        self.check()?;
        self.inner().make(dim, seed)
    }
}

/// The data that a stream reveals in a round.
#[derive(Debug, Clone, Copy)]
pub struct Round<'a> {
    /// The coefficients a of the prediction ⟨a, x⟩.
    pub row: Row<'a>,
    /// The label. Linear losses ignore it.
    pub label: f64,
    /// The factor that multiplies the example's loss. A weight of 2 has the same effect as two equal
    /// examples.
    pub weight: f64,
}

impl<'a> Round<'a> {
    /// An example with weight 1.
    pub fn new(row: Row<'a>, label: f64) -> Self {
        let weight = 1.0;
        Self { row, label, weight }
    }
}

/// A source of rounds.
pub trait Stream: Send {
    /// Returns the next round, or `None` at the end of the stream. `decision` is the learner's
    /// decision for this round.
    fn next(&mut self, decision: &dyn Point) -> Result<Option<Round<'_>>>;

    /// A bound on the ℓ2 norms of the rows. It is ∞ if no bound is known.
    fn row_bound(&self) -> f64;

    /// A bound on |label|.
    fn label_bound(&self) -> f64 {
        0.0
    }

    /// Whether rounds may depend on decisions. If they do not, the rounds can be replayed without a
    /// learner, and the theorems about losses that are fixed before the run hold.
    fn is_adaptive(&self) -> bool {
        true
    }
}

fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A bound on the norm of a row that was divided by its norm. The bound allows for rounding.
const UNIT: f64 = 1.0 + 1e-12;

/// A stream whose rounds do not depend on the decisions.
struct Oblivious<R, F> {
    row: R,
    rng: ChaCha8Rng,
    bounds: (f64, f64),
    draw: F,
}

/// The memory that holds a row.
trait Buffer: Send + 'static {
    fn row(&self) -> Row<'_>;
}

impl Buffer for Vec<f64> {
    fn row(&self) -> Row<'_> {
        Row::Dense(self)
    }
}

/// The indices and values of a sparse row.
impl Buffer for (Vec<u32>, Vec<f64>) {
    fn row(&self) -> Row<'_> {
        Row::sparse(&self.0, &self.1)
    }
}

/// A stream whose `draw` writes the next row and returns its label. `bounds` has a bound on the
/// norms of the rows and a bound on the absolute values of the labels.
fn oblivious<R: Buffer>(
    row: R,
    rng: ChaCha8Rng,
    bounds: (f64, f64),
    draw: impl FnMut(&mut ChaCha8Rng, &mut R) -> f64 + Send + 'static,
) -> Result<Box<dyn Stream>> {
    Ok(Box::new(Oblivious {
        row,
        rng,
        bounds,
        draw,
    }))
}

impl<R: Buffer, F> Stream for Oblivious<R, F>
where
    F: FnMut(&mut ChaCha8Rng, &mut R) -> f64 + Send,
{
    fn next(&mut self, _decision: &dyn Point) -> Result<Option<Round<'_>>> {
        let label = (self.draw)(&mut self.rng, &mut self.row);
        Ok(Some(Round::new(self.row.row(), label)))
    }

    fn row_bound(&self) -> f64 {
        self.bounds.0
    }

    fn label_bound(&self) -> f64 {
        self.bounds.1
    }

    fn is_adaptive(&self) -> bool {
        false
    }
}

fn fill_normal(rng: &mut ChaCha8Rng, out: &mut [f64]) {
    for v in out {
        *v = StandardNormal.sample(rng);
    }
}

/// Fills `out` with a point drawn uniformly from the unit sphere.
fn fill_sphere(rng: &mut ChaCha8Rng, out: &mut [f64]) {
    loop {
        fill_normal(rng, out);
        let norm = kernel::norm(out);
        if norm > 1e-100 {
            out.iter_mut().for_each(|v| *v /= norm);
            return;
        }
    }
}

/// A point drawn uniformly from the sphere of this radius.
fn planted(rng: &mut ChaCha8Rng, dim: usize, radius: f64) -> Vec<f64> {
    let mut point = vec![0.0; dim];
    fill_sphere(rng, &mut point);
    point.iter_mut().for_each(|v| *v *= radius);
    point
}

/// Fills `row` with the mean plus Gaussian noise, whose norm is about `noise`. A row of norm above 1 is
/// scaled to norm 1.
fn fill_around(rng: &mut ChaCha8Rng, mean: &[f64], noise: f64, row: &mut [f64]) {
    fill_normal(rng, row);
    let noise = noise / (row.len() as f64).sqrt();
    for (v, mean) in row.iter_mut().zip(mean) {
        *v = mean + noise * *v;
    }
    let norm = kernel::norm(row);
    if norm > 1.0 {
        row.iter_mut().for_each(|v| *v /= norm);
    }
}

/// Gaussian noise for a label, clipped at three standard deviations.
fn label_noise(rng: &mut ChaCha8Rng, deviation: f64) -> f64 {
    let z: f64 = StandardNormal.sample(rng);
    deviation * z.clamp(-3.0, 3.0)
}

/// The bounds of a stream whose rows a have norm 1 and whose labels are ⟨a, w⟩ + noise. `norm` is the
/// norm of w.
fn regression_bounds(norm: f64, noise: f64) -> (f64, f64) {
    (UNIT, norm * UNIT + 3.0 * noise)
}

/// A label ±1. The probability of +1 is 1/(1 + exp(−`clean`)).
fn sign_label(rng: &mut ChaCha8Rng, clean: f64) -> f64 {
    let chance = 1.0 / (1.0 + (-clean).exp());
    let positive = rng.random::<f64>() < chance;
    if positive { 1.0 } else { -1.0 }
}
