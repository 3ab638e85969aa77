//! Messages, progress bars and signals during long runs.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::Context;
use extremal_learn::Host;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::memory;

/// The seconds between two measurements of memory while most of the memory is free.
const MEASURED_EVERY: f64 = 0.01;

/// A clock, a progress bar, and a flag that signals set. The progress bar is hidden unless stderr is a
/// terminal.
pub struct Terminal {
    start: Instant,
    stop: Arc<AtomicBool>,
    /// The limit on memory in bytes, if there is one.
    pub memory: Option<u64>,
    /// The time of the last measurement of memory in seconds, and the fraction of the limit in use at
    /// that time.
    measured: (f64, f64),
    pub bar: ProgressBar,
}

impl Terminal {
    /// `of` is the template for the total of the progress bar, such as `{human_len} rounds`.
    pub fn new(quiet: bool, of: &str) -> anyhow::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in stopping() {
            // The second signal ends the program at once.
            signal_hook::flag::register_conditional_default(signal, stop.clone())
                .context("signal handlers")?;
            signal_hook::flag::register(signal, stop.clone()).context("signal handlers")?;
        }
        // A write beyond the largest file size is then an error, which is reported.
        #[cfg(unix)]
        signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())
            .context("signal handlers")?;
        let target = if quiet || !std::io::stderr().is_terminal() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let style = format!("{{bar:40}} {{percent:>3}} % of {of}, {{eta}} left");
        let style = ProgressStyle::with_template(&style).context("progress bar")?;
        Ok(Self {
            start: Instant::now(),
            stop,
            memory: None,
            measured: (f64::NEG_INFINITY, 0.0),
            bar: ProgressBar::with_draw_target(None, target).with_style(style),
        })
    }
}

/// The signals that stop a run. SIGHUP is one unless it is ignored, as under nohup.
fn stopping() -> impl Iterator<Item = i32> {
    let signals = signal_hook::consts::TERM_SIGNALS.iter().copied();
    #[cfg(unix)]
    let signals = signals.chain(Some(signal_hook::consts::SIGHUP).filter(|hup| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        ignored.unwrap_or(0) >> (hup - 1) & 1 == 0
    }));
    signals
}

impl Host for Terminal {
    fn say(&mut self, text: &str) {
        self.bar.suspend(|| {
            // The run continues if stderr is closed.
            let _ = std::io::stderr().write_all(text.as_bytes());
        });
    }

    fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn memory(&mut self) -> f64 {
        let Some(limit) = self.memory else {
            return 0.0;
        };
        let (when, used) = self.measured;
        let now = self.seconds();
        // A measurement of memory takes longer than several rounds.
        if now - when < MEASURED_EVERY * (1.0 - used) {
            return used;
        }
        let used = memory::used(limit);
        self.measured = (now, used);
        used
    }

    fn progress(&mut self, done: u64, of: Option<u64>) {
        if let Some(of) = of {
            self.bar.set_length(of);
            self.bar.set_position(done);
        }
    }
}
