//! Dates in ISO form: `2024-03-01`, `2024/03/01`, `2024-03-01T14:30:00Z`.

use std::fmt::Write;

/// A date, and the time of the day if there is one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Date {
    pub(crate) year: u32,
    /// From 1 to 12.
    pub(crate) month: u32,
    /// 0 is Monday.
    pub(crate) weekday: usize,
    pub(crate) hour: Option<u32>,
    /// Years since the start of 2000.
    pub(crate) trend: f64,
}

/// The mean length of a year in days.
const YEAR: f64 = 365.2425;

pub(crate) const WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

impl Date {
    /// Passes the categories of a date to `add`, such as `month=3`.
    pub(crate) fn parts(self, text: &mut String, mut add: impl FnMut(&str)) {
        let mut part = |part: std::fmt::Arguments<'_>| {
            text.clear();
            // A string accepts all text.
            let _ = text.write_fmt(part);
            add(text);
        };
        part(format_args!("year={}", self.year));
        part(format_args!("month={}", self.month));
        part(format_args!("weekday={}", WEEKDAYS[self.weekday]));
        if let Some(hour) = self.hour {
            part(format_args!("hour={hour}"));
        }
    }
}

/// Reads a date. The time may have seconds with a fraction, and a time zone, which is ignored.
pub(crate) fn parse(text: &[u8]) -> Option<Date> {
    let (year, rest) = digits(text, 4)?;
    let (&separator, rest) = rest.split_first()?;
    let (month, rest) = digits(rest, 2)?;
    let (&again, rest) = rest.split_first()?;
    let (day, rest) = digits(rest, 2)?;
    let is_date = matches!(separator, b'-' | b'/') && separator == again;
    if !is_date || year == 0 || !(1..=12).contains(&month) || day == 0 || day > length(year, month)
    {
        return None;
    }
    let (hour, fraction) = match rest {
        [] => (None, 0.0),
        [b'T' | b't' | b' ', time @ ..] => {
            let (hour, fraction) = parse_time(time)?;
            (Some(hour), fraction)
        }
        _ => return None,
    };
    let days = days(year, month, day);
    Some(Date {
        year,
        month,
        // The first of January 2000 was a Saturday.
        weekday: (days + 5).rem_euclid(7) as usize,
        hour,
        trend: (days as f64 + fraction) / YEAR,
    })
}

/// The hour, and the part of the day that has passed.
fn parse_time(text: &[u8]) -> Option<(u32, f64)> {
    let (hour, rest) = digits(text, 2)?;
    let (minute, mut rest) = digits(rest.strip_prefix(b":")?, 2)?;
    let mut second = 0;
    if let Some(seconds) = rest.strip_prefix(b":") {
        (second, rest) = digits(seconds, 2)?;
        if let Some(fraction) = rest.strip_prefix(b".").or(rest.strip_prefix(b",")) {
            let count = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
            rest = &fraction[count..];
            if count == 0 {
                return None;
            }
        }
    }
    let is_zone = match rest {
        [] | [b'Z' | b'z'] | b" UTC" => true,
        [b'+' | b'-', zone @ ..] => match digits(zone, 2)? {
            (_, []) => true,
            (_, minutes) => digits(minutes.strip_prefix(b":").unwrap_or(minutes), 2)?
                .1
                .is_empty(),
        },
        _ => false,
    };
    let is_time = hour < 24 && minute < 60 && second < 61;
    let seconds = f64::from(3600 * hour + 60 * minute + second);
    (is_zone && is_time).then_some((hour, seconds / 86400.0))
}

/// Reads a number of `count` digits.
fn digits(text: &[u8], count: usize) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_at_checked(count)?;
    let number = digits.iter().try_fold(0, |number, digit| {
        digit
            .is_ascii_digit()
            .then(|| 10 * number + u32::from(digit - b'0'))
    })?;
    Some((number, rest))
}

fn is_leap(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// The number of days of a month.
fn length(year: u32, month: u32) -> u32 {
    match month {
        2 => 28 + u32::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The number of days since the first of January 2000.
fn days(year: u32, month: u32, day: u32) -> i64 {
    let before = i64::from(year) - 1;
    let leap = |years: i64| years / 4 - years / 100 + years / 400;
    let years = 365 * (before - 1999) + leap(before) - leap(1999);
    let months: u32 = (1..month).map(|month| length(year, month)).sum();
    years + i64::from(months + day) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (text, days, weekday) in [
            ("2000-01-01", 0, "Saturday"),
            ("1999-12-31", -1, "Friday"),
            ("2024-02-29", 8825, "Thursday"),
            ("2024/03/01", 8826, "Friday"),
            ("1970-01-01", -10957, "Thursday"),
            ("1900-03-01", -36465, "Thursday"),
            ("2026-11-19", 9819, "Thursday"),
        ] {
            let date = parse(text.as_bytes()).unwrap();
            assert_eq!(date.trend, f64::from(days) / YEAR, "{text}");
            assert_eq!(WEEKDAYS[date.weekday], weekday, "{text}");
            assert_eq!(date.hour, None);
        }
        for time in [
            "T18:00",
            " 18:00:00",
            "T18:00:00.5Z",
            "T18:00:00+02:00",
            " 18:00:00-0530",
        ] {
            let date = parse(format!("2000-01-01{time}").as_bytes()).unwrap();
            assert_eq!((date.hour, date.trend), (Some(18), 0.75 / YEAR), "{time}");
        }
        for other in [
            "2023-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-01-00",
            "2024-1-1",
            "2024-01/01",
            "20240101",
            "2024-01-01x",
            "2024-01-01T24:00",
            "2024-01-01T1:00",
            "2024-01-01T10",
            "2024-01-01T10:00+1",
            "0000-01-01",
            "",
            "2024-01-01T10:00:00.",
        ] {
            assert_eq!(parse(other.as_bytes()), None, "{other}");
        }
    }
}
