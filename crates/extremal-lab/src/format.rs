//! Formats numbers, exponents and times as text.

pub use extremal_learn::format::{count, decimals, interval, significant};

/// A time with its unit. For example, 2.3e-7 seconds are written as `230 ns`.
pub fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    format!("{value:.*} {unit}", if value < 10.0 { 1 } else { 0 })
}

/// The exponent of T in a theorem as text, such as `3/4`, `2/3` or `1/2`. The text for 0 is `log T`.
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

/// A violation of a set: its size, `none` for 0, or `—` if it was not measured.
pub fn violation(x: Option<f64>) -> String {
    match x {
        Some(0.0) => "none".into(),
        Some(x) => format!("{x:.1e}"),
        None => "—".into(),
    }
}

/// A measured exponent: `0.67`, or `—` if there is none.
pub fn measured(a: Option<f64>) -> String {
    // `decimals` avoids −0.00.
    a.map_or("—".into(), |a| decimals(a, 2))
}

/// A measured exponent with its interval: `0.67 ±0.02`, or `0.67 [0.60, 0.68]` if the interval is not
/// symmetric.
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

/// The names as a list in words: `a`, `a and b`, `a, b and c`.
pub fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).into(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
