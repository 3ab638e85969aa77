//! Vectorised searches for the largest entry of a vector, and for the index of the largest or
//! smallest entry.

use super::sweep::vectorised;

const LANES: usize = 16;

/// max |a_i|, or 0 for an empty slice. NaN entries are ignored.
pub fn max_abs(a: &[f64]) -> f64 {
    vectorised!(best(a, 0.0, magnitude, greater))
}

/// The index of the largest |a_i|. It is `None` for an empty slice. If several entries are largest,
/// the smallest index is returned. NaN entries are ignored.
pub fn argmax_abs(a: &[f64]) -> Option<usize> {
    vectorised!({
        let top = best(a, 0.0, magnitude, greater);
        first(a, top, magnitude)
    })
}

/// The index of the smallest a_i. It is `None` for an empty slice. If several entries are smallest,
/// the smallest index is returned. NaN entries are ignored.
pub fn argmin(a: &[f64]) -> Option<usize> {
    vectorised!({
        let low = best(a, f64::INFINITY, itself, less);
        first(a, low, itself)
    })
}

#[inline(always)]
fn magnitude(v: f64) -> f64 {
    v.abs()
}

#[inline(always)]
fn itself(v: f64) -> f64 {
    v
}

#[inline(always)]
fn greater(a: f64, b: f64) -> bool {
    a > b
}

#[inline(always)]
fn less(a: f64, b: f64) -> bool {
    a < b
}

#[inline(always)]
fn best(a: &[f64], worst: f64, key: impl Fn(f64) -> f64, better: impl Fn(f64, f64) -> bool) -> f64 {
    let (chunks, rest) = a.as_chunks::<LANES>();
    let mut lanes = [worst; LANES];
    for c in chunks {
        for j in 0..LANES {
            let v = key(c[j]);
            lanes[j] = if better(v, lanes[j]) { v } else { lanes[j] };
        }
    }
    for (lane, &v) in lanes.iter_mut().zip(rest) {
        let v = key(v);
        *lane = if better(v, *lane) { v } else { *lane };
    }
    let mut top = worst;
    for v in lanes {
        top = if better(v, top) { v } else { top };
    }
    top
}

/// The first index whose key is `top`. Whole chunks are compared without an early exit, because
/// such a loop vectorises.
#[inline(always)]
fn first(a: &[f64], top: f64, key: impl Fn(f64) -> f64) -> Option<usize> {
    let (chunks, _) = a.as_chunks::<LANES>();
    let mut start = 0;
    for c in chunks {
        let mut hit = false;
        for &v in c {
            hit |= key(v) == top;
        }
        if hit {
            break;
        }
        start += LANES;
    }
    a[start..]
        .iter()
        .position(|&v| key(v) == top)
        .map(|i| start + i)
}
