//! Gauge-FTRL on several fractions of the set: multiples of one decision.

use super::super::{
    Certificate, Learner, LearnerSpec, Record, Seen, Storage, check_name, decode, encode,
};
use super::weights::Weights;
use super::{NAME, guarantee};
use crate::pair::{Accuracy, Gradient, Point, Row};
use crate::set::SharedSet;
use crate::theory::Guarantee;
use crate::{Error, Result};

pub(super) fn make(
    text: String,
    base: Option<&LearnerSpec>,
    radii: &[f64],
    set: &SharedSet,
    storage: Storage,
) -> Result<Box<dyn Learner>> {
    let fits = |r: &f64| *r > 0.0 && *r <= 1.0;
    if !(radii.iter().all(fits) && radii.contains(&1.0)) {
        let allowed = "a list of numbers above 0 and up to 1, 1 among them";
        return Err(Error::parameter(
            NAME,
            "radii",
            format!("{radii:?}"),
            allowed,
        ));
    }
    let base = base.ok_or(Error::Missing {
        owner: NAME,
        name: "base",
        why: "radii are fractions of the set that a base plays on",
    })?;
    let LearnerSpec::GaugeFtrl(_) = base else {
        return Err(Error::Unsupported(format!(
            "hedge over radii is for gauge-ftrl, whose decisions grow with the set; those of {} do not",
            base.entry().name
        )));
    };
    let mut centre = vec![0.0; set.dim()];
    set.centre(&mut centre);
    if centre.iter().any(|v| *v != 0.0) {
        return Err(Error::Unsupported(format!(
            "hedge over radii needs a set around 0; {} is around another point",
            set.name()
        )));
    }
    let mut learner = Radii {
        text,
        base: base.build_stored(set, storage)?,
        weights: Weights::new(radii.len()),
        losses: vec![0.0; radii.len()],
        radii: radii.to_vec(),
        mean: 0.0,
        seen: Seen::default(),
    };
    learner.mix();
    Ok(Box::new(learner))
}

struct Radii {
    /// The spec; bytes of another one are not for this.
    text: String,
    base: Box<dyn Learner>,
    radii: Vec<f64>,
    weights: Weights,
    losses: Vec<f64>,
    /// Σ w_i ρ_i
    mean: f64,
    seen: Seen,
}

impl Radii {
    fn mix(&mut self) {
        let pairs = self.radii.iter().zip(self.weights.get());
        // weights sum to 1 but for rounding
        self.mean = pairs.map(|(r, w)| r * w).sum::<f64>().min(1.0);
    }
}

/// Σ w_i ρ_i times the base's decision.
impl Point for Radii {
    fn dim(&self) -> usize {
        self.base.dim()
    }

    fn dot(&self, row: &Row<'_>) -> Result<f64> {
        Ok(self.mean * self.base.decision().dot(row)?)
    }

    fn norm_squared(&self) -> f64 {
        self.mean * self.mean * self.base.decision().norm_squared()
    }

    fn write(&self, out: &mut [f64]) {
        self.base.decision().write(out);
        out.iter_mut().for_each(|v| *v *= self.mean);
    }

    fn for_each_nonzero(&self, each: &mut dyn FnMut(usize, f64)) {
        let decision = self.base.decision();
        decision.for_each_nonzero(&mut |i, v| {
            let v = self.mean * v;
            if v != 0.0 {
                each(i, v);
            }
        });
    }

    fn accuracy(&self) -> Accuracy {
        self.base.decision().accuracy()
    }
}

impl Learner for Radii {
    fn dim(&self) -> usize {
        self.base.dim()
    }

    fn observe(&mut self, gradient: &Gradient<'_>) -> Result<Record> {
        // g_t = k·a + ρx_t, and x_t is `mean` times the base's decision
        let seen_by_base = Gradient {
            ridge: gradient.ridge * self.mean,
            ..*gradient
        };
        let base = self.base.observe(&seen_by_base)?;
        // ⟨g_t, ρ_i x⟩
        for (loss, radius) in self.losses.iter_mut().zip(&self.radii) {
            *loss = radius * base.gradient_dot;
        }
        let record = Record {
            gap: f64::NAN,
            gradient_dot: self.mean * base.gradient_dot,
            norm_squared: self.mean * self.mean * base.norm_squared,
            ..base
        };
        self.weights.step(&self.losses);
        self.mix();
        self.seen.note(&record);
        Ok(record)
    }

    fn decision(&self) -> &dyn Point {
        self
    }

    fn rounds(&self) -> u64 {
        self.seen.rounds
    }

    fn guarantee(&self) -> Option<Guarantee> {
        guarantee(&*self.base, self.weights.regret_bound()).map(Guarantee::from)
    }

    fn seen(&self) -> &Seen {
        &self.seen
    }

    fn certificate(&self) -> Option<Certificate> {
        None
    }

    fn save(&self) -> Result<Vec<u8>> {
        let base = self.base.save()?;
        encode(&(NAME, &self.text, &self.weights, base, self.seen))
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        type Saved = (String, String, Weights, Vec<u8>, Seen);
        let (name, text, weights, base, seen): Saved = decode(saved)?;
        check_name(NAME, &name)?;
        check_name(&self.text, &text)?;
        let weights = weights.checked(self.radii.len())?;
        self.base.load(&base)?;
        self.weights = weights;
        self.seen = seen;
        self.mix();
        Ok(())
    }

    fn grow(&mut self, dim: usize) -> Result<()> {
        self.base.grow(dim)
    }

    fn reserve(&mut self, dim: usize) -> Result<()> {
        self.base.reserve(dim)
    }
}
