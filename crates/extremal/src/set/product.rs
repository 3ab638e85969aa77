//! The product K₁ × … × K_m: the decision consists of blocks, and each block lies in its own set.
//!
//! ```
//! use extremal::SetSpec;
//! // weights on a simplex, followed by a correction in a ball
//! let set = "product:sets=[(simplex:dim=4),(l2:dim=3)]".parse::<SetSpec>()?.build(None)?;
//! assert_eq!(set.dim(), 7);
//! # Ok::<(), extremal::Error>(())
//! ```

use std::ops::Range;
use std::sync::Arc;

use super::identity::Fingerprint;
use super::{
    Atom, Facts, Geometry, Inspector, MakeSet, Minimum, Oracle, Polytope, Projection, Set, SetSpec,
    SharedSet, check_direction, check_point, inspector_of, oracle_of, polytope::joint_distance,
    settle_dim,
};
use crate::parameter::fields;
use crate::set::composite::{check_size, largest, least};
use crate::spec::{About, Described, Kind};
use crate::{Error, Result, kernel};

fields! {
    /// Spec of [`ProductSet`].
    pub struct Product {
        /// the sets that are combined
        pub sets: Vec<SetSpec> => Kind::List(&Kind::Spec("set")),
    }
}

impl Described for Product {
    const ABOUT: About = About {
        summary: "product of sets: the decision consists of blocks, each in its own set",
        cost: "the sum of the sets' costs",
        guarantee: "D = √ΣD_b²; not strongly convex",
        reference: "textbook",
        citations: &[],
        examples: &[
            "product:sets=[(l2),(simplex:total=2)]",
            "product:sets=[(l1),(simplex:at-most=true)]",
        ],
    };
}

impl MakeSet for Product {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        // If a set can't be built here, it needs `dim`. An error of another kind occurs again below.
        let own: Vec<Result<SharedSet>> = self.sets.iter().map(|set| set.build(None)).collect();
        let mut open = own.iter().filter(|set| set.is_err()).count();
        let taken: usize = own.iter().flatten().map(|set| set.dim()).sum();
        let mut left = dim.unwrap_or(0).saturating_sub(taken);
        if let Some(dim) = dim
            && left < open
        {
            let (blocks, least) = (own.len(), taken + open);
            return Err(Error::Unsupported(format!(
                "set product has {blocks} blocks that need at least {least} coordinates, but the data has dimension {dim}"
            )));
        }
        let mut parts = Vec::with_capacity(own.len());
        for (spec, own) in self.sets.iter().zip(own) {
            parts.push(match (own, dim) {
                (Err(_), Some(_)) => {
                    let share = left.div_ceil(open);
                    (left, open) = (left - share, open - 1);
                    spec.build(Some(share))?
                }
                (own, _) => own?,
            });
        }
        let set: SharedSet = match &parts[..] {
            [only] => only.clone(),
            _ => Arc::new(ProductSet::new(parts)?),
        };
        settle_dim("product", Some(set.dim()), dim)?;
        Ok(set)
    }
}

/// K₁ × … × K_m.
pub struct ProductSet {
    blocks: Vec<Block>,
    geometry: Geometry,
}

#[derive(Clone)]
struct Block {
    set: SharedSet,
    range: Range<usize>,
}

impl ProductSet {
    /// The product of the given sets, in the given order.
    pub fn new(sets: Vec<SharedSet>) -> Result<Self> {
        if sets.is_empty() {
            return Err(Error::parameter("product", "sets", "[]", "one set or more"));
        }
        let all: Vec<Geometry> = sets.iter().map(|set| set.geometry()).collect();
        let norm_of =
            |size: fn(&Geometry) -> f64| kernel::norm(&all.iter().map(size).collect::<Vec<_>>());
        let geometry = Geometry {
            diameter: norm_of(|g| g.diameter),
            norm_bound: norm_of(|g| g.norm_bound),
            inner_radius: least(all.iter().map(|g| g.inner_radius)),
            strong_convexity: None,
        };
        let mut end = 0;
        let place = |set: SharedSet| {
            let start = end;
            end += set.dim();
            let range = start..end;
            Block { set, range }
        };
        let blocks = sets.into_iter().map(place).collect();
        settle_dim("product", Some(end), None)?;
        Ok(Self {
            blocks,
            geometry: check_size("product", "sets", "[…]", geometry)?,
        })
    }

