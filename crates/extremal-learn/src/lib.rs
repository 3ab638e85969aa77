//! Online learning from a stream of examples: one pass, resumable, with certified regret.

mod baseline;
mod certified;
mod check;
mod config;
mod error;
#[cfg(feature = "clap")]
mod flag;
pub mod format;
mod hindsight;
mod inspect;
mod losses;
mod model;
pub mod norms;
mod options;
mod plan;
mod predict;
mod progress;
mod reading;
mod report;
mod run;
mod score;
mod session;
mod signs;
mod stream;
mod tally;

pub use baseline::Baseline;
pub use certified::{Certified, Proven};
pub use config::{Config, Link, Names};
pub use error::{Error, Result};
pub use inspect::{inspect, weights};
pub use losses::Losses;
pub use model::{Saved, Weights, save};
pub use options::{Bytes, Input, LearnOptions, ModelOptions, Progress, ReportOptions};
pub use plan::{DataFacts, Plan};
pub use predict::{PredictOptions, predict};
pub use progress::Every;
pub use reading::Reading;
pub use run::{End, Host, learn};
pub use session::{Counters, Round, Session};
pub use signs::Signs;
