//! Numbers for people.

/// Formats a number with `digits` significant digits, but all digits of its whole part. With four
/// digits, 12345.6 is `12,346` and 25.3104 is `25.31`.
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

/// Like [`significant`] for positive numbers, but rounds down: the text is never above x.
pub fn at_most(x: f64, digits: i32) -> String {
    let below = |text: &String| shown(text) <= x;
    let text = nudged(x, digits, -1.0).find(below);
    text.unwrap_or_else(|| significant(0.0, digits))
}

/// Like [`significant`], but rounds up: the text is never below x.
pub fn at_least(x: f64, digits: i32) -> String {
    let above = |text: &String| !x.is_finite() || shown(text) >= x;
    let text = nudged(x, digits, 1.0).find(above);
    text.unwrap_or_else(|| significant(x, digits))
}

/// Formats x, then numbers that are farther and farther from x in one direction. The first step is
/// half a unit of the last digit. Each step is twice as long as the step before, because small numbers
/// are shown with fewer digits.
fn nudged(x: f64, digits: i32, direction: f64) -> impl Iterator<Item = String> {
    let unit = 10f64.powf(x.abs().log10().floor() + 1.0 - f64::from(digits));
    let steps = (0..60).map(move |k| 0.5 * unit.min(1.0) * f64::powi(2.0, k));
    let steps = std::iter::once(0.0).chain(steps);
    steps.map(move |step| significant(x + direction * step, digits))
}

/// Parses a formatted number.
fn shown(text: &str) -> f64 {
    let text = text.replace(',', "").replace('−', "-");
    text.parse().unwrap_or(f64::NAN)
}

/// Formats a number with `places` decimals and separated thousands.
pub fn decimals(x: f64, places: usize) -> String {
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

/// Formats a number with six decimals. A number that is not finite becomes `—`.
pub fn fixed(x: f64) -> String {
    if x.is_finite() {
        format!("{x:.6}")
    } else {
        "—".into()
    }
}

/// Formats a number in at most `width` characters, with six decimals at most. `width` is at least 7.
pub fn short(x: f64, width: usize) -> String {
    let fits = |text: &String| text.chars().count() <= width;
    let is_tiny = x != 0.0 && x.abs() < 1e-4;
    let decimals = (0..=6).rev().map(|places| format!("{x:.places$}"));
    let scientific = (0..=4).rev().map(|digits| format!("{x:.digits$e}"));
    let mut forms = decimals.filter(|_| !is_tiny).chain(scientific);
    match x.is_finite() {
        true => forms.find(fits).unwrap_or_default(),
        false => "—".into(),
    }
}

/// Shortens a text to `width` characters.
pub fn cut(text: &str, width: usize) -> String {
    match text.chars().count() <= width {
        true => text.into(),
        false => text.chars().take(width - 1).chain(['…']).collect(),
    }
}

/// Formats a whole number with separated thousands: 256000 is `256,000`.
pub fn count(n: u64) -> String {
    decimals(n as f64, 0)
}

/// Formats an interval with five significant digits, rounded outwards: `[25.310, 25.311]`.
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
