//! The k largest of many numbers, for oracles whose atoms have k entries.

/// Selects the k largest keys in one pass. The selection stores at most about 2k keys at a time. The pass
/// costs O(d), and sorting the selection by index costs O(k log k). Among equal keys, the keys with the
/// smallest indices are selected.
#[derive(Debug, Clone, Default)]
pub(crate) struct Top {
    kept: Vec<(f64, u32)>,
}

impl Top {
    /// Reserves memory to select `k` of `dim` keys, so that later calls allocate nothing.
    pub fn with_capacity(k: usize, dim: usize) -> Self {
        Self {
            kept: Vec::with_capacity(limit(k).min(dim)),
        }
    }

    /// Returns the k largest of some finite keys, sorted by index. k is at least 1. If there are at most
    /// k keys, all keys are returned.
    pub fn largest(&mut self, keys: impl Iterator<Item = f64>, k: usize) -> &[(f64, u32)] {
        let limit = limit(k);
        // at least k of the earlier keys are not below `bar`
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

    /// Starts a new selection from keys that are [offered](Self::offer) one by one.
    pub fn start(&mut self) {
        self.kept.clear();
    }

    /// Offers a key with its index. The order of the calls does not matter. Each index may be offered
    /// only once.
    pub fn offer(&mut self, key: f64, index: u32, k: usize) {
        self.kept.push((key, index));
        if self.kept.len() == limit(k) {
            self.cut(k);
        }
    }

    /// The smallest of the k largest keys offered so far. A smaller key can't be selected any more. The
    /// result is −∞ until k keys were offered.
    pub fn bar(&mut self, k: usize) -> f64 {
        if self.kept.len() < k {
            f64::NEG_INFINITY
        } else {
            self.cut(k)
        }
    }

    /// Returns the k largest keys offered, sorted by index.
    pub fn chosen(&mut self, k: usize) -> &[(f64, u32)] {
        if self.kept.len() > k {
            self.cut(k);
        }
        self.kept.sort_unstable_by_key(|&(_, i)| i);
        &self.kept
    }

    /// Drops all keys except the k largest, and returns the k-th largest key.
    fn cut(&mut self, k: usize) -> f64 {
        let (_, &mut (bar, _), _) = self.kept.select_nth_unstable_by(k - 1, precedes);
        self.kept.truncate(k);
        bar
    }
}

/// The number of keys after which all keys except the k largest are dropped. With this limit, keys are
/// rarely dropped, even if each key exceeds the key before.
fn limit(k: usize) -> usize {
    k.saturating_mul(2).saturating_add(64)
}

/// The order of selection: the larger key first, then the smaller index. 0 and −0 are equal.
fn precedes(a: &(f64, u32), b: &(f64, u32)) -> std::cmp::Ordering {
    b.0.partial_cmp(&a.0)
        .unwrap_or(std::cmp::Ordering::Equal)
        .then(a.1.cmp(&b.1))
}

/// The position of the selected key that would be dropped first.
pub(crate) fn last(selection: &[(f64, u32)]) -> usize {
    let places = selection.iter().enumerate();
    let last = places.max_by(|a, b| precedes(a.1, b.1));
    last.map_or(0, |(place, _)| place)
}
