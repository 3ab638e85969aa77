//! A point that is kept as a mixture of vertices.

use serde::{Deserialize, Serialize};

use super::caratheodory::Tableau;
use crate::set::{Atom, AtomView, CheckedOracle, Minimum, Oracle, SharedSet, check_saved_point};
use crate::{Error, Result, kernel};

/// A weight this small is none.
const NO_WEIGHT: f64 = 1e-15;

/// How many numbers are reserved at once for vertices to come; beyond, memory is taken as needed.
const RESERVED: usize = 1 << 20;

/// The local oracle of any polytope: x = Σ λ_i v_i with vertices v_i, each of them once. One call
/// to the set's oracle and O(active·d) per step. When there are more than 2(d + 1) vertices, as
/// many as depend on others are dissolved into them.
///
/// ```
/// use extremal::{learner::local::ActiveSet, set::SetSpec};
/// let set = "hypercube:dim=3".parse::<SetSpec>()?.build(None)?;
/// let mut active = ActiveSet::new(&set, None)?;
/// assert_eq!(active.point(), [0.5, 0.5, 0.5]);
/// let mut way = [0.0; 3];
/// let lowest = active.seek(&[1.0, -1.0, 2.0], 0.25, &mut way)?;
/// assert_eq!((lowest, way), (-1.0, [-0.25, 0.0, -0.25]));
/// active.step(1.0, None);
/// active.commit();
/// assert_eq!(active.point(), [0.25, 0.5, 0.25]);
/// # Ok::<(), extremal::Error>(())
/// ```
pub struct ActiveSet {
    set: SharedSet,
    oracle: CheckedOracle,
    diameter: f64,
    vertices: Vec<Vertex>,
    /// How many of them count; the others are memory to use again.
    active: usize,
    /// λ.
    weights: Vec<f64>,
    /// What was sought: where mass would go to and come from.
    found: Vertex,
    known: Option<usize>,
    costs: Vec<(f64, u32)>,
    taken: Vec<f64>,
    next_weights: Vec<f64>,
    stepped: bool,
    tableau: Tableau,
    scratch: [Vec<f64>; 2],
}

#[derive(Debug, Clone, Default)]
struct Vertex {
    atom: Atom,
    hash: u64,
}

impl Vertex {
    fn reserve(&mut self, dim: usize) {
        let (indices, values) = self.atom.sparse_mut();
        indices.reserve(dim);
        values.reserve(dim);
        self.atom.set_zero();
    }

    /// Becomes the other, without asking for memory that is there.
    fn copy(&mut self, other: &Self) {
        self.hash = other.hash;
        match other.atom.view() {
            AtomView::Zero | AtomView::RankOne { .. } => self.atom.set_zero(),
            AtomView::Coordinate { index, value } => self.atom.set_coordinate(index, value),
            AtomView::Sparse { indices, values } => {
                let (i, v) = self.atom.sparse_mut();
                i.extend_from_slice(indices);
                v.extend_from_slice(values);
            }
            AtomView::Dense(values) => {
                let own = self.atom.dense_mut(values.len());
                own.copy_from_slice(values);
            }
        }
    }
}

/// A mixture in a saved state.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedSet {
    vertices: Vec<SavedAtom>,
    weights: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
enum SavedAtom {
    Zero,
    Coordinate(u32, f64),
    Sparse(Vec<u32>, Vec<f64>),
    Dense(Vec<f64>),
}

impl ActiveSet {
    /// The set's centre, or `start`, as a mixture of vertices; where no start is given and the
    /// centre can't be mixed with little effort, another point.
    pub fn new(set: &SharedSet, start: Option<&[f64]>) -> Result<Self> {
        let dim = set.dim();
        let oracle = CheckedOracle::of(&**set);
        let mut found = Vertex::default();
        // memory for as many vertices as there can be, if that is not too much
        let most = 2 * (dim + 1);
        let mut vertices = Vec::with_capacity(most + 1);
        if (most + 1) * (dim + 1) <= RESERVED {
            found.reserve(dim);
            vertices.resize_with(most + 1, Vertex::default);
            vertices.iter_mut().for_each(|v| v.reserve(dim));
        }
        let mut active = Self {
            set: set.clone(),
            oracle,
            diameter: set.geometry().diameter,
            vertices,
            active: 0,
            weights: Vec::with_capacity(most + 1),
            found,
            known: None,
            costs: Vec::with_capacity(most + 1),
            taken: Vec::with_capacity(most + 1),
            next_weights: Vec::with_capacity(most + 2),
            stepped: false,
            tableau: Tableau::default(),
            scratch: [vec![0.0; dim], vec![0.0; dim]],
        };
        if (most + 1) * (dim + 1) <= RESERVED {
            active.tableau.reserve(most + 1, dim);
        }
        active.begin(start)?;
        Ok(active)
    }

