//! The limit on memory. Without one, a stream with too many features would make the machine swap.

use extremal_learn::Bytes;

/// The program may reserve this many times the limit, because reserved memory need not be used. The
/// system refuses larger reservations.
#[cfg(unix)]
const RESERVED: u64 = 4;

/// Limits the memory of the program. The default limit is half of the machine's memory. If a single
/// reservation is too large, the library returns an error. Returns the limit in bytes.
#[cfg(unix)]
pub fn limit(most: Option<Bytes>) -> Option<u64> {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let most = match most {
        Some(Bytes(most)) => most,
        None => number("/proc/meminfo", "MemTotal:")? / 2,
    };
    let mut limit = getrlimit(Resource::Data);
    let reserved = most.saturating_mul(RESERVED);
    limit.current = Some(
        limit
            .maximum
            .map_or(reserved, |maximum| reserved.min(maximum)),
    );
    setrlimit(Resource::Data, limit).is_ok().then_some(most)
}

/// The fraction of the limit that the program uses; 0 if the use of memory is not known.
#[cfg(unix)]
pub fn used(limit: u64) -> f64 {
    let used = number("/proc/self/status", "VmRSS:");
    used.map_or(0.0, |used| used as f64 / limit as f64)
}

/// Reads the value of `key` in kilobytes from a system file, and returns the value in bytes.
#[cfg(unix)]
fn number(path: &str, key: &str) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(key))?;
    let kilobytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1 << 10)
}

/// On systems other than Unix, the program does not limit its memory.
#[cfg(not(unix))]
pub fn limit(_most: Option<Bytes>) -> Option<u64> {
    None
}

#[cfg(not(unix))]
pub fn used(_limit: u64) -> f64 {
    0.0
}
