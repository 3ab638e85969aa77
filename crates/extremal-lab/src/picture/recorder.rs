//! A set that records the points that its oracle returns.

use std::sync::{Arc, Mutex, PoisonError};

use extremal::set::{
    Atom, Facts, Geometry, Inspector, Minimum, Oracle, Projection, Set, SharedSet,
    SmoothConstraint, Structure,
};

/// The points that an oracle returned since the last [`Log::take`].
#[derive(Clone, Default)]
pub(super) struct Log(Arc<Mutex<Vec<Vec<f64>>>>);

impl Log {
    pub(super) fn take(&self) -> Vec<Vec<f64>> {
        // The list is valid even if another thread panicked.
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn push(&self, atom: Vec<f64>) {
        let mut atoms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        atoms.push(atom);
    }
}

/// A wrapper of a set that records the points that the set's oracle returns.
pub(super) struct Recorder {
    inner: SharedSet,
    log: Log,
    /// Whether the set's structure is hidden. A learner that knows that the set is a ball computes the
    /// minimising points itself, and would not call the oracle.
    general: bool,
}

impl Recorder {
    pub(super) fn around(inner: &SharedSet, general: bool) -> (SharedSet, Log) {
        let log = Log::default();
        let set = Self {
            inner: inner.clone(),
            log: log.clone(),
            general,
        };
        (Arc::new(set), log)
    }
}

impl Set for Recorder {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn geometry(&self) -> Geometry {
        self.inner.geometry()
    }
    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(RecordingOracle {
            inner: self.inner.oracle(),
            dim: self.dim(),
            log: self.log.clone(),
        })
    }
    fn centre(&self, out: &mut [f64]) {
        self.inner.centre(out);
    }
    fn violation(&self, x: &[f64]) -> Option<f64> {
        self.inner.violation(x)
    }
    fn facts(&self) -> Facts {
        let mut facts = self.inner.facts();
        if self.general {
            facts.structure = Structure::General;
        }
        facts
    }
    fn inspector(&self) -> Option<Inspector> {
        self.inner.inspector()
    }
    fn gauge(&self, x: &[f64]) -> Option<f64> {
        self.inner.gauge(x)
    }
    fn gauge_gradient(&self, x: &[f64], out: &mut [f64]) -> Option<f64> {
        self.inner.gauge_gradient(x, out)
    }
    fn projection(&self) -> Option<Box<dyn Projection>> {
        self.inner.projection()
    }
    fn smooth(&self) -> Option<Box<dyn SmoothConstraint>> {
        self.inner.smooth()
    }
    fn grown(&self, dim: usize) -> Option<SharedSet> {
        Some(Arc::new(Self {
            inner: self.inner.grown(dim)?,
            log: self.log.clone(),
            general: self.general,
        }))
    }
    fn fingerprint(&self) -> u64 {
        self.inner.fingerprint()
    }
}

struct RecordingOracle {
    inner: Box<dyn Oracle>,
    dim: usize,
    log: Log,
}

impl Oracle for RecordingOracle {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> extremal::Result<Minimum> {
        let found = self.inner.minimise(direction, atom)?;
        let mut written = vec![0.0; self.dim];
        atom.write(&mut written);
        self.log.push(written);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use extremal::Gradient;
    use extremal::learner::LearnerSpec;
    use extremal::set::SetSpec;

    use super::*;

    #[test]
    fn a_recorder_changes_no_decision() {
        for set in ["l2", "lp:p=1.5", "simplex", "k-sparse:k=2"] {
            let set = set.parse::<SetSpec>().unwrap().build(Some(4)).unwrap();
            for entry in LearnerSpec::ENTRIES {
                let spec: LearnerSpec = entry.examples[0].parse().unwrap();
                let (recorder, _log) = Recorder::around(&set, false);
                let (Ok(mut plain), Ok(mut recorded)) = (spec.build(&set), spec.build(&recorder))
                else {
                    assert!(spec.build(&set).is_err() && spec.build(&recorder).is_err());
                    continue;
                };
                let mut x = [[0.0; 4]; 2];
                for t in 0..60 {
                    plain.decision().write(&mut x[0]);
                    recorded.decision().write(&mut x[1]);
                    assert_eq!(x[0].map(f64::to_bits), x[1].map(f64::to_bits), "{spec}");
                    let g = [0, 1, 2, 3].map(|i| f64::from(t * (i + 1)).sin());
                    let gradient = Gradient::dense(&g);
                    plain.observe(&gradient).unwrap();
                    recorded.observe(&gradient).unwrap();
                }
            }
        }
    }
}
