//! The library's error type.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The error type of the library. Each error prints as a sentence for the caller.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A vector has the wrong number of entries.
    #[error("{what}: expected {expected} entries, found {found}")]
    Size {
        /// The name of the vector.
        what: &'static str,
        /// The number of entries that it must have.
        expected: usize,
        /// The number of entries that it has.
        found: usize,
    },
    /// A number is NaN or infinite.
    #[error("{what}: entry {index} is {value}; every entry must be a finite number")]
    NotFinite {
        /// The name of the vector.
        what: &'static str,
        /// The index of the number.
        index: usize,
        /// The number.
        value: f64,
    },
    /// A gradient is too large. A gradient that is too small is treated as 0.
    #[error(
        "{what} of size {size:e} is too large; at most {largest:e} is allowed. Divide the losses or the features by a constant"
    )]
    Range {
        /// The kind of vector or number.
        what: &'static str,
        /// The norm of the vector, or the absolute value of the number.
        size: f64,
        /// The largest size that is allowed.
        largest: f64,
    },
    /// An index is outside the vector.
    #[error("{what}: index {index} is outside the dimension {dim}")]
    Index {
        /// The name of the vector.
        what: &'static str,
        /// The index.
        index: usize,
        /// The dimension of the vector.
        dim: usize,
    },
    /// The indices of a sparse row do not increase.
    #[error("{what}: index {index} is repeated or out of order; indices must increase")]
    Order {
        /// The name of the row.
        what: &'static str,
        /// The first index that is not larger than the index before it.
        index: usize,
    },
    /// A method was called while a planned round was neither committed nor discarded.
    #[error("wrong order of calls: {0}")]
    OutOfTurn(&'static str),
    /// A parameter is outside its range.
    #[error("{owner}: {name} = {value} is not allowed; it must be {allowed}")]
    Parameter {
        /// The set, loss, learner or stream that has the parameter.
        owner: &'static str,
        /// The name of the parameter.
        name: &'static str,
        /// The value.
        value: String,
        /// The values that are allowed, in words.
        allowed: String,
    },
    /// A parameter that has no default was not given.
    #[error("{owner} needs {name}: {why}")]
    Missing {
        /// The set, loss, learner or stream that has the parameter.
        owner: &'static str,
        /// The name of the parameter.
        name: &'static str,
        /// The reason why the parameter is needed.
        why: &'static str,
    },
    /// A learner needs a property or a storage that the set does not have.
    #[error("{learner} can't play set {set}: it needs {needs}{}", others(instead))]
    CannotPlay {
        /// The name of the learner.
        learner: &'static str,
        /// The name of the set.
        set: String,
        /// The property or storage that the learner needs.
        needs: &'static str,
        /// The learners that support the set in the same storage.
        instead: Vec<&'static str>,
    },
    /// Two components are incompatible.
    #[error("{0}")]
    Unsupported(String),
    /// A spec such as `lp:p=1.5` can't be read.
    #[error("{what}")]
    Spec {
        /// The wrong key, which may be `name`. It is `None` if the text is not a spec at all.
        key: Option<String>,
        /// The message.
        what: String,
    },
    /// A saved state is damaged or belongs to another learner or set.
    #[error("saved state: {0}")]
    State(String),
    /// An oracle failed.
    #[error("oracle of {set}: {cause}")]
    Oracle {
        /// The name of the set.
        set: String,
        /// The error that the oracle returned, or a description of the fault in the oracle's answer.
        cause: Cause,
    },
    /// An error in the user's own code, for example in a stream or a learner. [`Error::other`] creates
    /// this error.
    #[error("{0}")]
    Other(Cause),
    /// The loss does not allow a label.
    #[error("label {label} is not allowed for {loss} loss; it must be {allowed}")]
    Label {
        /// The name of the loss.
        loss: &'static str,
        /// The label.
        label: f64,
        /// The labels that are allowed, in words.
        allowed: &'static str,
    },
    /// The loss is not defined at a prediction.
    #[error("{loss} loss is not defined for the prediction {prediction:?}; it must be {allowed}")]
    Prediction {
        /// The name of the loss.
        loss: &'static str,
        /// The prediction ⟨a, x⟩.
        prediction: f64,
        /// The predictions that are allowed, in words.
        allowed: &'static str,
    },
    /// There is not enough memory for a decision of this size.
    #[error("not enough memory for {features} features")]
    Memory {
        /// The number of features.
        features: usize,
    },
    /// A computation overflowed or became NaN.
    #[error("numerical failure in round {round}: {what}")]
    Numerical {
        /// The round, or the step of a search.
        round: u64,
        /// A description of the failure.
        what: String,
    },
}

/// The end of a message, which lists the learners that support the set.
fn others(instead: &[&str]) -> String {
    match instead {
        [] => String::new(),
        some => format!(". These learners can: {}", some.join(", ")),
    }
}

/// A wrapped error of any type. A cause can be downcast to this type. A cause prints the error and all
/// sources of the error. Two causes are equal if they print the same text.
#[derive(Debug, Clone)]
pub struct Cause(Arc<dyn std::error::Error + Send + Sync>);

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> From<E> for Cause {
    fn from(error: E) -> Self {
        Self(Arc::from(error.into()))
    }
}

impl Deref for Cause {
    type Target = dyn std::error::Error + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)?;
        let mut sources = std::iter::successors(self.0.source(), |error| error.source());
        sources.try_for_each(|error| write!(out, ": {error}"))
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Error {
    /// Wraps an error of the user's own code, or a text.
    ///
    /// ```
    /// use std::num::ParseIntError;
    /// use extremal::Error;
    /// let error = "x".parse::<u32>().map_err(Error::other).unwrap_err();
    /// assert!(matches!(&error, Error::Other(cause) if cause.is::<ParseIntError>()));
    /// ```
    pub fn other(error: impl Into<Cause>) -> Self {
        Self::Other(error.into())
    }

    /// Whether the error is numerical: a failed computation, or a number that is too large.
    pub fn is_numerical(&self) -> bool {
        matches!(self, Self::Numerical { .. } | Self::Range { .. })
    }

    /// The error for a spec that can't be read because of one key.
    pub(crate) fn spec(key: Option<&str>, what: impl ToString) -> Self {
        Self::Spec {
            key: key.map(String::from),
            what: what.to_string(),
        }
    }

    /// Adds the text of the spec to the message.
    pub(crate) fn of_spec(self, spec: fmt::Arguments<'_>) -> Self {
        match self {
            Self::Spec { key, what } => Self::Spec {
                key,
                what: format!("{spec}: {what}"),
            },
            other => other,
        }
    }

    /// The error for a computation that failed. A learner sets `round` to its current round.
    pub(crate) fn numerical(round: u64, what: impl Into<String>) -> Self {
        let what = what.into();
        Self::Numerical { round, what }
    }

    /// The error for a parameter that is outside its range.
    pub(crate) fn parameter(
        owner: &'static str,
        name: &'static str,
        value: impl ToString,
        allowed: impl Into<String>,
    ) -> Self {
        Self::Parameter {
            owner,
            name,
            value: value.to_string(),
            allowed: allowed.into(),
        }
    }
}

/// The result type of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;