    /// x.
    pub fn point(&self) -> Vec<f64> {
        let mut x = vec![0.0; self.set.dim()];
        self.mix(&self.weights, None, &mut x);
        x
    }

    /// How many vertices x is mixed of.
    pub fn len(&self) -> usize {
        self.active
    }

    /// Whether there is none: never.
    pub fn is_empty(&self) -> bool {
        self.active == 0
    }

    /// way ← p − x; returns ⟨c, v⟩ of the vertex that mass moves to. Nothing moves yet.
    pub fn seek(&mut self, c: &[f64], share: f64, way: &mut [f64]) -> Result<f64> {
        let found = self.find(c)?;
        self.take(c, share, way);
        Ok(found.value)
    }

    /// The rest of [`ActiveSet::seek`], the vertex having been found.
    pub(crate) fn take(&mut self, c: &[f64], share: f64, way: &mut [f64]) {
        let count = self.active;
        self.costs.clear();
        let vertices = self.vertices[..count].iter().zip(0u32..);
        self.costs
            .extend(vertices.map(|(vertex, i)| (vertex.atom.dot(c), i)));
        self.taken.clear();
        if share < 1.0 {
            self.costs
                .sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            self.taken.resize(count, 0.0);
            let mut left = share;
            for &(_, i) in &self.costs {
                let i = i as usize;
                self.taken[i] = self.weights[i].min(left);
                left -= self.taken[i];
                if left <= 0.0 {
                    break;
                }
            }
        } else {
            self.taken.extend_from_slice(&self.weights);
        }
        way.fill(0.0);
        let mut moved = 0.0;
        for (vertex, &taken) in self.vertices.iter().zip(&self.taken) {
            if taken > 0.0 {
                vertex.atom.add_to(-taken, way);
                moved += taken;
            }
        }
        self.found.atom.add_to(moved, way);
    }

    /// Works out x + α(p − x), which `next` becomes; [`ActiveSet::commit`] makes it the point.
    pub fn step(&mut self, alpha: f64, next: Option<&mut [f64]>) {
        let Self {
            weights,
            next_weights,
            taken,
            ..
        } = self;
        next_weights.clear();
        let mut moved = 0.0;
        for (w, taken) in weights.iter().zip(&*taken) {
            let goes = (alpha * taken).min(*w);
            moved += goes;
            next_weights.push(w - goes);
        }
        match self.known {
            Some(i) => next_weights[i] += moved,
            None => next_weights.push(moved),
        }
        normalise(next_weights);
        self.stepped = true;
        if let Some(next) = next {
            let found = self.known.is_none().then_some(&self.found);
            next.fill(0.0);
            self.mix(&self.next_weights, found, next);
        }
    }

    /// Takes the step that was worked out, if one was.
    pub fn commit(&mut self) {
        if !std::mem::take(&mut self.stepped) {
            return;
        }
        if self.known.is_none() {
            self.push();
        }
        self.weights.clear();
        self.weights.extend_from_slice(&self.next_weights);
        self.prune();
        let dim = self.set.dim();
        if self.active > 2 * (dim + 1) && self.diameter > 0.0 {
            let points = self.vertices[..self.active].iter().map(|v| &v.atom);
            self.tableau
                .reduce(dim, self.diameter, points, &mut self.weights);
            self.prune();
        }
    }

    /// Forgets the step that was worked out.
    pub(crate) fn stay(&mut self) {
        self.stepped = false;
    }

    /// x += Σ weights_i v_i.
    fn mix(&self, weights: &[f64], last: Option<&Vertex>, x: &mut [f64]) {
        let vertices = self.vertices[..self.active].iter().chain(last);
        for (vertex, &w) in vertices.zip(weights) {
            if w > 0.0 {
                vertex.atom.add_to(w, x);
            }
        }
    }

    /// The vertex for c, and where it is among the active ones.
    pub(crate) fn find(&mut self, c: &[f64]) -> Result<Minimum> {
        let found = self.oracle.minimise(c, &mut self.found.atom)?;
        if let AtomView::RankOne { .. } = self.found.atom.view() {
            let [entries, _] = &mut self.scratch;
            self.found.atom.write(entries);
            self.found
                .atom
                .dense_mut(entries.len())
                .copy_from_slice(entries);
        }
        self.found.hash = hash(&self.found.atom);
        self.known = None;
        for i in 0..self.active {
            if self.vertices[i].hash != self.found.hash {
                continue;
            }
            let [one, other] = &mut self.scratch;
            self.found.atom.write(one);
            self.vertices[i].atom.write(other);
            if one == other {
                self.known = Some(i);
                break;
            }
        }
        Ok(found)
    }

