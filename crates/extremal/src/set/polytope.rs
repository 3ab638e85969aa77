//! Known properties of a set that is the hull of finitely many vertices.

/// A set with finitely many vertices, which its oracle returns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Polytope {
    /// A lower bound of the distance between a face and the hull of the vertices outside it, the
    /// least over all faces (Peña & Rodríguez, 2019): from one point to another at distance r no
    /// more than r / δ of the first one's mass has to move, however it is mixed from vertices.
    pub facial_distance: Option<f64>,
    /// l and u of {Ax = b, l ≤ x ≤ u} where every entry of a vertex is l or u.
    pub corners: Option<(f64, f64)>,
}

impl Polytope {
    /// One of which only this is known.
    pub(crate) const PLAIN: Self = Self {
        facial_distance: None,
        corners: None,
    };

    /// One whose facial distance is known.
    pub(crate) fn with_distance(distance: f64) -> Self {
        Self {
            facial_distance: Some(distance),
            ..Self::PLAIN
        }
    }
}

/// δ of the simplex with n vertices τe_i: its halves are the nearest faces.
pub(crate) fn simplex_distance(n: usize, total: f64) -> f64 {
    if n < 2 {
        return total; // one point
    }
    let half = (n / 2) as f64;
    let n = n as f64;
    total * (n / (half * (n - half))).sqrt()
}

/// 1/√(Σ 1/δ²): that of a product, where each factor's face has its own outside. Infinite
/// distances are points, which count for nothing.
pub(crate) fn joint_distance(distances: impl Iterator<Item = f64> + Clone) -> f64 {
    let least = distances.clone().fold(f64::INFINITY, f64::min);
    let sum: f64 = distances.map(|d| (least / d).powi(2)).sum();
    if least.is_finite() {
        least / sum.sqrt()
    } else {
        least
    }
}
