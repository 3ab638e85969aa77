//! Just enough of MATLAB's file format to read the anchors.

use std::collections::HashMap;
use std::io::Read;

use flate2::read::ZlibDecoder;

/// A matrix by columns, written out.
pub struct Matrix {
    pub rows: usize,
    pub columns: usize,
    pub values: Vec<f64>,
}

/// Every numeric matrix of a file, by name.
pub fn read(file: &[u8]) -> HashMap<String, Matrix> {
    let mut all = HashMap::new();
    for (kind, body) in Elements(&file[128..]) {
        assert_eq!(kind, 15, "expected a compressed element");
        let mut plain = Vec::new();
        ZlibDecoder::new(body).read_to_end(&mut plain).unwrap();
        let (_, matrix) = Elements(&plain).next().unwrap();
        let parts: Vec<_> = Elements(matrix).collect();
        let size: Vec<usize> = numbers(parts[1]).iter().map(|v| *v as usize).collect();
        let name = String::from_utf8(parts[2].1.to_vec()).unwrap();
        let mut values = vec![0.0; size[0] * size[1]];
        if parts[0].1[0] == 5 {
            // sparse: rows of the entries, where columns start, entries
            let (rows, starts, entries) = (numbers(parts[3]), numbers(parts[4]), numbers(parts[5]));
            for column in 0..size[1] {
                for k in starts[column] as usize..starts[column + 1] as usize {
                    values[column * size[0] + rows[k] as usize] = entries[k];
                }
            }
        } else {
            values = numbers(parts[3]);
        }
        let (rows, columns) = (size[0], size[1]);
        all.insert(
            name,
            Matrix {
                rows,
                columns,
                values,
            },
        );
    }
    all
}

/// (type, body) of the elements in a row.
struct Elements<'a>(&'a [u8]);

impl<'a> Iterator for Elements<'a> {
    type Item = (u32, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.0;
        if bytes.is_empty() {
            return None;
        }
        let word = |i: usize| u32::from_le_bytes(bytes[i..i + 4].try_into().unwrap());
        let tag = word(0);
        // A short element has its length in the upper half of the tag.
        let (kind, start, length, end) = if tag >> 16 > 0 {
            (tag & 0xffff, 4, (tag >> 16) as usize, 8)
        } else {
            let length = word(4) as usize;
            let padding = if tag == 15 {
                0
            } else {
                length.next_multiple_of(8) - length
            };
            (tag, 8, length, 8 + length + padding)
        };
        self.0 = &bytes[end.min(bytes.len())..];
        Some((kind, &bytes[start..start + length]))
    }
}

fn numbers((kind, body): (u32, &[u8])) -> Vec<f64> {
    fn each<const N: usize>(body: &[u8], read: fn([u8; N]) -> f64) -> Vec<f64> {
        body.as_chunks()
            .0
            .iter()
            .map(|bytes| read(*bytes))
            .collect()
    }
    match kind {
        1 => each(body, |b| i8::from_le_bytes(b).into()),
        2 => each(body, |b| u8::from_le_bytes(b).into()),
        4 => each(body, |b| u16::from_le_bytes(b).into()),
        5 => each(body, |b| i32::from_le_bytes(b).into()),
        9 => each(body, f64::from_le_bytes),
        other => panic!("numbers of type {other} are not expected"),
    }
}
