//! The perturbed leader in blocks of rounds. The learners `ospf` and `fpl` share this code.

pub mod fpl;
pub mod ospf;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::learner::skeleton::method::{Method, Round, Step, acting};
use crate::learner::skeleton::parameters;
use crate::learner::skeleton::schedule::Schedule;
use crate::learner::{Learner, RunStatistics, Storage};
use crate::set::{Atom, CheckedOracle, Oracle, SharedSet, centre_of};
use crate::spec::Registered;
use crate::theory::{self, Assumption, Guarantee, Perturbation};
use crate::{Result, kernel};

/// The differences between `ospf` and `fpl`.
pub(crate) trait Kind: Send + Sync + 'static {
    /// The number of rounds of the block after round t, and the number of samples for its decision.
    fn block(&self, constants: &Constants, t: f64, largest: f64) -> (u64, u32);

    /// The exponent a, if the bound grows like T^a.
    fn exponent(&self, constants: &Constants) -> f64;
}

/// The constants of the analysis.
pub(crate) struct Constants {
    /// The number of rounds T.
    pub horizon: Option<u64>,
    /// The bound G on the gradients.
    pub gradient: Option<f64>,
    /// The smoothness β.
    pub smoothness: Option<f64>,
    /// The factor on δ.
    pub scale: f64,
    /// R, the largest distance of a point from the set's centre.
    pub reach: f64,
    pub dim: f64,
    pub diameter: f64,
    /// The seed of the perturbations.
    pub seed: u64,
}

impl Constants {
    /// The set's constants, with T, G and β unknown.
    pub(crate) fn of(set: &SharedSet) -> Self {
        let (geometry, centre) = (set.geometry(), centre_of(&**set));
        let reach = geometry.norm_bound + kernel::norm(&centre);
        Self {
            horizon: None,
            gradient: None,
            smoothness: None,
            scale: 1.0,
            reach: reach.min(geometry.diameter),
            dim: set.dim() as f64,
            diameter: geometry.diameter,
            seed: 0,
        }
    }

    /// The ratio 4βR/(G√d), which determines blocks and samples. It is `None` while G is 0.
    pub(crate) fn ratio(&self, beta: f64, gradient: f64) -> Option<f64> {
        let ratio = 4.0 * (beta * self.reach) / (gradient * self.dim.sqrt());
        (gradient > 0.0 && !ratio.is_nan()).then_some(ratio)
    }

    /// The factor c in δ = c/√V, where V is Tk·G² or Σ‖G_b‖².
    fn c(&self) -> f64 {
        2.0 * self.scale / self.dim.sqrt()
    }
}

