//! A user's own set, given by an oracle function and the constants that are known.

use std::sync::Arc;

use super::{
    Atom, CheckedOracle, Facts, Geometry, Minimum, Oracle, Set, SmoothConstraint, settle_dim,
};
use crate::spec::Kind;
use crate::{Cause, Error, Result, kernel};

type OracleFn = dyn Fn(&[f64], &mut [f64]) -> Result<Option<f64>, Cause> + Send + Sync;
type ViolationFn = dyn Fn(&[f64]) -> f64 + Send + Sync;
type GradientFn = dyn Fn(&[f64], &mut [f64]) + Send + Sync;

/// A set that is defined by an oracle function, which minimises ⟨direction, v⟩ over the set.
///
/// Every answer of the function is checked. The call fails with [`Error::Oracle`] if the returned point
/// has NaN, is longer than the set's `norm_bound`, or is worse than the centre or a learner's decision. A
/// point worse than the centre shows that the function maximises. The function itself may return any
/// error, with `?` or with `Err("…".into())`. That error becomes the cause of the [`Error::Oracle`].
///
/// ```
/// use extremal::set::{CustomSet, Geometry};
/// let geometry = Geometry { diameter: 2.0, norm_bound: 1.0, inner_radius: None, strong_convexity: None };
/// // the segment between −e₁ and e₁ in the plane
/// let set = CustomSet::new("segment", 2, geometry, |direction, v| {
///     v[0] = if direction[0] > 0.0 { -1.0 } else { 1.0 };
///     v[1] = 0.0;
///     Ok(())
/// })?;
/// # Ok::<(), extremal::Error>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct CustomSet {
    name: Arc<str>,
    geometry: Geometry,
    centre: Arc<[f64]>,
    oracle: Arc<OracleFn>,
    violation: Option<Arc<ViolationFn>>,
    smooth: Option<Constraint>,
}

/// The function h with its gradient and its curvature μ.
#[derive(Clone)]
struct Constraint {
    value: Arc<ViolationFn>,
    gradient: Arc<GradientFn>,
    curvature: f64,
}

impl CustomSet {
    /// Creates a set from its oracle. The oracle writes a minimiser into its second argument. The centre
    /// is 0 unless [`CustomSet::with_centre`] sets another point.
    pub fn new(
        name: &str,
        dim: usize,
        geometry: Geometry,
        oracle: impl Fn(&[f64], &mut [f64]) -> Result<(), Cause> + Send + Sync + 'static,
    ) -> Result<Self> {
        Self::inexact(name, dim, geometry, move |direction, v| {
            oracle(direction, v).map(|()| None)
        })
    }

    /// Creates a set from an oracle that may return points that are not minimisers. The oracle also
    /// returns a lower bound on ⟨direction, ·⟩ over the set, or `None` if the returned point is a
    /// minimiser. Certificates depend on this bound: see [`Minimum::floor`].
    pub fn inexact(
        name: &str,
        dim: usize,
        geometry: Geometry,
        oracle: impl Fn(&[f64], &mut [f64]) -> Result<Option<f64>, Cause> + Send + Sync + 'static,
    ) -> Result<Self> {
        let dim = settle_dim("custom set", Some(dim), None)?;
        let alpha = geometry.strong_convexity;
        for (name, value, kind) in [
            ("diameter", Some(geometry.diameter), Kind::NOT_NEGATIVE),
            ("norm_bound", Some(geometry.norm_bound), Kind::NOT_NEGATIVE),
            ("inner_radius", geometry.inner_radius, Kind::NOT_NEGATIVE),
            ("strong_convexity", alpha, Kind::POSITIVE),
        ] {
            if let Some(value) = value {
                kind.admit("custom set", name, value)?;
            }
        }
        Ok(Self {
            name: name.into(),
            geometry,
            centre: vec![0.0; dim].into(),
            oracle: Arc::new(oracle),
            violation: None,
            smooth: None,
        })
    }

    /// Sets the centre, which must be a point of the set. The default is 0.
    pub fn with_centre(mut self, centre: &[f64]) -> Result<Self> {
        super::check_point(self.dim(), centre)?;
        self.centre = centre.into();
        Ok(self)
    }

    /// Sets the function that measures violations. The function returns 0 for a point of the set. For any
    /// other point, the function returns the violation relative to the set's scale.
    pub fn with_violation(
        mut self,
        violation: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
    ) -> Self {
        self.violation = Some(Arc::new(violation));
        self
    }

    /// Declares that the set is {x : h(x) ≤ 0} with a smooth h. The arguments give the curvature μ, the
    /// value and the gradient of h: see [`SmoothConstraint`].
    ///
    /// ```
    /// use extremal::set::{CustomSet, Geometry};
    /// let geometry = Geometry { diameter: 2.0, norm_bound: 1.0, inner_radius: Some(1.0), strong_convexity: None };
    /// let set = CustomSet::new("disc", 2, geometry, |_, _| Err("there is only h".into()))?
    ///     .with_smooth(1.0, |x| x[0] * x[0] + x[1] * x[1] - 1.0, |x, out| {
    ///         out.copy_from_slice(&[2.0 * x[0], 2.0 * x[1]]);
    ///     })?;
    /// # Ok::<(), extremal::Error>(())
    /// ```
    pub fn with_smooth(
        mut self,
        curvature: f64,
        value: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
        gradient: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static,
    ) -> Result<Self> {
        Kind::POSITIVE.admit("custom set", "curvature", curvature)?;
        self.smooth = Some(Constraint {
            value: Arc::new(value),
            gradient: Arc::new(gradient),
            curvature,
        });
        Ok(self)
    }
}

impl Set for CustomSet {
    fn name(&self) -> &str {
        &self.name
    }

    fn dim(&self) -> usize {
        self.centre.len()
    }

    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn facts(&self) -> Facts {
        Facts::own() // `oracle` checks every answer
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(CheckedOracle::around(self, Box::new(self.clone())))
    }

    fn centre(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.centre);
    }

    fn violation(&self, x: &[f64]) -> Option<f64> {
        self.violation.as_ref().map(|f| f(x))
    }

    fn smooth(&self) -> Option<Box<dyn SmoothConstraint>> {
        Some(Box::new(self.smooth.clone()?))
    }
}

impl SmoothConstraint for Constraint {
    fn value(&mut self, x: &[f64]) -> f64 {
        (self.value)(x)
    }

    fn gradient(&mut self, x: &[f64], out: &mut [f64]) {
        (self.gradient)(x, out);
    }

    fn curvature(&self) -> f64 {
        self.curvature
    }
}

impl Oracle for CustomSet {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum> {
        let v = atom.dense_mut(direction.len());
        let floor = (self.oracle)(direction, v).map_err(|cause| Error::Oracle {
            set: self.name.to_string(),
            cause,
        })?;
        let value = kernel::dot(direction, v);
        Ok(Minimum {
            value,
            floor: floor.unwrap_or(value),
        })
    }
}
