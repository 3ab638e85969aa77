/// Regret against the best of N ≤ √((4 + ln N)Σr_t²), r_t the range of the N losses in round t:
/// AdaHedge (de Rooij et al. 2014), with the constants proved in
/// [`learner::hedge`](crate::learner::hedge). `ranges` is √(Σr_t²), at most GD√T where the N are
/// learners on one set.
///
/// ```
/// assert_eq!(extremal::theory::hedge(1.0, 10.0), 20.0);
/// ```
pub fn hedge(n: f64, ranges: f64) -> f64 {
    (4.0 + n.ln()).sqrt() * ranges
}
