//! The oracle that learners, meters and the solver use. It counts the calls and checks the answers. The
//! library's own oracles are not checked at run time, because the library's tests cover these oracles. A
//! user's oracle is checked at every call. If a user's oracle maximised, or returned points outside the
//! set, every certificate would be false.

use super::{Answers, Atom, Geometry, Minimum, Oracle, Set, centre_of, check_direction};
use crate::{Error, Result, kernel};

/// An answer may miss the minimum by this share of the diameter. The norm of an answer may exceed the
/// norm bound by this share of the bound. An oracle in single precision stays within both limits.
const TOLERANCE: f64 = 1e-6;

/// The rounding error that an inner product may have, as a share of the product of the norms.
const ROUNDING: f64 = 1e-9;

/// A new oracle of the set. The answers are checked unless the set's facts say that the oracle is
/// trusted.
pub(crate) fn oracle_of(set: &dyn Set) -> Box<dyn Oracle> {
    match set.facts().oracle {
        Answers::Checked => Box::new(CheckedOracle::of(set)),
        Answers::Trusted | Answers::Missing => set.oracle(),
    }
}

/// A set's oracle with the checks of its answers and the number of its calls.
pub(crate) struct CheckedOracle {
    inner: Box<dyn Oracle>,
    set: Box<str>,
    dim: usize,
    geometry: Geometry,
    /// The set's centre if every answer is checked, and `None` if not. The list is empty if the
    /// centre is 0.
    centre: Option<Box<[f64]>>,
    /// The number of calls so far.
    calls: u64,
}

impl CheckedOracle {
    /// Returns the oracle of [`oracle_of`] as this type, for callers that also check gaps.
    pub(crate) fn of(set: &dyn Set) -> Self {
        let checked = set.facts().oracle == Answers::Checked;
        Self {
            centre: checked.then(|| known_centre(set)),
            ..Self::around(set, set.oracle())
        }
    }

    /// Wraps `inner`, an oracle of the set, and checks every answer.
    pub(crate) fn around(set: &dyn Set, inner: Box<dyn Oracle>) -> Self {
        Self {
            inner,
            set: set.name().into(),
            dim: set.dim(),
            geometry: set.geometry(),
            centre: Some(known_centre(set)),
            calls: 0,
        }
    }

    /// The number of calls so far.
    pub(crate) fn calls(&self) -> u64 {
        self.calls
    }

    /// Checks the gap ⟨direction, x⟩ − floor of a decision x, where the oracle returned the floor for
    /// this direction. A gap that is negative by more than rounding errors is an error, because x would
    /// then be better than the minimum.
    #[inline]
    pub(crate) fn check_gap(&self, gap: f64, direction: &[f64]) -> Result<()> {
        if !(gap < 0.0) || !(gap < -self.allowance(direction)) {
            return Ok(());
        }
        Err(self.refuse(format!(
            "it returned a point v with ⟨direction, v⟩ above ⟨direction, decision⟩ by {:e}. {MUST}, \
             and every decision must be a point of the set",
            -gap
        )))
    }

    /// The largest amount by which ⟨direction, v⟩ may exceed the minimum.
    fn allowance(&self, direction: &[f64]) -> f64 {
        let room = TOLERANCE * self.geometry.diameter + ROUNDING * self.geometry.norm_bound;
        // if products underflow, their sum has an error below the smallest normal number
        kernel::norm(direction) * room + f64::MIN_POSITIVE
    }

    #[cold]
    fn refuse(&self, why: String) -> Error {
        Error::Oracle {
            set: self.set.to_string(),
            cause: why.into(),
        }
    }

    /// Returns an error if `atom` can't be a minimiser over the set, if `found.value` is not
    /// ⟨direction, atom⟩, or if the floor exceeds ⟨direction, atom⟩.
    fn check_answer(
        &self,
        direction: &[f64],
        atom: &Atom,
        found: Minimum,
        centre: &[f64],
    ) -> Result<()> {
        if !atom.fits(self.dim) {
            return Err(self.refuse(format!(
                "it returned a point that does not have the set's dimension {}",
                self.dim
            )));
        }
        let norm = atom.norm_squared().sqrt();
        if !(norm <= self.geometry.norm_bound * (1.0 + TOLERANCE)) {
            let mut v = vec![0.0; self.dim];
            atom.write(&mut v);
            return Err(self.refuse(match kernel::find_not_finite(&v) {
                Some((index, value)) => format!(
                    "entry {index} of the point that it returned is {value}; every entry must be a \
                     finite number"
                ),
                None => format!(
                    "it returned a point of norm {norm}, beyond the set's norm_bound {}. Every \
                     answer must be a point of the set, and norm_bound the largest norm of its points",
                    self.geometry.norm_bound
                ),
            }));
        }
        let (here, said) = (atom.dot(direction), found.value);
        if !(found.floor <= said) && !here.is_nan() {
            return Err(self.refuse(format!(
                "it returned the floor {}, which is above ⟨direction, v⟩ = {said} for its own point v",
                found.floor
            )));
        }
        let off = (said - here).abs();
        let differs = said != here && here.is_finite() && !(off <= ROUNDING * here.abs());
        if differs && !(off <= self.allowance(direction)) {
            let why = format!("it returned the value {said}, but ⟨direction, v⟩ is {here}");
            return Err(self.refuse(why));
        }
        let there = kernel::dot(&direction[..centre.len()], centre);
        let floor = here - found.slack();
        if floor > there && floor - there > self.allowance(direction) {
            return Err(self.refuse(format!(
                "it returned a point v with ⟨direction, v⟩ = {here}, above the value {there} of the centre. \
                 {MUST}, and the centre (0 if none was given) must be a point of the set"
            )));
        }
        Ok(())
    }
}

const MUST: &str = "The oracle must minimise ⟨direction, v⟩ over the set, not maximise it";

/// The set's centre. The list is empty if the centre is 0.
fn known_centre(set: &dyn Set) -> Box<[f64]> {
    let mut centre = centre_of(set);
    if centre.iter().all(|v| *v == 0.0) {
        centre.clear();
    }
    centre.into()
}

impl Oracle for CheckedOracle {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum> {
        self.calls += 1;
        let Some(centre) = &self.centre else {
            return self.inner.minimise(direction, atom);
        };
        check_direction(self.dim, direction)?;
        let found = self.inner.minimise(direction, atom)?;
        self.check_answer(direction, atom, found, centre)?;
        Ok(found)
    }
}
