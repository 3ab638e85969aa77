//! Decimal numbers, rounded as the standard library rounds them, several times as fast where they
//! are short.
//!
//! A number of up to 2^53 as digits, times or divided by a power of ten up to 10^22, both of which
//! are exact in an `f64`, is one operation that rounds once: the result is the nearest `f64`.
//! Everything else goes to `str::parse`.

/// The powers of ten that are exact, and 0 up to a length that a masked index can't leave.
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

/// Up to here every whole number is an `f64`.
const EXACT: u64 = 1 << 53;

/// The digits at the start of eight bytes (the first in the lowest byte) as a number, and how
/// many there are. The number means nothing when there are none.
#[inline(always)]
fn leading_digits(word: u64) -> (u64, u32) {
    let lanes = word ^ 0x3030_3030_3030_3030;
    // Bytes above 9 set their highest bit. A carry can spoil only bytes behind the first of them.
    let others = (lanes.wrapping_add(0x7676_7676_7676_7676) | lanes) & 0x8080_8080_8080_8080;
    let count = others.trailing_zeros() / 8;
    // Zeros in front, then neighbours are joined to pairs, fours and eights.
    let lanes = lanes.wrapping_shl(64 - 8 * count);
    let pairs = lanes.wrapping_mul(10 * 256 + 1) >> 8;
    let fours = (pairs & 0x00FF_00FF_00FF_00FF).wrapping_mul(100 * 65_536 + 1) >> 16;
    let eight = (fours & 0x0000_FFFF_0000_FFFF).wrapping_mul((10_000 << 32) + 1) >> 32;
    (eight, count)
}

#[inline(always)]
fn word(text: &[u8], at: usize) -> Option<u64> {
    let bytes = text.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*bytes))
}

/// The one to seven digits at `at`, which end before `stop`, and the position behind `stop`.
#[inline(always)]
pub(crate) fn short_index(text: &[u8], at: usize, stop: u8) -> Option<(u32, usize)> {
    let word = word(text, at)?;
    let (value, count) = leading_digits(word);
    if count == 0 || count == 8 || (word >> (8 * count)) as u8 != stop {
        return None;
    }
    Some((value as u32, at + count as usize + 1))
}

/// The number at `at` and where it ends, if it is a short one: sign, up to seven digits, and a
/// point with up to 15 behind it. What follows is for the caller to look at: an exponent may.
#[inline(always)]
pub(crate) fn short(text: &[u8], at: usize) -> Option<(f64, usize)> {
    let negative = *text.get(at)? == b'-';
    let at = at + usize::from(negative);
    let first = word(text, at)?;
    let (whole, count) = leading_digits(first);
    if count == 0 || count == 8 {
        return None;
    }
    let after = at + count as usize;
    let (size, end) = if (first >> (8 * count)) as u8 == b'.' {
        let (digits, count) = leading_digits(word(text, after + 1)?);
        if count == 0 {
            return None;
        }
        if count == 8 {
            long_fraction(text, after + 1, whole * 100_000_000 + digits)?
        } else {
            // At most 14 digits, which is below 2^53.
            let power = POWERS[count as usize & 31];
            let mantissa = whole as i64 as f64 * power + digits as i64 as f64;
            (mantissa / power, after + 1 + count as usize)
        }
    } else {
        (whole as i64 as f64, after)
    };
    let sign = u64::from(negative) << 63;
    Some((f64::from_bits(size.to_bits() | sign), end))
}

/// Goes on with a fraction whose first eight digits are in `mantissa` already.
#[inline(never)]
fn long_fraction(text: &[u8], at: usize, mantissa: u64) -> Option<(f64, usize)> {
    let (digits, count) = leading_digits(word(text, at + 8)?);
    if count == 8 {
        return None;
    }
    // 15 digits so far: another seven do not fit into 64 bits if all of them are used.
    let mantissa = match count {
        0 => mantissa,
        _ => mantissa
            .checked_mul(10_u64.pow(count))?
            .checked_add(digits)?,
    };
    if mantissa > EXACT {
        return None;
    }
    let power = POWERS[(8 + count) as usize & 31];
    Some((mantissa as i64 as f64 / power, at + 8 + count as usize))
}

/// The whole of `text` as a number: what `str::parse` makes of it, bit for bit, so that "inf" and
/// "nan" are numbers here too.
pub(crate) fn parse(text: &[u8]) -> Option<f64> {
    plain(text).or_else(|| std::str::from_utf8(text).ok()?.parse().ok())
}

