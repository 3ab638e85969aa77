//! Decimal numbers. The result equals that of `str::parse`. For short numbers, this code takes a fraction
//! of the time of `str::parse`.
//!
//! Whole numbers up to 2^53 and powers of ten up to 10^22 are exact in an `f64`. Their quotient is
//! rounded once and is therefore the nearest `f64`. All other numbers go to `str::parse`.

use std::ops::Range;

/// The exact powers of ten, padded with 0 so that a masked index is always in range.
const POWERS: [f64; 32] = {
    let mut powers = [0.0; 32];
    let mut power = 1.0;
    let mut k = 0;
    while k <= 22 {
        powers[k] = power;
        power *= 10.0;
        k += 1;
    }
    powers
};

/// The powers of ten up to 10^7.
const WHOLE_POWERS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// An `f64` represents every whole number up to this one exactly.
const EXACT: u64 = 1 << 53;

const HIGHEST_BITS: u64 = 0x8080_8080_8080_8080;

/// Eight bytes from `at` on, the first in the lowest byte.
#[inline(always)]
fn word(text: &[u8], at: usize) -> Option<u64> {
    let bytes = text.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*bytes))
}

/// The values of the first `count` digits (1 to 8), with zeros in front.
#[inline(always)]
fn in_front(word: u64, count: u32) -> u64 {
    (word ^ 0x3030_3030_3030_3030).wrapping_shl(64 - 8 * count)
}

/// Sets the highest bit of the first byte above 9. Later bytes are unspecified.
#[inline(always)]
fn no_digits(lanes: u64) -> u64 {
    // The addition sets the highest bit of a byte above 9. A carry can change only later bytes.
    (lanes.wrapping_add(0x7676_7676_7676_7676) | lanes) & HIGHEST_BITS
}

/// The number of digits at the start of `word`.
#[inline(always)]
fn digits(word: u64) -> u32 {
    no_digits(word ^ 0x3030_3030_3030_3030).trailing_zeros() / 8
}

/// Eight digits as a number.
#[inline(always)]
fn joined(lanes: u64) -> u64 {
    // Neighbouring digits are combined into pairs, pairs into fours, and fours into eight digits.
    let pairs = lanes.wrapping_mul(10 * 256 + 1) >> 8;
    let fours = (pairs & 0x00FF_00FF_00FF_00FF).wrapping_mul(100 * 65_536 + 1) >> 16;
    (fours & 0x0000_FFFF_0000_FFFF).wrapping_mul((10_000 << 32) + 1) >> 32
}

/// Reads the `index:value` at `at`, if the index has up to seven digits and the value is finite. Returns
/// the index, the value and the position after the pair. The character at this position is not a digit.
/// The caller checks whether this character may follow a value.
///
/// Most of the reading time is spent in this function: the next pair can't start before the end of this
/// pair is known. The search for the ends is therefore minimal: the first character above `9` ends the
/// index, and the first character below `0` ends the value. The validation follows later. A single bounds
/// check covers all reads. The most common values, with one digit before the point and up to seven digits
/// after the point, take one step.
#[inline(always)]
pub(crate) fn short_pair(text: &[u8], at: usize) -> Option<(u32, f64, usize)> {
    let near = text.get(at..)?.first_chunk::<24>()?;
    let first = part(near, 0);
    let above = first.wrapping_add(0x4646_4646_4646_4646) & HIGHEST_BITS;
    let length = above.trailing_zeros() / 8;
    let start = length as usize + 1;
    let leading = part(near, start) as u16 ^ 0x2E30;
    let behind = part(near, start + 2);
    let below = behind.wrapping_sub(0x3030_3030_3030_3030) & HIGHEST_BITS;
    let count = below.trailing_zeros() / 8;

    let lanes = in_front(first, length);
    if length.is_multiple_of(8) || near[length as usize] != b':' || no_digits(lanes) != 0 {
        return None;
    }
    let index = joined(lanes) as u32;
    let lanes = in_front(behind, count);
    if leading > 9 || count.is_multiple_of(8) || no_digits(lanes) != 0 {
        let (value, end) = finite(text, at + start)?;
        return Some((index, value, end));
    }
    // The number has at most eight digits, so that it is below 2^53.
    let mantissa = u64::from(leading) * WHOLE_POWERS[count as usize & 7] + joined(lanes);
    let value = mantissa as i64 as f64 / POWERS[count as usize & 31];
    Some((index, value, at + start + 2 + count as usize))
}

