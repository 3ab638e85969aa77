//! The first largest or smallest entry, vectorised.

use multiversion::multiversion;

const LANES: usize = 16;

macro_rules! first_best {
    ($name:ident, $doc:literal, $key:expr, $better:tt) => {
        #[doc = $doc]
        ///
        /// Ties go to the smallest index, and NaN is never chosen; `None` for an empty slice.
        #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
        pub fn $name(a: &[f64]) -> Option<usize> {
            let key = $key;
            // First the best value, which vectorises; then the first place that holds it.
            let (chunks, rest) = a.as_chunks::<LANES>();
            let first = key(*a.first()?);
            let mut best = [first; LANES];
            for c in chunks {
                for j in 0..LANES {
                    let v = key(c[j]);
                    best[j] = if v $better best[j] { v } else { best[j] };
                }
            }
            for (j, &v) in rest.iter().enumerate() {
                let v = key(v);
                best[j] = if v $better best[j] { v } else { best[j] };
            }
            let mut top = best[0];
            for &v in &best[1..] {
                top = if v $better top || top.is_nan() { v } else { top };
            }
            // Whole chunks are skipped by a comparison without an early exit, which vectorises.
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
            a[start..].iter().position(|&v| key(v) == top).map(|i| start + i)
        }
    };
}

first_best!(argmax_abs, "The index of the largest |a_i|.", |v: f64| v.abs(), >);
first_best!(argmin, "The index of the smallest a_i.", |v: f64| v, <);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selection_agrees_with_a_plain_scan_and_takes_the_first_of_ties() {
        for n in 1..100usize {
            let a: Vec<f64> = (0..n)
                .map(|i| ((i * 7919 % 13) as f64 - 6.0) * 0.5)
                .collect();
            let mut max = 0;
            let mut min = 0;
            for i in 0..n {
                if a[i].abs() > a[max].abs() {
                    max = i;
                }
                if a[i] < a[min] {
                    min = i;
                }
            }
            assert_eq!(argmax_abs(&a), Some(max));
            assert_eq!(argmin(&a), Some(min));
        }
        assert_eq!(argmax_abs(&[]), None);
    }

    #[test]
    fn subnormal_and_huge_entries_are_told_apart() {
        assert_eq!(argmax_abs(&[0.0, 5e-324, -1e-323]), Some(2));
        assert_eq!(argmin(&[1e300, -1e300, 0.0]), Some(1));
        assert_eq!(argmin(&[0.0; 40]), Some(0));
    }
}
