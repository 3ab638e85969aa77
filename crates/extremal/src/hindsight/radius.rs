//! The certificate as a function of the comparators' norm.

/// An upper bound on the regret against every comparator u with ‖u‖_p ≤ ρ, for each ρ. The
/// comparators may lie outside the set. With 1/p + 1/q = 1,
///
/// regret ≤ Σ⟨g_t, x_t⟩ + ρ‖Σg_t‖_q,
///
/// because a convex loss lies above its tangents everywhere. For λ-strongly convex losses and p = 2
/// the bound is Σ⟨g_t, x_t⟩ − (λ/2)Σ‖x_t‖² + r‖c‖ − (β/2)r² with r = min(ρ, ‖c‖/β), and c and β as in
/// [the module](super). For every ρ, the terms with r sum to at most ‖c‖²/(2β).
///
/// ```
/// use extremal::{hindsight::Meter, Gradient, LearnerSpec, SetSpec};
/// let set = "l2:radius=1000,dim=2".parse::<SetSpec>()?.build(None)?;
/// let mut learner = "gauge-ftrl".parse::<LearnerSpec>()?.build(&set)?;
/// let mut meter = Meter::new(&set, 0.0, true);
/// let gradient = Gradient::dense(&[3.0, 4.0]);
/// meter.see(learner.decide()?, &gradient)?;
/// learner.observe(&gradient)?;
/// // the first decision is 0, and the gradient has norm 5
/// let regret = meter.by_norm().unwrap();
/// assert!((regret.at(2.0) - 10.0).abs() < 1e-9);
/// assert!((regret.largest_radius(10.0).unwrap() - 2.0).abs() < 1e-9);
/// # Ok::<(), extremal::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ByNorm {
    p: f64,
    /// One part per meter.
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Part {
    played: f64,
    norm: f64,
    beta: f64,
}

impl Part {
    /// The maximum of r·norm − (β/2)r² over r ≤ radius. The second factor below is at least half of
    /// `norm`, so that no digits cancel. The result has three rounding errors. The error of norm/β
    /// enters only as its square.
    fn pull(&self, radius: f64) -> f64 {
        if self.norm == 0.0 {
            return 0.0;
        }
        if self.beta == 0.0 {
            return self.norm * radius;
        }
        let r = radius.min(self.norm / self.beta);
        r * (self.norm - 0.5 * self.beta * r)
    }
}

impl ByNorm {
    /// The bound of one meter. `played` is an upper bound on Σ⟨g_t, x_t⟩ − (λ/2)Σ‖x_t‖², `norm` is an
    /// upper bound on ‖c‖_q, and `beta` is a lower bound on β.
    pub(crate) fn new(p: f64, played: f64, norm: f64, beta: f64) -> Self {
        let parts = vec![Part { played, norm, beta }];
        Self { p, parts }
    }

    /// The p of the norm ‖u‖_p.
    pub fn p(&self) -> f64 {
        self.p
    }

    /// Adds the bound of another run, whose comparators also have norm at most ρ. If the other run
    /// has a different p, nothing is added, and the result is false.
    pub fn add(&mut self, other: &ByNorm) -> bool {
        if self.p != other.p {
            return false;
        }
        self.parts.extend_from_slice(&other.parts);
        true
    }

    /// An upper bound on the regret against comparators of norm at most `radius`. It allows for the
    /// rounding errors of this computation: four per product, and one per addition, relative to the
    /// sum of the terms' absolute values.
    pub fn at(&self, radius: f64) -> f64 {
        let (mut sum, mut size) = (0.0, 0.0);
        for part in &self.parts {
            let pull = part.pull(radius) * (1.0 + 4.0 * f64::EPSILON);
            sum += part.played + pull;
            size += part.played.abs() + pull;
        }
        sum + (2 * self.parts.len() + 1) as f64 * f64::EPSILON * size
    }

    /// The largest radius ≥ 0 for which the regret is proven to be at most `regret`. The result is
    /// `None` if there is no such radius, and `f64::MAX` if every radius qualifies.
    pub fn largest_radius(&self, regret: f64) -> Option<f64> {
        let keeps = |bits: u64| self.at(f64::from_bits(bits)) <= regret;
        let (mut low, mut high) = (0, f64::MAX.to_bits());
        if !keeps(low) {
            return None;
        }
        if keeps(high) {
            return Some(f64::MAX);
        }
        // the bits of numbers ≥ 0 have the same order as the numbers
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            *(if keeps(middle) { &mut low } else { &mut high }) = middle;
        }
        Some(f64::from_bits(low))
    }
}
