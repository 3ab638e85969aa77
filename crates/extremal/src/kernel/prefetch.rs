//! Prefetching, and the order of a sparse row's indices.

#![allow(unsafe_code)]

use super::on_best_cpu;

/// Tables smaller than this many bytes stay in the cache without prefetching.
const NEAR: usize = 1 << 20;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Prefetches the items at these indices, so that their cache misses overlap. Small tables are left
/// alone.
#[inline(always)]
pub(crate) fn prefetch<T>(table: &[T], indices: &[u32]) {
    if size_of_val(table) > NEAR {
        ask(table, indices);
    }
}

#[inline(never)]
fn ask<T>(table: &[T], indices: &[u32]) {
    for &i in indices {
        let item = table.as_ptr().wrapping_add(i as usize).cast::<u8>();
        for line in (0..size_of::<T>()).step_by(LINE) {
            prefetch_line(item.wrapping_add(line));
        }
    }
}

/// Prefetches a cache line. The address may lie outside any object: it is not read.
#[inline(always)]
pub(crate) fn prefetch_line<T>(item: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, and it reads nothing.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(item.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}

/// Whether each index is larger than the one before it.
#[inline]
pub(crate) fn increases(indices: &[u32]) -> bool {
    let next = indices.get(1..).unwrap_or_default();
    // A conjunction of everything vectorises, an early exit would not.
    on_best_cpu(
        #[inline(always)]
        || (indices.iter().zip(next)).fold(true, |all, (a, b)| all & (a < b)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_or_smaller_index_is_found_wherever_it_is() {
        assert!(increases(&[]) && increases(&[7]));
        for n in [2, 7, 8, 9, 64, 100] {
            let indices: Vec<u32> = (0..n).map(|i| 3 * i + 1).collect();
            assert!(increases(&indices));
            for at in 1..n as usize {
                let mut indices = indices.clone();
                indices[at] = indices[at - 1];
                assert!(!increases(&indices), "{n} {at}");
                indices[at] -= 1;
                assert!(!increases(&indices), "{n} {at}");
            }
        }
    }
}
