//! Learners that consist of other learners.

pub mod delayed;
pub mod hedge;