/// Builds a learner of either kind.
pub(crate) fn make<S: Registered + Serialize, K: Kind>(
    spec: &S,
    kind: K,
    constants: Constants,
    start: Option<&[f64]>,
    set: &SharedSet,
    storage: Storage,
) -> Result<Box<dyn Learner>> {
    parameters::need_oracle(S::ENTRY.name, &**set)?;
    let method = Perturbed {
        schedule: Schedule::of(None, constants.horizon, constants.gradient).or_gradients(),
        oracle: CheckedOracle::of(&**set),
        atom: Atom::new(),
        direction: vec![0.0; set.dim()],
        sample: vec![0.0; set.dim()],
        centre: centre_of(&**set),
        constants,
        kind,
    };
    acting(spec, method, set, start, storage)
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct State {
    rng: ChaCha8Rng,
    /// The sum S of the gradients.
    sum: Vec<f64>,
    /// The part of S from the current block.
    block: Vec<f64>,
    numbers: Numbers,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Numbers {
    /// √(Σ‖G_b‖²) over the completed blocks, where G_b is the sum of a block's gradients.
    root: f64,
    /// max ‖g‖.
    largest: f64,
    /// The number of remaining rounds of the block.
    left: u64,
    /// The number of samples for the block's decision. It is 0 before the first non-zero gradient.
    samples: u32,
    /// Σ 1/m and Σ 1/√m over rounds.
    inverse: f64,
    root_inverse: f64,
}

struct Perturbed<K> {
    kind: K,
    constants: Constants,
    oracle: CheckedOracle,
    atom: Atom,
    centre: Vec<f64>,
    /// The step-size schedule: either fixed, or computed from the blocks' sums of gradients.
    schedule: Schedule,
    direction: Vec<f64>,
    sample: Vec<f64>,
}

/// Draws a point uniformly from the unit ball. Its direction is that of a normally distributed
/// vector, and its norm is u^(1/d) for a uniform u.
pub(crate) fn draw_from_ball(rng: &mut ChaCha8Rng, out: &mut [f64]) {
    let mut norm = 0.0;
    while !(norm > 1e-100) {
        for v in out.iter_mut() {
            *v = StandardNormal.sample(rng);
        }
        norm = kernel::norm(out);
    }
    let radius = rng.random::<f64>().powf(1.0 / out.len() as f64);
    out.iter_mut().for_each(|v| *v = radius * (*v / norm));
}

impl<K: Kind> Perturbed<K> {
    /// 1/δ, where `root` is √(Σ‖G_b‖²). It is G√(Tk)/c if T and G are known, for blocks of k
    /// rounds.
    fn one_over_delta(&self, root: f64) -> f64 {
        let length = match self.schedule {
            Schedule::Fixed { .. } => self.kind.block(&self.constants, 0.0, 0.0).0 as f64,
            _ => 1.0,
        };
        self.schedule.scale(1.0, root) * length.sqrt() / self.constants.c()
    }

    /// Writes the mean of the samples' minimisers into x. It sums differences from the centre,
    /// because a sum of points would lose digits for a small set far from 0.
    fn draw(&mut self, state: &mut State, x: &mut [f64]) -> Result<()> {
        let one_over_delta = self.one_over_delta(state.numbers.root);
        x.fill(0.0);
        for _ in 0..state.numbers.samples {
            draw_from_ball(&mut state.rng, &mut self.direction);
            for (d, s) in self.direction.iter_mut().zip(&state.sum) {
                *d = s - one_over_delta * *d;
            }
            self.oracle.minimise(&self.direction, &mut self.atom)?;
            self.atom.write(&mut self.sample);
            for ((x, s), c) in x.iter_mut().zip(&self.sample).zip(&self.centre) {
                *x += s - c;
            }
        }
        let samples = f64::from(state.numbers.samples);
        for (x, c) in x.iter_mut().zip(&self.centre) {
            *x = c + *x / samples;
        }
        Ok(())
    }
}

impl<K: Kind> Method for Perturbed<K> {
    type State = State;

    fn start(&self, x: &[f64]) -> State {
        State {
            rng: ChaCha8Rng::seed_from_u64(self.constants.seed),
            sum: vec![0.0; x.len()],
            block: vec![0.0; x.len()],
            numbers: Numbers {
                left: self.kind.block(&self.constants, 0.0, 0.0).0,
                ..Numbers::default()
            },
        }
    }

    fn fits(state: &State, x: &[f64]) -> bool {
        [&state.sum, &state.block]
            .iter()
            .all(|v| v.len() == x.len())
    }

    fn round(&mut self, round: Round<'_, State>) -> Result<Step> {
        let (now, next, x_next) = (round.now, round.next, round.x_next);
        let (t, g, norm) = (round.t, round.g, round.norm);
        next.rng.clone_from(&now.rng);
        next.sum.copy_from_slice(&now.sum);
        next.block.copy_from_slice(&now.block);
        kernel::axpy(1.0, g, &mut next.sum);
        kernel::axpy(1.0, g, &mut next.block);
        let mut numbers = now.numbers;
        numbers.largest = numbers.largest.max(norm);
        if numbers.samples > 0 {
            numbers.inverse += 1.0 / f64::from(numbers.samples);
            numbers.root_inverse += 1.0 / f64::from(numbers.samples).sqrt();
        }
        numbers.left = numbers.left.saturating_sub(1);
        let block_ends = numbers.left == 0;
        if block_ends {
            numbers.root = numbers.root.hypot(kernel::norm(&next.block));
            next.block.fill(0.0);
            let (length, samples) = self.kind.block(&self.constants, t, numbers.largest);
            numbers.left = length;
            // before the first non-zero gradient every point is a minimiser
            if numbers.root > 0.0 {
                numbers.samples = samples;
            }
        }
        next.numbers = numbers;
        if !block_ends || numbers.root == 0.0 {
            return Ok(Step::of(0.0));
        }
        self.draw(next, x_next)?;
        Ok(Step::of(1.0))
    }

    fn oracle_calls(&self) -> u64 {
        self.oracle.calls()
    }

    fn guarantee(&self, state: &State, _seen: &RunStatistics) -> Option<Guarantee> {
        let Constants {
            gradient,
            smoothness,
            reach,
            dim,
            diameter,
            ..
        } = self.constants;
        let exponent = self.kind.exponent(&self.constants);
        let smooth = smoothness.map(Assumption::Smooth);
        let leader = |noise| Perturbation {
            reach,
            diameter,
            dim,
            noise,
        };
        if let Schedule::Fixed { bound, .. } = self.schedule {
            let (length, samples) = self.kind.block(&self.constants, 0.0, 0.0);
            let (delta, block) = (1.0 / self.one_over_delta(0.0), length as f64);
            let noise = theory::sampling_noise(smoothness, Some(bound), reach, f64::from(samples));
            let theorem = theory::perturbed(&leader(noise), bound, delta, block);
            return Some(theorem.with_exponent(exponent).assuming(smooth));
        }
        let by_smoothness = smoothness.map_or(f64::INFINITY, |b| {
            (b * reach) * (reach * state.numbers.inverse)
        });
        let convex = gradient.map_or(f64::INFINITY, |g| g * (reach * state.numbers.root_inverse));
        let noise = by_smoothness.min(convex);
        let root = state.numbers.root.hypot(kernel::norm(&state.block));
        let c = self.constants.c();
        let theorem = theory::perturbed_adaptive(&leader(noise), c, root)
            .with_exponent(exponent)
            .assuming(gradient.map(Assumption::Gradient))
            .assuming(smooth);
        theorem.bound(0.0).is_finite().then_some(theorem)
    }
}
