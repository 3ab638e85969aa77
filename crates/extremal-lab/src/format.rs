//! Numbers, exponents and times as text.

pub use extremal_learn::format::{count, decimals, interval, significant};

/// 2.3e-7 seconds → `230 ns`.
pub fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    format!("{value:.*} {unit}", if value < 10.0 { 1 } else { 0 })
}

/// The exponent of a theorem: `3/4`, `2/3`, `1/2`, `log T`.
pub fn exponent(a: f64) -> String {
    for (value, text) in [(0.75, "3/4"), (2.0 / 3.0, "2/3"), (0.5, "1/2")] {
        if (a - value).abs() < 1e-12 {
            return text.into();
        }
    }
    if a == 0.0 {
        "log T".into()
    } else {
        format!("{a:.2}")
    }
}

/// A violation: `none`, its size, or `—` if it is unknown.
pub fn violation(x: Option<f64>) -> String {
    match x {
        Some(0.0) => "none".into(),
        Some(x) => format!("{x:.1e}"),
        None => "—".into(),
    }
}

/// An optional measured exponent: `0.67`, or `—`.
pub fn measured(a: Option<f64>) -> String {
    // `decimals` avoids −0.00.
    a.map_or("—".into(), |a| decimals(a, 2))
}

/// A measured exponent with its interval: `0.67 ±0.02`, or `0.67 [0.60, 0.68]` if that is not symmetric.
pub fn fitted(a: Option<f64>, low: Option<f64>, high: Option<f64>) -> String {
    let (Some(middle), Some(low), Some(high)) = (a, low, high) else {
        return measured(a);
    };
    let number = |x: f64| decimals(x, 2);
    if ((high - middle) - (middle - low)).abs() < 0.01 {
        format!("{} ±{}", number(middle), number(0.5 * (high - low)))
    } else {
        format!("{} [{}, {}]", number(middle), number(low), number(high))
    }
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).into(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        assert_eq!(duration(2.3e-7), "230 ns");
        assert_eq!(duration(1.26e-6), "1.3 µs");
        assert_eq!(duration(0.0421), "42 ms");
        assert_eq!(duration(12.4), "12 s");
    }

    #[test]
    fn exponents_are_fractions_where_theorems_have_them() {
        assert_eq!(exponent(2.0 / 3.0), "2/3");
        assert_eq!(exponent(0.0), "log T");
        assert_eq!(exponent(0.8), "0.80");
        assert_eq!(measured(Some(-0.001)), "0.00");
        assert_eq!(fitted(Some(0.5), Some(0.4), Some(0.6)), "0.50 ±0.10");
        assert_eq!(
            fitted(Some(0.66), Some(0.5), Some(0.68)),
            "0.66 [0.50, 0.68]"
        );
        assert_eq!(fitted(None, None, None), "—");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
    }
}
