//! The intersection of sets that have gauges, for learners that need no oracle.
//!
//! Minimising a linear function over an intersection is hard, even if minimising over each part is easy.
//! This set therefore has no oracle. The learners `gauge-wrapper` and `so-ogd` work without an oracle. A
//! learner that needs an oracle can't be built on this set. The gauge is the largest of the parts'
//! gauges.

use std::sync::Arc;

use super::identity::Fingerprint;
use super::{
    Answers, Atom, Facts, Geometry, Inspector, Minimum, Oracle, Set, SharedSet, centre_of,
    check_len, inspector_of,
};
use crate::set::composite::{largest, least};
use crate::{Error, Result, kernel};

/// The intersection of several sets. Each set must contain 0 and have a gauge.
///
/// ```
/// use extremal::{LearnerSpec, Gradient, set::{Intersection, Set, SetSpec}};
/// let parts = ["l2:radius=2,dim=3", "box:lower=-1,upper=0.5,dim=3"];
/// let parts = parts.map(|text| text.parse::<SetSpec>().unwrap().build(None).unwrap());
/// let set = Intersection::new(parts.to_vec())?.shared();
/// let mut learner = "gauge-wrapper".parse::<LearnerSpec>()?.build(&set)?;
/// for _ in 0..100 {
///     learner.decide()?;
///     learner.observe(&Gradient::dense(&[-1.0, -0.1, 1.0]))?;
/// }
/// let mut x = [0.0; 3];
/// learner.decision().write(&mut x);
/// assert!(set.violation(&x).unwrap() <= 1e-9 && x[0] > 0.3 && x[2] < -0.6);
/// # Ok::<(), extremal::Error>(())
/// ```
#[derive(Clone)]
pub struct Intersection {
    parts: Vec<SharedSet>,
    geometry: Geometry,
}

impl Intersection {
    /// The intersection of the given sets. At least one set is needed.
    pub fn new(parts: Vec<SharedSet>) -> Result<Self> {
        let Some(first) = parts.first() else {
            return Err(Error::Unsupported(
                "an intersection needs at least one set".into(),
            ));
        };
        let dim = first.dim();
        for part in &parts {
            check_len("set of an intersection", dim, part.dim())?;
            if !part.facts().gauge {
                return Err(Error::Unsupported(format!(
                    "every set of an intersection needs a gauge with a subgradient; set {} has none",
                    part.name()
                )));
            }
        }
        let around_0 = |part: &SharedSet| {
            Some(part.geometry().inner_radius? - kernel::norm(&centre_of(&**part)))
        };
        let all = || parts.iter().map(|part| part.geometry());
        let norm_bound = all().map(|g| g.norm_bound).fold(f64::INFINITY, f64::min);
        let geometry = Geometry {
            diameter: all().map(|g| g.diameter).fold(2.0 * norm_bound, f64::min),
            norm_bound,
            inner_radius: least(parts.iter().map(around_0)).filter(|r| *r > 0.0),
            strong_convexity: least(all().map(|g| g.strong_convexity)),
        };
        Ok(Self { parts, geometry })
    }

    /// Converts the set into the shared form that learners use.
    pub fn shared(self) -> SharedSet {
        Arc::new(self)
    }
}

impl Set for Intersection {
    fn name(&self) -> &str {
        "intersection"
    }

    fn dim(&self) -> usize {
        self.parts[0].dim()
    }

    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn facts(&self) -> Facts {
        Facts {
            oracle: Answers::Missing,
            gauge: true,
            ..Facts::default()
        }
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(NoOracle)
    }

    fn inspector(&self) -> Option<Inspector> {
        let mut parts: Vec<_> = self.parts.iter().map(inspector_of).collect();
        Some(Box::new(move |x| {
            largest(parts.iter_mut().map(|part| part(x)))
        }))
    }

    fn gauge(&self, x: &[f64]) -> Option<f64> {
        largest(self.parts.iter().map(|part| part.gauge(x)))
    }

    fn gauge_gradient(&self, x: &[f64], out: &mut [f64]) -> Option<f64> {
        let mut furthest = (&self.parts[0], f64::NEG_INFINITY);
        for part in &self.parts {
            let gauge = part.gauge(x)?;
            if gauge > furthest.1 {
                furthest = (part, gauge);
            }
        }
        furthest.0.gauge_gradient(x, out)
    }

    fn fingerprint(&self) -> u64 {
        Fingerprint::of_parts("intersection", &self.parts)
    }
}

struct NoOracle;

impl Oracle for NoOracle {
    fn minimise(&mut self, _direction: &[f64], _atom: &mut Atom) -> Result<Minimum> {
        Err(Error::Unsupported(
            "an intersection has no linear oracle; use the learner gauge-wrapper or so-ogd".into(),
        ))
    }
}
