//! The permutahedron of a weight vector w: the hull of all rearrangements of w. With w = 1…d the set is
//! the hull of all rankings of d items. A learner on this set learns an order.

use std::cmp::Ordering;
use std::sync::Arc;

use super::identity::Fingerprint;
use super::{
    Atom, Facts, Geometry, Inspector, MakeSet, Minimum, Oracle, Polytope, Projection, Set,
    SharedSet, check_direction, check_len, check_numbers, check_point, larger, settle_dim,
};
use crate::parameter::fields;
use crate::spec::{About, Described, Kind};
use crate::{Error, Result, kernel};

fields! {
    /// Spec of [`PermutahedronSet`].
    pub struct Permutahedron {
        /// the vector to permute, not all 0; default: 1, 2, …, d
        pub weights: Option<Vec<f64>> = None => Kind::List(&Kind::ENTRY),
        /// the dimension; default: the data's dimension
        pub dim: Option<usize> = None => Kind::COUNT,
    }
}

impl Described for Permutahedron {
    const ABOUT: About = About {
        summary: "permutahedron: convex hull of all permutations of a vector",
        cost: "oracle O(d log d); projection O(d log d)",
        guarantee: "D = ‖w sorted upwards − w sorted downwards‖; a polytope, not strongly convex",
        reference: "Rado, 1952; Lim & Wright, ICML 2016 (projection)",
        citations: &[],
        examples: &["permutahedron", "permutahedron:weights=[0,3,0.5,-1,0.5,0]"],
    };
}

impl MakeSet for Permutahedron {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let own = self.weights.as_ref().map(Vec::len);
        let dim = settle_dim("permutahedron", self.dim.or(own), dim)?;
        check_len("weights", dim, own.unwrap_or(dim))?;
        let ranks = || (1..=dim).map(|i| i as f64).collect();
        let weights = self.weights.clone().unwrap_or_else(ranks);
        Ok(Arc::new(PermutahedronSet::new(&weights)?))
    }
}

/// The hull of all rearrangements of a weight vector.
///
/// ```
/// use extremal::set::{Atom, Set, permutahedron::PermutahedronSet};
/// let ranks = PermutahedronSet::new(&[1.0, 2.0, 3.0]).unwrap();
/// let (mut atom, mut v) = (Atom::new(), [0.0; 3]);
/// ranks.oracle().minimise(&[0.5, -7.0, 2.0], &mut atom).unwrap();
/// atom.write(&mut v);
/// assert_eq!(v, [2.0, 3.0, 1.0]); // the smallest entry gets the largest weight
/// ```
#[derive(Debug)]
pub struct PermutahedronSet {
    /// The weights in decreasing order.
    weights: Arc<[f64]>,
    mean: f64,
    geometry: Geometry,
    scale: f64,
}

impl PermutahedronSet {
    /// The hull of all rearrangements of `weights`.
    pub fn new(weights: &[f64]) -> Result<Self> {
        let dim = settle_dim("permutahedron", Some(weights.len()), None)?;
        check_numbers("permutahedron", "weights", weights)?;
        let size = kernel::max_abs(weights);
        if size < 1e-50 {
            let value = format!("{weights:?}");
            let allowed = "numbers, at least one of size 1e-50 or more";
            return Err(Error::parameter("permutahedron", "weights", value, allowed));
        }
        let mut falling = weights.to_vec();
        falling.sort_unstable_by(|a, b| b.total_cmp(a));
        let (most, least) = (falling[0], falling[dim - 1]);
        let above: f64 = falling.iter().map(|w| w - least).sum();
        let turned = falling.iter().zip(falling.iter().rev());
        let apart: Vec<f64> = turned.map(|(a, b)| a - b).collect();
        Ok(Self {
            mean: least + above / dim as f64,
            geometry: Geometry {
                diameter: kernel::norm(&apart),
                norm_bound: kernel::norm(weights),
                ..Geometry::default()
            },
            // far from 0, rounding errors are relative to the distance from 0
            scale: if most > least {
                (most - least).max(1e-4 * size)
            } else {
                size
            },
            weights: falling.into(),
        })
    }
}

impl Set for PermutahedronSet {
    fn name(&self) -> &str {
        "permutahedron"
    }

    fn dim(&self) -> usize {
        self.weights.len()
    }

    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn facts(&self) -> Facts {
        Facts {
            polytope: Some(Polytope::PLAIN),
            ..Facts::own()
        }
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(PermutahedronOracle {
            weights: self.weights.clone(),
            order: Vec::with_capacity(self.dim()),
        })
    }

    fn centre(&self, out: &mut [f64]) {
        out.fill(self.mean);
    }