    fn polytope(&self) -> Option<Polytope> {
        // a block that is a single point has no proper face
        let of = |block: &Block| match block.set.geometry().diameter {
            0.0 => Some(Some(f64::INFINITY)),
            _ => Some(block.set.polytope()?.facial_distance),
        };
        let parts: Option<Vec<_>> = self.blocks.iter().map(of).collect();
        let distances: Option<Vec<f64>> = parts?.into_iter().collect();
        Some(Polytope {
            facial_distance: distances.map(|all| joint_distance(all.iter().copied())),
            corners: None,
        })
    }
}

impl Set for ProductSet {
    fn name(&self) -> &str {
        "product"
    }

    fn dim(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.range.end)
    }

    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn facts(&self) -> Facts {
        Facts {
            polytope: self.polytope(),
            gauge: self.blocks.iter().all(|b| b.set.facts().gauge),
            ..Facts::of_parts(self.blocks.iter().map(|b| &*b.set))
        }
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        let part = |b: &Block| (b.range.clone(), oracle_of(&*b.set), Atom::new());
        Box::new(ProductOracle {
            dim: self.dim(),
            parts: self.blocks.iter().map(part).collect(),
        })
    }

    fn centre(&self, out: &mut [f64]) {
        for Block { set, range } in &self.blocks {
            set.centre(&mut out[range.clone()]);
        }
    }

    fn inspector(&self) -> Option<Inspector> {
        let of = |block: &Block| (block.range.clone(), inspector_of(&block.set));
        let mut parts: Vec<_> = self.blocks.iter().map(of).collect();
        Some(Box::new(move |x| {
            let each = parts.iter_mut();
            largest(each.map(|(range, part)| part(&x[range.clone()])))
        }))
    }

    fn gauge(&self, x: &[f64]) -> Option<f64> {
        let blocks = self.blocks.iter();
        largest(blocks.map(|b| b.set.gauge(&x[b.range.clone()])))
    }

    /// Returns the gauge and subgradient of the block with the largest gauge.
    fn gauge_gradient(&self, x: &[f64], out: &mut [f64]) -> Option<f64> {
        let (mut most, mut furthest) = (0.0, 0..0);
        for Block { set, range } in &self.blocks {
            let range = range.clone();
            let gauge = set.gauge_gradient(&x[range.clone()], &mut out[range.clone()])?;
            // the result is NaN if a gauge is NaN
            if gauge >= most || gauge.is_nan() {
                (most, furthest) = (gauge, range);
            }
        }
        out[..furthest.start].fill(0.0);
        out[furthest.end..].fill(0.0);
        Some(most)
    }

    fn projection(&self) -> Option<Box<dyn Projection>> {
        let part = |b: &Block| Some((b.range.clone(), b.set.projection()?));
        Some(Box::new(ProductProjection {
            dim: self.dim(),
            parts: self.blocks.iter().map(part).collect::<Option<_>>()?,
        }))
    }

    fn fingerprint(&self) -> u64 {
        Fingerprint::of_parts("product", self.blocks.iter().map(|b| &b.set))
    }
}

struct ProductOracle {
    dim: usize,
    parts: Vec<(Range<usize>, Box<dyn Oracle>, Atom)>,
}

impl Oracle for ProductOracle {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum> {
        check_direction(self.dim, direction)?;
        let (mut few, mut slack) = (true, 0.0);
        for (range, oracle, part) in &mut self.parts {
            slack += oracle.minimise(&direction[range.clone()], part)?.slack();
            few &= part.has_few_entries();
        }
        if few {
            let entries = self.parts.iter().flat_map(|(range, _, part)| {
                let start = range.start as u32;
                part.few_entries().map(move |(i, v)| (start + i, v))
            });
            atom.set_entries(self.dim, true, entries);
        } else {
            let v = atom.dense_mut(self.dim);
            for (range, _, part) in &self.parts {
                part.write(&mut v[range.clone()]);
            }
        }
        Ok(Minimum::within(atom.dot(direction), slack))
    }
}

struct ProductProjection {
    dim: usize,
    parts: Vec<(Range<usize>, Box<dyn Projection>)>,
}

impl Projection for ProductProjection {
    fn project(&mut self, x: &mut [f64]) -> Result<()> {
        check_point(self.dim, x)?;
        for (range, part) in &mut self.parts {
            part.project(&mut x[range.clone()])?;
        }
        Ok(())
    }
}
