//! Gradient descent with a projection z = Π̃(x + v) that satisfies, for all points u of the set,
//! ‖z − u‖ ≤ ‖x + v − u‖ + μ‖v‖².
//!
//! With y = x + v this gives ‖z − u‖² ≤ ‖y − u‖² + 2μD‖v‖². This is clear if ‖z − u‖ ≤ ‖y − u‖.
//! Otherwise the difference of the squares is at most μ‖v‖²·(‖z − u‖ + ‖y − u‖) ≤ μ‖v‖²·2D, because z
//! lies in the set. A step then satisfies the inequality of an exact projection with κ‖g‖² in place
//! of ‖g‖², where κ = 1 + 2μD:
//!
//! ‖x_{t+1} − u‖² ≤ ‖x_t − u‖² − 2η_t⟨g_t, x_t − u⟩ + κη_t²‖g_t‖².
//!
//! If the step sizes do not grow, regret ≤ D²/(2η_T) + (κ/2)Σ η_t‖g_t‖². All step sizes in this file have
//! η_t‖g_t‖ ≤ 1/(2μ). For such steps the projection is known to satisfy the first inequality.

use super::Assumption::{Gradient, StronglyConvexLosses};
use super::Guarantee;

/// The factor κ = 1 + 2μD.
pub fn fast_ogd_kappa(mu: f64, diameter: f64) -> f64 {
    1.0 + 2.0 * mu * diameter
}

/// With step sizes η_t = D/(Gκ√t), regret ≤ (κ/2 + 1)GD√T, since D²/(2η_T) = (κ/2)GD√T and (κ/2)G²Σ η_t ≤
/// GD√T.
///
/// ```
/// // the unit ball: κ = 5
/// assert_eq!(extremal::theory::fast_ogd(1.0, 2.0, 1.0).bound(100.0), 70.0);
/// ```
pub fn fast_ogd(gradient: f64, diameter: f64, mu: f64) -> Guarantee {
    let factor = (0.5 * fast_ogd_kappa(mu, diameter) + 1.0) * gradient * diameter;
    let bound = move |rounds: f64| factor * rounds.sqrt();
    Guarantee::new("Fast OGD, (κ/2+1)GD√T", 0.5, bound).assuming([Gradient(gradient)])
}

/// With step sizes η_t = D/max(√(2κV_t), κM_t), regret ≤ (D/2)·max(√(2κV), κM) + (D/2)·√(2κV), where
/// V = Σ‖g_t‖² and M = max‖g_t‖ over the run. `root` is √V, and `largest` is M.
///
/// The first part is D²/(2η_T). The second part bounds (κ/2)Σ η_t‖g_t‖² ≤ (D/2)√(κ/2)·Σ‖g_t‖²/√V_t ≤
/// (D/2)√(κ/2)·2√V. The two parts sum to at most √(2κ)·D√V + (κ/2)DM.
pub fn fast_ogd_adaptive(diameter: f64, mu: f64, root: f64, largest: f64) -> Guarantee {
    let kappa = fast_ogd_kappa(mu, diameter);
    let along = (2.0 * kappa).sqrt() * root;
    let bound = 0.5 * diameter * (along.max(kappa * largest) + along);
    Guarantee::of_run("Fast OGD, D√(2κΣ‖g‖²)+κDM/2", 0.5, bound)
}

/// With step sizes η_t = 1/(2μG + λt) and λ-strongly convex losses,
/// regret ≤ μGD² + κG²/(2λ)·min(1 + ln T, ln(1 + λT/(2μG))).
///
/// The terms (1/η_t − 1/η_{t−1} − λ)‖x_t − u‖²/2 are 0 except for the first, which is at most μGD². The
/// sum Σ 1/(2μG + λt) satisfies both bounds in the minimum. If the learner replaces G by the largest ‖g‖
/// so far, M_t, the first terms sum to at most μD²M_T. The bound then holds with G = M_T, because
/// M_t²/(2μM_t + λt) grows with M_t.
pub fn fast_ogd_strongly_convex(gradient: f64, lambda: f64, diameter: f64, mu: f64) -> Guarantee {
    let kappa = fast_ogd_kappa(mu, diameter);
    let bound = move |rounds: f64| {
        if gradient == 0.0 {
            return 0.0;
        }
        let share = rounds * (lambda / (2.0 * mu * gradient));
        let sum = (1.0 + rounds.max(1.0).ln()).min(share.ln_1p());
        gradient * (mu * diameter * diameter + 0.5 * kappa * (gradient / lambda) * sum)
    };
    Guarantee::new("Fast OGD, μGD²+κG²(1+ln T)/(2λ)", 0.0, bound)
        .assuming([Gradient(gradient), StronglyConvexLosses(lambda)])
}
