//! Regret against comparators that move: dynamic regret, and the worst interval.

use crate::rounding::{self, UNIT, Wide, WideVector};
use crate::set::{Atom, Geometry, Oracle, Set, oracle_of};
use crate::{Error, Gradient, Point, Result, Row, kernel};

/// ⟨g, x⟩ at the decision, after checking both, and a bound of what rounding made of it; g is written
/// out. With ridge·x in it, an entry of g is off by two roundings of its terms.
fn linearise(
    x: &dyn Point,
    gradient: &Gradient<'_>,
    out: &mut [f64],
    reach: f64,
) -> Result<(f64, f64)> {
    if x.dim() != out.len() {
        return Err(Error::Size {
            what: "decision",
            expected: out.len(),
            found: x.dim(),
        });
    }
    gradient.row.check_shape(out.len())?;
    let (row, square) = (kernel::norm(gradient.row.values()), x.norm_squared());
    gradient.counts(row, square)?;
    x.write(out);
    out.iter_mut().for_each(|v| *v *= gradient.ridge);
    gradient.row.add_to(gradient.scale, out);
    let dot = gradient.scale * x.dot(&gradient.row)? + gradient.ridge * square;
    let accuracy = x.accuracy();
    let products = (rounding::of_dot(out.len()) + rounding::of_row(&gradient.row))
        * accuracy.dot.max(accuracy.norm);
    let size = gradient.scale.abs() * row + gradient.ridge.abs() * reach;
    Ok((dot, (2.0 * products + 4.0 * UNIT) * size * reach))
}

/// How far an oracle's minimum of ⟨direction, ·⟩ may be off.
fn lowest_error(direction: &[f64], geometry: &Geometry) -> f64 {
    let (dim, norm) = (direction.len(), kernel::norm(direction));
    let Geometry {
        diameter,
        norm_bound,
        ..
    } = *geometry;
    rounding::of_oracle(dim, norm, diameter, norm_bound) + rounding::of_dot(dim) * norm * norm_bound
}

/// Dynamic regret: against a comparator that may change every round. Fed by either method, and
/// by one of them only, for a sum that means something.
///
/// ```
/// use extremal::{hindsight::Dynamic, Gradient, LearnerSpec, SetSpec};
/// let set = "l2:dim=2".parse::<SetSpec>()?.build(None)?;
/// let mut learner = "gauge-ftrl".parse::<LearnerSpec>()?.build(&set)?;
/// let mut dynamic = Dynamic::new(&*set);
/// for t in 0..10 {
///     let g = if t % 2 == 0 { [1.0, 0.0] } else { [-1.0, 0.0] };
///     dynamic.see(learner.decide()?, &Gradient::dense(&g))?;
///     learner.observe(&Gradient::dense(&g))?;
/// }
/// assert!(dynamic.path() == 18.0); // the best decision jumped across the ball nine times
/// assert!(dynamic.regret() > 0.0);
/// # Ok::<(), extremal::Error>(())
/// ```
pub struct Dynamic {
    oracle: Box<dyn Oracle>,
    atom: Atom,
    geometry: Geometry,
    regret: Wide,
    /// A bound of what rounding made of the regret.
    error: f64,
    path: f64,
    rounds: u64,
    direction: Vec<f64>,
    last: Vec<f64>,
    here: Vec<f64>,
}

impl Dynamic {
    /// Nothing seen yet.
    pub fn new(set: &dyn Set) -> Self {
        let zeros = vec![0.0; set.dim()];
        Self {
            oracle: oracle_of(set),
            atom: Atom::new(),
            geometry: set.geometry(),
            regret: Wide::default(),
            error: 0.0,
            path: 0.0,
            rounds: 0,
            direction: zeros.clone(),
            last: zeros.clone(),
            here: zeros,
        }
    }

    /// Notes a round against the minimiser of the round's own linearised loss: one oracle call and
    /// O(d). The regret against *any* sequence of decisions is at most this for convex losses,
    /// and it is attained for linear ones.
    pub fn see(&mut self, x: &dyn Point, gradient: &Gradient<'_>) -> Result<()> {
        let reach = self.geometry.norm_bound;
        let (played, error) = linearise(x, gradient, &mut self.direction, reach)?;
        let low = self.oracle.minimise(&self.direction, &mut self.atom)?.floor;
        self.atom.write(&mut self.here);
        self.error += error + lowest_error(&self.direction, &self.geometry);
        self.regret.add(played);
        self.note(-low);
        Ok(())
    }

    /// Notes a round against a comparator of yours: the losses of both, and where it was.
    pub fn see_against(&mut self, loss: f64, other_loss: f64, comparator: &[f64]) -> Result<()> {
        crate::set::check_point(self.here.len(), comparator)?;
        let difference = loss - other_loss;
        if !difference.is_finite() {
            return Err(Error::NotFinite {
                what: "difference of losses",
                index: 0,
                value: difference,
            });
        }
        self.here.copy_from_slice(comparator);
        self.regret.add(loss);
        self.note(-other_loss);
        Ok(())
    }

