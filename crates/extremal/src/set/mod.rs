//! Constraint sets. A learner accesses a set through its linear minimisation oracle, which
//! minimises ⟨direction, v⟩ over the points v of the set. A set also states its constants
//! ([`Geometry`]), and it may have a projection or a gauge.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::spec::{Kind, registry};
use crate::{Error, Result, kernel};

pub mod affine;
mod atom;
pub mod boxes;
pub mod capped_simplex;
mod checked;
mod composite;
mod custom;
pub mod elastic_net;
pub mod ellipsoid;
pub mod group;
pub mod hull;
pub mod hypercube;
mod identity;
mod intersection;
pub mod k_sparse;
pub mod k_support;
pub mod l1;
pub mod l2;
pub mod lp;
pub mod permutahedron;
mod polytope;
pub mod product;
pub mod simplex;
mod smooth;
pub mod sum;
mod tools;
pub mod unit_free;

pub use atom::{Atom, AtomView};
pub(crate) use checked::{CheckedOracle, oracle_of};
pub use custom::CustomSet;
use identity::Fingerprint;
pub(crate) use identity::{Identity, check_saved_point};
pub use intersection::Intersection;
pub(crate) use lp::norm_p;
pub use polytope::Polytope;
pub use smooth::{FastProjection, SmoothConstraint};
pub(crate) use tools::top_k::Top;

/// A set that several learners may share.
pub type SharedSet = Arc<dyn Set>;

impl fmt::Debug for dyn Set + '_ {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Set({}, dim {})", self.name(), self.dim())
    }
}

registry! {
    /// The sets, by name.
    "set" SetSpec: MakeSet {
        "l2" => L2(l2::L2),
        "lp" => Lp(lp::Lp),
        "l1" => L1(l1::L1),
        "box" => Box(boxes::BoxSpec),
        "simplex" => Simplex(simplex::Simplex),
        "capped-simplex" => CappedSimplex(capped_simplex::CappedSimplex),
        "k-sparse" => KSparse(k_sparse::KSparse),
        "k-support" => KSupport(k_support::KSupport),
        "hypercube" => Hypercube(hypercube::Hypercube),
        "permutahedron" => Permutahedron(permutahedron::Permutahedron),
        "ellipsoid" => Ellipsoid(ellipsoid::Ellipsoid),
        "group" => Group(group::Group),
        "elastic-net" => ElasticNet(elastic_net::ElasticNet),
        "hull" => Hull(hull::Hull),
        "product" => Product(product::Product),
        "translate" => Translate(affine::Translate),
        "scale" => Scale(affine::Scale),
        "sum" => Sum(sum::Sum),
        "image" => Image(affine::Image),
        "unit-free" => UnitFree(unit_free::UnitFree),
    }
}

/// Builds a set from its spec.
pub(crate) trait MakeSet {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet>;
}

impl SetSpec {
    /// Builds the set. If the spec states no dimension, `dim` is used, for example the data's
    /// dimension. A `dim` that contradicts the spec is an error.
    pub fn build(&self, dim: Option<usize>) -> Result<SharedSet> {
        self.check()?;
        self.inner().make(dim)
    }
}

/// A closure that computes [`Set::violation`] and owns the memory that it needs.
pub type Inspector = Box<dyn FnMut(&[f64]) -> Option<f64> + Send + Sync>;

/// The set's centre.
pub(crate) fn centre_of(set: &dyn Set) -> Vec<f64> {
    let mut centre = vec![0.0; set.dim()];
    set.centre(&mut centre);
    centre
}

/// The set's inspector, or a closure that calls [`Set::violation`] if the set has no inspector.
pub(crate) fn inspector_of(set: &SharedSet) -> Inspector {
    let set = set.clone();
    set.inspector()
        .unwrap_or_else(|| Box::new(move |x| set.violation(x)))
}

/// A compact convex set.
pub trait Set: Send + Sync {
    /// The set's name in messages.
    fn name(&self) -> &str;

    /// The dimension.
    fn dim(&self) -> usize;

    /// The set's constants.
    fn geometry(&self) -> Geometry;

    /// A new oracle that owns its scratch memory, so that learners can run in parallel.
    fn oracle(&self) -> Box<dyn Oracle>;

