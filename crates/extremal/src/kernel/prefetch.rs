//! Prefetching, and a check that the indices of a sparse row increase.

#![allow(unsafe_code)]

use super::vectorised;

/// A table of at most this many bytes stays in the cache without prefetching.
const NEAR: usize = 1 << 20;

/// The number of bytes in a cache line.
const LINE: usize = 64;

/// Prefetches the items at these indices, so that their cache misses overlap. The call does nothing
/// for a small table.
#[inline(always)]
pub(crate) fn prefetch<T>(table: &[T], indices: impl IntoIterator<Item = u32>) {
    if size_of_val(table) > NEAR {
        for_each_line(table, indices, prefetch_line);
    }
}

/// Like [`prefetch`], for items that are needed much later: see [`prefetch_far`].
#[inline(always)]
pub(crate) fn prefetch_ahead<T>(table: &[T], indices: impl IntoIterator<Item = u32>) {
    if size_of_val(table) > NEAR {
        for_each_line(table, indices, prefetch_far);
    }
}

#[inline(never)]
fn for_each_line<T>(
    table: &[T],
    indices: impl IntoIterator<Item = u32>,
    prefetch: impl Fn(*const u8),
) {
    for i in indices {
        let item = table.as_ptr().wrapping_add(i as usize).cast::<u8>();
        for line in (0..size_of::<T>()).step_by(LINE) {
            prefetch(item.wrapping_add(line));
        }
    }
}

/// Prefetches a cache line. The address may lie outside any object, because it is not read.
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

/// Prefetches a cache line that is needed much later. The line is loaded into the second-level
/// cache, so that the first-level cache retains what is needed now.
#[inline(always)]
pub(crate) fn prefetch_far<T>(item: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as above.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(item.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}

/// Whether each index is larger than the one before it.
#[inline]
pub(crate) fn increases(indices: &[u32]) -> bool {
    let next = indices.get(1..).unwrap_or_default();
    // This loop vectorises because it has no early exit.
    vectorised!((indices.iter().zip(next)).fold(true, |all, (a, b)| all & (a < b)))
}