    /// How often the oracle was asked.
    pub(crate) fn oracle_calls(&self) -> u64 {
        self.oracle.calls()
    }

    /// Errors where ⟨c, x − v⟩ is below 0, v being the vertex found for c.
    pub(crate) fn check_gap(&self, gap: f64, c: &[f64]) -> Result<()> {
        self.oracle.check_gap(gap, c)
    }

    /// What was found becomes active.
    fn push(&mut self) {
        match self.vertices.get_mut(self.active) {
            Some(slot) => slot.copy(&self.found),
            None => self.vertices.push(self.found.clone()),
        }
        self.active += 1;
    }

    /// Drops the vertices that have no weight.
    fn prune(&mut self) {
        let mut i = 0;
        while i < self.active {
            if self.weights[i] > NO_WEIGHT {
                i += 1;
                continue;
            }
            self.active -= 1;
            self.vertices.swap(i, self.active);
            self.weights.swap_remove(i);
        }
        normalise(&mut self.weights);
    }

    /// All weight on these vertices, in equal parts.
    fn mean_of(&mut self, directions: &[Vec<f64>]) -> Result<()> {
        self.active = 0;
        self.weights.clear();
        for direction in directions {
            self.find(direction)?;
            match self.known {
                Some(i) => self.weights[i] += 1.0,
                None => {
                    self.push();
                    self.weights.push(1.0);
                }
            }
        }
        normalise(&mut self.weights);
        Ok(())
    }

    fn begin(&mut self, start: Option<&[f64]>) -> Result<()> {
        let dim = self.set.dim();
        let mut aim = vec![0.0; dim];
        self.set.centre(&mut aim);
        let ones = vec![1.0; dim];
        let opposite = vec![-1.0; dim];
        if let Some(start) = start {
            // a vertex is its own mixture, and mostly the furthest from the centre on its side
            crate::set::check_point(dim, start)?;
            let apart = |(a, s): (&f64, &f64)| a - s;
            let away: Vec<f64> = aim.iter().zip(start).map(apart).collect();
            self.mean_of(&[away])?;
            if self.point() == start {
                return Ok(());
            }
            aim.copy_from_slice(start);
        }
        self.mean_of(&[ones, opposite])?;
        if self.distance(&aim) <= 1e-15 * self.diameter {
            return Ok(());
        }
        // sets that look alike in all coordinates: one vertex for each turn of the coordinates
        if (2..=1000).contains(&dim) {
            let turned = |i| (0..dim).map(|j| ((j + dim - i) % dim) as f64).collect();
            let directions: Vec<Vec<f64>> = (0..dim).map(turned).collect();
            self.mean_of(&directions)?;
            if self.distance(&aim) <= 1e-15 * self.diameter {
                return Ok(());
            }
        }
        self.approach(&aim)?;
        let apart = self.distance(&aim);
        if start.is_some() && apart > 1e-9 * self.diameter {
            return Err(Error::Unsupported(format!(
                "the start could not be mixed from vertices of set {}: {apart:e} is left; a vertex always can, and so can the centre",
                self.set.name()
            )));
        }
        Ok(())
    }

    fn distance(&self, aim: &[f64]) -> f64 {
        let mut x = self.point();
        kernel::axpy(-1.0, aim, &mut x);
        kernel::norm(&x)
    }

    /// Pairwise Frank-Wolfe steps on the distance, from the worst active vertex to the best one.
    fn approach(&mut self, aim: &[f64]) -> Result<()> {
        let dim = aim.len();
        let steps = (400_000_000 / (dim * dim)).clamp(1000, 50_000);
        let mut apart = vec![0.0; dim];
        let mut way = vec![0.0; dim];
        for _ in 0..steps {
            apart.copy_from_slice(&self.point());
            kernel::axpy(-1.0, aim, &mut apart);
            let far = kernel::norm(&apart);
            if !(far > 1e-16 * self.diameter) {
                break;
            }
            apart.iter_mut().for_each(|v| *v /= far);
            let best = self.find(&apart)?.value;
            let costs = self.vertices[..self.active].iter();
            let worst = costs.map(|v| v.atom.dot(&apart)).enumerate();
            let Some((i, most)) = worst.max_by(|a, b| a.1.total_cmp(&b.1)) else {
                break;
            };
            way.fill(0.0);
            self.found.atom.add_to(1.0, &mut way);
            self.vertices[i].atom.add_to(-1.0, &mut way);
            let length = kernel::norm(&way);
            let drop = (most - best) / length;
            if !(drop > 0.0) || self.known == Some(i) {
                break;
            }
            self.taken.clear();
            self.taken.resize(self.active, 0.0);
            self.taken[i] = (drop * (far / length)).min(self.weights[i]);
            self.step(1.0, None);
            self.commit();
        }
        Ok(())
    }

