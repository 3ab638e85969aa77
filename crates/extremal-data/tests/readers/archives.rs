//! Packed files, whole and cut short.

use std::io::{Cursor, Write};
use std::path::PathBuf;

use crate::common::{Pieces, Row, drain, soak};
use extremal_data::{Format, ReadOptions, Reader};

const KINDS: [&str; 5] = ["gz", "bz2", "zst", "xz", "zip"];

/// Zip archives of several files, in the order of the bytes. With `late`, sizes follow the content.
fn zip(files: &[(&str, &[u8])], late: bool, stored: bool) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let mut packed = text.to_vec();
        if !stored {
            let mut to =
                flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(6));
            to.write_all(text).unwrap();
            packed = to.finish().unwrap();
        }
        let (flags, method) = (if late { 8_u16 } else { 0 }, if stored { 0_u16 } else { 8 });
        let checksum = crc32fast::hash(text);
        let facts = [checksum, packed.len() as u32, text.len() as u32].map(u32::to_le_bytes);
        let head = |facts: [u8; 12]| {
            let mut head = [20_u16, flags, method, 0, 0].map(u16::to_le_bytes).concat();
            head.extend(facts);
            head.extend([name.len() as u16, 0].map(u16::to_le_bytes).concat());
            head
        };
        bytes.extend(b"PK\x03\x04");
        bytes.extend(head(if late {
            [0; 12]
        } else {
            facts.concat().try_into().unwrap()
        }));
        bytes.extend(name.bytes().chain(packed));
        if late {
            bytes.extend([b"PK\x07\x08".to_vec(), facts.concat()].concat());
        }
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(head(facts.concat().try_into().unwrap()));
        directory.extend([0; 14]);
        directory.extend(name.bytes());
    }
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend([0; 6]);
    bytes
}

fn pack(kind: &str, text: &[u8]) -> Vec<u8> {
    match kind {
        "gz" => {
            let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
            to.write_all(text).unwrap();
            to.finish().unwrap()
        }
        "bz2" => {
            let mut to = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(1));
            to.write_all(text).unwrap();
            to.finish().unwrap()
        }
        "zst" => zstd::encode_all(text, 3).unwrap(),
        "xz" => {
            let mut to = liblzma::write::XzEncoder::new(Vec::new(), 1);
            to.write_all(text).unwrap();
            to.finish().unwrap()
        }
        "zip" => zip(&[("a.svm", text)], text.len().is_multiple_of(2), false),
        _ => unreachable!(),
    }
}

fn text(lines: usize) -> String {
    (0..lines).map(|k| line(k) + "\n").collect()
}

fn line(k: usize) -> String {
    let sign = if k.is_multiple_of(3) { "-1" } else { "1" };
    format!(
        "{sign} {}:0.{} {}:{}",
        1 + k % 7,
        1 + k * 7919,
        9 + k % 5,
        k
    )
}

fn read(bytes: &[u8], name: &str, options: &ReadOptions) -> (Vec<Row>, Option<String>) {
    match Reader::from_read(Box::new(Cursor::new(bytes.to_vec())), name, options) {
        Ok(mut reader) => drain(&mut reader),
        Err(error) => (Vec::new(), Some(error.to_string())),
    }
}

#[test]
fn packed_files_read_as_plain_ones_do() {
    let text = text(5_000);
    let options = ReadOptions::default();
    let (wanted, error) = read(text.as_bytes(), "a.svm", &options);
    assert_eq!((wanted.len(), error), (5_000, None));
    for kind in KINDS {
        let packed = pack(kind, text.as_bytes());
        assert!(packed.len() < text.len());
        // By their first bytes: the name need not say it, and the format may be told either way.
        for name in [&*format!("a.svm.{kind}"), "a.svm", "-"] {
            let (rows, error) = read(&packed, name, &options);
            assert_eq!(error, None);
            assert!(rows == wanted, "{name} of {kind}");
        }
        let pieces = Pieces::new(&packed, &[1, 2, 3, 5, 8]);
        let mut reader = Reader::from_read(Box::new(pieces), "-", &options).unwrap();
        assert!(drain(&mut reader).0 == wanted, "{kind} in pieces");
    }
}