    /// Further properties of the set. The default makes no claims.
    fn facts(&self) -> Facts {
        Facts::default()
    }

    /// The point where learners start and regularisers have their minimum. The default is 0.
    fn centre(&self, out: &mut [f64]) {
        out.fill(0.0);
    }

    /// The largest violation of a constraint, relative to the set's scale. The result is 0 for a point of
    /// the set, and NaN or positive for a point with NaN. It is `None` if the set can't compute
    /// violations. The default calls the [inspector](Set::inspector). Without an inspector, the result is
    /// the amount by which the gauge exceeds 1.
    fn violation(&self, x: &[f64]) -> Option<f64> {
        match self.inspector() {
            Some(mut inspect) => inspect(x),
            None => self.gauge(x).map(excess),
        }
    }

    /// A closure that computes [`Set::violation`] with reused memory, for sets whose `violation` would
    /// allocate memory in each call. The game calls this closure in every round.
    fn inspector(&self) -> Option<Inspector> {
        None
    }

    /// The gauge of x: the smallest s ≥ 0 with x ∈ s·K. Only a set K that contains 0 has a gauge.
    fn gauge(&self, _x: &[f64]) -> Option<f64> {
        None
    }

    /// Returns the gauge of x, as [`Set::gauge`] does, and writes a subgradient s of the gauge into
    /// `out`: ⟨s, x⟩ is the gauge, and ⟨s, u⟩ ≤ 1 for every point u of the set. If the gauge exceeds 1, s
    /// separates x from the set. Returns `None` and writes nothing if the set has no cheap gauge
    /// ([`Facts::gauge`]).
    ///
    /// ```
    /// use extremal::set::{Set, l1::L1Ball};
    /// let mut s = [0.0; 3];
    /// let gauge = L1Ball::new(3, 2.0)?.gauge_gradient(&[3.0, 0.0, -5.0], &mut s);
    /// assert_eq!((gauge, s), (Some(4.0), [0.5, 0.0, -0.5]));
    /// # Ok::<(), extremal::Error>(())
    /// ```
    fn gauge_gradient(&self, _x: &[f64], _out: &mut [f64]) -> Option<f64> {
        None
    }

    /// A new Euclidean projection, if the set has a projection.
    fn projection(&self) -> Option<Box<dyn Projection>> {
        None
    }

    /// A new smooth constraint h, if the set is {x : h(x) ≤ 0} with a smooth h.
    fn smooth(&self) -> Option<Box<dyn SmoothConstraint>> {
        None
    }

    /// The same set in a higher dimension, if the set can grow. The points whose new entries are 0
    /// form the current set, and the diameter does not change. Balls of the ℓp norms with p ≤ 2 can
    /// grow.
    fn grown(&self, _dim: usize) -> Option<SharedSet> {
        None
    }

    /// A hash for saved states. The hash distinguishes sets that have the same name, dimension and
    /// constants. The default hashes the centre. A set with further parameters must override the method
    /// and hash these parameters too.
    fn fingerprint(&self) -> u64 {
        if let Some((p, radius)) = self.facts().structure.as_ball() {
            // a ball around 0 has no further parameters
            return Fingerprint::new(self.name())
                .with_numbers(&[p, radius])
                .value();
        }
        let mut centre = vec![0.0; self.dim()];
        self.centre(&mut centre);
        Fingerprint::new(self.name()).with_numbers(&centre).value()
    }
}

impl dyn Set + '_ {
    /// The structure that a storage of decisions may exploit.
    pub fn structure(&self) -> Structure {
        self.facts().structure
    }

    /// The known properties of the vertices, if the set is known to be a polytope.
    pub fn polytope(&self) -> Option<Polytope> {
        self.facts().polytope
    }

    /// The curvature that the set states in its [`Facts`], or else the curvature that follows from
    /// its strong-convexity constant.
    pub fn curvature(&self) -> Option<Curvature> {
        let facts = self.facts();
        if facts.curvature.is_some() || facts.oracle == Answers::Missing {
            return facts.curvature; // learners that use a curvature need an oracle
        }
        let own = self.geometry();
        let alpha = own.strong_convexity?;
        let reach = if centre_of(self).iter().all(|v| *v == 0.0) {
            own.norm_bound
        } else {
            own.diameter
        };
        let l = reach * reach + reach / alpha;
        Some(Curvature::smooth(l, 2.0, 2.0 * reach))
    }
}

