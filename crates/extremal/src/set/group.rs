//! The group ball {‖(‖x_g‖_s)_g‖_p ≤ r}, whose atoms select whole groups of coordinates. With s = 2 and
//! p = 1 the set is the ball of the group lasso, and only one group of an atom is not 0.
//!
//! For 1 < s, p ≤ 2 the set is strongly convex in its own norm, with the constant K/r where
//! K = min(s, p) − 1. The proof uses the p-inequality (E N(x ± y)^p)^(2/p) ≥ N(x)² + K·N(y)² of a norm
//! N, where the sign is random. The ℓs norm satisfies the s-inequality with the constant s − 1 (Ball,
//! Carlen & Lieb 1994). The ℓs norm therefore satisfies the p-inequality too. For p ≥ s, the reason
//! is that means increase with their exponent. For p < s, hypercontractivity gives the constant p − 1.
//! Hypercontractivity also holds for vectors, because the operator is positive. An ℓp sum of norms
//! inherits the p-inequality by Minkowski's inequality for the exponent p/2 ≤ 1.
//!
//! ```
//! use extremal::set::{AtomView, Atom, Set, group::GroupBall};
//! let ball = GroupBall::new(&[vec![0, 3], vec![1, 2]], 2.0, 1.0, 5.0)?;
//! let mut atom = Atom::new();
//! assert_eq!(ball.oracle().minimise(&[3.0, 1.0, 1.0, 4.0], &mut atom)?.value, -25.0);
//! assert!(matches!(atom.view(), AtomView::Sparse { indices: [0, 3], .. }));
//! # Ok::<(), extremal::Error>(())
//! ```

use std::ops::Range;
use std::sync::Arc;

use super::identity::Fingerprint;
use super::l1::{L1Ball, sign};
use super::lp::{LpBall, norm_of, norm_p};
use super::{
    Atom, Curvature, Facts, Geometry, MakeSet, Minimum, Oracle, Projection, Set, SharedSet,
    check_direction, check_point, check_radius, settle_dim,
};
use crate::kernel::{self, Exponent};
use crate::parameter::fields;
use crate::range::SMALLEST_DIRECTION;
use crate::spec::{About, Described, Kind};
use crate::{Error, Result};

fields! {
    /// Spec of [`GroupBall`].
    pub struct Group {
        /// the exponent within groups
        pub s: f64 = 2.0 => Kind::at_least(1.0),
        /// the exponent across groups
        pub p: f64 = 1.0 => Kind::at_least(1.0),
        /// the radius
        pub radius: f64 = 1.0 => Kind::SIZE,
        /// a list with one list of coordinates per group; coordinates count from 0, and every coordinate
        /// is in exactly one group
        pub groups: Option<Vec<Vec<usize>>> = None => Kind::List(&Kind::List(&Kind::WHOLE)),
        /// the number of consecutive coordinates per group, given instead of groups; the last group
        /// may be smaller
        pub size: Option<usize> = None => Kind::COUNT,
        /// the dimension; default: the data's dimension
        pub dim: Option<usize> = None => Kind::COUNT,
    }
}

impl Described for Group {
    const ABOUT: About = About {
        summary: "ball of the ℓp norm of the groups' ℓs norms; the group lasso has s = 2 and p = 1",
        cost: "oracle O(d), one group per atom for p = 1; projection only for s = 2: O(d) plus a projection of the groups' norms",
        guarantee: "s, p ≤ 2: D = 2r; 1 < s, p ≤ 2: strong-convexity constant (min(s,p)−1)·n^(1/2−1/s)·m^(1/2−1/p)/r for m groups of n coordinates",
        reference: "Yuan & Lin, JRSS B 2006; Ball, Carlen & Lieb, Inventiones 1994 (convexity)",
        citations: &[],
        examples: &[
            "group:size=3",
            "group:size=4,s=1.5,p=1.2,radius=2",
            "group:size=2,s=2,p=1.5",
            "group:size=5,s=1.3,p=1.3",
            "group:size=3,s=1,p=2",
            "group:groups=[[0,7,2],[9],[1,8,3,4],[5,6]],p=1,radius=3",
        ],
    };
}

impl MakeSet for Group {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let of_groups = |groups: &Vec<Vec<usize>>| groups.iter().map(Vec::len).sum();
        let own = self.dim.or(self.groups.as_ref().map(of_groups));
        let dim = settle_dim("group", own, dim)?;
        let layout = match (&self.groups, self.size) {
            (Some(groups), None) => Layout::listed(groups, dim)?,
            (None, Some(size)) => Layout::even(dim, size)?,
            _ => {
                let why = "group needs exactly one of the keys groups and size";
                return Err(Error::Unsupported(why.into()));
            }
        };
        let ball = GroupBall::with_layout(layout, self.s, self.p, self.radius)?;
        Ok(Arc::new(ball))
    }
}

