//! Memory asked for ahead of time, and looks at indices.

#![allow(unsafe_code)]

use super::widest;

/// Tables below this many bytes are near enough anyway.
const NEAR: usize = 1 << 20;

/// Asks for the items at these indices, all at once, so that the misses overlap; only where the
/// table is so large that there will be some.
#[inline(always)]
pub(crate) fn fetch<T>(table: &[T], indices: &[u32]) {
    if size_of_val(table) > NEAR {
        ask(table, indices);
    }
}

#[inline(never)]
fn ask<T>(table: &[T], indices: &[u32]) {
    for &i in indices {
        // Any address may be asked for: it is not read.
        let item = table.as_ptr().wrapping_add(i as usize);
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 processor has the instruction, and it reads nothing.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(item.cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = item;
    }
}

/// The largest index.
#[inline]
pub(crate) fn largest(indices: &[u32]) -> Option<u32> {
    // A maximum of everything vectorises, an early exit would not.
    let largest = widest(
        #[inline(always)]
        || indices.iter().fold(0, |top, &i| top.max(i)),
    );
    (!indices.is_empty()).then_some(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_index_is_found_wherever_it_is() {
        assert_eq!(largest(&[]), None);
        for n in [1, 7, 8, 9, 64, 100] {
            for at in 0..n {
                let mut indices = vec![3; n];
                indices[at] = u32::MAX - 1;
                assert_eq!(largest(&indices), Some(u32::MAX - 1), "{n} {at}");
            }
        }
    }
}
