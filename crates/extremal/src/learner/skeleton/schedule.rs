//! Step sizes from what is known of the losses: T, G and λ.

/// The known constants, and with them the decrease of the step size.
///
/// η_t is a factor of the algorithm over G√T, over what stands for it where T or G is not known,
/// or over λt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Schedule {
    /// T and G are known: G√T.
    Fixed { horizon: f64, bound: f64 },
    /// G is known: G√t.
    Rounds { bound: f64 },
    /// T and G are not used: √(Σ‖g‖²).
    Gradients,
    /// The losses are λ-strongly convex: λt.
    Strong { lambda: f64 },
}

impl Schedule {
    /// The schedule for what is known; λ decides where it is given.
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

    /// The schedule of an algorithm that has no use for G without T.
    pub fn or_gradients(self) -> Self {
        match self {
            Self::Rounds { .. } => Self::Gradients,
            other => other,
        }
    }

    /// The divisor of the step size η_t, in round t with √(Σ‖g‖²) = `root`.
    pub fn scale(self, t: f64, root: f64) -> f64 {
        match self {
            Self::Fixed { horizon, bound } => bound * horizon.sqrt(),
            Self::Rounds { bound } => bound * t.sqrt(),
            Self::Gradients => root,
            Self::Strong { lambda } => lambda * t,
        }
    }

    /// η_t = `factor`/[`scale`](Self::scale); 0 before the first gradient.
    pub fn eta(self, factor: f64, t: f64, root: f64) -> f64 {
        let eta = factor / self.scale(t, root);
        if eta.is_finite() { eta } else { 0.0 }
    }
}
