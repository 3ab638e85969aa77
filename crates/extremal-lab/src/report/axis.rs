//! Logarithmic axes. On two such axes, the slope of a line is an exponent.

/// A logarithmic axis: a map from positive values to coordinates in the figure.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    /// log₁₀ of the smallest value.
    pub low: f64,
    /// log₁₀ of the largest value.
    pub high: f64,
    /// The coordinate of the smallest value.
    pub start: f64,
    /// The coordinate of the largest value.
    pub end: f64,
}

impl Axis {
    /// An axis for the positive numbers among the values, with a margin of `pad` decades at both ends.
    /// `None` if no value is positive.
    pub fn new(values: impl Iterator<Item = f64>, pad: f64, start: f64, end: f64) -> Option<Self> {
        let logs = values.filter(|v| *v > 0.0 && v.is_finite()).map(f64::log10);
        let (low, high) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| {
            (a.min(v), b.max(v))
        });
        // An axis for a single value spans a factor of two.
        let pad = if high - low < 0.1 { pad.max(0.15) } else { pad };
        (low <= high).then_some(Self {
            low: low - pad,
            high: high + pad,
            start,
            end,
        })
    }

    /// The coordinate of a positive value.
    pub fn at(&self, value: f64) -> f64 {
        let part = (value.log10() - self.low) / (self.high - self.low);
        self.start + part * (self.end - self.start)
    }

    /// The values with a tick. These are powers of ten. A long axis has a tick at every second power,
    /// and a short axis also has ticks at multiples of the powers.
    pub fn ticks(&self) -> Vec<f64> {
        let span = self.high - self.low;
        let factors: &[f64] = match span {
            s if s < 0.7 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0],
            s if s < 2.2 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let step = if span > 7.0 { 2 } else { 1 };
        let decades = (self.low.floor() as i32)..=(self.high.ceil() as i32);
        decades
            .filter(|e| e % step == 0)
            .flat_map(|e| factors.iter().map(move |f| f * 10f64.powi(e)))
            .filter(|v| (self.low..=self.high).contains(&v.log10()))
            .collect()
    }
}

/// The label of a tick, such as `1k` for 1000 and `10⁻⁶` for 1e-6.
pub(super) fn tick(value: f64) -> String {
    match value {
        v if !(0.9e-3..1e9).contains(&v) => power(v),
        v if v >= 1e6 => format!("{}M", short(v / 1e6)),
        v if v >= 1e3 => format!("{}k", short(v / 1e3)),
        v => short(v),
    }
}

/// The number with at most six decimals, so that rounding errors do not show.
fn short(value: f64) -> String {
    format!("{}", (value * 1e6).round() / 1e6)
}

/// The number as a multiple of a power of ten, such as `2·10⁻⁵`.
fn power(value: f64) -> String {
    let exponent = (value.log10() + 1e-9).floor() as i32;
    let factor = value / 10f64.powi(exponent);
    let digits: String = exponent
        .to_string()
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            c => char::from_u32('⁰' as u32 + c as u32 - '0' as u32).unwrap_or(c),
        })
        .collect();
    if (factor - 1.0).abs() < 1e-6 {
        format!("10{digits}")
    } else {
        format!("{}·10{digits}", short(factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_short() {
        for (value, text) in [
            (256_000.0, "256k"),
            (0.01, "0.01"),
            (0.001, "0.001"),
            (1e6, "1M"),
            (1e-6, "10⁻⁶"),
            (2e-5, "2·10⁻⁵"),
            (1e12, "10¹²"),
        ] {
            assert_eq!(tick(value), text);
        }
    }

    #[test]
    fn an_axis_has_ticks_and_not_too_many() {
        for (low, high) in [(1e3, 2e3), (1.0, 1e2), (1e-9, 1e6), (3.0, 3.0), (7.0, 8.0)] {
            let axis = Axis::new([low, high].into_iter(), 0.05, 0.0, 100.0).unwrap();
            let ticks = axis.ticks().len();
            assert!((1..=10).contains(&ticks), "{low}..{high}: {ticks}");
            assert!(axis.at(low) < axis.at(high) || low == high);
        }
        assert_eq!(Axis::new([0.0, -1.0].into_iter(), 0.1, 0.0, 1.0), None);
    }
}
