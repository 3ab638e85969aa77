//! The solver minimises a convex total over a set.
//!
//! A [`Total`] is the function to minimise. `Search` holds the memory of a search and its best result
//! so far. Its methods are projected gradient steps (`projected`), for sets with a projection, and
//! Frank-Wolfe steps (`frank_wolfe`), for any set. [`ActiveSet`] represents a point as a mixture of
//! atoms, and `Distance` is the total whose minimiser is a projection.
//!
//! [`solve`](crate::hindsight::solve) uses the solver to find the best fixed decision. Learners use it
//! for projections in a metric (`ons`), for approximate projections (`loo-bogd`), and to write a
//! starting point as a mixture of vertices (`lloo`). A search allocates memory when it is created, not
//! when it runs.

mod active_set;
mod distance;
mod frank_wolfe;
mod projected;
mod search;
mod total;

pub use active_set::ActiveSet;
pub(crate) use distance::Distance;
pub use search::Method;
pub(crate) use search::{Search, Task};
pub use total::{Imaged, Minorant, Total, TotalValue};