    pub(crate) fn save(&self) -> SavedSet {
        let save = |vertex: &Vertex| match vertex.atom.view() {
            AtomView::Coordinate { index, value } => SavedAtom::Coordinate(index as u32, value),
            AtomView::Sparse { indices, values } => {
                SavedAtom::Sparse(indices.to_vec(), values.to_vec())
            }
            AtomView::Dense(values) => SavedAtom::Dense(values.to_vec()),
            // rank one is written out when it is found
            AtomView::Zero | AtomView::RankOne { .. } => SavedAtom::Zero,
        };
        SavedSet {
            vertices: self.vertices[..self.active].iter().map(save).collect(),
            weights: self.weights.clone(),
        }
    }

    pub(crate) fn load(&mut self, saved: SavedSet) -> Result<()> {
        let SavedSet { vertices, weights } = saved;
        let dim = self.set.dim();
        let sum: f64 = weights.iter().sum();
        let fits = vertices.len() == weights.len()
            && (1..=2 * (dim + 1)).contains(&weights.len())
            && weights.iter().all(|w| *w >= 0.0)
            && (sum - 1.0).abs() <= 1e-9;
        if !fits {
            return Err(Error::State("its weights mix nothing".into()));
        }
        let mut loaded = Vec::with_capacity(vertices.len());
        let mut x = vec![0.0; dim];
        for saved in vertices {
            let mut atom = Atom::new();
            let inside = match saved {
                SavedAtom::Zero => true,
                SavedAtom::Coordinate(index, value) => {
                    atom.set_coordinate(index as usize, value);
                    (index as usize) < dim
                }
                SavedAtom::Sparse(i, v) => {
                    let (indices, values) = atom.sparse_mut();
                    let mut order = i.clone();
                    order.sort_unstable();
                    let distinct = order.windows(2).all(|pair| pair[0] < pair[1]);
                    let below = order.last().is_none_or(|top| (*top as usize) < dim);
                    let even = i.len() == v.len();
                    indices.extend_from_slice(&i);
                    values.extend_from_slice(&v);
                    distinct && below && even
                }
                SavedAtom::Dense(values) => {
                    atom.dense_mut(values.len()).copy_from_slice(&values);
                    values.len() == dim
                }
            };
            if !inside {
                return Err(Error::State("a vertex of its mixture is no point".into()));
            }
            atom.write(&mut x);
            check_saved_point(&*self.set, &x)?;
            let hash = hash(&atom);
            loaded.push(Vertex { atom, hash });
        }
        self.active = loaded.len();
        for (i, vertex) in loaded.into_iter().enumerate() {
            match self.vertices.get_mut(i) {
                Some(slot) => slot.copy(&vertex),
                None => self.vertices.push(vertex),
            }
        }
        self.weights.clear();
        self.weights.extend_from_slice(&weights);
        self.stepped = false;
        Ok(())
    }
}

fn normalise(weights: &mut [f64]) {
    let sum: f64 = weights.iter().sum();
    if sum != 1.0 && sum > 0.0 {
        weights.iter_mut().for_each(|w| *w /= sum);
    }
}

/// The same for the same entries, in whatever form and order they come.
fn hash(atom: &Atom) -> u64 {
    let mut all = 0u64;
    let mut take = |i: usize, v: f64| {
        if v != 0.0 {
            let mut h = v.to_bits() ^ (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            h = (h ^ (h >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
            all = all.wrapping_add(h ^ (h >> 29));
        }
    };
    match atom.view() {
        AtomView::Zero | AtomView::RankOne { .. } => {}
        AtomView::Coordinate { index, value } => take(index, value),
        AtomView::Sparse { indices, values } => {
            for (&i, &v) in indices.iter().zip(values) {
                take(i as usize, v);
            }
        }
        AtomView::Dense(values) => {
            for (i, &v) in values.iter().enumerate() {
                take(i, v);
            }
        }
    }
    all
}
