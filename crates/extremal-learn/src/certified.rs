//! What is certified, in words.

use crate::session::{Certified, Proven};
use crate::{format, norms};

/// The head of the table that [`Certified::curve`] has rows for.
pub(crate) const CURVE: &str = "radius,regret_upper,share_of_loss";

impl Certified {
    /// The certified regret.
    pub fn regret(&self, rounds: u64) -> String {
        let regret = self.certificate.regret;
        let proven = format!(
            "≤ {} ({} certificate)",
            format::at_least(regret, 5),
            self.certificate.level
        );
        if self.is_vacuous() {
            return self.vacuous(&proven);
        }
        let each = format::at_least(regret / rounds as f64, 4);
        format!("{proven}, {each} per round")
    }

    /// Which weights can't have done much better, where that is known.
    pub fn comparators(&self) -> Option<String> {
        let p = self.by_norm.as_ref()?.p();
        let radius = self.halving?;
        let norm = match p {
            2.0 => "norm".into(),
            p => format!("ℓ{p} norm"),
        };
        let (each, loss) = match self.models {
            1 => ("", "loss"),
            _ => (" per class", "models' loss"),
        };
        let which = match radius {
            f64::MAX => String::new(),
            0.0 => " of norm 0".into(),
            radius => format!(" of {norm} ≤ {}{each}", format::at_most(radius, 3)),
        };
        Some(format!("no weights{which} would have halved the {loss}"))
    }

    /// What a theorem promises.
    pub fn bound(&self) -> String {
        match &self.bound {
            None => "none proven".into(),
            Some(Proven::Bound(bound)) => format::significant(*bound, 5),
            Some(Proven::Vacuous(bound)) => self.vacuous(&format::significant(*bound, 5)),
            Some(Proven::Broken(why)) => format!("does not apply: {why}"),
        }
    }

    /// The regret by the comparators' norm, as rows of a table; `reach` is the set's own radius.
    pub fn curve(&self, reach: f64) -> Vec<String> {
        let Some(by_norm) = &self.by_norm else {
            return Vec::new();
        };
        norms::curve(by_norm, self.lost, reach)
            .iter()
            .map(|[radius, regret, share]| {
                // losses without a least total have no share
                let known = self.lost > 0.0 && self.lost.is_finite();
                let share = if known {
                    format!("{share:?}")
                } else {
                    String::new()
                };
                format!("{radius:?},{regret:?},{share}")
            })
            .collect()
    }

    fn vacuous(&self, what: &str) -> String {
        let most = format::significant(self.most, 5);
        format!("vacuous: {what}, where no more than {most} is possible")
    }
}
