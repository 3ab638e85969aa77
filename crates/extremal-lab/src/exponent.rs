//! Exponents of growth, fitted to the regret of runs with different horizons T.

/// A measured exponent, with its 95 % confidence interval. The exponent is the number a for which
/// regret ≈ k·T^a.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exponent {
    /// The slope of log(mean regret over the seeds) against log T.
    pub value: f64,
    /// The lower and the upper end of the interval. `None` if there is only one seed.
    pub interval: Option<(f64, f64)>,
}

/// The reason why an exponent can't be fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfitted {
    /// The longer half of the horizons contains only one horizon.
    OneHorizon,
    /// The regret of a run is 0 or less, so that it has no logarithm.
    NotPositive,
}

impl std::fmt::Display for Unfitted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::OneHorizon => "an exponent needs three horizons",
            Self::NotPositive => "no exponent is fitted, because the regret of a run is 0 or less",
        })
    }
}

/// The slope of the least-squares line through points (x, y). `None` if there are fewer than two
/// distinct values of x.
pub fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    let (sx, sy) = points
        .iter()
        .fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    let (mx, my) = (sx / n, sy / n);
    let (mut xx, mut xy) = (0.0, 0.0);
    for (x, y) in points {
        xx += (x - mx) * (x - mx);
        xy += (x - mx) * (y - my);
    }
    (points.len() >= 2 && xx > 0.0).then(|| xy / xx)
}

/// Fits the exponent over the longer half of the horizons. Each entry of `regrets` is a horizon with
/// the regrets of its runs. All entries list the seeds in the same order. The interval comes from the
/// jackknife, which leaves out each seed in turn at all horizons. Runs with the same seed share their
/// stream, so that they are not independent of each other.
pub fn exponent(regrets: &[(f64, Vec<f64>)]) -> Result<Exponent, Unfitted> {
    let upper = &regrets[regrets.len() / 2..];
    let positive = |runs: &Vec<f64>| !runs.is_empty() && runs.iter().all(|r| *r > 0.0);
    if !upper.iter().all(|(_, runs)| positive(runs)) {
        return Err(Unfitted::NotPositive);
    }
    let without = |left_out: Option<usize>| {
        let points: Vec<_> = upper
            .iter()
            .map(|(horizon, runs)| {
                let kept = runs
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| Some(*i) != left_out);
                let kept: Vec<f64> = kept.map(|(_, r)| *r).collect();
                (horizon.ln(), mean(&kept).ln())
            })
            .collect();
        slope(&points)
    };
    let value = without(None).ok_or(Unfitted::OneHorizon)?;
    let seeds = upper.iter().map(|(_, runs)| runs.len()).min().unwrap_or(0);
    let interval = (seeds >= 2).then(|| {
        let n = seeds as f64;
        let slopes = (0..seeds).map(|i| without(Some(i)).unwrap_or(value));
        let pseudo: Vec<f64> = slopes.map(|s| n * value - (n - 1.0) * s).collect();
        let error = standard_error(&pseudo).unwrap_or(0.0);
        let half = student(seeds - 1) * error;
        (value - half, value + half)
    });
    Ok(Exponent { value, interval })
}

/// The mean.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard error of the mean. `None` for fewer than two values.
pub(crate) fn standard_error(values: &[f64]) -> Option<f64> {
    let (n, middle) = (values.len() as f64, mean(values));
    let squares: f64 = values.iter().map(|v| (v - middle) * (v - middle)).sum();
    (values.len() >= 2).then(|| (squares / (n - 1.0) / n).sqrt())
}

/// The 97.5 % quantile of Student's t distribution with this many degrees of freedom.
fn student(freedom: usize) -> f64 {
    const FIRST: [f64; 10] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    ];
    let n = freedom as f64;
    // Beyond the table, the Cornish–Fisher expansion has three correct digits.
    let z: f64 = 1.959_964;
    FIRST.get(freedom.wrapping_sub(1)).copied().unwrap_or(
        z + (z.powi(3) + z) / (4.0 * n)
            + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
            + (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z)
                / (384.0 * n.powi(3)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_own_slope() {
        let points: Vec<_> = (0..5).map(|i| (i as f64, 3.0 - 2.0 * i as f64)).collect();
        assert!((slope(&points).unwrap() + 2.0).abs() < 1e-14);
    }

    #[test]
    fn least_squares_weighs_all_points() {
        // means 1 and 2: (−1)(−2) + 0·1 + 1·1 = 3 over 1 + 0 + 1 = 2
        let points = [(0.0, 0.0), (1.0, 3.0), (2.0, 3.0)];
        assert!((slope(&points).unwrap() - 1.5).abs() < 1e-14);
    }

    #[test]
    fn one_point_has_no_slope() {
        assert_eq!(slope(&[]), None);
        assert_eq!(slope(&[(1.0, 1.0)]), None);
        assert_eq!(slope(&[(1.0, 1.0), (1.0, 2.0)]), None);
    }

    #[test]
    fn a_power_law_has_its_exponent_whatever_the_lower_half_does() {
        let law = |t: f64| (t, vec![2.0 * t.powf(0.7), 4.0 * t.powf(0.7)]);
        let regrets = vec![
            (1.0, vec![1e9, -5.0]),
            (2.0, vec![1.0, 1.0]),
            law(4.0),
            law(8.0),
        ];
        let fitted = exponent(&regrets).unwrap();
        assert!((fitted.value - 0.7).abs() < 1e-12);
        // all seeds have the same slope, so that the interval is a point
        let (low, high) = fitted.interval.unwrap();
        assert!(high - low < 1e-9);
    }

    #[test]
    fn the_jackknife_agrees_with_the_textbook_where_the_slope_is_linear() {
        // For regrets near 1, log(mean) ≈ mean − 1. With two horizons, the slope is a mean over seeds.
        let noise = [0.01, -0.02, 0.005, 0.012, -0.007];
        let at = |t: f64, sign: f64| (t, noise.map(|e| 1.0 + 1e-3 * sign * e).to_vec());
        let e = std::f64::consts::E;
        let regrets = [at(0.1, 0.0), at(0.2, 0.0), at(1.0, -1.0), at(e, 1.0)];
        let fitted = exponent(&regrets).unwrap();
        let (low, high) = fitted.interval.unwrap();
        let slopes = noise.map(|e| 2e-3 * e);
        let half = 2.776 * standard_error(&slopes).unwrap();
        assert!((0.5 * (high - low) / half - 1.0).abs() < 1e-3);
        assert!((fitted.value - mean(&slopes)).abs() < 1e-3 * half);
    }

    #[test]
    fn no_exponent_where_a_run_gained_or_there_is_one_horizon() {
        let regrets = vec![(1.0, vec![1.0, 1.0]), (2.0, vec![9.0, -1.0])];
        assert_eq!(exponent(&regrets), Err(Unfitted::NotPositive));
        let regrets = vec![(1.0, vec![1.0]), (2.0, vec![9.0])];
        assert_eq!(exponent(&regrets), Err(Unfitted::OneHorizon));
    }

    #[test]
    fn students_law_narrows_to_the_normal_one() {
        for (freedom, point) in [
            (1, 12.706),
            (10, 2.228),
            (11, 2.201),
            (29, 2.045),
            (120, 1.980),
        ] {
            assert!((student(freedom) - point).abs() < 2e-3, "{freedom}");
        }
    }
}
