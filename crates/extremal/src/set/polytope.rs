//! Known properties of a set that is the hull of finitely many vertices.

/// The known properties of a set that is the hull of finitely many vertices. The oracle returns vertices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Polytope {
    /// A lower bound on the facial distance δ (Peña & Rodríguez, 2019). δ is the smallest distance
    /// between a face and the hull of the vertices outside this face. Let x and y be points at distance
    /// r, where x is given as a mixture of vertices. Moving at most the share r/δ of the weights of x
    /// turns x into y.
    pub facial_distance: Option<f64>,
    /// The bounds l and u, if the set is {Ax = b, l ≤ x ≤ u} and every entry of a vertex is l or u.
    pub corners: Option<(f64, f64)>,
}

impl Polytope {
    /// A polytope without further known properties.
    pub(crate) const PLAIN: Self = Self {
        facial_distance: None,
        corners: None,
    };

    /// A polytope whose facial distance is known.
    pub(crate) fn with_distance(distance: f64) -> Self {
        Self {
            facial_distance: Some(distance),
            ..Self::PLAIN
        }
    }
}

/// The facial distance of the simplex with n vertices τe_i. The nearest faces have half of the
/// vertices each.
pub(crate) fn simplex_distance(n: usize, total: f64) -> f64 {
    if n < 2 {
        return total; // one point
    }
    let half = (n / 2) as f64;
    let n = n as f64;
    total * (n / (half * (n - half))).sqrt()
}

/// The facial distance 1/√(Σ 1/δ²) of a product of polytopes with facial distances δ. An infinite δ
/// stands for a single point, which does not change the result.
pub(crate) fn joint_distance(distances: impl Iterator<Item = f64> + Clone) -> f64 {
    let least = distances.clone().fold(f64::INFINITY, f64::min);
    let sum: f64 = distances.map(|d| (least / d).powi(2)).sum();
    if least.is_finite() {
        least / sum.sqrt()
    } else {
        least
    }
}
