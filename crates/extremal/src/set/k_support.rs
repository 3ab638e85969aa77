//! The ball of the k-support norm: the hull of the vectors with at most k non-zeros and ℓ2 norm at most
//! r. This ball is the tightest convex relaxation of the k-sparse vectors of bounded length. For k = 1 it
//! is the ℓ1 ball, and for k ≥ d it is the ℓ2 ball.

use std::sync::Arc;

use super::k_sparse::check_k;
use super::{
    Atom, Curvature, Facts, Geometry, Inspector, MakeSet, Minimum, Oracle, Projection, Set,
    SharedSet, Structure, check_direction, check_point, check_radius, excess, settle_dim,
};
use crate::parameter::fields;
use crate::set::tools::level::Level;
use crate::set::tools::top_k::Top;
use crate::spec::{About, Described, Kind};
use crate::{Result, kernel, range};

fields! {
    /// Spec of [`KSupportBall`].
    pub struct KSupport {
        /// the number k of entries of an atom; a k above the dimension is reduced to the dimension
        pub k: usize => Kind::COUNT,
        /// the radius
        pub radius: f64 = 1.0 => Kind::SIZE,
        /// the dimension; default: the data's dimension
        pub dim: Option<usize> = None => Kind::COUNT,
    }
}

impl Described for KSupport {
    const ABOUT: About = About {
        summary: "ball of the k-support norm: hull of the k-sparse vectors in an ℓ2 ball",
        cost: "oracle O(d + k log k), k entries per atom; projection O(d log d) and about 60 passes over the entries near the threshold",
        guarantee: "D = 2r; strongly convex only for k ≥ d, with the constant 1/r",
        reference: "Argyriou, Foygel & Srebro, NIPS 2012; McDonald, Pontil & Stamos, JMLR 2016",
        citations: &[],
        examples: &["k-support:k=2,radius=3", "k-support:k=4"],
    };
}

impl MakeSet for KSupport {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let dim = settle_dim("k-support", self.dim, dim)?;
        Ok(Arc::new(KSupportBall::new(dim, self.k, self.radius)?))
    }
}

/// conv {‖x‖₀ ≤ k, ‖x‖₂ ≤ radius}.
///
/// ```
/// use extremal::set::{Atom, Set, k_support::KSupportBall};
/// let set = KSupportBall::new(4, 2, 5.0).unwrap();
/// let (mut atom, mut v) = (Atom::new(), [0.0; 4]);
/// let found = set.oracle().minimise(&[3.0, -1.0, 2.0, -4.0], &mut atom).unwrap();
/// atom.write(&mut v);
/// assert_eq!((found.value, v), (-25.0, [-3.0, 0.0, 0.0, 4.0]));
/// assert_eq!(set.gauge(&v), Some(1.0));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct KSupportBall {
    dim: usize,
    k: usize,
    radius: f64,
}

impl KSupportBall {
    /// The ball around 0. A k above the dimension is reduced to the dimension.
    pub fn new(dim: usize, k: usize, radius: f64) -> Result<Self> {
        let dim = settle_dim("k-support", Some(dim), None)?;
        let k = check_k("k-support", k, dim)?;
        let radius = check_radius("k-support", "radius", radius)?;
        Ok(Self { dim, k, radius })
    }
}

