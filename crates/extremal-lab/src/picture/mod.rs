//! Plays a learner on a set in the plane and records every round: the decision, the points that the
//! oracle returned, and the regret.

use extremal::Error;
use extremal::Gradient;
use extremal::game;
use extremal::hindsight::{Options, Sum, solve};
use extremal::learner::Learner;
use extremal::loss::{Objective, Scratch};
use extremal::set::{Atom, Oracle, SetSpec, SharedSet};
use extremal::stream::{Round, StreamSpec};

use crate::error::{Context, Result};
use crate::results::{Picture, Step};

mod plane;
mod recorder;

use plane::Plane;
use recorder::{Log, Recorder};

/// A function that builds a learner on a set. It also receives the gradient bound G and the number of
/// rounds.
pub type Build<'a> = &'a dyn Fn(&SharedSet, f64, u64) -> extremal::Result<Box<dyn Learner>>;

/// Plays a learner on a problem's set in two dimensions. Sets that lie in a plane of three dimensions,
/// such as simplices, are played in three dimensions. Returns `None` if the set, the loss, the stream
/// or the learner does not exist in such a low dimension. The names of the problem and the learner in
/// the result are empty.
///
/// For linear losses, the regret after a round compares the learner with the best decision for the
/// rounds so far. For other losses, it compares the learner with the best decision for *all* rounds.
/// After the last round, either comparison gives the regret.
///
/// ```
/// use extremal::{learner::LearnerSpec, loss::{LossSpec, Objective}};
/// let objective = Objective::new("linear".parse::<LossSpec>()?.build()?, 0.0)?;
/// let drawn = extremal_lab::picture::draw(
///     &"lp:p=1.5,dim=1000".parse()?,
///     &objective,
///     &"drift".parse()?,
///     &|set, gradient, rounds| {
///         let spec = format!("ofw-ls:horizon={rounds},gradient-bound={gradient}");
///         spec.parse::<LearnerSpec>()?.build(set)
///     },
///     60,
///     1,
/// );
/// let drawn = drawn.unwrap().unwrap();
/// assert_eq!(drawn.set, "lp:p=1.5,dim=2");
/// assert_eq!((drawn.steps.len(), drawn.steps[0].atoms.len()), (60, 1));
/// # Ok::<(), extremal::Error>(())
/// ```
pub fn draw(
    set: &SetSpec,
    objective: &Objective,
    spec: &StreamSpec,
    build: Build<'_>,
    rounds: u64,
    seed: u64,
) -> Result<Option<Picture>> {
    let here = || format!("picture of {set}");
    let Some(plane) = Plane::of(set) else {
        return Ok(None);
    };
    let Some(outline) = plane.outline() else {
        return Ok(None);
    };
    let dim = plane.set.dim();
    let form = objective.loss().form();
    if form.and_then(|form| form.dim()).is_some_and(|d| d != dim) {
        return Ok(None);
    }
    let Ok(mut stream) = spec.build(dim, seed) else {
        return Ok(None);
    };
    let gradient = objective.gradient_bound(
        stream.row_bound(),
        stream.label_bound(),
        plane.set.geometry().norm_bound,
    );
    let learner = recorded(&plane.set, &|set| build(set, gradient, rounds));
    let Some((mut learner, log)) = learner else {
        return Ok(None);
    };

    let mut hindsight = Hindsight::new(&plane.set, objective).context(here)?;
    let mut scratch = Scratch::default();
    let mut steps = Vec::new();
    let mut x = vec![0.0; dim];
    for _ in 0..rounds {
        let decision = learner.decide().context(here)?;
        decision.write(&mut x);
        let Some(round) = stream.next(decision).context(here)? else {
            break;
        };
        let played = game::round(&mut *learner, objective, round, None, &mut scratch);
        let evaluation = match played {
            // The loss is not defined on this stream's rows. An example is the log of a negative wealth.
            Err(Error::Label { .. } | Error::Prediction { .. }) => return Ok(None),
            played => played.context(here)?.evaluation,
        };
        let Gradient { row, scale, ridge } = evaluation.gradient;
        let mut g: Vec<f64> = x.iter().map(|x| ridge * x).collect();
        row.add_to(scale, &mut g);
        let regret = hindsight.add(round, evaluation.value, &g).context(here)?;
        steps.push(Step {
            x: plane.point(&x),
            gradient: plane.direction(&g),
            atoms: log.take().iter().map(|atom| plane.point(atom)).collect(),
            regret,
        });
    }
    if steps.is_empty() {
        return Ok(None);
    }
    let best = hindsight.best().context(here)?;
    if !objective.is_linear() {
        // Until here, the steps hold the learner's total loss. Subtract the total loss of the best
        // decision.
        let mut stream = spec.build(dim, seed).context(here)?;
        let mut total = 0.0;
        for step in &mut steps {
            let Some(round) = stream.next(&best).context(here)? else {
                break;
            };
            let Round { row, label, weight } = round;
            let at_best = objective.evaluate_in(row, label, weight, &best, &mut scratch);
            total += at_best.context(here)?.value;
            step.regret -= total;
        }
    }
    Ok(Some(Picture {
        problem: String::new(),
        learner: String::new(),
        best: plane.point(&best),
        set: plane.name,
        outline,
        steps,
    }))
}