/// Properties of a set beyond its constants. The default claims nothing. A set that wraps an inner
/// set starts from the inner set's facts and changes the facts that differ.
///
/// ```
/// use extremal::set::{Facts, Set, Structure, l2::L2Ball};
/// let facts = L2Ball::new(3, 2.0)?.facts();
/// assert_eq!(facts.structure, Structure::Euclidean { radius: 2.0 });
/// assert_eq!(facts.polytope, None);
/// # Ok::<(), extremal::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Facts {
    /// The structure that a storage of decisions may exploit.
    pub structure: Structure,
    /// The known properties of the vertices, if the set is known to be a polytope.
    pub polytope: Option<Polytope>,
    /// The curvature of the support function, if more is known than the strong-convexity constant
    /// implies. This is the curvature of the set after a translation that moves the centre to 0.
    pub curvature: Option<Curvature>,
    /// Whether the oracle's answers are checked.
    pub oracle: Answers,
    /// Whether 0 is in the interior and [`Set::gauge_gradient`] returns the gauge with a
    /// subgradient.
    pub gauge: bool,
}

impl Facts {
    /// The facts of a set of this library, whose oracle is trusted.
    pub(crate) fn own() -> Self {
        Self {
            oracle: Answers::Trusted,
            ..Self::default()
        }
    }

    /// The facts of a set whose oracle calls the oracles of its parts.
    pub(crate) fn of_parts<'a>(parts: impl IntoIterator<Item = &'a dyn Set>) -> Self {
        let missing = |set: &dyn Set| set.facts().oracle == Answers::Missing;
        let mut facts = Self::own();
        if parts.into_iter().any(missing) {
            facts.oracle = Answers::Missing;
        }
        facts
    }
}

/// Whether an oracle's answers are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answers {
    /// Every answer is checked.
    #[default]
    Checked,
    /// Answers are not checked: the oracle is the library's own or checks them itself.
    Trusted,
    /// The set has no oracle. A learner that needs an oracle can't be built.
    Missing,
}

/// The result of an oracle: the value of its atom, and a lower bound on the minimum over the set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Minimum {
    /// ⟨direction, atom⟩, which the step rules use.
    pub value: f64,
    /// A proven lower bound on ⟨direction, v⟩ over the set. The floor equals `value` if the oracle is
    /// exact. Certificates use this bound.
    pub floor: f64,
}

impl Minimum {
    /// The result of an oracle that is exact up to rounding. Certificates add their own allowance
    /// for rounding.
    pub fn exact(value: f64) -> Self {
        Self::within(value, 0.0)
    }

    /// value − floor: an upper bound on how far the atom's value exceeds the minimum.
    pub fn slack(&self) -> f64 {
        if self.value == self.floor {
            0.0 // ∞ − ∞ is NaN
        } else {
            self.value - self.floor
        }
    }

    /// A result with this value, and a floor that is lower by `slack`.
    pub(crate) fn within(value: f64, slack: f64) -> Self {
        let floor = value - slack;
        Self { value, floor }
    }
}

/// Minimises ⟨direction, v⟩ over a set. The result depends only on the direction and on the atom
/// that is passed in: an oracle keeps no state between calls.
///
/// An iterative oracle may start from the atom that the caller passes in. The exact oracles of the
/// library overwrite this atom without reading it. If a resumed run must repeat every bit, the caller of
/// an iterative oracle must save the last atom. A storage that may discard a probe keeps two atoms. The
/// storage copies the committed atom into the second atom, passes the second atom to the oracle, and
/// swaps the two atoms on commit. A discarded probe then has no effect.
pub trait Oracle: Send + Sync {
    /// Writes a minimiser into `atom` and returns its value. Equal calls break ties in the same
    /// way. A direction with NaN or ∞ is an error.
    ///
    /// ```
    /// use extremal::set::{Atom, Minimum, Set, l1::L1Ball};
    /// let mut oracle = L1Ball::new(3, 2.0)?.oracle();
    /// let found = oracle.minimise(&[1.0, -4.0, 2.0], &mut Atom::new())?;
    /// assert_eq!(found, Minimum::exact(-8.0));
    /// # Ok::<(), extremal::Error>(())
    /// ```
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum>;
}