/// Numbers whose digits fit into 2^53 and whose power of ten is exact.
fn plain(text: &[u8]) -> Option<f64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let mut mantissa = 0_u64;
    let mut power = 0_i32;
    let mut seen = 0;
    let mut fraction = false;
    let mut rest = digits.iter();
    while let Some(&byte) = rest.next() {
        match byte {
            b'0'..=b'9' => {
                seen += 1;
                mantissa = mantissa * 10 + u64::from(byte - b'0');
                power -= i32::from(fraction);
                // Checked at each digit, so that the next can't overflow.
                if mantissa > EXACT || power < -10_000 {
                    return None;
                }
            }
            b'.' if !fraction => fraction = true,
            b'e' | b'E' => {
                power += exponent(rest.as_slice())?;
                break;
            }
            _ => return None,
        }
    }
    if seen == 0 || power.unsigned_abs() > 22 {
        return None;
    }
    let size = if power < 0 {
        mantissa as f64 / POWERS[-power as usize]
    } else {
        mantissa as f64 * POWERS[power as usize]
    };
    Some(if negative { -size } else { size })
}

/// A sign and up to four digits.
fn exponent(text: &[u8]) -> Option<i32> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if digits.is_empty() || digits.len() > 4 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let size = digits
        .iter()
        .fold(0, |size, digit| size * 10 + i32::from(digit - b'0'));
    Some(if negative { -size } else { size })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small generator, so that the strings are the same on every run.
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

    fn digits(rng: &mut Rng, most: u64, out: &mut String) {
        for _ in 0..rng.below(most + 1) {
            out.push(char::from(b'0' + rng.below(10) as u8));
        }
    }

    fn decimal(rng: &mut Rng, out: &mut String) {
        out.clear();
        out.push_str(["", "-", "", "+"][rng.below(4) as usize]);
        let most = [1, 3, 8, 12, 20, 40][rng.below(6) as usize];
        digits(rng, most, out);
        if rng.below(3) > 0 {
            out.push('.');
            digits(rng, most, out);
        }
        if rng.below(4) == 0 {
            out.push(['e', 'E'][rng.below(2) as usize]);
            out.push_str(["", "-", "+"][rng.below(3) as usize]);
            let most = [1, 2, 2, 3, 5][rng.below(5) as usize];
            digits(rng, most, out);
        }
    }

    #[test]
    fn a_number_is_what_the_standard_library_makes_of_it() {
        let mut rng = Rng(0x9E37_79B9_7F4A_7C15);
        let mut text = String::new();
        let mut numbers = 0;
        for _ in 0..rounds(3_000_000) {
            decimal(&mut rng, &mut text);
            let theirs = text.parse::<f64>().ok();
            let ours = parse(text.as_bytes());
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
    fn a_short_number_is_what_the_standard_library_makes_of_it() {
        let mut rng = Rng(0xD1B5_4A32_D192_ED03);
        let mut text = String::new();
        let mut taken = 0;
        for _ in 0..rounds(3_000_000) {
            decimal(&mut rng, &mut text);
            let end = text.len();
            text.push(' ');
            digits(&mut rng, 30, &mut text);
            let Some((ours, ours_end)) = short(text.as_bytes(), 0) else {
                continue;
            };
            if ours_end != end {
                // The rest is not the short reader's to judge: an exponent, as a rule.
                assert!(!text.as_bytes()[ours_end].is_ascii_digit(), "{text:?}");
                continue;
            }
            let theirs: f64 = text[..end].parse().unwrap();
            assert_eq!(ours.to_bits(), theirs.to_bits(), "{text:?}");
            taken += 1;
        }
        assert!(taken > rounds(300_000), "only {taken} were short");
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
            for power in [
                -400, -324, -323, -308, -23, -22, -21, 0, 21, 22, 23, 290, 308, 309,
            ] {
                for sign in ["", "-"] {
                    let text = format!("{sign}{mantissa}e{power}");
                    let theirs: f64 = text.parse().unwrap();
                    let ours = parse(text.as_bytes()).unwrap();
                    assert_eq!(ours.to_bits(), theirs.to_bits(), "{text}");
                }
            }
        }
    }

    #[test]
    fn an_index_ends_where_it_should() {
        assert_eq!(short_index(b"12:0.5 77", 0, b':'), Some((12, 3)));
        assert_eq!(short_index(b"1234567:1", 0, b':'), Some((1_234_567, 8)));
        assert_eq!(short_index(b"12345678:1", 0, b':'), None);
        assert_eq!(short_index(b":1       ", 0, b':'), None);
        assert_eq!(short_index(b"12 :1     ", 0, b':'), None);
        assert_eq!(short_index(b"1\xff:1      ", 0, b':'), None);
    }
}
