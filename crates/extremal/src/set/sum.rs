//! The Minkowski sum K₁ + … + K_m = {x₁ + … + x_m : x_b ∈ K_b}. If all sets but one are ℓ2 balls, the sum
//! consists of all points within a certain distance of the other set. Violations and the projection then
//! follow from the projection onto this other set.
//!
//! ```
//! use extremal::SetSpec;
//! // a box with rounded corners
//! let set = "sum:sets=[(box),(l2:radius=0.5)]".parse::<SetSpec>()?.build(Some(2))?;
//! assert_eq!(set.violation(&[1.5, 0.7]), Some(0.0));
//! assert!(set.violation(&[1.5, 1.5]).unwrap() > 0.0);
//! # Ok::<(), extremal::Error>(())
//! ```

use std::sync::Arc;

use super::identity::Fingerprint;
use super::{
    Atom, Facts, Geometry, Inspector, MakeSet, Minimum, Oracle, Projection, Set, SetSpec,
    SharedSet, Structure, centre_of, check_direction, check_len, check_point, larger, oracle_of,
};
use crate::parameter::fields;
use crate::set::composite::check_size;
use crate::spec::{About, Described, Kind};
use crate::{Error, Result, kernel};

fields! {
    /// Spec of [`SumSet`].
    pub struct Sum {
        /// the sets that are combined
        pub sets: Vec<SetSpec> => Kind::List(&Kind::Spec("set")),
    }
}

impl Described for Sum {
    const ABOUT: About = About {
        summary: "Minkowski sum: all sums of one point from each set",
        cost: "the sum of the sets' costs, plus O(d); it has a projection if all sets but one are l2",
        guarantee: "D ≤ ΣD_b, with equality if all sets but one are l2; strong-convexity constant 1/Σ(1/α_b)",
        reference: "textbook",
        citations: &[],
        examples: &[
            "sum:sets=[(box),(l2:radius=0.5)]",
            "sum:sets=[(l2),(lp:p=1.5)]",
        ],
    };
}

impl MakeSet for Sum {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let own = || self.sets.iter().find_map(|set| set.build(None).ok());
        let dim = dim.or_else(|| own().map(|set| set.dim()));
        let sets: Result<Vec<_>> = self.sets.iter().map(|set| set.build(dim)).collect();
        Ok(Arc::new(SumSet::new(sets?)?))
    }
}

/// K₁ + … + K_m.
pub struct SumSet {
    sets: Vec<SharedSet>,
    geometry: Geometry,
}

impl SumSet {
    /// The sum of the given sets.
    pub fn new(sets: Vec<SharedSet>) -> Result<Self> {
        let Some(first) = sets.first() else {
            return Err(Error::parameter("sum", "sets", "[]", "one set or more"));
        };
        let dim = first.dim();
        for set in &sets {
            check_len("sets of a sum", dim, set.dim())?;
        }
        let all: Vec<Geometry> = sets.iter().map(|set| set.geometry()).collect();
        let flatness = |g: &Geometry| g.strong_convexity.map(f64::recip);
        let total_flatness: Option<f64> = all.iter().map(flatness).sum();
        let radii = all.iter().filter_map(|g| g.inner_radius);
        let geometry = Geometry {
            diameter: all.iter().map(|g| g.diameter).sum(),
            norm_bound: all.iter().map(|g| g.norm_bound).sum(),
            inner_radius: radii.reduce(|a, b| a + b),
            strong_convexity: total_flatness.map(f64::recip),
        };
        Ok(Self {
            geometry: check_size("sum", "sets", "[…]", geometry)?,
            sets,
        })
    }

    /// The sum as a neighbourhood of one set, if all other sets are ℓ2 balls around 0.
    fn surroundings(&self) -> Option<Surroundings> {
        let (mut radius, mut base) = (0.0, None);
        for set in &self.sets {
            match (set.structure(), &base) {
                (Structure::Euclidean { radius: r }, _) => radius += r,
                (_, None) => base = Some(set.projection()?),
                (_, Some(_)) => return None,
            }
        }
        Some(Surroundings {
            base,
            radius,
            near: vec![0.0; self.dim()],
        })
    }
}

impl Set for SumSet {
    fn name(&self) -> &str {
        "sum"
    }

    fn dim(&self) -> usize {
        self.sets[0].dim()
    }

    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn facts(&self) -> Facts {
        Facts::of_parts(self.sets.iter().map(|set| &**set))
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(SumOracle {
            dim: self.dim(),
            oracles: self.sets.iter().map(|set| oracle_of(&**set)).collect(),
            atom: Atom::new(),
        })
    }

    fn centre(&self, out: &mut [f64]) {
        out.fill(0.0);
        for set in &self.sets {
            kernel::axpy(1.0, &centre_of(&**set), out);
        }
    }

    fn inspector(&self) -> Option<Inspector> {
        let (mut surroundings, mut away) = (self.surroundings()?, vec![0.0; self.dim()]);
        let scale = larger(self.geometry.norm_bound, self.geometry.diameter);
        Some(Box::new(move |x| {
            away.copy_from_slice(x);
            // NaN if the point can't be projected
            let far = surroundings.away_from_base(&mut away).unwrap_or(f64::NAN);
            Some(larger(0.0, far - surroundings.radius) / scale)
        }))
    }

    fn projection(&self) -> Option<Box<dyn Projection>> {
        Some(Box::new(self.surroundings()?))
    }

    fn fingerprint(&self) -> u64 {
        Fingerprint::of_parts("sum", &self.sets)
    }
}

struct SumOracle {
    dim: usize,
    oracles: Vec<Box<dyn Oracle>>,
    atom: Atom,
}

impl Oracle for SumOracle {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum> {
        check_direction(self.dim, direction)?;
        let v = atom.dense_mut(self.dim);
        v.fill(0.0);
        let mut slack = 0.0;
        for oracle in &mut self.oracles {
            slack += oracle.minimise(direction, &mut self.atom)?.slack();
            self.atom.add_to(1.0, v);
        }
        Ok(Minimum::within(atom.dot(direction), slack))
    }
}

/// All points within `radius` of the set `base`, or of 0 if `base` is `None`.
struct Surroundings {
    base: Option<Box<dyn Projection>>,
    radius: f64,
    near: Vec<f64>,
}

impl Surroundings {
    /// Subtracts the nearest point of the base from x, and stores this point in `near`. Returns the
    /// distance.
    fn away_from_base(&mut self, x: &mut [f64]) -> Result<f64> {
        check_point(self.near.len(), x)?;
        match &mut self.base {
            None => self.near.fill(0.0),
            Some(base) => {
                self.near.copy_from_slice(x);
                base.project(&mut self.near)?;
            }
        }
        kernel::axpy(-1.0, &self.near, x);
        Ok(kernel::norm(x))
    }
}

impl Projection for Surroundings {
    fn project(&mut self, x: &mut [f64]) -> Result<()> {
        let far = self.away_from_base(x)?;
        if far > self.radius {
            x.iter_mut().for_each(|x| *x = (*x / far) * self.radius);
        }
        kernel::axpy(1.0, &self.near, x);
        Ok(())
    }
}