/// Moves a point to the nearest point of a set. A projection keeps no state between calls.
pub trait Projection: Send + Sync {
    /// x ← the nearest point of the set.
    fn project(&mut self, x: &mut [f64]) -> Result<()>;
}

/// A set's constants, all in the ℓ2 norm. For a set that is made of other sets, the diameter and the norm
/// bound may be upper bounds, and the inner radius may be a lower bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Geometry {
    /// D = max ‖x − y‖ over the points of the set.
    pub diameter: f64,
    /// R = max ‖x‖ over the points of the set.
    pub norm_bound: f64,
    /// The radius of a ball around the centre that lies in the set, if the set has an interior.
    pub inner_radius: Option<f64>,
    /// The strong-convexity constant α_K, if the set is strongly convex.
    pub strong_convexity: Option<f64>,
}

impl Default for Geometry {
    /// Nothing is known: D and R are ∞.
    fn default() -> Self {
        Self {
            diameter: f64::INFINITY,
            norm_bound: f64::INFINITY,
            inner_radius: None,
            strong_convexity: None,
        }
    }
}

/// The structure that a storage of decisions may exploit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Structure {
    /// No structure: the storage has to call the oracle.
    #[default]
    General,
    /// The ball ‖x‖₂ ≤ radius: the atom is a multiple of the direction.
    Euclidean {
        /// The radius.
        radius: f64,
    },
    /// The ball ‖x‖_p ≤ radius with p ≠ 2: the atom is a multiple of sgn(d)|d|^(q−1).
    Power {
        /// The norm's exponent.
        p: f64,
        /// The radius.
        radius: f64,
    },
    /// Atoms with few entries: see [`SparseAtoms`].
    Sparse(SparseAtoms),
    /// The ball of this radius in units that depend on the data: see [`unit_free`].
    UnitFree {
        /// The radius.
        radius: f64,
    },
}

impl Structure {
    /// The structure of the ball ‖x‖_p ≤ radius.
    pub fn ball(p: f64, radius: f64) -> Self {
        if p == 2.0 {
            Self::Euclidean { radius }
        } else {
            Self::Power { p, radius }
        }
    }

    /// p and the radius, if this is the structure of a ball around 0.
    pub fn as_ball(&self) -> Option<(f64, f64)> {
        match *self {
            Self::Euclidean { radius } => Some((2.0, radius)),
            Self::Power { p, radius } => Some((p, radius)),
            _ => None,
        }
    }
}

/// Every atom has `count` non-zero entries of equal size. [`AtomSigns`] describes the places and the
/// signs of these entries. Ties go to the smallest indices. All entries of the set's centre are equal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SparseAtoms {
    /// The number of entries of an atom.
    pub count: usize,
    /// The absolute value of each non-zero entry of an atom.
    pub size: f64,
    /// The signs of the non-zero entries of an atom.
    pub signs: AtomSigns,
}

/// The signs of the entries of [`SparseAtoms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtomSigns {
    /// The non-zero entries are where |direction| is largest. Each is ±size, with the sign opposite to
    /// that of the direction.
    Any,
    /// The only non-zero entry is +size, at the smallest entry of the direction.
    Positive,
    /// As for `Positive`, but the atom is 0 if no entry of the direction is negative.
    PositiveOrZero,
}

/// The curvature of a set's support function h(g) = max ⟨g, v⟩ over the points v of the set.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Curvature {
    /// The kind of curvature.
    pub kind: CurvatureKind,
    /// The q of the ℓ_q norm in which gradients are measured.
    pub gradient_norm: f64,
    /// A number w with h(g) + h(−g) ≤ w·‖g‖_q for every g.
    pub width: f64,
}