/// The partition of the coordinates into groups.
#[derive(Debug)]
struct Layout {
    /// The start of each group in `order`, and the end of the last group.
    starts: Vec<usize>,
    /// The coordinates, group by group.
    order: Vec<u32>,
}

impl Layout {
    fn even(dim: usize, size: usize) -> Result<Self> {
        if size == 0 {
            return Err(Error::parameter("group", "size", size, "1 or more"));
        }
        let starts = (0..dim).step_by(size).chain([dim]).collect();
        let order = (0..dim as u32).collect();
        Ok(Self { starts, order })
    }

    fn listed(groups: &[Vec<usize>], dim: usize) -> Result<Self> {
        let bad = |value: String| {
            let allowed =
                "non-empty groups that contain every coordinate from 0 to dim − 1 exactly once";
            Err(Error::parameter("group", "groups", value, allowed))
        };
        let (mut starts, mut order) = (vec![0], Vec::with_capacity(dim));
        let mut seen = vec![false; dim];
        for group in groups {
            for &i in group {
                match seen.get_mut(i) {
                    Some(seen) if !*seen => *seen = true,
                    Some(_) => return bad(format!("… with coordinate {i} twice")),
                    None => return bad(format!("… with coordinate {i} in dimension {dim}")),
                }
                order.push(i as u32);
            }
            if group.is_empty() {
                return bad("… with an empty group".into());
            }
            starts.push(order.len());
        }
        if let Some(i) = seen.iter().position(|seen| !seen) {
            return bad(format!("… without coordinate {i}"));
        }
        Ok(Self { starts, order })
    }

    fn dim(&self) -> usize {
        self.order.len()
    }

    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    fn ranges(&self) -> impl Iterator<Item = Range<usize>> + Clone + '_ {
        self.starts.windows(2).map(|w| w[0]..w[1])
    }

    /// The coordinate at this position of `order`.
    fn coordinate(&self, place: usize) -> usize {
        self.order[place] as usize
    }
}

/// {‖(‖x_g‖_s)_g‖_p ≤ radius}.
#[derive(Debug, Clone)]
pub struct GroupBall {
    layout: Arc<Layout>,
    s: f64,
    p: f64,
    radius: f64,
}

impl GroupBall {
    /// The ball around 0. Each group lists its coordinates, counted from 0. Every coordinate is in
    /// one group.
    pub fn new(groups: &[Vec<usize>], s: f64, p: f64, radius: f64) -> Result<Self> {
        let dim = settle_dim("group", Some(groups.iter().map(Vec::len).sum()), None)?;
        Self::with_layout(Layout::listed(groups, dim)?, s, p, radius)
    }

    /// The ball around 0 with groups of `size` consecutive coordinates. The last group may be
    /// smaller.
    pub fn of_size(dim: usize, size: usize, s: f64, p: f64, radius: f64) -> Result<Self> {
        let dim = settle_dim("group", Some(dim), None)?;
        Self::with_layout(Layout::even(dim, size)?, s, p, radius)
    }

    fn with_layout(layout: Layout, s: f64, p: f64, radius: f64) -> Result<Self> {
        Ok(Self {
            layout: Arc::new(layout),
            s: Kind::at_least(1.0).admit("group", "s", s)?,
            p: Kind::at_least(1.0).admit("group", "p", p)?,
            radius: check_radius("group", "radius", radius)?,
        })
    }

    /// ‖x_g‖_e for every group g.
    fn norms<'a>(&'a self, x: &'a [f64], e: f64) -> impl Iterator<Item = f64> + Clone + 'a {
        let layout = &*self.layout;
        let entries = move |range: Range<usize>| range.map(|place| x[layout.coordinate(place)]);
        layout.ranges().map(move |range| norm_of(e, entries(range)))
    }

    /// The ball in which the vector of the groups' norms lies.
    fn across(&self) -> Box<dyn Set> {
        let (dim, radius) = (self.layout.count(), self.radius);
        if self.p == 1.0 {
            Box::new(L1Ball { dim, radius })
        } else {
            Box::new(LpBall {
                dim,
                p: self.p,
                radius,
            })
        }
    }

    fn gauge_of(&self, x: &[f64]) -> f64 {
        norm_of(self.p, self.norms(x, self.s)) / self.radius
    }

