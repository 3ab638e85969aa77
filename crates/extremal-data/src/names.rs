//! The dictionary: the names of features and their indices.

use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Arc, PoisonError, RwLock};

use hashbrown::{DefaultHashBuilder, HashTable};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ReadOptions;
use crate::hash::murmur3;

/// Names in flat memory.
#[derive(Debug, Default, Clone)]
struct List {
    text: String,
    ends: Vec<usize>,
}

impl List {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, k: usize) -> &str {
        let start = if k == 0 { 0 } else { self.ends[k - 1] };
        &self.text[start..self.ends[k]]
    }

    fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }

    fn truncate(&mut self, len: usize) {
        self.ends.truncate(len);
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
    }
}

/// The names of features: the name at position k is that of the feature with index k.
///
/// A clone is cheap. It shares its memory with the reader, which adds names at the end. The clone
/// keeps its own length, so that it does not change.
#[derive(Clone, Default)]
pub struct Features {
    all: Arc<RwLock<List>>,
    len: usize,
}

impl Features {
    /// The number of names.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The name of the feature with index `k`.
    pub fn name(&self, k: usize) -> Option<String> {
        (k < self.len).then(|| self.read(|all| all.get(k).into()))
    }

    /// All names.
    pub fn to_vec(&self) -> Vec<String> {
        self.read(|all| (0..self.len).map(|k| all.get(k).into()).collect())
    }

    fn read<T>(&self, read: impl FnOnce(&List) -> T) -> T {
        read(&self.all.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds the names from `self.len` on.
    fn extend(&mut self, names: &List) {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        (self.len..names.len()).for_each(|k| all.push(names.get(k)));
        self.len = names.len();
    }
}

impl<S: AsRef<str>> FromIterator<S> for Features {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Features {
        let mut list = List::default();
        names.into_iter().for_each(|name| list.push(name.as_ref()));
        Features {
            len: list.len(),
            all: Arc::new(RwLock::new(list)),
        }
    }
}

impl PartialEq for Features {
    fn eq(&self, other: &Features) -> bool {
        self.len == other.len
            && (Arc::ptr_eq(&self.all, &other.all) || self.to_vec() == other.to_vec())
    }
}

impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.to_vec()).finish()
    }
}

impl Serialize for Features {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.read(|all| out.collect_seq((0..self.len).map(|k| all.get(k))))
    }
}

impl<'de> Deserialize<'de> for Features {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Features, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = Features;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of names")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Features, A::Error> {
                std::iter::from_fn(|| names.next_element::<String>().transpose()).collect()
            }
        }
        from.deserialize_seq(Names)
    }
}

/// The dictionary of a reader. A new name gets the next free index. With `bits`, the dictionary
/// computes the index from the name's hash instead, and keeps no names.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    names: List,
    /// The number of the first names that [`index`](Dictionary::index) does not find.
    fixed: usize,
    /// The indices of the other names.
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
    shared: Features,
    /// The name that is looked up.
    key: Vec<u8>,
    mask: Option<u32>,
    is_frozen: bool,
    is_used: bool,
}

impl Dictionary {
    pub(crate) fn new(options: &ReadOptions) -> Dictionary {
        let mut names = List::default();
        let known = options.features.iter();
        known.for_each(|known| known.read(|all| names = all.clone()));
        names.truncate(options.features.as_ref().map_or(0, Features::len));
        Dictionary {
            names,
            mask: options.bits.is_some().then(|| options.mask()),
            is_frozen: options.frozen,
            ..Dictionary::default()
        }
    }

    /// Sets the names of the first indices: the intercept and the columns of numbers.
    /// [`index`](Dictionary::index) does not return them. A dictionary from a model has them already.
    pub(crate) fn begin<S: AsRef<str>>(&mut self, fixed: impl IntoIterator<Item = S>) {
        let is_new = self.names.len() == 0;
        self.fixed = 0;
        for name in fixed {
            if is_new || self.fixed == self.names.len() {
                self.names.push(name.as_ref());
            }
            self.fixed += 1;
        }
        self.table.clear();
        for k in self.fixed..self.names.len() {
            let Dictionary { names, hasher, .. } = self;
            let hash = |k: &u32| hasher.hash_one(names.get(*k as usize).as_bytes());
            self.table.insert_unique(hash(&(k as u32)), k as u32, hash);
        }
        self.is_used = true;
    }

    /// The index of the feature whose name consists of two parts. `None` means that the name is new,
    /// and that the dictionary may not grow.
    pub(crate) fn index(&mut self, prefix: &str, text: &[u8]) -> Option<u32> {
        self.key.clear();
        self.key.extend_from_slice(prefix.as_bytes());
        self.key.extend_from_slice(text);
        if let Some(mask) = self.mask {
            return Some(self.fixed as u32 + (murmur3(&self.key, 0) & mask));
        }
        let Dictionary {
            names, hasher, key, ..
        } = self;
        let hash = hasher.hash_one(&key[..]);
        let is_same = |k: &u32| names.get(*k as usize).as_bytes() == &key[..];
        if let Some(&k) = self.table.find(hash, is_same) {
            return Some(k);
        }
        let new = u32::try_from(self.names.len()).ok()?;
        if self.is_frozen || new == u32::MAX {
            return None;
        }
        self.names.push(&String::from_utf8_lossy(&self.key));
        let Dictionary { names, hasher, .. } = self;
        let hash_of = |k: &u32| hasher.hash_one(names.get(*k as usize).as_bytes());
        self.table.insert_unique(hash, new, hash_of);
        Some(new)
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Removes the names of a record that has an error.
    pub(crate) fn truncate(&mut self, len: usize) {
        for k in len.max(self.fixed)..self.names.len() {
            let hash = self.hasher.hash_one(self.names.get(k).as_bytes());
            if let Ok(entry) = self.table.find_entry(hash, |known| *known as usize == k) {
                entry.remove();
            }
        }
        self.names.truncate(len);
    }

    /// The names so far, for a batch. `None` if the format has no names.
    pub(crate) fn features(&mut self) -> Option<Features> {
        if self.shared.len < self.names.len() {
            self.shared.extend(&self.names);
        }
        self.is_used.then(|| self.shared.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_follow_the_order_of_appearance_and_a_bad_record_takes_its_names_back() {
        let mut names = Dictionary::default();
        names.begin(["intercept", "age"]);
        assert_eq!(names.index("city=", b"Bath"), Some(2));
        assert_eq!(names.index("", b"age"), Some(3), "not the column's own");
        let before = names.features().unwrap();
        names.index("city=", b"Paris");
        names.truncate(4);
        assert_eq!(names.index("city=", b"Rome"), Some(4));
        assert_eq!(names.index("city=B", b"ath"), Some(2));
        assert_eq!(before.to_vec(), ["intercept", "age", "city=Bath", "age"]);
        let all = names.features().unwrap();
        assert_eq!(all.name(4).unwrap(), "city=Rome");
        assert_eq!(all.name(5), None);

        let text = serde_json::to_string(&all).unwrap();
        let loaded: Features = serde_json::from_str(&text).unwrap();
        assert_eq!(loaded, all);
        let options = ReadOptions {
            features: Some(loaded),
            frozen: true,
            ..ReadOptions::default()
        };
        let mut resumed = Dictionary::new(&options);
        resumed.begin(["intercept", "age"]);
        assert_eq!(resumed.index("city=", b"Rome"), Some(4));
        assert_eq!(resumed.index("city=", b"Oslo"), None);
        assert_eq!(resumed.features().unwrap(), all);
    }
}