#[inline(always)]
fn part(near: &[u8; 24], at: usize) -> u64 {
    near[at..]
        .first_chunk::<8>()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Reads the finite number at `at`, up to a blank or control character. Returns the number and the
/// position of its end.
#[inline(never)]
pub(crate) fn finite(text: &[u8], at: usize) -> Option<(f64, usize)> {
    if let Some((value, end)) = short(text, at)
        && text.get(end).is_some_and(|&next| next <= b' ')
    {
        return Some((value, end));
    }
    let length = text.get(at..)?.iter().position(|&byte| byte <= b' ')?;
    let value = parse(&text[at..at + length])?;
    value.is_finite().then_some((value, at + length))
}

/// Reads the number at `at`, if it has up to seven digits before the point and up to 15 after the point.
/// Returns the number and the position of its end. The next character is not a digit, but may begin an
/// exponent.
#[inline(always)]
fn short(text: &[u8], at: usize) -> Option<(f64, usize)> {
    let negative = *text.get(at)? == b'-';
    let at = at + usize::from(negative);
    let first = word(text, at)?;
    let count = digits(first);
    if count.is_multiple_of(8) {
        return None;
    }
    let point = at + count as usize;
    let (size, end) = if (first >> (8 * count)) as u8 == b'.' {
        let whole = joined(in_front(first, count));
        let behind = word(text, point + 1)?;
        let count = digits(behind);
        if count == 0 {
            return None;
        }
        let fraction = joined(in_front(behind, count));
        if count == 8 {
            long_fraction(text, point + 1, whole * 100_000_000 + fraction)?
        } else {
            // The number has at most 14 digits, so that it is below 2^53.
            let mantissa = whole * WHOLE_POWERS[count as usize & 7] + fraction;
            let size = mantissa as i64 as f64 / POWERS[count as usize & 31];
            (size, point + 1 + count as usize)
        }
    } else {
        (joined(in_front(first, count)) as i64 as f64, point)
    };
    let sign = u64::from(negative) << 63;
    Some((f64::from_bits(size.to_bits() | sign), end))
}

/// Continues a fraction whose first eight digits are already in `mantissa`.
#[inline(never)]
fn long_fraction(text: &[u8], at: usize, mantissa: u64) -> Option<(f64, usize)> {
    let more = word(text, at + 8)?;
    let count = digits(more);
    if count == 8 {
        return None;
    }
    // Seven more digits may overflow 64 bits, because there are up to 15 digits already.
    let mantissa = match count {
        0 => mantissa,
        _ => mantissa
            .checked_mul(10_u64.pow(count))?
            .checked_add(joined(in_front(more, count)))?,
    };
    if mantissa > EXACT {
        return None;
    }
    let power = POWERS[(8 + count) as usize & 31];
    Some((mantissa as i64 as f64 / power, at + 8 + count as usize))
}

/// Reads the number in `text[place]`. The fast path also reads the bytes after the number, but ignores
/// them.
pub(crate) fn parse_within(text: &[u8], place: Range<usize>) -> Option<f64> {
    match short(text, place.start) {
        Some((value, end)) if end == place.end => Some(value),
        _ => parse(&text[place]),
    }
}

/// Reads all of `text` as a number, which may be "inf" or "nan".
pub(crate) fn parse(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator with a fixed seed, so that every run tests the same strings.
    struct Rng(u64);

    impl Rng {
        fn below(&mut self, n: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % n
        }
    }

    fn rounds(short: u64) -> u64 {
        match std::env::var_os("EXTREMAL_SOAK") {
            Some(_) => 100 * short,
            None => short,
        }
    }

    fn add_digits(rng: &mut Rng, most: u64, out: &mut String) {
        for _ in 0..rng.below(most + 1) {
            out.push(char::from(b'0' + rng.below(10) as u8));
        }
    }

    fn decimal(rng: &mut Rng, out: &mut String) {
        out.clear();
        out.push_str(["", "-", "", "+"][rng.below(4) as usize]);
        let most = [1, 3, 8, 12, 20, 40][rng.below(6) as usize];
        add_digits(rng, most, out);
        if rng.below(3) > 0 {
            out.push('.');
            add_digits(rng, most, out);
        }
        if rng.below(4) == 0 {
            out.push(['e', 'E'][rng.below(2) as usize]);
            out.push_str(["", "-", "+"][rng.below(3) as usize]);
            let most = [1, 2, 2, 3, 5][rng.below(5) as usize];
            add_digits(rng, most, out);
        }
    }

    #[test]
    fn numbers_equal_those_of_the_standard_library() {
        let mut rng = Rng(0x9E37_79B9_7F4A_7C15);
        let (mut text, mut next) = (String::new(), String::new());
        let mut numbers = 0;
        for _ in 0..rounds(3_000_000) {
            decimal(&mut rng, &mut text);
            let theirs = text.parse::<f64>().ok();
            let end = text.len();
            text.push_str([",", " ", "", "\t"][rng.below(4) as usize]);
            decimal(&mut rng, &mut next);
            text.push_str(&next);
            let ours = parse_within(text.as_bytes(), 0..end);
            assert_eq!(
                ours.map(f64::to_bits),
                theirs.map(f64::to_bits),
                "{text:?}: {ours:?} instead of {theirs:?}"
            );
            numbers += u64::from(theirs.is_some());
        }
        assert!(numbers > rounds(2_000_000), "only {numbers} were numbers");
    }

    #[test]
    fn short_pairs_equal_those_of_the_standard_library() {
        let mut rng = Rng(0xD1B5_4A32_D192_ED03);
        let (mut text, mut number) = (String::new(), String::new());
        let mut taken = 0;
        for round in 0..rounds(3_000_000) {
            let index = rng.below([10, 1000, 10_000_000][round as usize % 3]);
            decimal(&mut rng, &mut number);
            text.clear();
            text.push_str(&format!("{index}:{number}"));
            let end = text.len();
            text.push_str(" 7:0.25 ");
            add_digits(&mut rng, 30, &mut text);
            let Some((ours_index, ours, ours_end)) = short_pair(text.as_bytes(), 0) else {
                continue;
            };
            assert_eq!(u64::from(ours_index), index);
            assert_eq!(ours_end, end, "{text:?}");
            let theirs: f64 = number.parse().unwrap();
            assert_eq!(ours.to_bits(), theirs.to_bits(), "{text:?}");
            taken += 1;
        }
        assert!(taken > rounds(2_000_000), "only {taken} were short");
    }

    #[test]
    fn numbers_around_the_ends_of_the_exact_ranges_are_rounded_once() {
        for mantissa in [
            EXACT - 1,
            EXACT,
            EXACT + 1,
            EXACT + 2,
            EXACT * 10 - 1,
            u64::MAX,
            1,
            0,
        ] {
            let digits = mantissa.to_string();
            for (point, sign) in (0..=digits.len()).flat_map(|point| [(point, ""), (point, "-")]) {
                let text = format!("{sign}{}.{},1234567", &digits[..point], &digits[point..]);
                let end = text.len() - 8;
                let theirs: f64 = text[..end].parse().unwrap();
                let ours = parse_within(text.as_bytes(), 0..end).unwrap();
                assert_eq!(ours.to_bits(), theirs.to_bits(), "{text}");
            }
        }
    }

    #[test]
    fn a_short_pair_ends_where_it_should() {
        let pair = |text: &str| short_pair(format!("{text}{}", " ".repeat(24)).as_bytes(), 0);
        assert_eq!(pair("12:0.5 77"), Some((12, 0.5, 6)));
        assert_eq!(pair("12:0.5\t77"), Some((12, 0.5, 6)));
        assert_eq!(pair("1234567:1"), Some((1_234_567, 1.0, 9)));
        assert_eq!(
            pair("1234567:-0.1234567"),
            Some((1_234_567, -0.123_456_7, 18))
        );
        assert_eq!(pair("1:-1234567.25"), Some((1, -1_234_567.25, 13)));
        assert_eq!(pair("47236:0.00123456"), Some((47236, 0.001_234_56, 16)));
        assert_eq!(pair("1:1.5e5"), Some((1, 1.5e5, 7)));
        assert_eq!(pair("1:.5"), Some((1, 0.5, 4)));
        assert_eq!(pair("1:5."), Some((1, 5.0, 4)));
        let long = "0.12345678901234567891";
        assert_eq!(
            pair(&format!("1:{long}")),
            Some((1, long.parse().unwrap(), 24))
        );
        // The caller rejects the next character.
        assert_eq!(pair("1:0.5#"), Some((1, 0.5, 5)));
        for other in [
            "12345678:1",
            ":1",
            "12 :1",
            "1\u{ff}:1",
            "1:",
            "1:x",
            "1:--1",
            "1:-",
            "1:1x",
            "1:0/5",
            "1:0.5:3",
            "1:1e999",
            "1:nan",
            "1:inf",
            "-1:0.5",
            "1:/.5",
            "1::.5",
        ] {
            assert_eq!(pair(other), None, "{other}");
        }
        assert_eq!(short_pair(b"1:0.5 2", 0), None, "too near to the end");
    }
}
