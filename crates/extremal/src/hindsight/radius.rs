//! The certificate as a function of the comparators' norm.

/// An upper bound of the regret against every comparator u with ‖u‖_p ≤ ρ, for all ρ at once, also
/// beyond the set that was played:
///
/// regret ≤ Σ⟨g_t, x_t⟩ + ρ‖Σg_t‖_q, with 1/p + 1/q = 1,
///
/// since a convex loss lies above its tangents everywhere. For λ-strongly convex losses and p = 2 it
/// is Σ⟨g_t, x_t⟩ − (λ/2)Σ‖x_t‖² + r‖c‖ − (β/2)r² with c and β as in [the module](super) and
/// r = min(ρ, ‖c‖/β), which no ρ makes larger than ‖c‖²/(2β).
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
    /// max of r·norm − (β/2)r² over r ≤ radius. Both factors are at least half of `norm`, so that
    /// no digits cancel: three roundings, and the one of norm/β, which counts squared.
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
    /// Of one meter: Σ⟨g_t, x_t⟩ − (λ/2)Σ‖x_t‖² and ‖c‖_q from above, β from below.
    pub(crate) fn new(p: f64, played: f64, norm: f64, beta: f64) -> Self {
        let parts = vec![Part { played, norm, beta }];
        Self { p, parts }
    }

    /// p of the norm that comparators are measured in.
    pub fn p(&self) -> f64 {
        self.p
    }

    /// Adds the regret of another run, against comparators of its own, each of norm at most ρ.
    /// False, and nothing is added, if its norm is another one.
    pub fn add(&mut self, other: &ByNorm) -> bool {
        if self.p != other.p {
            return false;
        }
        self.parts.extend_from_slice(&other.parts);
        true
    }

    /// The regret against comparators of norm at most `radius`, from above. The roundings made here
    /// are allowed for: four per product, and one of the size of all terms for every addition.
    pub fn at(&self, radius: f64) -> f64 {
        let (mut sum, mut size) = (0.0, 0.0);
        for part in &self.parts {
            let pull = part.pull(radius) * (1.0 + 4.0 * f64::EPSILON);
            sum += part.played + pull;
            size += part.played.abs() + pull;
        }
        sum + (2 * self.parts.len() + 1) as f64 * f64::EPSILON * size
    }

    /// The largest radius, 0 included, against which the regret is proven to be at most `regret`;
    /// `None` if no radius qualifies, the largest finite number if all do.
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
