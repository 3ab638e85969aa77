//! |t|^a for whole vectors, several times faster than a call of libm's `powf` per entry.
//!
//! The logarithm uses the odd series in (m−1)/(m+1), and the exponential uses a polynomial. The error
//! is at most a few units in the last place, multiplied by the exponent. The tests check this bound.

use pulp::Simd;

use super::sweep::{Body, sweep, vectorised};

/// The exponent a of |t|^a. Exponents that need no logarithm have variants of their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Exponent {
    /// a = 1
    One,
    /// a = 2
    Two,
    /// a = 3
    Three,
    /// a = 1/2
    Half,
    /// Any other a > 0.
    Other(f64),
}

impl From<f64> for Exponent {
    fn from(a: f64) -> Self {
        // p = 1.5 gives q − 1 = 2.0000000000000004 in f64, which is treated as 2.
        let near = |b: f64| (a - b).abs() <= 4.0 * f64::EPSILON * b;
        match () {
            () if near(1.0) => Self::One,
            () if near(2.0) => Self::Two,
            () if near(3.0) => Self::Three,
            () if near(0.5) => Self::Half,
            () => Self::Other(a),
        }
    }
}

/// Applies one exponent to a register of non-negative numbers.
pub(crate) trait Power: Copy {
    fn of<S: Simd>(self, s: S, t: S::f64s) -> S::f64s;
}

macro_rules! power {
    ($name:ident: ($s:ident, $t:ident) => $e:expr) => {
        #[derive(Clone, Copy)]
        pub(crate) struct $name;

        impl Power for $name {
            #[inline(always)]
            fn of<S: Simd>(self, $s: S, $t: S::f64s) -> S::f64s {
                $e
            }
        }
    };
}
power!(One: (_s, t) => t);
power!(Two: (s, t) => s.mul_f64s(t, t));
power!(Three: (s, t) => s.mul_f64s(s.mul_f64s(t, t), t));
power!(Half: (s, t) => s.sqrt_f64s(t));

/// |a| with the sign of b.
#[inline(always)]
pub(crate) fn copysign<S: Simd>(s: S, a: S::f64s, b: S::f64s) -> S::f64s {
    let sign = s.splat_f64s(-0.0);
    s.or_f64s(s.and_f64s(s.not_f64s(sign), a), s.and_f64s(sign, b))
}

/// 1.5·2⁵². Adding it to a number leaves the nearest integer in the low bits of the sum.
const ROUND: f64 = 6755399441055744.0;

/// A polynomial in x by Horner's rule, from the coefficient of the highest power to the constant.
macro_rules! polynomial {
    ($x:ident; $first:expr $(, $next:expr)*) => {{
        let mut sum = $first;
        $(sum = sum * $x + $next;)*
        sum
    }};
}

/// log₂ of a non-negative number: −∞ for 0, and −1074 for every subnormal. (Callers scale the
/// largest entry to about 1. Compared with its power, the power of a subnormal is negligible.)
#[inline(always)]
fn log2(t: f64) -> f64 {
    let bits = t.to_bits();
    // t = m·2^e with m in [√½, √2)
    let shifted = bits.wrapping_sub(0x3fe6_a09e_667f_3bcd);
    let e_bits = (shifted >> 52) as i64;
    let e_signed = (e_bits << 52) >> 52;
    let m = f64::from_bits(bits.wrapping_sub((e_signed as u64) << 52));
    let e = f64::from_bits(ROUND.to_bits().wrapping_add(e_signed as u64)) - ROUND;
    let f = (m - 1.0) / (m + 1.0);
    let s = f * f;
    let poly = polynomial!(s; 1.0 / 21.0, 1.0 / 19.0, 1.0 / 17.0, 1.0 / 15.0, 1.0 / 13.0,
        1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0);
    let log = e + std::f64::consts::LOG2_E * (2.0 * f + 2.0 * f * s * poly);
    let log = if t < f64::MIN_POSITIVE { -1074.0 } else { log };
    if t == 0.0 { f64::NEG_INFINITY } else { log }
}

