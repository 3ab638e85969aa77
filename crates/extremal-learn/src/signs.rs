//! What labels of binary losses look like.

use extremal::loss::{Labels, Loss};
use serde::{Deserialize, Serialize};

/// Which of −1 and 0 labels of binary losses have beside +1: not both in one stream.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Signs {
    negative: Option<f64>,
}

impl Signs {
    /// These labels and one more; an error where it is of the other kind.
    pub fn with(self, loss: &(impl Loss + ?Sized), label: f64) -> extremal::Result<Self> {
        if loss.labels() != Labels::Signs || label > 0.0 {
            return Ok(self);
        }
        match self.negative {
            Some(before) if before != label => Err(extremal::Error::Label {
                loss: loss.name(),
                label,
                allowed: if before == 0.0 {
                    "0 or +1, as those before it are"
                } else {
                    "−1 or +1, as those before it are"
                },
            }),
            _ => Ok(Self {
                negative: Some(label),
            }),
        }
    }
}
