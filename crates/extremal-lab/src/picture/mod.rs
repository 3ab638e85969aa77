//! A learner in the plane, round by round: the set, the decisions, what the oracle returned, and
//! the decision that would have been best.

use extremal::Error;
use extremal::game;
use extremal::hindsight::{Options, Sum, solve};
use extremal::learner::Learner;
use extremal::loss::{Objective, Scratch};
use extremal::set::{Atom, Oracle, SetSpec, SharedSet};
use extremal::stream::StreamSpec;
use extremal::{Gradient, Row};

use crate::error::{Context, Result};
use crate::results::Step;

mod plane;
mod recorder;

use plane::Plane;
use recorder::{Log, Recorder};

/// What a [`Picture`](crate::results::Picture) shows, but for the names.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// The set that is shown, as a spec, and how it lies in the plane.
    pub set: String,
    /// Its boundary, anticlockwise, the last point joined to the first.
    pub outline: Vec<[f64; 2]>,
    /// The best fixed decision of all rounds.
    pub best: [f64; 2],
    /// The rounds.
    pub steps: Vec<Step>,
}

/// Builds a learner on a set, told the gradient bound G and the number of rounds of this small
/// problem.
pub type Build<'a> = &'a dyn Fn(&SharedSet, f64, u64) -> extremal::Result<Box<dyn Learner>>;

/// Plays a learner on a problem's set in two dimensions, or in three where the set then lies in a
/// plane, as simplices do. Nothing is drawn where the set, the loss, the stream or the learner
/// can't be had there.
///
/// The regret of a step is exact for linear losses: against the best decision of the rounds so
/// far. For others it is held against the best decision of *all* rounds, so that it may be less
/// than the regret so far, and is the regret at the end.
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
    stream: &StreamSpec,
    build: Build<'_>,
    rounds: u64,
    seed: u64,
) -> Result<Option<Drawn>> {
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
    let Ok(mut stream) = stream.build(dim, seed) else {
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
            // a loss that this stream's rows have no value of, of wealth below 0 for example
            Err(Error::Label { .. } | Error::Prediction { .. }) => return Ok(None),
            played => played.context(here)?.evaluation,
        };
        let Gradient { row, scale, ridge } = evaluation.gradient;
        let mut g: Vec<f64> = x.iter().map(|x| ridge * x).collect();
        row.add_to(scale, &mut g);
        let mut row = vec![0.0; dim];
        round.row.add_to(1.0, &mut row);
        let regret = hindsight
            .note(row, round.label, round.weight, evaluation.value, &g)
            .context(here)?;
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
    let best = hindsight.best(&mut steps).context(here)?;
    Ok(Some(Drawn {
        best: plane.point(&best),
        set: plane.name,
        outline,
        steps,
    }))
}

/// A learner on a set that records the oracle's answers.
fn recorded(
    set: &SharedSet,
    build: &dyn Fn(&SharedSet) -> extremal::Result<Box<dyn Learner>>,
) -> Option<(Box<dyn Learner>, Log)> {
    // On a ball, a learner computes its atoms itself. If it does not know that the set is a ball,
    // it has to ask for them: up to rounding, the same ones. Some learners play on balls alone.
    let is_ball = set.structure().as_ball().is_some();
    [is_ball, false].into_iter().find_map(|general| {
        let (recorder, log) = Recorder::around(set, general);
        let learner = build(&recorder).ok()?;
        // what building asked for belongs to no round
        log.take();
        Some((learner, log))
    })
}

/// The rounds so far, for what would have been best.
struct Hindsight<'a> {
    set: &'a SharedSet,
    objective: &'a Objective,
    oracle: Box<dyn Oracle>,
    atom: Atom,
    /// Σ f_t(x_t)
    loss: f64,
    /// Σ g_t
    sum: Vec<f64>,
    kept: Sum,
    rounds: Vec<Kept>,
}

struct Kept {
    row: Vec<f64>,
    label: f64,
    weight: f64,
}

impl<'a> Hindsight<'a> {
    fn new(set: &'a SharedSet, objective: &'a Objective) -> extremal::Result<Self> {
        Ok(Self {
            set,
            objective,
            oracle: set.oracle(),
            atom: Atom::new(),
            loss: 0.0,
            sum: vec![0.0; set.dim()],
            kept: Sum::new(set.dim(), objective)?,
            rounds: Vec::new(),
        })
    }

    /// The regret up to this round for linear losses, otherwise the loss.
    fn note(
        &mut self,
        row: Vec<f64>,
        label: f64,
        weight: f64,
        loss: f64,
        g: &[f64],
    ) -> extremal::Result<f64> {
        self.loss += loss;
        if self.objective.is_linear() {
            self.sum.iter_mut().zip(g).for_each(|(sum, g)| *sum += g);
            let found = self.oracle.minimise(&self.sum, &mut self.atom)?;
            return Ok(self.loss - found.floor);
        }
        self.kept.push(Row::Dense(&row), label, weight)?;
        self.rounds.push(Kept { row, label, weight });
        Ok(self.loss)
    }

    /// The best decision of all rounds. For losses that are not linear, its loss is taken from
    /// what the steps hold.
    fn best(&mut self, steps: &mut [Step]) -> extremal::Result<Vec<f64>> {
        if self.objective.is_linear() {
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
        let best = solve(&self.kept, &**self.set, &options)?.x;
        let mut scratch = Scratch::default();
        let mut total = 0.0;
        for (round, step) in self.rounds.iter().zip(steps) {
            let Kept { row, label, weight } = round;
            let row = Row::Dense(row);
            let at_best = self
                .objective
                .evaluate_in(row, *label, *weight, &best, &mut scratch)?;
            total += at_best.value;
            step.regret -= total;
        }
        Ok(best)
    }
}

#[cfg(test)]
mod tests;