    /// max ‖(n_g^e·t_g)_g‖_p over ‖t‖₂ = 1 if `inward` is true, and max ‖(n_g^e·t_g)_g‖₂ over ‖t‖_p = 1
    /// if `inward` is false, where n_g is the size of group g. Hölder's inequality with the exponents 2
    /// and p gives this maximum.
    fn spread(&self, e: f64, inward: bool) -> f64 {
        let p = self.p;
        let factors = self
            .layout
            .ranges()
            .map(|g| (g.len() as f64).powf(e.max(0.0)));
        if (p < 2.0) == inward && p != 2.0 {
            norm_of(2.0 * p / (2.0 - p).abs(), factors)
        } else {
            factors.fold(1.0, f64::max)
        }
    }

    /// max ‖x‖_{s,p} for ‖x‖₂ = 1.
    fn inward(&self) -> f64 {
        self.spread(1.0 / self.s - 0.5, true)
    }

    /// max ‖x‖₂ for ‖x‖_{s,p} = 1.
    fn outward(&self) -> f64 {
        self.spread(0.5 - 1.0 / self.s, false)
    }

    /// The smaller and the larger of the exponents that matter. s does not matter if every group
    /// has one coordinate, and p does not matter if there is one group. In one dimension neither
    /// exponent matters, and both results are 2.
    fn exponents(&self) -> (f64, f64) {
        let Self { s, p, layout, .. } = self;
        let one_group = layout.count() == 1;
        match (layout.count() == layout.dim(), one_group) {
            (true, true) => (2.0, 2.0),
            (true, false) => (*p, *p),
            (false, true) => (*s, *s),
            (false, false) => (s.min(*p), s.max(*p)),
        }
    }

    fn curvature(&self) -> Option<Curvature> {
        let (low, high) = self.exponents();
        if low == high && low > 1.0 {
            return Some(
                LpBall {
                    dim: self.dim(),
                    p: low,
                    radius: self.radius,
                }
                .curvature(),
            );
        }
        // ½h² is r²/K-smooth in the dual norm. This norm is at most the ℓq norm, where q is
        // conjugate to the larger exponent.
        let l = self.radius * self.radius / (low - 1.0);
        let q = high / (high - 1.0);
        (low > 1.0 && high <= 2.0).then(|| Curvature::smooth(l, q, 2.0 * self.radius))
    }
}

impl Set for GroupBall {
    fn name(&self) -> &str {
        "group"
    }

    fn dim(&self) -> usize {
        self.layout.dim()
    }

    fn geometry(&self) -> Geometry {
        let (radius, inward) = (self.radius, self.inward());
        let (low, high) = self.exponents();
        Geometry {
            diameter: 2.0 * radius * self.outward(),
            norm_bound: radius * self.outward(),
            inner_radius: Some(radius / inward),
            // the constant in the ball's norm N, divided by `inward`, because N(x) ≤ inward·‖x‖₂
            strong_convexity: (low > 1.0 && high <= 2.0).then(|| (low - 1.0) / radius / inward),
        }
    }

    fn facts(&self) -> Facts {
        Facts {
            curvature: self.curvature(),
            gauge: true,
            ..Facts::own()
        }
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        let (dim, count) = (self.dim(), self.layout.count());
        Box::new(GroupOracle {
            across: self.across().oracle(),
            ball: self.clone(),
            direction: vec![0.0; dim],
            entries: vec![0.0; dim],
            sizes: vec![0.0; count],
            norms: vec![0.0; count],
            across_atom: Atom::new(),
        })
    }

    fn fingerprint(&self) -> u64 {
        let layout = &*self.layout;
        let start = Fingerprint::new("group").with_numbers(&[self.s, self.p, self.radius]);
        let ends = layout.starts.iter().map(|s| *s as u64);
        let order = layout.order.iter().map(|i| u64::from(*i));
        let all = ends.chain(order);
        all.fold(start, Fingerprint::with_part).value()
    }

    fn gauge(&self, x: &[f64]) -> Option<f64> {
        Some(self.gauge_of(x))
    }

    /// (‖x_g‖/N)^(p−1)·(|x_i|/‖x_g‖)^(s−1)·sgn(x_i)/r for i in group g, where N is the norm of x.
    fn gauge_gradient(&self, x: &[f64], out: &mut [f64]) -> Option<f64> {
        let all = norm_of(self.p, self.norms(x, self.s));
        out.fill(0.0);
        if !(all > 0.0 && all.is_finite()) {
            return Some(all / self.radius);
        }
        for (range, norm) in self.layout.ranges().zip(self.norms(x, self.s)) {
            if norm == 0.0 {
                continue;
            }
            let factor = (norm / all).powf(self.p - 1.0) / self.radius;
            for place in range {
                let i = self.layout.coordinate(place);
                let share = (x[i].abs() / norm).powf(self.s - 1.0);
                out[i] = sign(x[i]) * share * factor;
            }
        }
        Some(all / self.radius)
    }

