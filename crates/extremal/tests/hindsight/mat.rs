//! Just enough of MATLAB's file format, and of the compression in it, to read the anchors.

use std::collections::HashMap;

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
        let plain = inflate(&body[2..]); // past the two bytes that head a zlib stream
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
    match kind {
        1 => body.iter().map(|b| f64::from(*b as i8)).collect(),
        2 => body.iter().map(|b| f64::from(*b)).collect(),
        4 => body
            .as_chunks()
            .0
            .iter()
            .map(|b| f64::from(u16::from_le_bytes(*b)))
            .collect(),
        5 => body
            .as_chunks()
            .0
            .iter()
            .map(|b| f64::from(i32::from_le_bytes(*b)))
            .collect(),
        9 => body
            .as_chunks()
            .0
            .iter()
            .map(|b| f64::from_le_bytes(*b))
            .collect(),
        other => panic!("numbers of type {other} are not expected"),
    }
}

/// Decompresses a DEFLATE stream (RFC 1951).
fn inflate(bytes: &[u8]) -> Vec<u8> {
    let mut input = Bits { bytes, at: 0 };
    let mut out = Vec::new();
    loop {
        let last = input.take(1);
        let (literals, distances) = match input.take(2) {
            0 => {
                input.at = input.at.next_multiple_of(8);
                let length = input.take(16);
                input.take(16);
                out.extend((0..length).map(|_| input.take(8) as u8));
                if last == 1 {
                    return out;
                }
                continue;
            }
            1 => {
                let mut lengths = vec![8; 288];
                lengths[144..256].fill(9);
                lengths[256..280].fill(7);
                (Code::new(&lengths), Code::new(&[5; 30]))
            }
            2 => dynamic(&mut input),
            _ => panic!("no such block"),
        };
        loop {
            let symbol = literals.read(&mut input);
            match symbol {
                0..256 => out.push(symbol as u8),
                256 => break,
                _ => {
                    let length = extended(&mut input, symbol - 257, 4, 3, 28);
                    let symbol = distances.read(&mut input);
                    let distance = extended(&mut input, symbol, 2, 1, usize::MAX);
                    for _ in 0..length {
                        out.push(out[out.len() - distance]);
                    }
                }
            }
        }
        if last == 1 {
            return out;
        }
    }
}

/// Lengths and distances: `group` symbols per number of extra bits, from `first` on; the symbol
/// `longest` stands for 258.
fn extended(
    input: &mut Bits<'_>,
    symbol: usize,
    group: usize,
    first: usize,
    longest: usize,
) -> usize {
    if symbol == longest {
        return 258;
    }
    if symbol < 2 * group {
        return first + symbol;
    }
    let extra = symbol / group - 1;
    first + ((group + symbol % group) << extra) + input.take(extra)
}

/// The two codes that a block brings along.
fn dynamic(input: &mut Bits<'_>) -> (Code, Code) {
    const ORDER: [usize; 19] = [
        16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
    ];
    let (literals, distances, codes) = (input.take(5) + 257, input.take(5) + 1, input.take(4) + 4);
    let mut lengths = [0; 19];
    for &place in &ORDER[..codes] {
        lengths[place] = input.take(3);
    }
    let code = Code::new(&lengths);
    let mut lengths = Vec::new();
    while lengths.len() < literals + distances {
        let (value, times) = match code.read(input) {
            16 => (*lengths.last().unwrap(), 3 + input.take(2)),
            17 => (0, 3 + input.take(3)),
            18 => (0, 11 + input.take(7)),
            length => (length, 1),
        };
        lengths.resize(lengths.len() + times, value);
    }
    (
        Code::new(&lengths[..literals]),
        Code::new(&lengths[literals..]),
    )
}

struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    /// The next bits, the first one lowest.
    fn take(&mut self, count: usize) -> usize {
        let bit = |at: usize| (self.bytes[at / 8] >> (at % 8)) as usize & 1;
        let value = (0..count).map(|k| bit(self.at + k) << k).sum();
        self.at += count;
        value
    }
}

/// A Huffman code: symbols by (length, code).
struct Code(HashMap<(usize, usize), usize>);

impl Code {
    fn new(lengths: &[usize]) -> Self {
        let mut symbols = HashMap::new();
        let mut code = 0;
        for length in 1..16 {
            code <<= 1;
            for (symbol, _) in lengths.iter().enumerate().filter(|(_, l)| **l == length) {
                symbols.insert((length, code), symbol);
                code += 1;
            }
        }
        Self(symbols)
    }

    fn read(&self, input: &mut Bits<'_>) -> usize {
        let mut code = 0;
        for length in 1..16 {
            code = code << 1 | input.take(1);
            if let Some(symbol) = self.0.get(&(length, code)) {
                return *symbol;
            }
        }
        panic!("no such code")
    }
}