/// 2^z, and 0 for z < −1022.
#[inline(always)]
fn exp2(z: f64) -> f64 {
    let clamped = if z > 1023.0 { 1023.0 } else { z };
    let clamped = if clamped < -1022.0 { -1022.0 } else { clamped };
    let shifted = clamped + ROUND;
    let n = shifted - ROUND;
    let f = (clamped - n) * std::f64::consts::LN_2;
    // 1/13!, 1/12!, …
    let poly = polynomial!(f; 1.0 / 6_227_020_800.0, 1.0 / 479_001_600.0, 1.0 / 39_916_800.0,
        1.0 / 3_628_800.0, 1.0 / 362_880.0, 1.0 / 40_320.0, 1.0 / 5_040.0, 1.0 / 720.0,
        1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0);
    let scale = f64::from_bits(
        (shifted
            .to_bits()
            .wrapping_sub(ROUND.to_bits())
            .wrapping_add(1023))
            << 52,
    );
    if z < -1022.0 { 0.0 } else { poly * scale }
}

/// t^a for t ≥ 0, by logarithm and exponential.
#[inline(always)]
fn power_of(t: f64, a: f64) -> f64 {
    exp2(a * log2(t))
}

/// out_i = sgn(t_i)·|t_i|^exponent with t = scale·a.
pub(crate) fn signed_powers(a: &[f64], scale: f64, exponent: f64, out: &mut [f64]) {
    vectorised!(for (out, a) in out.iter_mut().zip(a) {
        let t = scale * a;
        *out = power_of(t.abs(), exponent).copysign(t);
    });
}

#[derive(Clone, Copy)]
struct MapSum<P>(P);

impl<P: Power> Body<1, 1, 1, 1> for MapSum<P> {
    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        [scale]: [S::f64s; 1],
        [a]: [S::f64s; 1],
        _: [S::f64s; 1],
        [sum]: &mut [S::f64s; 1],
    ) -> [S::f64s; 1] {
        let t = s.mul_f64s(scale, a);
        let out = copysign(s, self.0.of(s, s.abs_f64s(t)), t);
        *sum = s.mul_add_e_f64s(out, t, *sum);
        [out]
    }
}

/// out_i = sgn(t_i)·|t_i|^e with t = scale·a and e = `exponent`. Returns Σ out_i·t_i = Σ |t_i|^(e+1).
pub fn power_map(a: &[f64], scale: f64, exponent: Exponent, out: &mut [f64]) -> f64 {
    macro_rules! fused {
        ($power:expr) => {{
            let [sum] = sweep([scale], [a], [out], MapSum($power));
            sum
        }};
    }
    match exponent {
        Exponent::One => fused!(One),
        Exponent::Two => fused!(Two),
        Exponent::Three => fused!(Three),
        Exponent::Half => fused!(Half),
        Exponent::Other(e) => {
            signed_powers(a, scale, e, out);
            scale * super::dot(a, out)
        }
    }
}

/// Σ (scale·|a_i|)^e with e = `exponent`.
pub fn power_sum(a: &[f64], scale: f64, exponent: Exponent) -> f64 {
    const BLOCK: usize = 256;
    let e = match exponent {
        Exponent::One => 1.0,
        Exponent::Two => 2.0,
        Exponent::Three => 3.0,
        Exponent::Half => 0.5,
        Exponent::Other(e) => e,
    };
    // Computes the powers of a block, which stays in the cache, and then their sum.
    let mut powers = [0.0; BLOCK];
    let ones = [1.0; BLOCK];
    let mut sum = 0.0;
    for block in a.chunks(BLOCK) {
        let powers = &mut powers[..block.len()];
        vectorised!(for (p, a) in powers.iter_mut().zip(block) {
            let t = (scale * a).abs();
            *p = match exponent {
                Exponent::Two => t * t,
                _ => power_of(t, e),
            };
        });
        sum += super::dot(powers, &ones);
    }
    sum
}
