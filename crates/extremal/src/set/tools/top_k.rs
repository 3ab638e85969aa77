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
            kept: Vec::with_capacity(room(k).min(dim)),
        }
    }

    /// The k largest of some finite keys with their indices, in the order of these; all keys
    /// if there are no more than k, which is at least 1.
    pub fn largest(&mut self, keys: impl Iterator<Item = f64>, k: usize) -> &[(f64, u32)] {
        let room = room(k);
        // a key that is not above it has k others before it
        let mut bar = f64::NEG_INFINITY;
        self.start();
        for (i, key) in keys.enumerate() {
            if key > bar {
                self.kept.push((key, i as u32));
                if self.kept.len() == room {
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
        if self.kept.len() == room(k) {
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
fn room(k: usize) -> usize {
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
    let mut last = 0;
    for (place, entry) in selection.iter().enumerate() {
        if precedes(&selection[last], entry).is_lt() {
            last = place;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use crate::set::tools::top_k::*;

    #[test]
    fn the_selection_is_what_a_stable_sort_puts_first() {
        let mut top = Top::default();
        for n in (1..60_usize).chain([100, 200, 1000]) {
            for modulus in [1, 2, 3, 7, 61, 997] {
                let keys: Vec<f64> = (0..n)
                    .map(|i| ((i * i * 31 + i * 17) % modulus) as f64 - 1.0)
                    .collect();
                let mut order: Vec<usize> = (0..n).collect();
                order.sort_by(|&a, &b| keys[b].total_cmp(&keys[a]));
                for k in [1, 2, 3, n / 2 + 1, n, n + 5] {
                    let chosen = top.largest(keys.iter().copied(), k);
                    let mut expected = order[..k.min(n)].to_vec();
                    let last_one = expected[expected.len() - 1];
                    assert_eq!(chosen[last(chosen)].1 as usize, last_one);
                    expected.sort_unstable();
                    let indices: Vec<usize> = chosen.iter().map(|c| c.1 as usize).collect();
                    assert_eq!(indices, expected, "{k} of {keys:?}");
                    assert!(chosen.iter().all(|&(key, i)| key == keys[i as usize]));
                }
            }
        }
    }

    #[test]
    fn what_is_offered_in_any_order_is_chosen_alike() {
        let (mut top, mut offered) = (Top::default(), Top::default());
        for n in [1, 5, 71, 300_u32] {
            let keys: Vec<f64> = (0..n).map(|i| f64::from(i * i * 31 % 23)).collect();
            for k in [1, 2, 7, 100] {
                offered.start();
                for i in (0..n).map(|i| (i * 7 + 3) % n) {
                    offered.offer(keys[i as usize], i, k);
                }
                let bar = offered.bar(k);
                let chosen = offered.chosen(k);
                assert_eq!(chosen, top.largest(keys.iter().copied(), k));
                let least = chosen.iter().map(|c| c.0).fold(f64::INFINITY, f64::min);
                assert_eq!(
                    bar,
                    if chosen.len() < k {
                        f64::NEG_INFINITY
                    } else {
                        least
                    }
                );
            }
        }
    }

    #[test]
    fn zeros_of_both_signs_tie_and_extremes_are_told_apart() {
        let mut top = Top::default();
        let mut pick = |keys: &[f64], k| {
            let chosen = top.largest(keys.iter().copied(), k).iter();
            chosen.map(|c| c.1).collect::<Vec<_>>()
        };
        assert_eq!(pick(&[-0.0, 0.0, -0.0, 0.0], 2), [0, 1]);
        assert_eq!(pick(&[5e-324, 1e300, 0.0, -1e300, 1e-323], 2), [1, 4]);
    }

    #[test]
    fn what_was_set_aside_is_enough_for_rising_keys() {
        let mut top = Top::with_capacity(3, 1000);
        let before = top.kept.capacity();
        assert!(before < 100);
        let chosen = top.largest((0..1000).map(f64::from), 3);
        assert_eq!(chosen, [(997.0, 997), (998.0, 998), (999.0, 999)]);
        assert_eq!(top.kept.capacity(), before);
    }
}