#[test]
fn several_archives_one_after_the_other_are_one() {
    let options = ReadOptions::default();
    let all = text(30);
    let (first, second) = all.split_at(all.len() / 3 + 2);
    let (wanted, _) = read(all.as_bytes(), "a.svm", &options);
    // A zip archive ends with a directory of all that is in it.
    for kind in &KINDS[..4] {
        let mut packed = pack(kind, first.as_bytes());
        packed.extend(pack(kind, b""));
        packed.extend(pack(kind, second.as_bytes()));
        assert_eq!(
            read(&packed, "a.svm", &options),
            (wanted.clone(), None),
            "{kind}"
        );
    }
}

/// Wherever it is cut: an error, after some of the first examples as they should be.
fn check_cuts(kind: &str, packed: &[u8], whole: &[usize], wanted: &[Row]) {
    let options = ReadOptions::default();
    let name = format!("a.svm.{kind}");
    for length in 0..packed.len() {
        if whole.contains(&length) {
            continue;
        }
        let (rows, error) = read(&packed[..length], &name, &options);
        let error = error.unwrap_or_else(|| panic!("{kind} cut to {length} is taken for whole"));
        assert!(rows.len() <= wanted.len());
        assert!(rows == wanted[..rows.len()], "{kind} cut to {length}");
        let last = rows.last().map_or(0, |row| row.line);
        assert!(
            error.starts_with(&format!(
                "a.svm.{kind}:{last}: the archive is damaged or truncated after this line: "
            )),
            "{kind} cut to {length}: {error}"
        );
    }
}

#[test]
fn an_archive_cut_anywhere_is_an_error() {
    let all = text(if soak() { 1_000 } else { 60 });
    let (wanted, _) = read(all.as_bytes(), "a.svm", &ReadOptions::default());
    for kind in KINDS {
        check_cuts(kind, &pack(kind, all.as_bytes()), &[], &wanted);
    }
}

#[test]
fn a_cut_archive_without_a_telling_name_has_a_line_too() {
    let all = text(60);
    for kind in KINDS {
        let packed = pack(kind, all.as_bytes());
        for length in (4.max(packed.len() / 8)..packed.len()).step_by(7) {
            let (rows, error) = read(&packed[..length], "-", &ReadOptions::default());
            let last = rows.last().map_or(0, |row| row.line);
            let error = error.unwrap_or_else(|| panic!("{kind} cut to {length}"));
            let wanted = format!("-:{last}: the archive is damaged or truncated after this line: ");
            assert!(
                error.starts_with(&wanted),
                "{kind} cut to {length}: {error}"
            );
        }
    }
}

#[test]
fn the_second_of_two_archives_cut_anywhere_is_an_error() {
    let all = text(8);
    let (wanted, _) = read(all.as_bytes(), "a.svm", &ReadOptions::default());
    let middle = all.match_indices('\n').nth(3).unwrap().0 + 1;
    for kind in &KINDS[..4] {
        let mut packed = pack(kind, &all.as_bytes()[..middle]);
        let first = packed.len();
        packed.extend(pack(kind, &all.as_bytes()[middle..]));
        // A cut between the two leaves a whole file.
        check_cuts(kind, &packed, &[first], &wanted);
    }
}

#[test]
fn an_archive_with_a_flipped_bit_never_gives_other_examples() {
    // xz and gzip have checksums of what is inside, bzip2 of every block; zstd's is asked for here.
    let all = text(40);
    let (wanted, _) = read(all.as_bytes(), "a.svm", &ReadOptions::default());
    for kind in KINDS {
        let packed = match kind {
            "zst" => {
                let mut to = zstd::Encoder::new(Vec::new(), 3).unwrap();
                to.include_checksum(true).unwrap();
                to.write_all(all.as_bytes()).unwrap();
                to.finish().unwrap()
            }
            _ => pack(kind, all.as_bytes()),
        };
        let mut errors = 0;
        for bit in 0..8 * packed.len() {
            let mut damaged = packed.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let (rows, error) = read(&damaged, &format!("a.svm.{kind}"), &ReadOptions::default());
            errors += u32::from(error.is_some());
            // Text that was unpacked before the checksum was reached may be wrong, but then the
            // run ends with an error.
            assert!(error.is_some() || rows == wanted, "{kind}, bit {bit}");
        }
        // Most of a zip archive's directory is not needed.
        let ignored = if kind == "zip" { 8 * 80 } else { 0 };
        let least = 7 * packed.len() as u32 - ignored;
        assert!(errors > least, "{kind}: {errors}");
    }
}

