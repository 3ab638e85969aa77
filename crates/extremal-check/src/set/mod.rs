//! The laws of sets.

mod convexity;
mod geometry;
mod oracle;
mod projection;
mod violation;

use std::cell::RefCell;

use extremal::set::{Atom, Geometry, Minimum, Oracle, Set};

use crate::kit::{
    centre, dot, hard_directions, max_abs, mixtures, norm, rng, scaled, telling_directions,
};
use crate::report::{Broken, Failures, Verdict, ensure, run, show};

/// How strictly [`SetCheck::run`] checks a set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetCheck {
    /// The largest amount by which an atom's value may exceed the minimum, relative to ‖direction‖
    /// times the set's size. The default is 1e-8.
    pub oracle: f64,
    /// The largest distance of a projection from the nearest point, relative to the set's size. The
    /// default is 1e-8.
    pub projection: f64,
    /// Whether the set's constants must be attained, its violation must be proportional to the
    /// distance, and its oracle must be exact and ignore the earlier content of the atom. The default
    /// is false, because larger constants only make the theorems' bounds larger.
    pub exact: bool,
}

impl Default for SetCheck {
    fn default() -> Self {
        Self {
            oracle: 1e-8,
            projection: 1e-8,
            exact: false,
        }
    }
}

impl SetCheck {
    /// Checks all laws of sets on this set.
    pub fn run(&self, set: &dyn Set) -> Result<(), Failures> {
        let subject = format!("set {} in dimension {}", set.name(), set.dim());
        let prepare = || Sample::draw(set, *self);
        let mut laws = vec![
            oracle::laws(),
            geometry::laws(),
            violation::laws(),
            projection::laws(),
            convexity::laws(),
        ];
        if self.exact {
            laws.extend([
                oracle::exact_laws(),
                geometry::exact_laws(),
                violation::exact_laws(),
            ]);
        }
        run(subject, FIRST, prepare, laws.concat())
    }
}

const FIRST: &str = "every direction of norm 0 or between 1e-140 and 1e140 has a finite atom";

/// The largest violation that counts as feasible.
const FEASIBLE: f64 = 1e-9;

/// A set, with the answers of its oracle. The laws are checked on these answers.
pub(crate) struct Sample<'a> {
    check: SetCheck,
    set: &'a dyn Set,
    geometry: Geometry,
    centre: Vec<f64>,
    /// The answers of the oracle.
    answers: Vec<Answer>,
    /// Atoms and mixtures of atoms.
    points: Vec<Vec<f64>>,
    /// The largest norm of these points.
    size: f64,
    oracle: RefCell<Box<dyn Oracle>>,
}

struct Answer {
    /// A description of the direction.
    kind: &'static str,
    direction: Vec<f64>,
    atom: Vec<f64>,
    found: Minimum,
}

impl<'a> Sample<'a> {
    fn draw(set: &'a dyn Set, check: SetCheck) -> Verdict<Self> {
        let mut sample = Self {
            check,
            set,
            geometry: set.geometry(),
            centre: centre(set),
            answers: Vec::new(),
            points: Vec::new(),
            size: 0.0,
            oracle: RefCell::new(set.oracle()),
        };
        let mut r = rng(1);
        let random = if set.dim() > 10 { 10 } else { 20 };
        let telling = telling_directions(&mut r, set.dim(), random).into_iter();
        let telling = telling.map(|direction| ("of extreme points", direction));
        for (kind, direction) in hard_directions(set.dim()).into_iter().chain(telling) {
            let about = format!("direction {kind}, {}", show(&direction));
            let answer = ask(&mut **sample.oracle.borrow_mut(), &direction);
            let (atom, found) = answer.map_err(|e| Broken::by(format!("{about}: {e}")))?;
            ensure!(
                atom.iter().chain([&found.value]).all(|v| v.is_finite()),
                "{about}: the atom is {}, the value {}",
                show(&atom),
                found.value
            );
            sample.points.push(atom.clone());
            sample.answers.push(Answer {
                kind,
                direction,
                atom,
                found,
            });
        }
        let mixed = mixtures(&mut r, &sample.points, random);
        sample.points.extend(mixed);
        sample.size = sample.points.iter().map(|x| norm(x)).fold(0.0, f64::max);
        Ok(sample)
    }

    /// The atom for a direction, and the oracle's value.
    fn ask(&self, direction: &[f64]) -> Verdict<(Vec<f64>, Minimum)> {
        Ok(ask(&mut **self.oracle.borrow_mut(), direction)?)
    }

    /// The atom for a direction.
    fn atom(&self, direction: &[f64]) -> Verdict<Vec<f64>> {
        Ok(self.ask(direction)?.0)
    }

    /// An upper bound on max ⟨n, x⟩ over the set, and the atom that attains it.
    fn furthest(&self, n: &[f64]) -> Verdict<(f64, Vec<f64>)> {
        let (atom, found) = self.ask(&scaled(n, -1.0))?;
        let slack = if found.floor == found.value {
            0.0
        } else {
            found.value - found.floor
        };
        Ok((dot(n, &atom) + slack, atom))
    }

    /// Reports a broken law unless `x` is feasible: `x` has no violation, and `x` is not below the
    /// lower bound of any answer.
    fn check_inside(&self, what: &str, x: &[f64]) -> Verdict {
        let violation = self.set.violation(x).unwrap_or(0.0);
        ensure!(
            violation <= FEASIBLE,
            "{what} {} has violation {violation:e}",
            show(x)
        );
        for answer in &self.answers {
            answer.check_floor(what, x, self)?;
        }
        Ok(())
    }
}

impl Answer {
    /// Reports a broken law if `x` is below the lower bound of this answer.
    fn check_floor(&self, what: &str, x: &[f64], sample: &Sample<'_>) -> Verdict {
        let top = max_abs(&self.direction);
        if top == 0.0 {
            return Ok(());
        }
        let unit: Vec<f64> = self.direction.iter().map(|d| d / top).collect();
        let (here, floor) = (dot(&unit, x), self.found.floor / top);
        let reach = sample.size.max(norm(x));
        ensure!(
            here >= floor - sample.check.oracle * norm(&unit) * reach,
            "direction {}, {}: the oracle finds the minimum {:e} at {}; {what} {} has the value {:e}",
            self.kind,
            show(&self.direction),
            self.found.floor,
            show(&self.atom),
            show(x),
            here * top
        );
        Ok(())
    }
}

/// The oracle's answer to a direction, written to a new atom.
fn ask(oracle: &mut dyn Oracle, direction: &[f64]) -> extremal::Result<(Vec<f64>, Minimum)> {
    let mut atom = Atom::new();
    let found = oracle.minimise(direction, &mut atom)?;
    let mut v = vec![f64::NAN; direction.len()];
    atom.write(&mut v);
    Ok((v, found))
}
