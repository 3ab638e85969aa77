//! MurmurHash3 (x86, 32 bits), the hash that Vowpal Wabbit uses for names.

/// MurmurHash3_x86_32.
pub(crate) fn murmur3(key: &[u8], seed: u32) -> u32 {
    let mut hash = seed;
    let mut blocks = key.chunks_exact(4);
    for block in &mut blocks {
        hash ^= scramble(u32::from_le_bytes([block[0], block[1], block[2], block[3]]));
        hash = hash
            .rotate_left(13)
            .wrapping_mul(5)
            .wrapping_add(0xE654_6B64);
    }
    let rest = blocks.remainder();
    if !rest.is_empty() {
        let tail = rest
            .iter()
            .rev()
            .fold(0, |tail, &byte| tail << 8 | u32::from(byte));
        hash ^= scramble(tail);
    }
    hash ^= key.len() as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85EB_CA6B);
    hash = (hash ^ hash >> 13).wrapping_mul(0xC2B2_AE35);
    hash ^ hash >> 16
}

fn scramble(block: u32) -> u32 {
    block
        .wrapping_mul(0xCC9E_2D51)
        .rotate_left(15)
        .wrapping_mul(0x1B87_3593)
}

#[cfg(test)]
mod tests {
    use super::murmur3;

    /// Published test vectors of the algorithm.
    #[test]
    fn hashes_are_those_of_the_published_vectors() {
        for (key, seed, hash) in [
            (&b""[..], 0, 0),
            (b"", 1, 0x514E_28B7),
            (b"", 0xFFFF_FFFF, 0x81F1_6F39),
            (b"\0\0\0\0", 0, 0x2362_F9DE),
            (b"aaaa", 0x9747_B28C, 0x5A97_808A),
            (b"aaa", 0x9747_B28C, 0x283E_0130),
            (b"aa", 0x9747_B28C, 0x5D21_1726),
            (b"a", 0x9747_B28C, 0x7FA0_9EA6),
            (b"abc", 0, 0xB3DD_93FA),
            (b"Hello, world!", 0x9747_B28C, 0x2488_4CBA),
            (
                b"The quick brown fox jumps over the lazy dog",
                0x9747_B28C,
                0x2FA8_26CD,
            ),
        ] {
            assert_eq!(murmur3(key, seed), hash, "{key:?} {seed:x}");
        }
    }
}
