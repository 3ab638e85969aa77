//! Local oracles. A local oracle receives a point x, a direction c and a share of x's mass. Let p be a point
//! that results from moving this share of the mass to one vertex. The local oracle finds the p with the
//! smallest ⟨c, p⟩.
//!
//! In a polytope with facial distance δ ([`Polytope::facial_distance`]) and diameter D, moving the share r/δ
//! reaches every point y at distance r or less. Proof: let x = Σ λ_i v_i, and write y = x − Σ Δ_i
//! v_i + (ΣΔ_i) z with z in the set, 0 ≤ Δ_i ≤ λ_i and the smallest possible ΣΔ_i. No v_i with Δ_i > 0 is in
//! the smallest face that contains z, because otherwise Δ_i could be reduced. So y − x is ΣΔ_i times the
//! difference between a point of a face and a mixture of vertices outside the face. The length of this
//! difference is at least δ. Hence (i) ⟨c, p⟩ ≤ ⟨c, y⟩ for all such y, and (ii) ‖p − x‖ ≤ Dr/δ = ρr with ρ =
//! D/δ.
//!
//! [`Polytope::facial_distance`]: crate::set::Polytope::facial_distance

use super::caratheodory::Tableau;
use crate::Result;
use crate::set::{Atom, CheckedOracle, Minimum, Oracle, Set};
use crate::solver::ActiveSet;

/// The largest count of numbers for which memory is reserved. More is allocated when needed.
const RESERVED: usize = 1 << 20;

/// The local oracle of any polytope, for points that are stored as mixtures of vertices. A step costs one
/// call of the set's oracle and O(active·d), where `active` is the number of vertices. On simplices a step
/// costs O(d log d), because their vertices have one entry.
///
/// ```
/// use extremal::{learner::rivals::few_calls::lloo::local_oracle::LocalOracle, set::SetSpec, solver::ActiveSet};
/// let set = "hypercube:dim=3".parse::<SetSpec>()?.build(None)?;
/// let mut active = ActiveSet::start(&set, None)?;
/// let mut local = LocalOracle::new(&*set);
/// let (c, mut way, mut x) = ([1.0, -1.0, 2.0], [0.0; 3], [0.0; 3]);
/// let lowest = local.find(&c)?.value;
/// local.withdraw_mass(&active, &c, 0.25, &mut way);
/// assert_eq!((lowest, way), (-1.0, [-0.25, 0.0, -0.25]));
/// local.step(&mut active, 1.0);
/// active.write(&mut x);
/// assert_eq!(x, [0.25, 0.5, 0.25]);
/// # Ok::<(), extremal::Error>(())
/// ```
pub struct LocalOracle {
    oracle: CheckedOracle,
    diameter: f64,
    /// The vertex to which mass moves.
    vertex: Atom,
    /// The mass that each vertex loses.
    taken: Vec<f64>,
    costs: Vec<(f64, u32)>,
    tableau: Tableau,
}

impl LocalOracle {
    /// The local oracle of this set.
    pub fn new(set: &dyn Set) -> Self {
        let (dim, most) = (set.dim(), most_vertices(set.dim()));
        let mut tableau = Tableau::default();
        if most * (dim + 1) <= RESERVED {
            tableau.reserve(most, dim);
        }
        Self {
            oracle: CheckedOracle::of(set),
            diameter: set.geometry().diameter,
            vertex: Atom::new(),
            taken: Vec::with_capacity(most),
            costs: Vec::with_capacity(most),
            tableau,
        }
    }

    /// Reserves memory for the largest possible number of vertices, unless it exceeds [`RESERVED`].
    pub(crate) fn reserve(&self, active: &mut ActiveSet) {
        let most = most_vertices(active.dim());
        if most * (active.dim() + 1) <= RESERVED {
            active.reserve(most);
        }
    }

    /// Finds the vertex to which mass will move: the minimiser of ⟨c, v⟩.
    pub fn find(&mut self, c: &[f64]) -> Result<Minimum> {
        self.oracle.minimise(c, &mut self.vertex)
    }

    /// Sets way = p − x, where p results from x by moving `share` of its mass to the vertex of
    /// [`LocalOracle::find`]. The vertices with the largest ⟨c, v⟩ lose mass. This call
    /// does not change x.
    pub fn withdraw_mass(&mut self, active: &ActiveSet, c: &[f64], share: f64, way: &mut [f64]) {
        self.taken.clear();
        if share < 1.0 {
            let cost = |i: u32| (active.atom(i as usize).dot(c), i);
            self.costs.clear();
            self.costs.extend((0..active.len() as u32).map(cost));
            self.costs
                .sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            self.taken.resize(active.len(), 0.0);
            let mut left = share;
            for &(_, i) in &self.costs {
                let i = i as usize;
                self.taken[i] = active.weight(i).min(left);
                left -= self.taken[i];
                if left <= 0.0 {
                    break;
                }
            }
        } else {
            self.taken
                .extend((0..active.len()).map(|i| active.weight(i)));
        }
        way.fill(0.0);
        let mut moved = 0.0;
        for (i, &taken) in self.taken.iter().enumerate() {
            if taken > 0.0 {
                active.atom(i).add_to(-taken, way);
                moved += taken;
            }
        }
        self.vertex.add_to(moved, way);
    }

    /// Moves x to x + α(p − x).
    ///
    /// If the mixture then has more than 2(d + 1) vertices, it drops vertices that depend on
    /// others, and moves their weight to the other vertices.
    pub fn step(&mut self, active: &mut ActiveSet, alpha: f64) {
        active.transfer(&self.taken, alpha, &self.vertex);
        if active.len() >= most_vertices(active.dim()) {
            self.tableau.reduce(active, self.diameter);
        }
    }

    /// Returns an error if `gap` is negative. The gap is ⟨c, x⟩ minus the floor of [`LocalOracle::find`].
    pub(crate) fn check_gap(&self, gap: f64, c: &[f64]) -> Result<()> {
        self.oracle.check_gap(gap, c)
    }

    pub(crate) fn oracle_calls(&self) -> u64 {
        self.oracle.calls()
    }
}

/// The largest number of vertices of a mixture during a step.
fn most_vertices(dim: usize) -> usize {
    2 * (dim + 1) + 1
}
