//! The limit on memory. Without one, a stream with too many features would make the machine swap.

use extremal_learn::Bytes;

/// A reservation may exceed the limit by this factor, since not all of it need be used. The system
/// refuses larger ones.
#[cfg(unix)]
const RESERVED: u64 = 4;

/// Limits the memory of the program, by default to half of the machine's. A single reservation that
/// is too large is then an error of the library. Returns the limit in bytes.
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

/// The part of the limit that the program uses; 0 if it is not known.
#[cfg(unix)]
pub fn used(limit: u64) -> f64 {
    let used = number("/proc/self/status", "VmRSS:");
    used.map_or(0.0, |used| used as f64 / limit as f64)
}

/// A number of bytes in a file of the system.
#[cfg(unix)]
fn number(path: &str, key: &str) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(key))?;
    let kilobytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1 << 10)
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub fn limit(_most: Option<Bytes>) -> Option<u64> {
    None
}

#[cfg(not(unix))]
pub fn used(_limit: u64) -> f64 {
    0.0
}