impl Curvature {
    /// The curvature of the ℓ2 ball with this radius, and of sets that are at least as curved.
    pub(crate) fn euclidean(radius: f64) -> Self {
        Self::smooth(radius * radius, 2.0, 2.0 * radius)
    }

    /// The curvature of a set whose ½h² is l-smooth.
    pub(crate) fn smooth(l: f64, gradient_norm: f64, width: f64) -> Self {
        Self {
            kind: CurvatureKind::Smooth { l },
            gradient_norm,
            width,
        }
    }
}

/// The kinds of [`Curvature`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum CurvatureKind {
    /// ½h² is l-smooth.
    Smooth {
        /// The smoothness constant l.
        l: f64,
    },
    /// The set is an ℓp ball with p > 2, and h^q/q is smooth of order q < 2.
    Uniform {
        /// The exponent q, conjugate to p.
        q: f64,
        /// The ball's radius.
        radius: f64,
    },
}

/// Returns the dimension that the spec or the data states. If both state a dimension, the two must be
/// equal.
pub(crate) fn settle_dim(
    owner: &'static str,
    spec: Option<usize>,
    data: Option<usize>,
) -> Result<usize> {
    if let (Some(a), Some(b)) = (spec, data)
        && a != b
    {
        return Err(Error::Unsupported(format!(
            "set {owner} has dim={a}, but the data has dimension {b}"
        )));
    }
    let dim = spec.or(data).ok_or(Error::Missing {
        owner,
        name: "dim",
        why: "the dimension is neither in the spec nor known from the data",
    })?;
    if dim == 0 || dim > u32::MAX as usize {
        let allowed = "between 1 and 4294967295";
        return Err(Error::parameter(owner, "dim", dim, allowed));
    }
    Ok(dim)
}

/// Returns the set in dimension `dim`. The error explains why the set can't grow to this dimension.
pub fn grown(set: &SharedSet, dim: usize) -> Result<SharedSet> {
    let (name, now) = (set.name(), set.dim());
    if dim == now {
        return Ok(set.clone());
    }
    if dim < now || dim > u32::MAX as usize {
        return Err(Error::Unsupported(format!(
            "set {name} in dimension {now} can't grow to dimension {dim}; choose a dimension between {now} and 4294967295"
        )));
    }
    set.grown(dim).ok_or_else(|| {
        Error::Unsupported(format!(
            "set {name} can't grow to a higher dimension; choose its final dimension from the start"
        ))
    })
}

/// How far a gauge exceeds 1. NaN stays NaN, because a point with NaN is infeasible.
pub(crate) fn excess(gauge: f64) -> f64 {
    if gauge <= 1.0 { 0.0 } else { gauge - 1.0 }
}

/// The larger of two numbers. It is NaN if either is NaN.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a >= b || a.is_nan() { a } else { b }
}

pub(crate) fn check_radius(owner: &'static str, name: &'static str, radius: f64) -> Result<f64> {
    Kind::SIZE.admit(owner, name, radius)
}

/// Returns an error unless every value is allowed as a coordinate of a point.
pub(crate) fn check_numbers(owner: &'static str, name: &'static str, values: &[f64]) -> Result<()> {
    let mut values = values.iter();
    values.try_for_each(|value| Kind::ENTRY.admit(owner, name, *value).map(|_| ()))
}

/// Returns an error unless `direction` has `dim` finite entries.
pub(crate) fn check_direction(dim: usize, direction: &[f64]) -> Result<()> {
    check_entries("direction", dim, direction)
}

/// Returns an error unless `x` has `dim` finite entries.
pub(crate) fn check_point(dim: usize, x: &[f64]) -> Result<()> {
    check_entries("point", dim, x)
}

/// Returns an error unless `expected` and `found` agree. `what` names the object in the message.
pub(crate) fn check_len(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::Size {
        what,
        expected,
        found,
    })
}

/// Returns an error unless `entries` has `dim` finite numbers. `what` names the entries in the
/// message.
pub(crate) fn check_entries(what: &'static str, dim: usize, entries: &[f64]) -> Result<()> {
    check_len(what, dim, entries.len())?;
    match kernel::find_not_finite(entries) {
        None => Ok(()),
        Some((index, value)) => Err(Error::NotFinite { what, index, value }),
    }
}
