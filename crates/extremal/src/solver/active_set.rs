//! A point that is stored as a mixture (convex combination) of atoms.

use serde::{Deserialize, Serialize};

use crate::set::Atom;

/// A weight that is at most this large is treated as 0.
const NO_WEIGHT: f64 = 1e-15;

/// The point x = Σ λ_i v_i with distinct atoms v_i, and weights λ_i ≥ 0 that sum to 1.
///
/// ```
/// use extremal::{solver::ActiveSet, SetSpec};
/// let set = "hypercube:dim=3".parse::<SetSpec>()?.build(None)?;
/// let active = ActiveSet::start(&set, None)?;
/// let mut x = [0.0; 3];
/// active.write(&mut x);
/// assert_eq!((active.len(), x), (2, [0.5, 0.5, 0.5]));
/// # Ok::<(), extremal::Error>(())
/// ```
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ActiveSet {
    dim: usize,
    atoms: Vec<Atom>,
    /// The weights λ_i.
    weights: Vec<f64>,
    /// Removed atoms, whose memory is reused.
    #[serde(skip)]
    spare: Vec<Atom>,
    #[serde(skip)]
    entries: [Vec<f64>; 2],
}

impl Clone for ActiveSet {
    /// The copy reserves memory for as many atoms as the original.
    fn clone(&self) -> Self {
        let mut copy = Self::new(self.dim);
        copy.clone_from(self);
        copy.reserve(self.atoms.len() + self.spare.len());
        copy
    }

    /// Reuses the memory of `self`.
    fn clone_from(&mut self, other: &Self) {
        self.dim = other.dim;
        self.resize(other.len());
        for (own, atom) in self.atoms.iter_mut().zip(&other.atoms) {
            own.clone_from(atom);
        }
        self.weights.clone_from(&other.weights);
    }
}

impl ActiveSet {
    /// A mixture without atoms, in this dimension.
    pub fn new(dim: usize) -> Self {
        Self {
            dim,
            ..Self::default()
        }
    }

    /// Reserves memory for `count` atoms, each as large as the largest stored atom.
    pub(crate) fn reserve(&mut self, count: usize) {
        let (mut values, mut indices) = (0, 0);
        for atom in self.atoms.iter().chain(&self.spare) {
            let (v, i) = atom.capacity();
            (values, indices) = (values.max(v), indices.max(i));
        }
        for _ in self.atoms.len() + self.spare.len()..count {
            self.spare.push(Atom::new());
        }
        for atom in self.atoms.iter_mut().chain(&mut self.spare) {
            atom.reserve(values, indices);
        }
        self.atoms.reserve(count);
        self.weights.reserve(count);
        self.spare.reserve(count);
        for entries in &mut self.entries {
            entries.resize(self.dim, 0.0);
        }
    }

    /// Keeps the first `len` atoms, or adds atoms whose entries are still to be written.
    fn resize(&mut self, len: usize) {
        let kept = len.min(self.atoms.len());
        self.spare.extend(self.atoms.drain(kept..));
        while self.atoms.len() < len {
            self.atoms.push(self.spare.pop().unwrap_or_default());
        }
    }

    /// The dimension of x.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The number of atoms.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are no atoms.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Atom i.
    pub fn atom(&self, i: usize) -> &Atom {
        &self.atoms[i]
    }

    /// The weight λ_i of atom i.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights[i]
    }

    pub(super) fn weights_mut(&mut self) -> &mut [f64] {
        &mut self.weights
    }

    /// Writes the point x.
    pub fn write(&self, x: &mut [f64]) {
        x.fill(0.0);
        for (atom, weight) in self.atoms.iter().zip(&self.weights) {
            atom.add_to(*weight, x);
        }
    }

    /// The indices of the atoms with the smallest and the largest ⟨gradient, atom⟩, each with this
    /// inner product.
    pub(super) fn extremes(&self, gradient: &[f64]) -> [(usize, f64); 2] {
        let mut ends = [(0, f64::INFINITY), (0, f64::NEG_INFINITY)];
        for (i, atom) in self.atoms.iter().enumerate() {
            let dot = atom.dot(gradient);
            if dot < ends[0].1 {
                ends[0] = (i, dot);
            }
            if dot > ends[1].1 {
                ends[1] = (i, dot);
            }
        }
        ends
    }

    /// Removes all atoms.
    pub(super) fn clear(&mut self) {
        self.resize(0);
        self.weights.clear();
    }

    /// Adds weight to an atom. The caller must make sure that all weights sum to 1 at the end.
    pub fn add(&mut self, atom: &Atom, weight: f64) {
        match self.position(atom) {
            Some(i) => self.weights[i] += weight,
            None => self.push(atom, weight),
        }
    }

    /// Adds an atom that is not in the mixture yet.
    pub(crate) fn push(&mut self, atom: &Atom, weight: f64) {
        let mut own = self.spare.pop().unwrap_or_default();
        own.clone_from(atom);
        self.atoms.push(own);
        self.weights.push(weight);
    }

    /// The index of an atom with the same entries. The two atoms may be stored differently.
    fn position(&mut self, atom: &Atom) -> Option<usize> {
        let [one, other] = &mut self.entries;
        one.resize(self.dim, 0.0);
        other.resize(self.dim, 0.0);
        atom.write(one);
        // for equal atoms, the inner product equals the squared norm, up to rounding
        let square = atom.norm_squared();
        let near = |product: f64| (product - square).abs() <= 1e-9 * square;
        self.atoms.iter().position(|own| {
            near(own.dot(one)) && {
                own.write(other);
                one == other
            }
        })
    }

    /// x ← (1 − s)x + s·atom.
    pub(super) fn mix(&mut self, atom: &Atom, s: f64) {
        self.weights.iter_mut().for_each(|w| *w *= 1.0 - s);
        self.add(atom, s);
        self.prune();
    }

    /// Moves weight from one atom to another.
    pub(super) fn shift(&mut self, from: usize, to: usize, weight: f64) {
        self.weights[to] += weight;
        self.weights[from] -= weight;
        self.prune();
    }

    /// Moves weight to `atom`. Atom i loses `share`·taken_i, but at most its whole weight.
    pub(crate) fn transfer(&mut self, taken: &[f64], share: f64, atom: &Atom) {
        let mut moved = 0.0;
        for (w, taken) in self.weights.iter_mut().zip(taken) {
            let goes = (share * taken).min(*w);
            moved += goes;
            *w -= goes;
        }
        self.add(atom, moved);
        self.prune();
    }

    /// The atoms and their weights.
    pub(crate) fn parts_mut(&mut self) -> (&[Atom], &mut [f64]) {
        (&self.atoms, &mut self.weights)
    }

    /// Removes the atoms without weight, and scales the weights so that they sum to 1.
    pub(crate) fn prune(&mut self) {
        let mut i = 0;
        while i < self.len() {
            if self.weights[i] > NO_WEIGHT {
                i += 1;
                continue;
            }
            self.weights.swap_remove(i);
            self.spare.push(self.atoms.swap_remove(i));
        }
        self.normalise();
    }

    pub(crate) fn normalise(&mut self) {
        let sum: f64 = self.weights.iter().sum();
        if sum != 1.0 && sum > 0.0 {
            self.weights.iter_mut().for_each(|w| *w /= sum);
        }
    }
}
