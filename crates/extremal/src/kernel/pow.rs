//! |t|^a for whole vectors, several times faster than libm's `powf` one by one.
//!
//! log₂ by the odd series of (m−1)/(m+1), exp₂ by a polynomial; the error is a few units in the
//! last place times the exponent, which the tests state.

use multiversion::multiversion;

use super::{LANES, tree};

/// The exponent a of |t|^a, with the cases that need no logarithm told apart.
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
    /// anything else that is positive
    Other(f64),
}

impl From<f64> for Exponent {
    fn from(a: f64) -> Self {
        // p = 1.5 gives q − 1 = 2.0000000000000004 in f64: close enough to be meant.
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

/// Applies one exponent to one non-negative number; inlined into every loop below.
pub(crate) trait Power: Copy {
    fn of(self, t: f64) -> f64;
}

macro_rules! power {
    ($name:ident, $t:ident => $e:expr) => {
        #[derive(Clone, Copy)]
        pub(crate) struct $name;
        impl Power for $name {
            #[inline(always)]
            fn of(self, $t: f64) -> f64 {
                $e
            }
        }
    };
}
power!(One, t => t);
power!(Two, t => t * t);
power!(Three, t => t * t * t);
power!(Half, t => t.sqrt());

#[derive(Clone, Copy)]
pub(crate) struct Other(pub f64);
impl Power for Other {
    #[inline(always)]
    fn of(self, t: f64) -> f64 {
        exp2(self.0 * log2(t))
    }
}

/// Calls `$body` with `$p` bound to the monomorphic power of an [`Exponent`].
macro_rules! with_power {
    ($exponent:expr, $p:ident => $body:expr) => {
        match $exponent {
            $crate::kernel::pow::Exponent::One => {
                let $p = $crate::kernel::pow::One;
                $body
            }
            $crate::kernel::pow::Exponent::Two => {
                let $p = $crate::kernel::pow::Two;
                $body
            }
            $crate::kernel::pow::Exponent::Three => {
                let $p = $crate::kernel::pow::Three;
                $body
            }
            $crate::kernel::pow::Exponent::Half => {
                let $p = $crate::kernel::pow::Half;
                $body
            }
            $crate::kernel::pow::Exponent::Other(a) => {
                let $p = $crate::kernel::pow::Other(a);
                $body
            }
        }
    };
}
pub(crate) use with_power;

/// 1.5·2⁵²: adding it leaves the nearest integer in the low bits.
const ROUND: f64 = 6755399441055744.0;

/// log₂ of a non-negative number: −∞ for 0, and −1074 for every subnormal (the callers scale so
/// that the largest entry is near 1, next to which a subnormal's power does not matter).
#[inline(always)]
fn log2(t: f64) -> f64 {
    let bits = t.to_bits();
    // m in [√½, √2), e the exponent that goes with it
    let shifted = bits.wrapping_sub(0x3fe6_a09e_667f_3bcd);
    let e_bits = (shifted >> 52) as i64;
    let e_signed = (e_bits << 52) >> 52;
    let m = f64::from_bits(bits.wrapping_sub((e_signed as u64) << 52));
    let e = f64::from_bits(ROUND.to_bits().wrapping_add(e_signed as u64)) - ROUND;
    let f = (m - 1.0) / (m + 1.0);
    let s = f * f;
    let mut poly = 1.0 / 21.0;
    poly = poly * s + 1.0 / 19.0;
    poly = poly * s + 1.0 / 17.0;
    poly = poly * s + 1.0 / 15.0;
    poly = poly * s + 1.0 / 13.0;
    poly = poly * s + 1.0 / 11.0;
    poly = poly * s + 1.0 / 9.0;
    poly = poly * s + 1.0 / 7.0;
    poly = poly * s + 1.0 / 5.0;
    poly = poly * s + 1.0 / 3.0;
    let log = e + std::f64::consts::LOG2_E * (2.0 * f + 2.0 * f * s * poly);
    let log = if t < f64::MIN_POSITIVE { -1074.0 } else { log };
    if t == 0.0 { f64::NEG_INFINITY } else { log }
}

/// 2^z; 0 below 2^−1022.
#[inline(always)]
fn exp2(z: f64) -> f64 {
    let clamped = if z > 1023.0 { 1023.0 } else { z };
    let clamped = if clamped < -1022.0 { -1022.0 } else { clamped };
    let shifted = clamped + ROUND;
    let n = shifted - ROUND;
    let f = (clamped - n) * std::f64::consts::LN_2;
    let mut poly = 1.0 / 6_227_020_800.0;
    poly = poly * f + 1.0 / 479_001_600.0;
    poly = poly * f + 1.0 / 39_916_800.0;
    poly = poly * f + 1.0 / 3_628_800.0;
    poly = poly * f + 1.0 / 362_880.0;
    poly = poly * f + 1.0 / 40_320.0;
    poly = poly * f + 1.0 / 5_040.0;
    poly = poly * f + 1.0 / 720.0;
    poly = poly * f + 1.0 / 120.0;
    poly = poly * f + 1.0 / 24.0;
    poly = poly * f + 1.0 / 6.0;
    poly = poly * f + 0.5;
    poly = poly * f + 1.0;
    poly = poly * f + 1.0;
    let scale = f64::from_bits(
        (shifted
            .to_bits()
            .wrapping_sub(ROUND.to_bits())
            .wrapping_add(1023))
            << 52,
    );
    if z < -1022.0 { 0.0 } else { poly * scale }
}

/// out_i = sgn(t_i)·|t_i|^a with t = scale·a; returns Σ out_i·t_i = Σ |t_i|^(a+1).
pub fn power_map(a: &[f64], scale: f64, exponent: Exponent, out: &mut [f64]) -> f64 {
    with_power!(exponent, p => power_map_with(a, scale, p, out))
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn power_map_with<P: Power>(a: &[f64], scale: f64, p: P, out: &mut [f64]) -> f64 {
    let n = a.len().min(out.len());
    let (ac, at) = a[..n].as_chunks::<LANES>();
    let (oc, ot) = out[..n].as_chunks_mut::<LANES>();
    let mut acc = [0.0; LANES];
    for (a, o) in ac.iter().zip(oc) {
        for j in 0..LANES {
            let t = scale * a[j];
            o[j] = p.of(t.abs()).copysign(t);
            acc[j] += o[j] * t;
        }
    }
    for j in 0..at.len() {
        let t = scale * at[j];
        ot[j] = p.of(t.abs()).copysign(t);
        acc[j] += ot[j] * t;
    }
    tree(acc)
}

/// Σ (scale·|a_i|)^e.
pub fn power_sum(a: &[f64], scale: f64, exponent: Exponent) -> f64 {
    with_power!(exponent, p => power_sum_with(a, scale, p))
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn power_sum_with<P: Power>(a: &[f64], scale: f64, p: P) -> f64 {
    let (ac, at) = a.as_chunks::<LANES>();
    let mut acc = [0.0; LANES];
    for a in ac {
        for j in 0..LANES {
            acc[j] += p.of((scale * a[j]).abs());
        }
    }
    for j in 0..at.len() {
        acc[j] += p.of((scale * at[j]).abs());
    }
    tree(acc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pow_agrees_with_libm_to_a_few_units_in_the_last_place() {
        for a in [
            0.01,
            1.0 / 3.0,
            0.5,
            0.9,
            1.0,
            1.7,
            2.0,
            7.0 / 3.0,
            3.0,
            10.5,
            40.0,
        ] {
            let exponent = Exponent::from(a);
            let mut worst: f64 = 0.0;
            for i in 1..20_000 {
                let t = i as f64 * 1e-4;
                let ours = with_power!(exponent, p => p.of(t));
                let theirs = t.powf(a);
                if theirs > 1e-290 {
                    worst = worst.max((ours / theirs - 1.0).abs());
                }
            }
            let allowed = (4.0 + 8.0 * a) * f64::EPSILON;
            assert!(worst <= allowed, "a = {a}: {worst:e} > {allowed:e}");
        }
    }

    #[test]
    fn zero_and_subnormal_powers_vanish() {
        for a in [0.01, 0.9, 1.7, 10.5] {
            assert_eq!(Other(a).of(0.0), 0.0, "{a}");
            assert!(Other(a).of(5e-324) <= 2f64.powf(-1074.0 * a) * 1.001);
        }
        assert_eq!(Other(0.01).of(1.0), 1.0);
    }

    #[test]
    fn the_usual_exponents_are_recognised() {
        let q = |p: f64| p / (p - 1.0) - 1.0;
        assert_eq!(Exponent::from(q(1.5)), Exponent::Two);
        assert_eq!(Exponent::from(q(2.0)), Exponent::One);
        assert_eq!(Exponent::from(q(3.0)), Exponent::Half);
        assert_eq!(Exponent::from(q(4.0 / 3.0)), Exponent::Three);
        assert!(matches!(Exponent::from(q(1.3)), Exponent::Other(_)));
    }
}
