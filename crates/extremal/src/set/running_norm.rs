//! A norm summed up entry by entry, for points whose entries are made on the way and kept nowhere.

/// (Σ|v|^p)^(1/p) of what was added, scaled by the largest so far: no power over- or underflows.
/// NaN stays NaN.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunningNorm {
    p: f64,
    largest: f64,
    sum: f64,
}

impl RunningNorm {
    /// Of nothing yet; 1 ≤ p < ∞.
    pub(crate) fn new(p: f64) -> Self {
        Self {
            p,
            largest: 0.0,
            sum: 0.0,
        }
    }

    pub(crate) fn add(&mut self, v: f64) {
        let v = v.abs();
        if v == 0.0 {
            return;
        }
        if v > self.largest {
            self.sum = self.sum * self.power(self.largest / v) + 1.0;
            self.largest = v;
        } else {
            self.sum += self.power(v / self.largest);
        }
    }

    fn power(&self, t: f64) -> f64 {
        match self.p {
            1.0 => t,
            2.0 => t * t,
            p => t.powf(p),
        }
    }

    pub(crate) fn value(&self) -> f64 {
        match self.p {
            1.0 => self.largest * self.sum,
            2.0 => self.largest * self.sum.sqrt(),
            p => self.largest * self.sum.powf(1.0 / p),
        }
    }

    /// The norm of all of these.
    pub(crate) fn of(p: f64, values: impl IntoIterator<Item = f64>) -> f64 {
        let mut norm = Self::new(p);
        values.into_iter().for_each(|v| norm.add(v));
        norm.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_and_the_scale_of_the_entries_do_not_matter() {
        for p in [1.0, 1.3, 2.0, 7.0, 1e4] {
            let up: Vec<f64> = (1..=20).map(|i| f64::from(i) / 20.0).collect();
            let plain = up.iter().map(|v| v.powf(p)).sum::<f64>().powf(1.0 / p);
            for scale in [1e-300, 1.0, 1e300] {
                for reverse in [false, true] {
                    let mut v: Vec<f64> = up.iter().map(|v| -v * scale).collect();
                    if reverse {
                        v.reverse();
                    }
                    let norm = RunningNorm::of(p, v);
                    assert!(
                        (norm / (plain * scale) - 1.0).abs() < 1e-13,
                        "{p} {scale}: {norm}"
                    );
                }
            }
        }
    }

    #[test]
    fn no_number_that_is_none_passes_for_one() {
        assert_eq!(RunningNorm::of(2.0, []), 0.0);
        assert_eq!(
            RunningNorm::of(2.0, [0.0, 1.0, f64::INFINITY]),
            f64::INFINITY
        );
        for at in 0..3 {
            let mut v = [1.0; 3];
            v[at] = f64::NAN;
            assert!(RunningNorm::of(1.5, v).is_nan());
        }
    }
}
