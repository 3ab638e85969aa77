//! The one solver: it minimises a convex total over a set.
//!
//! A [`Total`] is what is minimised. `Search` holds the memory of a search and what it has found
//! so far; its methods are projected gradient steps (`projected`), for sets with a projection, and
//! Frank-Wolfe steps (`frank_wolfe`), for any set. [`ActiveSet`] is a point as a mixture of atoms,
//! and `Distance` the total whose minimiser is a projection.
//!
//! [`solve`](crate::hindsight::solve) uses it for the best fixed decision, with a proof of how good
//! that is. Learners use it for projections in a metric (`ons`), for near-projections (`loo-bogd`)
//! and for the mixture that they start from (`lloo`). A search allocates when it is made, not when
//! it runs.

mod active_set;
mod caratheodory;
mod distance;
mod frank_wolfe;
mod projected;
mod search;
mod start;
mod total;

pub use active_set::ActiveSet;
pub(crate) use caratheodory::Tableau;
pub(crate) use distance::Distance;
pub use search::Method;
pub(crate) use search::{Search, Task};
pub use total::{Minorant, Place, Reading, Total};
