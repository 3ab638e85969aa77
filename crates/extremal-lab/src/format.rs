//! Numbers as people read them.

/// 12345.6 → `12,346`, 25.3104 → `25.31`: so many significant digits, none of the whole part
/// dropped, thousands apart.
pub fn significant(x: f64, digits: i32) -> String {
    if !x.is_finite() {
        return x.to_string();
    }
    // The magnitude after rounding: 9.9998 is 10.00 to four digits.
    let rounded = format!("{x:.*e}", (digits - 1) as usize);
    let magnitude = rounded
        .split_once('e')
        .and_then(|(_, e)| e.parse::<i32>().ok())
        .unwrap_or(0);
    if magnitude < -4 && x != 0.0 {
        return format!("{x:.*e}", (digits - 1).clamp(0, 2) as usize);
    }
    decimals(x, (digits - 1 - magnitude).clamp(0, digits) as usize)
}

/// The same for x > 0, rounded down, so that "up to this" stays true.
pub fn at_most(x: f64, digits: i32) -> String {
    let mut less = 0.0;
    loop {
        let text = significant((x - less).max(0.0), digits);
        if (text.replace(',', "").parse()).is_ok_and(|shown: f64| shown <= x) {
            return text;
        }
        // half a unit of the last digit, or more where fewer digits are shown
        let unit = 10f64.powi(x.log10().floor() as i32 + 1 - digits);
        less = (2.0 * less).max(0.5 * unit.min(1.0)).max(f64::MIN_POSITIVE);
    }
}

/// The same for any x, rounded up, so that "at most this" stays true.
pub fn at_least(x: f64, digits: i32) -> String {
    let shown = |text: &str| text.replace(',', "").replace('−', "-").parse::<f64>();
    let text = significant(x, digits);
    if !x.is_finite() || shown(&text).is_ok_and(|shown| shown >= x) {
        return text;
    }
    let unit = 10f64.powi(x.abs().log10().floor() as i32 + 1 - digits);
    (1..60)
        .map(|k| significant(x + 0.5 * f64::from(k) * unit, digits))
        .find(|text| shown(text).is_ok_and(|shown| shown >= x))
        .unwrap_or(text)
}

/// With so many decimals, thousands apart.
fn decimals(x: f64, places: usize) -> String {
    let text = format!("{:.places$}", x.abs());
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text.as_str(), None),
    };
    let negative = x < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b));
    let mut out = String::from(if negative { "−" } else { "" });
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// With six decimals; `—` for what is not finite.
pub fn fixed(x: f64) -> String {
    if x.is_finite() {
        format!("{x:.6}")
    } else {
        "—".into()
    }
}

/// 256000 → `256,000`.
pub fn count(n: u64) -> String {
    decimals(n as f64, 0)
}

/// `[25.310, 25.311]`: five significant digits, rounded outwards so that it stays true.
pub fn interval(lower: f64, upper: f64) -> String {
    let top = lower.abs().max(upper.abs()).max(1e-4);
    let places = (4 - top.log10().floor() as i32).clamp(0, 5) as usize;
    let unit = 10f64.powi(places as i32);
    format!(
        "[{}, {}]",
        decimals((lower * unit).floor() / unit, places),
        decimals((upper * unit).ceil() / unit, places)
    )
}

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
    // −0.00 would puzzle
    a.map_or("—".into(), |a| decimals(a, 2))
}

/// The same with its interval: `0.67 ±0.02`, or `0.67 [0.60, 0.68]` if that is not symmetric.
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
    fn what_is_rounded_up_is_never_below() {
        for x in [
            12.3454,
            12.3456,
            -12.3456,
            192_258.4,
            9.99996,
            0.000_012_34,
            0.0,
            1e-9,
            99_999.6,
        ] {
            for digits in [3, 4, 5] {
                let text = at_least(x, digits);
                let shown: f64 = text.replace(',', "").replace('−', "-").parse().unwrap();
                assert!(shown >= x, "{x}: {text}");
                assert!(shown - x <= 2e-2 * x.abs().max(1e-300), "{x}: {text}");
            }
        }
    }

    #[test]
    fn digits_are_significant_and_thousands_apart() {
        for (x, text) in [
            (12345.6, "12,346"),
            (1234567.0, "1,234,567"),
            (999.0, "999.0"),
            (25.3104, "25.31"),
            (9.99979, "10.00"),
            (-0.123456, "−0.1235"),
            (0.0, "0.000"),
            (2.2e-16, "2.20e-16"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(significant(x, 4), text);
        }
        assert_eq!(count(256_000), "256,000");
        for (x, text) in [
            (24.0999, "24.0"),
            (24.0, "24.0"),
            (12345.6, "12,345"),
            (0.09996, "0.099"),
            (1.2399e-7, "1.23e-7"),
            (9.999, "9.99"),
        ] {
            assert_eq!(at_most(x, 3), text);
        }
        assert_eq!(count(42), "42");
    }

    #[test]
    fn intervals_are_rounded_outwards() {
        assert_eq!(interval(25.31041, 25.31041), "[25.310, 25.311]");
        assert_eq!(interval(-0.5, 0.5), "[−0.50000, 0.50000]");
        assert_eq!(interval(1234.56, 1234.57), "[1,234.5, 1,234.6]");
    }

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
