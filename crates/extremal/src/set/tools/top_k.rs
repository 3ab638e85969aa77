//! The k largest of many numbers, for oracles whose atoms have k entries.

/// Selects the k largest keys in one pass over them, keeping about 2k at a time: O(d), and
/// O(k log k) to bring the chosen ones into the order of their indices. Of equal keys those with
/// the smallest indices are chosen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Top {
    kept: Vec<(f64, u32)>,
}

impl Top {
    /// With memory for `k` of `dim` keys, so that no later call asks for any.
    pub fn with_capacity(k: usize, dim: usize) -> Self {
        Self {
            kept: Vec::with_capacity(limit(k).min(dim)),
        }
    }

    /// The k largest of some finite keys with their indices, in the order of these; all keys
    /// if there are no more than k, which is at least 1.
    pub fn largest(&mut self, keys: impl Iterator<Item = f64>, k: usize) -> &[(f64, u32)] {
        let limit = limit(k);
        // a key that is not above it has k others before it
        let mut bar = f64::NEG_INFINITY;
        self.start();
        for (i, key) in keys.enumerate() {
            if key > bar {
                self.kept.push((key, i as u32));
                if self.kept.len() == limit {
                    bar = self.cut(k);
                }
            }
        }
        self.chosen(k)
    }

    /// Makes ready for numbers that are [offered](Self::offer) one by one.
    pub fn start(&mut self) {
        self.kept.clear();
    }

    /// A key to choose from, in no order; at most one per index.
    pub fn offer(&mut self, key: f64, index: u32, k: usize) {
        self.kept.push((key, index));
        if self.kept.len() == limit(k) {
            self.cut(k);
        }
    }

    /// A key that no choice of k can be below any more; −∞ before k were offered.
    pub fn bar(&mut self, k: usize) -> f64 {
        if self.kept.len() < k {
            f64::NEG_INFINITY
        } else {
            self.cut(k)
        }
    }

    /// The k largest offered, in the order of their indices.
    pub fn chosen(&mut self, k: usize) -> &[(f64, u32)] {
        if self.kept.len() > k {
            self.cut(k);
        }
        self.kept.sort_unstable_by_key(|&(_, i)| i);
        &self.kept
    }

    /// Keeps the k largest and gives the smallest of them.
    fn cut(&mut self, k: usize) -> f64 {
        let (_, &mut (bar, _), _) = self.kept.select_nth_unstable_by(k - 1, precedes);
        self.kept.truncate(k);
        bar
    }
}

/// How many to keep before all but k are dropped: enough to make that rare for rising keys.
fn limit(k: usize) -> usize {
    k.saturating_mul(2).saturating_add(64)
}

/// The larger key first, then the smaller index; 0 and −0 are the same.
fn precedes(a: &(f64, u32), b: &(f64, u32)) -> std::cmp::Ordering {
    b.0.partial_cmp(&a.0)
        .unwrap_or(std::cmp::Ordering::Equal)
        .then(a.1.cmp(&b.1))
}

/// The place in a selection of the one that would have been left out first.
pub(crate) fn last(selection: &[(f64, u32)]) -> usize {
    let places = selection.iter().enumerate();
    let last = places.max_by(|a, b| precedes(a.1, b.1));
    last.map_or(0, |(place, _)| place)
}
