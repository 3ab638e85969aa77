//! The surrogate gap h_t = F_{t−1}(x_t) − min F_{t−1} that the papers define. F_{t−1} is the
//! *surrogate*: the function that a Frank-Wolfe learner approximately minimises to find its decision
//! x_t.
//!
//! The gap is computed independently of the learner. Up to a constant, the surrogate is a multiple of a
//! squared distance: F(x) = (β/2)‖x − z‖² + const. The minimiser of F over the set is the projection y
//! of z onto the set, and h = (β/2)(‖x − y‖² + 2⟨x − y, y − z⟩). Both terms are at least 0. Neither
//! term is a difference of large numbers, even if z lies far outside the set.

use extremal::kernel;
use extremal::learner::LearnerSpec;
use extremal::learner::frank_wolfe::{ofw::Ofw, ofw_line_search::OfwLs};
use extremal::set::{Projection, SharedSet};
use extremal::theory;
use extremal::{Gradient, Point, Row};

/// The relative rounding error by which a gradient's norm may exceed G.
const SLACK: f64 = 1e-9;

/// Follows the surrogate of a learner round by round, and computes the surrogate gap.
///
/// ```
/// use extremal::{learner::LearnerSpec, Gradient, set::SetSpec};
/// use extremal_lab::surrogate::Follower;
/// let set = "l2:dim=2".parse::<SetSpec>()?.build(None)?;
/// let spec: LearnerSpec = "ofw-ls:horizon=10,gradient-bound=1".parse()?;
/// let mut learner = spec.build(&set)?;
/// let mut follower = Follower::new(&spec, &set).unwrap();
/// for _ in 0..10 {
///     let gradient = Gradient::dense(&[0.6, 0.8]);
///     follower.see(learner.decide()?, &gradient);
///     learner.observe(&gradient)?;
/// }
/// let (gap, lemma) = follower.gap(learner.decision()).unwrap();
/// assert!(gap <= lemma.unwrap());
/// # Ok::<(), extremal::Error>(())
/// ```
pub struct Follower {
    rule: Rule,
    /// The first decision x₁.
    first: Vec<f64>,
    /// Σg, or Σ(g − λx) for the surrogate of strongly convex losses.
    sum: Vec<f64>,
    rounds: u64,
    largest_gradient: f64,
    diameter: f64,
    /// The constant α of the set's strong convexity.
    alpha: Option<f64>,
    projection: Box<dyn Projection>,
    point: Vec<f64>,
    target: Vec<f64>,
    nearest: Vec<f64>,
}

/// The form of the surrogate F, with the constants of the lemma that bounds its gap.
enum Rule {
    /// F_t(x) = η⟨Σg, x⟩ + ‖x − x₁‖².
    Fixed {
        eta: f64,
        horizon: u64,
        gradient: f64,
        lemma: Option<Lemma>,
    },
    /// F_t(x) = Σ(⟨g, x⟩ + (λ/2)‖x − x_τ‖²) + (λT₀/2)‖x − x₁‖².
    Strong {
        lambda: f64,
        warm: f64,
        gradient: Option<f64>,
    },
}

/// The lemma that bounds the gap of [`Rule::Fixed`].
enum Lemma {
    Ofw,
    OfwLs,
}

impl Follower {
    /// A follower for a learner on a set with a projection. `None` for learners without such a
    /// surrogate. `None` also for learners that estimate T or G, because their surrogate changes during
    /// the run.
    pub fn new(spec: &LearnerSpec, set: &SharedSet) -> Option<Self> {
        let geometry = set.geometry();
        let (rule, start) = match spec {
            LearnerSpec::Ofw(Ofw(known)) | LearnerSpec::OfwLs(OfwLs(known)) => {
                if known.doubling {
                    return None;
                }
                let (horizon, gradient) = (known.horizon?, known.gradient_bound?);
                let (lemma, power) = match spec {
                    LearnerSpec::Ofw(_) => (Lemma::Ofw, (horizon as f64).powf(0.75)),
                    _ => (Lemma::OfwLs, (horizon as f64 + 2.0).powf(2.0 / 3.0)),
                };
                let scale = known.eta_scale;
                let rule = Rule::Fixed {
                    eta: scale * geometry.diameter / (2.0 * gradient * power),
                    horizon,
                    gradient,
                    // The lemma holds only for the unscaled η.
                    lemma: (scale == 1.0).then_some(lemma),
                };
                (rule, &known.start)
            }
            LearnerSpec::ScOfw(spec) => {
                let rule = Rule::Strong {
                    lambda: spec.lambda?,
                    warm: spec.warm,
                    gradient: spec.gradient_bound,
                };
                (rule, &spec.start)
            }
            _ => return None,
        };
        let dim = set.dim();
        let mut first = vec![0.0; dim];
        match start {
            Some(start) if start.len() != dim => return None,
            Some(start) => first.copy_from_slice(start),
            None => set.centre(&mut first),
        }
        Some(Self {
            rule,
            first,
            sum: vec![0.0; dim],
            rounds: 0,
            largest_gradient: 0.0,
            diameter: geometry.diameter,
            alpha: geometry.strong_convexity,
            projection: set.projection()?,
            point: vec![0.0; dim],
            target: vec![0.0; dim],
            nearest: vec![0.0; dim],
        })
    }