    fn fingerprint(&self) -> u64 {
        Fingerprint::new("permutahedron")
            .with_numbers(&self.weights)
            .value()
    }

    /// The sum of any k entries is at most the sum of the k largest weights, and the sum of all entries
    /// is the sum of all weights. The excess of k entries is divided by min(k, d − k), and the difference
    /// of the two totals is divided by d.
    fn inspector(&self) -> Option<Inspector> {
        let (weights, scale, d) = (self.weights.clone(), self.scale, self.dim());
        let mut falling = Vec::with_capacity(d);
        Some(Box::new(move |x| {
            falling.clear();
            falling.extend_from_slice(x);
            falling.sort_unstable_by(|a, b| f64::total_cmp(b, a));
            let (mut worst, mut sum) = (0.0, 0.0);
            for (i, (x, w)) in falling.iter().zip(&*weights).enumerate() {
                sum += x - w;
                let left = d - 1 - i;
                let (off, count) = match left {
                    0 => (sum.abs(), d),
                    _ => (sum, left.min(i + 1)),
                };
                worst = larger(worst, off / count as f64);
            }
            Some(worst / scale)
        }))
    }

    fn projection(&self) -> Option<Box<dyn Projection>> {
        let d = self.dim();
        Some(Box::new(PermutahedronProjection {
            weights: self.weights.clone(),
            mean: self.mean,
            order: Vec::with_capacity(d),
            blocks: Vec::with_capacity(d),
        }))
    }
}

/// Writes the keys in increasing order, each with its index. Equal keys are ordered by index.
fn arrange(order: &mut Vec<(f64, u32)>, keys: impl Iterator<Item = f64>) {
    order.clear();
    order.extend(keys.zip(0..));
    order.sort_unstable_by(|a, b| {
        let by_key = a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal);
        by_key.then(a.1.cmp(&b.1))
    });
}

struct PermutahedronOracle {
    weights: Arc<[f64]>,
    order: Vec<(f64, u32)>,
}

impl Oracle for PermutahedronOracle {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum> {
        check_direction(self.weights.len(), direction)?;
        arrange(&mut self.order, direction.iter().copied());
        let v = atom.dense_mut(direction.len());
        for (&(_, i), &w) in self.order.iter().zip(&*self.weights) {
            v[i as usize] = w;
        }
        Ok(Minimum::exact(atom.dot(direction)))
    }
}

struct PermutahedronProjection {
    weights: Arc<[f64]>,
    mean: f64,
    order: Vec<(f64, u32)>,
    blocks: Vec<Block>,
}

/// A block of consecutive entries of the sorted point. The projection moves all entries of a block by the
/// same amount. The sums are relative to the first entry and to the mean weight, so that neither entries
/// of size 1e16 nor weights of size 1 lose digits.
#[derive(Clone, Copy)]
struct Block {
    first: f64,
    /// Σ (entry − first)
    entries: f64,
    /// Σ (weight − mean)
    weights: f64,
    len: usize,
}

impl Block {
    /// The distance by which this block is moved, minus the distance by which an earlier block is moved.
    fn moved_more_than(&self, earlier: &Self) -> f64 {
        let middle = |b: &Self| (b.entries - b.weights) / b.len as f64;
        (self.first - earlier.first) + (middle(self) - middle(earlier))
    }

    fn joined(&self, later: &Self) -> Self {
        Self {
            first: self.first,
            entries: self.entries + (later.entries + later.len as f64 * (later.first - self.first)),
            weights: self.weights + later.weights,
            len: self.len + later.len,
        }
    }
}

impl Projection for PermutahedronProjection {
    /// For a sorted point y with projection x, y − x is the falling sequence that is nearest to y −
    /// w. Neighbours that violate the order are pooled.
    fn project(&mut self, x: &mut [f64]) -> Result<()> {
        check_point(self.weights.len(), x)?;
        arrange(&mut self.order, x.iter().map(|v| -v));
        self.blocks.clear();
        for (&(key, _), w) in self.order.iter().zip(&*self.weights) {
            let mut block = Block {
                first: -key,
                entries: 0.0,
                weights: w - self.mean,
                len: 1,
            };
            while let Some(earlier) = self.blocks.last()
                && block.moved_more_than(earlier) > 0.0
            {
                block = earlier.joined(&block);
                self.blocks.pop();
            }
            self.blocks.push(block);
        }
        let mut rest = &self.order[..];
        for block in &self.blocks {
            let (here, later) = rest.split_at(block.len);
            rest = later;
            let shift = (block.weights - block.entries) / block.len as f64;
            for &(key, i) in here {
                x[i as usize] = self.mean + ((-key - block.first) + shift);
            }
        }
        Ok(())
    }
}