#[test]
fn a_zip_archive_has_one_file() {
    let all = text(60);
    let all = all.as_bytes();
    let other: (_, &[u8]) = ("__MACOSX/._b.svm", b"\0\x05");
    let options = ReadOptions::default();
    let (wanted, _) = read(all, "a.svm", &options);
    for (late, stored) in [(false, false), (true, false), (false, true)] {
        let packed = zip(
            &[("a/", b""), ("a/b.svm", all), other],
            late,
            stored || !late,
        );
        let pieces = Pieces::new(&packed, &[1, 2, 3, 5, 8]);
        let mut reader = Reader::from_read(Box::new(pieces), "a.zip", &options);
        let (rows, error) = drain(reader.as_mut().unwrap());
        assert!(rows == wanted && error.is_none(), "{error:?}");
    }
    let csv = zip(&[("b.csv", b"x,y\n1,2\n")], false, true);
    let reader = Reader::from_read(Box::new(Cursor::new(csv)), "a.zip", &options).unwrap();
    assert_eq!(reader.format(), Format::Csv);

    let mut locked = zip(&[("b.svm", all)], false, false);
    locked[6] |= 1;
    let mut lzma = zip(&[("b.svm", all)], false, false);
    lzma[8] = 14;
    for (packed, count, what) in [
        (
            zip(&[("a.svm", all), ("b.svm", all)], false, false),
            60,
            "several files, such as `a.svm` and `b.svm`. Unpack it, and use one of them",
        ),
        (zip(&[("a/", b"")], false, true), 0, "no files"),
        (
            zip(&[("b.svm", all)], true, true),
            0,
            "the file `b.svm` in the zip archive has an unknown size. Unpack it first",
        ),
        (
            locked,
            0,
            "the file `b.svm` in the zip archive is encrypted. Unpack it first",
        ),
        (
            lzma,
            0,
            "the file `b.svm` in the zip archive is compressed by a method other than deflate. Unpack it first",
        ),
    ] {
        let (rows, error) = read(&packed, "a.svm.zip", &options);
        let error = error.unwrap();
        assert!(
            error.starts_with("a.svm.zip: can't be read: ") && error.ends_with(what),
            "{error}"
        );
        assert_eq!(rows.len(), count);
    }
}

#[test]
fn files_are_opened_by_their_path() {
    let directory = std::env::temp_dir().join(format!("extremal-data-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = |name: &str| -> PathBuf { directory.join(name) };
    let all = text(100);
    let (wanted, _) = read(all.as_bytes(), "a.svm", &ReadOptions::default());
    let packed = pack("gz", all.as_bytes());
    std::fs::write(path("a.svm.gz"), &packed).unwrap();
    std::fs::write(path("a.txt"), "hello\n").unwrap();

    let mut reader = Reader::open(Some(&path("a.svm.gz")), &ReadOptions::default()).unwrap();
    assert_eq!(reader.format(), Format::Libsvm);
    assert_eq!(drain(&mut reader), (wanted, None));
    let size = packed.len() as u64;
    assert_eq!(reader.progress(), (size, Some(size)));

    let error = Reader::open(Some(&path("a.txt")), &ReadOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{}: neither the name nor the first line identifies the format: \
             use --format libsvm, vw, csv, tsv or jsonl",
            path("a.txt").display()
        )
    );
    let error = Reader::open(Some(&path("none.svm")), &ReadOptions::default()).unwrap_err();
    let start = format!("{}: can't be opened: ", path("none.svm").display());
    assert!(error.to_string().starts_with(&start), "{error}");

    let directory_itself = ReadOptions {
        format: Some(Format::Libsvm),
        ..ReadOptions::default()
    };
    let mut reader = Reader::open(Some(&directory), &directory_itself).unwrap();
    let error = reader.next().unwrap_err().to_string();
    assert!(error.contains("can't be read"), "{error}");
    std::fs::remove_dir_all(&directory).unwrap();
}