    /// For s = 2 the vector of the groups' norms is projected, and each group is scaled to its new norm.
    fn projection(&self) -> Option<Box<dyn Projection>> {
        if self.s != 2.0 {
            return None;
        }
        let count = self.layout.count();
        let across = self.across().projection()?;
        Some(Box::new(GroupProjection {
            ball: self.clone(),
            across,
            norms: vec![0.0; count],
            moved: vec![0.0; count],
        }))
    }
}

/// The oracle over the ball of the groups' norms determines the norm of each group. Within a group,
/// the atom is the atom of the ℓs ball with this norm.
struct GroupOracle {
    ball: GroupBall,
    /// The oracle over the ball of the groups' norms.
    across: Box<dyn Oracle>,
    /// The direction, ordered by group and divided by its largest entry.
    direction: Vec<f64>,
    /// The entries of the atom, ordered by group.
    entries: Vec<f64>,
    /// −‖d_g‖ in the dual norm, for each group.
    sizes: Vec<f64>,
    /// The atom's norm in each group.
    norms: Vec<f64>,
    across_atom: Atom,
}

impl GroupOracle {
    /// Computes the minimiser with these norms of the groups: −‖x_g‖·sgn(d)(|d|/‖d_g‖)^(z−1), where
    /// z is conjugate to s.
    fn fill_in_entries(&mut self) {
        let GroupBall { layout, s, .. } = &self.ball;
        let exponent = Exponent::from(1.0 / (s - 1.0));
        self.entries.fill(0.0);
        for (g, range) in layout.ranges().enumerate() {
            let norm = self.norms[g];
            let (d, out) = (&self.direction[range.clone()], &mut self.entries[range]);
            if *s == 1.0 {
                let k = kernel::argmax_abs(d).unwrap_or(0);
                out[k] = if d[k] > 0.0 { -norm } else { norm };
            } else if norm > 0.0 {
                // The entries are divided by the largest one. With any other scale, the power would
                // magnify rounding errors for s near 1.
                let sum = kernel::power_map(d, 1.0 / kernel::max_abs(d), exponent, out);
                let k = -norm * sum.powf(-1.0 / s);
                out.iter_mut().for_each(|v| *v *= k);
            }
        }
    }
}

impl Oracle for GroupOracle {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum> {
        let dim = self.ball.dim();
        let GroupBall { s, p, radius, .. } = self.ball;
        check_direction(dim, direction)?;
        let top = kernel::max_abs(direction);
        if top == 0.0 {
            atom.set_coordinate(0, radius);
            return Ok(Minimum::exact(0.0));
        }
        let layout = &self.ball.layout;
        for (place, d) in self.direction.iter_mut().enumerate() {
            *d = direction[layout.coordinate(place)] / top;
        }
        for (size, range) in self.sizes.iter_mut().zip(layout.ranges()) {
            let norm = norm_p(&self.direction[range], s / (s - 1.0));
            // the entries of such a small group are set to 0, because their powers would underflow
            *size = if norm < SMALLEST_DIRECTION {
                0.0
            } else {
                -norm
            };
        }
        let found = self.across.minimise(&self.sizes, &mut self.across_atom)?;
        self.across_atom.write(&mut self.norms);
        self.fill_in_entries();
        let order = self.ball.layout.order.iter().copied();
        let entries = order.zip(self.entries.iter().copied());
        let few = s == 1.0 || p == 1.0;
        atom.set_entries(dim, few, entries.filter(|(_, v)| *v != 0.0));
        Ok(Minimum::exact(found.value * top))
    }
}

struct GroupProjection {
    ball: GroupBall,
    /// The projection onto the ℓp ball of the groups' norms.
    across: Box<dyn Projection>,
    norms: Vec<f64>,
    moved: Vec<f64>,
}

impl Projection for GroupProjection {
    fn project(&mut self, x: &mut [f64]) -> Result<()> {
        check_point(self.ball.dim(), x)?;
        if self.ball.gauge_of(x) <= 1.0 {
            return Ok(());
        }
        for (norm, n) in self.norms.iter_mut().zip(self.ball.norms(x, 2.0)) {
            *norm = n;
        }
        self.moved.copy_from_slice(&self.norms);
        self.across.project(&mut self.moved)?;
        let layout = &*self.ball.layout;
        for (g, range) in layout.ranges().enumerate() {
            let (from, to) = (self.norms[g], self.moved[g]);
            if from == to {
                continue;
            }
            for place in range {
                let x = &mut x[layout.coordinate(place)];
                *x = (*x / from) * to;
            }
        }
        Ok(())
    }
}