    /// Adds a round, given its decision and the gradient at the decision.
    pub fn see(&mut self, x: &dyn Point, gradient: &Gradient<'_>) {
        let Gradient { row, scale, ridge } = *gradient;
        let pull = match self.rule {
            Rule::Fixed { .. } => 0.0,
            Rule::Strong { lambda, .. } => lambda,
        };
        if ridge != 0.0 || pull != 0.0 {
            x.write(&mut self.point);
        }
        row.add_to(scale, &mut self.sum);
        // g − λx = scale·a + (ridge − λ)x
        if ridge != pull {
            for (sum, x) in self.sum.iter_mut().zip(&self.point) {
                *sum += (ridge - pull) * x;
            }
        }
        let norm = if ridge == 0.0 {
            let (Row::Dense(values) | Row::Sparse { values, .. } | Row::Entries { values, .. }) =
                row;
            scale.abs() * kernel::norm(values)
        } else {
            self.point.iter_mut().for_each(|v| *v *= ridge);
            row.add_to(scale, &mut self.point);
            kernel::norm(&self.point)
        };
        self.largest_gradient = self.largest_gradient.max(norm);
        self.rounds += 1;
    }

    /// The gap h_t of the decision after t − 1 rounds, and the bound on h_t from the lemma of the
    /// learner's theorem. The bound is `None` unless the gradients' norms are at most G, there are at
    /// most T rounds, and the set has the curvature that the lemma assumes. The result is `None` if the
    /// projection fails.
    pub fn gap(&mut self, next: &dyn Point) -> Option<(f64, Option<f64>)> {
        let gap = self.distance(next)?;
        Some((gap.max(0.0), self.lemma()))
    }

    /// The gap h_t. A rounding error may make it negative.
    fn distance(&mut self, next: &dyn Point) -> Option<f64> {
        // F = (β/2)‖x − z‖² + const
        let beta = match self.rule {
            Rule::Fixed { eta, .. } => {
                for (i, z) in self.target.iter_mut().enumerate() {
                    *z = self.first[i] - 0.5 * eta * self.sum[i];
                }
                2.0
            }
            Rule::Strong { lambda, warm, .. } => {
                let weight = self.rounds as f64 + warm;
                if weight == 0.0 {
                    return Some(0.0); // F is identically 0.
                }
                for (i, z) in self.target.iter_mut().enumerate() {
                    *z = (warm * self.first[i] - self.sum[i] / lambda) / weight;
                }
                lambda * weight
            }
        };
        next.write(&mut self.point);
        self.nearest.copy_from_slice(&self.target);
        self.projection.project(&mut self.nearest).ok()?;
        let (mut square, mut slope) = (0.0, 0.0);
        for ((x, y), z) in self.point.iter().zip(&self.nearest).zip(&self.target) {
            square += (x - y) * (x - y);
            slope += (x - y) * (y - z);
        }
        let gap = 0.5 * beta * square + beta * slope;
        gap.is_finite().then_some(gap)
    }

    /// The lemma's bound on the gap, if the lemma applies.
    fn lemma(&self) -> Option<f64> {
        let Self {
            diameter,
            alpha,
            rounds,
            ..
        } = *self;
        let t = rounds as f64 + 1.0;
        let within = |bound: f64| self.largest_gradient <= bound * (1.0 + SLACK);
        match &self.rule {
            Rule::Fixed {
                horizon,
                gradient,
                lemma,
                ..
            } => {
                if rounds > *horizon || !within(*gradient) {
                    return None;
                }
                match lemma.as_ref()? {
                    Lemma::Ofw => Some(theory::ofw_lemma(diameter, t)),
                    Lemma::OfwLs => Some(theory::ofw_ls_lemma(diameter, alpha?, t)),
                }
            }
            Rule::Strong {
                lambda,
                warm,
                gradient,
            } => {
                let gradient = gradient.unwrap_or(self.largest_gradient);
                if *warm != 0.0 || rounds == 0 || !within(gradient) {
                    return None;
                }
                let general = theory::sc_ofw_general_lemma(gradient, *lambda, diameter, t);
                Some(alpha.map_or(general, |alpha| {
                    theory::sc_ofw_constant(gradient, *lambda, diameter, alpha).min(general)
                }))
            }
        }
    }
}