impl Set for KSupportBall {
    fn name(&self) -> &str {
        "k-support"
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn geometry(&self) -> Geometry {
        Geometry {
            diameter: 2.0 * self.radius,
            norm_bound: self.radius,
            inner_radius: Some(self.radius * (self.k as f64 / self.dim as f64).sqrt()),
            strong_convexity: (self.k == self.dim).then_some(1.0 / self.radius),
        }
    }

    fn facts(&self) -> Facts {
        if self.k < self.dim {
            return Facts::own();
        }
        Facts {
            structure: Structure::ball(2.0, self.radius),
            curvature: Some(Curvature::euclidean(self.radius)),
            ..Facts::own()
        }
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(KSupportOracle {
            ball: *self,
            top: Top::with_capacity(self.k, self.dim),
        })
    }

    fn inspector(&self) -> Option<Inspector> {
        let Self { k, radius, dim } = *self;
        let mut sizes = Vec::with_capacity(dim);
        Some(Box::new(move |x| {
            Some(excess(norm(x, k, &mut sizes) / radius))
        }))
    }

    fn gauge(&self, x: &[f64]) -> Option<f64> {
        Some(norm(x, self.k, &mut Vec::new()) / self.radius)
    }

    fn projection(&self) -> Option<Box<dyn Projection>> {
        Some(Box::new(KSupportProjection {
            ball: *self,
            sizes: Vec::with_capacity(self.dim),
            squares: Vec::with_capacity(self.dim + 1),
        }))
    }
}

/// The k-support norm: the ℓ2 norm of k numbers. The first k − r − 1 of them are the largest |x_i|. The
/// other r + 1 are all equal to T/(r+1), where T is the sum of the remaining |x_i|. The number r is the
/// smallest of 0, …, k − 1 for which each of these largest |x_i| exceeds T/(r+1).
fn norm(x: &[f64], k: usize, sizes: &mut Vec<f64>) -> f64 {
    let length = kernel::norm(x);
    if length == 0.0 || !length.is_finite() {
        return length;
    }
    let scale = kernel::max_abs(x);
    sizes.clear();
    sizes.extend(x.iter().map(|v| v.abs() / scale));
    let falling = |a: &f64, b: &f64| b.total_cmp(a);
    sizes.select_nth_unstable_by(k - 1, falling);
    sizes[..k].sort_unstable_by(falling);
    let mut head = k - 1;
    let mut total: f64 = sizes[head..].iter().sum();
    while head > 0 && sizes[head - 1] <= total / (k - head) as f64 {
        head -= 1;
        total += sizes[head];
    }
    let tail = total * total / (k - head) as f64;
    scale * (kernel::dot(&sizes[..head], &sizes[..head]) + tail).sqrt()
}

struct KSupportOracle {
    ball: KSupportBall,
    top: Top,
}

impl Oracle for KSupportOracle {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum> {
        let KSupportBall { dim, k, radius } = self.ball;
        check_direction(dim, direction)?;
        let chosen = self.top.largest(direction.iter().map(|d| d.abs()), k);
        let (indices, values) = atom.sparse_mut();
        indices.reserve(k);
        values.reserve(k);
        for &(_, i) in chosen.iter().filter(|c| c.0 > 0.0) {
            indices.push(i);
            values.push(direction[i as usize]);
        }
        let length = kernel::norm(values);
        if length < f64::MIN_POSITIVE {
            atom.set_coordinate(0, radius);
            return Ok(Minimum::exact(0.0));
        }
        values.iter_mut().for_each(|v| *v = *v / length * -radius);
        Ok(Minimum::exact(-radius * length))
    }
}

struct KSupportProjection {
    ball: KSupportBall,
    /// The absolute values of the point's entries in units of the radius, in decreasing order.
    sizes: Vec<f64>,
    /// The i-th entry is the sum of the squares of the i largest `sizes`.
    squares: Vec<f64>,
}

impl Projection for KSupportProjection {
    /// The norm is the smallest √(Σ x_i²/θ_i) over 0 ≤ θ ≤ 1 with Σθ = k. The nearest point is x_i
    /// = y_i·θ_i/(θ_i + λ) with θ_i = clip((|y_i| − λδ)/δ, 0, 1), where λ is the multiplier of the
    /// constraint and δ > 0 a scale. For a given δ the θ_i are the shares of a [`Level`] λδ with
    /// the cap δ. The norm of x grows with δ.
    fn project(&mut self, x: &mut [f64]) -> Result<()> {
        let KSupportBall { dim, k, radius } = self.ball;
        check_point(dim, x)?;
        if norm(x, k, &mut self.sizes) <= radius {
            return Ok(());
        }
        // Points at a distance of more than FAR radii are moved to this distance, and entries below
        // 1e-150 radii are set to 0, so that squares stay in range. Both changes are smaller than
        // rounding errors.
        let unit = radius.max(kernel::max_abs(x) / range::FAR);
        let size = |v: f64| {
            let size = v.abs() / unit;
            if size < 1e-150 { 0.0 } else { size }
        };
        self.sizes.clear();
        self.sizes.extend(x.iter().map(|&v| size(v)));
        self.sizes.sort_unstable_by(|a, b| b.total_cmp(a));
        if self.sizes.get(k).is_none_or(|size| *size == 0.0) {
            let length = kernel::norm(x);
            x.iter_mut().for_each(|x| *x = (*x / length) * radius);
            return Ok(());
        }
        self.squares.clear();
        self.squares.push(0.0);
        let mut sum = 0.0;
        for size in &self.sizes {
            sum += size * size;
            self.squares.push(sum);
        }
        let (level, full_at) = self.level();
        for x in x.iter_mut() {
            let (y, share) = (size(*x), level.share(size(*x)));
            let shrunk = if share < 1.0 {
                share * level.cap
            } else {
                y * (level.cap / full_at)
            };
            *x = (shrunk * radius).copysign(*x);
        }
        Ok(())
    }
}

impl KSupportProjection {
    /// The level whose point has norm 1, and the size above which shares are 1.
    fn level(&self) -> (Level, f64) {
        let k = self.ball.k as f64;
        let at = |cap: f64| {
            let level = Level::find(&self.sizes, cap, k);
            let full_at = level.base + (1.0 - level.depth) * cap;
            (level, full_at)
        };
        let is_within = |cap: f64| {
            let (level, full_at) = at(cap);
            let full = self.sizes.partition_point(|&y| level.share(y) >= 1.0);
            let length = (self.squares[full].sqrt() / full_at).hypot((k - full as f64).sqrt());
            level.base >= level.depth * cap && cap * length <= 1.0
        };
        // Positive numbers have the same order as their bits. For any cap, the bisection of the
        // bits ends at two neighbouring numbers after at most 64 steps.
        let (mut low, mut high) = (1e-280_f64.to_bits(), k.sqrt().recip().to_bits() + 1);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if is_within(f64::from_bits(middle)) {
                low = middle;
            } else {
                high = middle;
            }
        }
        at(f64::from_bits(low))
    }
}
