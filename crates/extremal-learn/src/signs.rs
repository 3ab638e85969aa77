//! The label that a stream uses for −1.

use extremal::loss::{Labels, Loss};
use serde::{Deserialize, Serialize};

/// The negative label of a stream with a binary loss: −1 or 0, but not both.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Signs {
    negative: Option<f64>,
}

impl Signs {
    /// Checks a label against the loss and against the labels before it. The result includes it.
    pub fn with(
        self,
        loss: &(impl Loss + ?Sized),
        label: impl Into<Option<f64>>,
    ) -> extremal::Result<Self> {
        let label = label.into().unwrap_or(f64::NAN);
        if loss.labels() != Labels::None {
            loss.check_label(label)?;
        }
        if loss.labels() != Labels::Signs || label > 0.0 {
            return Ok(self);
        }
        match self.negative {
            Some(before) if before != label => Err(extremal::Error::Label {
                loss: loss.name(),
                label,
                allowed: match before {
                    0.0 => "0 or +1, like the labels before it",
                    _ => "−1 or +1, like the labels before it",
                },
            }),
            _ => Ok(Self {
                negative: Some(label),
            }),
        }
    }
}
