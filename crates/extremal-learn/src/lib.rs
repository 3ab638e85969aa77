//! Learning from a stream of examples: one pass, resumable, with its regret certified.

mod certified;
mod check;
mod classes;
mod config;
mod error;
pub mod format;
mod hindsight;
mod inspect;
mod model;
pub mod norms;
mod predict;
mod progress;
mod report;
mod run;
mod score;
mod session;
mod sink;
mod source;

pub use config::{Asked, Link, Plan, Signs};
pub use error::{Error, Result};
pub use inspect::{inspect, weights};
pub use model::{Saved, save};
pub use predict::{PredictOptions, predict};
pub use progress::Every;
pub use run::{End, Host, LearnOptions, Progress, learn};
pub use session::{Counters, Proven, Round, Session};
