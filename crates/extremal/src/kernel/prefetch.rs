//! Prefetching, and a check that the indices of a sparse row increase.

#![allow(unsafe_code)]

use super::vectorised;

/// A table of at most this many bytes stays in the cache without prefetching.
const NEAR: usize = 1 << 20;

/// The number of bytes in a cache line.
const LINE: usize = 64;

/// Prefetches the items at these indices, so that their cache misses overlap. The call does nothing
/// for a small table. `later`: see [`prefetch_line`].
#[inline(always)]
pub(crate) fn prefetch<T>(table: &[T], indices: impl IntoIterator<Item = u32>, later: bool) {
    if size_of_val(table) > NEAR {
        prefetch_all(table, indices, later);
    }
}

#[inline(never)]
fn prefetch_all<T>(table: &[T], indices: impl IntoIterator<Item = u32>, later: bool) {
    for i in indices {
        let item = table.as_ptr().wrapping_add(i as usize).cast::<u8>();
        for line in (0..size_of::<T>()).step_by(LINE) {
            prefetch_line(item.wrapping_add(line), later);
        }
    }
}

/// Prefetches a cache line. The address may lie outside any object, because it is not read. A line
/// that is needed later is loaded into the second-level cache, so that the first-level cache retains
/// what is needed now.
#[inline(always)]
pub(crate) fn prefetch_line<T>(item: *const T, later: bool) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, and it reads nothing.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        match later {
            true => _mm_prefetch::<_MM_HINT_T1>(item.cast()),
            false => _mm_prefetch::<_MM_HINT_T0>(item.cast()),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (item, later);
}

/// Whether each index is larger than the one before it.
#[inline]
pub(crate) fn increases(indices: &[u32]) -> bool {
    let next = indices.get(1..).unwrap_or_default();
    // This loop vectorises because it has no early exit.
    vectorised!((indices.iter().zip(next)).fold(true, |all, (a, b)| all & (a < b)))
}
