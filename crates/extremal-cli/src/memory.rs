//! The limit on memory. Without one, a stream with too many features would make the machine swap.

use extremal_learn::Bytes;

/// Limits the memory of the program, by default to half of the machine's. The libraries then report
/// that memory has run out, and lose nothing.
#[cfg(unix)]
pub fn limit(most: Option<Bytes>) {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let Some(most) = most
        .map(|Bytes(most)| most)
        .or_else(|| Some(installed()? / 2))
    else {
        return;
    };
    let mut limit = getrlimit(Resource::Data);
    limit.current = Some(limit.maximum.map_or(most, |maximum| most.min(maximum)));
    // A system that refuses has no limit, as before.
    let _ = setrlimit(Resource::Data, limit);
}

/// The machine's memory in bytes, where the system tells it.
#[cfg(unix)]
fn installed() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1 << 10)
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub fn limit(_most: Option<Bytes>) {}
