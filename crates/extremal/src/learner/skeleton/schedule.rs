//! Step sizes that depend on which of T, G and λ are known.

/// The known constants, and the step sizes that follow from them.
///
/// η_t is a factor that depends on the algorithm, divided by G√T. If T or G is unknown, another
/// quantity replaces G√T. For λ-strongly convex losses the divisor is λt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Schedule {
    /// T and G are known. The divisor is G√T.
    Fixed { horizon: f64, bound: f64 },
    /// Only G is known. The divisor is G√t.
    Rounds { bound: f64 },
    /// T and G are not used. The divisor is √(Σ‖g‖²).
    Gradients,
    /// The losses are λ-strongly convex. The divisor is λt.
    Strong { lambda: f64 },
}

impl Schedule {
    /// The schedule for the known constants. If λ is given, only λ matters.
    pub fn of(lambda: Option<f64>, horizon: Option<u64>, bound: Option<f64>) -> Self {
        match (lambda, bound, horizon) {
            (Some(lambda), ..) => Self::Strong { lambda },
            (None, Some(bound), Some(horizon)) => Self::Fixed {
                horizon: horizon as f64,
                bound,
            },
            (None, Some(bound), None) => Self::Rounds { bound },
            (None, None, _) => Self::Gradients,
        }
    }

    /// The schedule of an algorithm that can't use G without T.
    pub fn or_gradients(self) -> Self {
        match self {
            Self::Rounds { .. } => Self::Gradients,
            other => other,
        }
    }

    /// The divisor of η_t in round t, where `root` is √(Σ‖g‖²).
    pub fn scale(self, t: f64, root: f64) -> f64 {
        match self {
            Self::Fixed { horizon, bound } => bound * horizon.sqrt(),
            Self::Rounds { bound } => bound * t.sqrt(),
            Self::Gradients => root,
            Self::Strong { lambda } => lambda * t,
        }
    }

    /// η_t = `factor`/[`scale`](Self::scale). It is 0 before the first gradient.
    pub fn eta(self, factor: f64, t: f64, root: f64) -> f64 {
        let eta = factor / self.scale(t, root);
        if eta.is_finite() { eta } else { 0.0 }
    }
}
