//! The loss f(x) = ½⟨x, Ax⟩ + ⟨b, x⟩ with a fixed positive semidefinite A, where b is the round's row. A
//! weight multiplies b, but neither A nor a ridge term. The label is ignored.
//!
//! ```
//! use extremal::{LossSpec, Objective};
//! let loss = "quadratic:matrix=[[2,1],[1,2]]".parse::<LossSpec>()?.build()?;
//! let objective = Objective::new(loss, 0.5)?;
//! assert!((objective.strong_convexity() - 1.5).abs() < 1e-12); // eigenvalues 1 and 3
//! assert!((objective.smoothness(1.0) - 3.5).abs() < 1e-12);
//! # Ok::<(), extremal::Error>(())
//! ```

use std::sync::Arc;

use super::{Labels, Loss, MakeLoss, QuadraticForm};
use crate::parameter::fields;
use crate::set::boxes::Bound;
use crate::spec::{About, Described, Kind};
use crate::{Error, Result};

fields! {
    /// Spec of the loss ½⟨x, Ax⟩ + ⟨b, x⟩.
    pub struct Quadratic {
        /// the diagonal of A; not allowed with matrix; default: 1
        pub diagonal: Option<Bound> = None => Kind::Each(&Kind::NOT_NEGATIVE),
        /// the rows of A, symmetric and positive semidefinite
        pub matrix: Option<Vec<Vec<f64>>> = None => Kind::MATRIX,
    }
}

impl Described for Quadratic {
    const ABOUT: About = About {
        summary: "½⟨x, Ax⟩ + ⟨b, x⟩ with a fixed A, where b is the round's row",
        cost: "O(1) for one number, O(d) for a list, O(d²) for a matrix",
        guarantee: "slope at most ‖b‖ + λ_max‖x‖; λ_max-smooth and λ_min-strongly convex, where λ are the eigenvalues of A",
        reference: "textbook",
        citations: &[],
        examples: &["quadratic", "quadratic:diagonal=0.1"],
    };
}

impl MakeLoss for Quadratic {
    fn make(&self) -> Result<Arc<dyn Loss>> {
        let form = match (&self.diagonal, &self.matrix) {
            (None, None) => QuadraticForm::diagonal(Bound::All(1.0)),
            (Some(values), None) => QuadraticForm::diagonal(values.clone()),
            (None, Some(rows)) => QuadraticForm::matrix(rows),
            (Some(_), Some(_)) => Err(Error::Unsupported(
                "quadratic: give either diagonal or matrix, not both".into(),
            )),
        };
        Ok(Arc::new(QuadraticLoss(Arc::new(form?))))
    }
}

/// The loss ½⟨x, Ax⟩ + ⟨b, x⟩ with this A.
struct QuadraticLoss(Arc<QuadraticForm>);

impl Loss for QuadraticLoss {
    fn name(&self) -> &'static str {
        "quadratic"
    }

    fn at(&self, z: f64, _label: f64) -> (f64, f64) {
        (z, 1.0)
    }

    fn labels(&self) -> Labels {
        Labels::None
    }

    fn slope_bound(&self, _reach: f64, _label: f64) -> f64 {
        1.0
    }

    fn smoothness(&self) -> f64 {
        0.0
    }

    fn form(&self) -> Option<Arc<QuadraticForm>> {
        Some(self.0.clone())
    }
}