    fn note(&mut self, more: f64) {
        self.regret.add(more);
        if self.rounds > 0 {
            for (last, here) in self.last.iter_mut().zip(&self.here) {
                *last -= here;
            }
            self.path += kernel::norm(&self.last);
        }
        self.last.copy_from_slice(&self.here);
        self.rounds += 1;
    }

    /// Σ f_t(x_t) − f_t(u_t), or for [`Dynamic::see`] its linearised upper bound, raised by a bound
    /// of the rounding errors.
    pub fn regret(&self) -> f64 {
        self.regret.value() + 1.001 * self.error
    }

    /// Σ ‖u_t − u_{t−1}‖, the comparator's path.
    pub fn path(&self) -> f64 {
        self.path
    }

    /// Rounds seen.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }
}

/// Interval (adaptive) regret: the largest regret over intervals of rounds, each against its own
/// best fixed decision. Sums of gradients are kept at checkpoints, every so many rounds.
///
/// Memory is d numbers per checkpoint, and [`Intervals::worst`] makes an oracle call per pair of
/// checkpoints. Intervals that begin or end between checkpoints are not looked at: they can have
/// up to 2·spacing·G·D more.
pub struct Intervals {
    oracle: Box<dyn Oracle>,
    atom: Atom,
    spacing: u64,
    rounds: u64,
    geometry: Geometry,
    played: Wide,
    /// A bound of what rounding made of the sums, times a point of the set.
    error: f64,
    sum: WideVector,
    direction: Vec<f64>,
    /// Σ⟨g, x⟩ up to each checkpoint, the first before any round.
    played_then: Vec<Wide>,
    /// Σg up to each checkpoint, one after the other.
    sums_then: Vec<f64>,
}

/// An interval of rounds with the regret on it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Worst {
    /// Its first round, from 1.
    pub first: u64,
    /// Its last round.
    pub last: u64,
    /// At most this for convex losses, this exactly for linear ones.
    pub regret: f64,
}

impl Intervals {
    /// With a checkpoint every `spacing` rounds.
    pub fn new(set: &dyn Set, spacing: u64) -> Result<Self> {
        if spacing == 0 {
            return Err(Error::parameter(
                "intervals",
                "spacing",
                spacing,
                "a number ≥ 1",
            ));
        }
        let zeros = vec![0.0; set.dim()];
        Ok(Self {
            oracle: oracle_of(set),
            atom: Atom::new(),
            spacing,
            rounds: 0,
            geometry: set.geometry(),
            played: Wide::default(),
            error: 0.0,
            sum: WideVector::zeros(set.dim()),
            direction: zeros.clone(),
            played_then: vec![Wide::default()],
            sums_then: zeros,
        })
    }

    /// Notes a round: the decision played and the gradient there.
    pub fn see(&mut self, x: &dyn Point, gradient: &Gradient<'_>) -> Result<()> {
        let reach = self.geometry.norm_bound;
        let (played, error) = linearise(x, gradient, &mut self.direction, reach)?;
        self.played.add(played);
        self.error += error;
        self.sum.add_row(1.0, &Row::Dense(&self.direction));
        self.rounds += 1;
        if self.rounds.is_multiple_of(self.spacing) {
            self.played_then.push(self.played);
            // rounded once more, by a unit in the last place of each entry
            let start = self.sums_then.len();
            self.sums_then.extend(self.sum.iter().map(Wide::value));
            let norm = kernel::norm(&self.sums_then[start..]);
            self.error += 4.0 * UNIT * norm * reach;
        }
        Ok(())
    }

    /// The interval between checkpoints with the largest regret; `None` before the first.
    pub fn worst(&mut self) -> Result<Option<Worst>> {
        let dim = self.sum.len();
        let mut worst: Option<Worst> = None;
        for end in 1..self.played_then.len() {
            for start in 0..end {
                let sums = |k: usize| &self.sums_then[k * dim..(k + 1) * dim];
                for ((d, a), b) in self.direction.iter_mut().zip(sums(end)).zip(sums(start)) {
                    *d = a - b;
                }
                let low = self.oracle.minimise(&self.direction, &mut self.atom)?.floor;
                let mut regret = self.played_then[end];
                regret.add_scaled(-1.0, self.played_then[start]);
                regret.add(-low);
                let error = self.error + lowest_error(&self.direction, &self.geometry);
                let regret = regret.value() + 1.001 * error;
                if worst.is_none_or(|w| regret > w.regret) {
                    worst = Some(Worst {
                        first: start as u64 * self.spacing + 1,
                        last: end as u64 * self.spacing,
                        regret,
                    });
                }
            }
        }
        Ok(worst)
    }
}