/// Builds a learner on a wrapper of the set. The wrapper records the points that the oracle returns.
fn recorded(
    set: &SharedSet,
    build: &dyn Fn(&SharedSet) -> extremal::Result<Box<dyn Learner>>,
) -> Option<(Box<dyn Learner>, Log)> {
    // On a ball, a learner computes the minimising points itself. If the ball's structure is hidden,
    // the learner calls the oracle instead, and gets the same points up to rounding. If the learner
    // can't play without that structure, the structure is not hidden.
    let is_ball = set.structure().as_ball().is_some();
    [is_ball, false].into_iter().find_map(|general| {
        let (recorder, log) = Recorder::around(set, general);
        let learner = build(&recorder).ok()?;
        // Oracle calls during the construction belong to no round.
        log.take();
        Some((learner, log))
    })
}

/// Computes the best decision for the rounds so far.
struct Hindsight<'a> {
    set: &'a SharedSet,
    is_linear: bool,
    oracle: Box<dyn Oracle>,
    atom: Atom,
    /// Σ f_t(x_t)
    loss: f64,
    /// Σ g_t
    sum: Vec<f64>,
    rounds: Sum,
}

impl<'a> Hindsight<'a> {
    fn new(set: &'a SharedSet, objective: &Objective) -> extremal::Result<Self> {
        Ok(Self {
            set,
            is_linear: objective.is_linear(),
            oracle: set.oracle(),
            atom: Atom::new(),
            loss: 0.0,
            sum: vec![0.0; set.dim()],
            rounds: Sum::new(set.dim(), objective)?,
        })
    }

    /// Adds a round. Returns the regret so far if losses are linear, otherwise the total loss so far.
    fn add(&mut self, round: Round<'_>, loss: f64, g: &[f64]) -> extremal::Result<f64> {
        self.loss += loss;
        if self.is_linear {
            self.sum.iter_mut().zip(g).for_each(|(sum, g)| *sum += g);
            let found = self.oracle.minimise(&self.sum, &mut self.atom)?;
            return Ok(self.loss - found.floor);
        }
        self.rounds.push(round.row, round.label, round.weight)?;
        Ok(self.loss)
    }

    /// The best decision for all rounds.
    fn best(&mut self) -> extremal::Result<Vec<f64>> {
        if self.is_linear {
            self.oracle.minimise(&self.sum, &mut self.atom)?;
            let mut best = vec![0.0; self.set.dim()];
            self.atom.write(&mut best);
            return Ok(best);
        }
        let options = Options {
            relative_gap: 1e-12,
            absolute_gap: 1e-9,
            ..Options::default()
        };
        Ok(solve(&self.rounds, &**self.set, &options)?.x)
    }
}
