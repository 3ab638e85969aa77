//! Learners made of learners.

pub mod delayed;
pub mod hedge;
