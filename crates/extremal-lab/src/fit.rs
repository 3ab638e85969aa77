//! Growth exponents, measured across horizons.

/// The least-squares slope of y on x; `None` with fewer than two distinct x.
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

/// a in regret ≈ k·T^a over the upper half of the horizons, from every run's regret at each of
/// them: the slope of log(mean regret) on log T. `None` where a run's regret is not positive,
/// since it then has no exponent, or where the upper half is a single horizon.
pub fn exponent(regrets: &[(f64, Vec<f64>)]) -> Option<f64> {
    let upper = &regrets[regrets.len() / 2..];
    let points = upper
        .iter()
        .map(|(horizon, runs)| {
            let positive = !runs.is_empty() && runs.iter().all(|r| *r > 0.0);
            positive.then(|| (horizon.ln(), mean(runs).ln()))
        })
        .collect::<Option<Vec<_>>>()?;
    slope(&points)
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
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
        assert!((exponent(&regrets).unwrap() - 0.7).abs() < 1e-12);
    }

    #[test]
    fn no_exponent_where_a_run_gained() {
        let regrets = vec![(1.0, vec![1.0, 1.0]), (2.0, vec![9.0, -1.0])];
        assert_eq!(exponent(&regrets), None);
        assert_eq!(exponent(&[(1.0, vec![0.0]), (2.0, vec![1.0])]), None);
    }
}
