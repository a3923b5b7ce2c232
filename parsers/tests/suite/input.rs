//! Files, compressed files and streams give each of their lines once, whatever their shape.

use parsers::input::{self, CHUNK_BYTES, Chunk, Seekable, Source, Stream};
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A file that is removed at the end of the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(bytes: &[u8]) -> Scratch {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "input-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::write(&path, bytes).unwrap();
        Scratch(path)
    }

    fn cells_of(&self, cell_bytes: u64) -> Vec<Vec<u8>> {
        let file = Seekable::open(&self.0).unwrap().with_cell_bytes(cell_bytes);
        cells(&file).into_iter().map(|(_, bytes)| bytes).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Offset and lines of each cell, read with one buffer from the last to the first.
fn cells(file: &Seekable) -> Vec<(u64, Vec<u8>)> {
    let mut buffer = b"left from before".to_vec();
    let mut cells: Vec<_> = (0..file.cells())
        .rev()
        .map(|cell| (file.read_cell(cell, &mut buffer).unwrap(), buffer.clone()))
        .collect();
    cells.reverse();
    cells
}

fn chunks(stream: &mut Stream) -> io::Result<Vec<Chunk>> {
    let mut chunks = Vec::new();
    while let Some(chunk) = stream.next_chunk()? {
        chunks.push(chunk);
    }
    Ok(chunks)
}

/// All text of a source, and whether it is cut.
fn text_of(source: Source) -> io::Result<(Vec<u8>, bool)> {
    match source {
        Source::File(file) => Ok((
            cells(&file)
                .into_iter()
                .flat_map(|(_, bytes)| bytes)
                .collect(),
            false,
        )),
        Source::Stream(mut stream) => {
            let text = chunks(&mut stream)?
                .into_iter()
                .flat_map(|chunk| chunk.bytes)
                .collect();
            Ok((text, stream.is_cut()))
        }
    }
}

fn opened(bytes: &[u8]) -> io::Result<(Vec<u8>, bool)> {
    text_of(input::open(&Scratch::new(bytes).0)?)
}

fn streamed(bytes: &[u8]) -> io::Result<(Vec<u8>, bool)> {
    text_of(Source::Stream(Stream::new(io::Cursor::new(
        bytes.to_vec(),
    ))?))
}

type Compress = fn(&[u8]) -> Vec<u8>;

const COMPRESSIONS: [(&str, Compress); 4] = [
    ("gz", |text| {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gz.write_all(text).unwrap();
        gz.finish().unwrap()
    }),
    ("bz2", |text| {
        let mut bz2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        bz2.write_all(text).unwrap();
        bz2.finish().unwrap()
    }),
    ("xz", |text| {
        let mut xz =
            lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1)).unwrap();
        xz.write_all(text).unwrap();
        xz.finish().unwrap()
    }),
    ("zst", |text| {
        compress_to_vec(text, CompressionLevel::Fastest)
    }),
];

/// Lines like those of a tracer: similar, but never equal.
fn trace(bytes: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes + 100);
    let mut noise = 1u32;
    while text.len() < bytes {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (pid, fd, rest) = (noise >> 22, noise >> 28, noise >> 8);
        writeln!(
            text,
            "{pid} 1795224170.{rest:08} read({fd}, \"{noise:x}\", {rest}) = {fd}"
        )
        .unwrap();
    }
    text
}

/// A text of three chunks.
const LARGE_BYTES: usize = CHUNK_BYTES + CHUNK_BYTES / 4;

/// The same in each compression: compressing it takes seconds without optimisation.
static LARGE: LazyLock<Vec<(&str, Vec<u8>)>> = LazyLock::new(|| {
    let text = trace(LARGE_BYTES);
    COMPRESSIONS
        .into_iter()
        .map(|(name, compress)| (name, compress(&text)))
        .collect()
});

static SMALL: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let text = trace(30_000);
    COMPRESSIONS
        .into_iter()
        .map(|(_, compress)| compress(&text))
        .collect()
});

proptest! {
    #[test]
    fn each_line_is_in_the_cell_where_it_starts(
        text in proptest::collection::vec(prop_oneof![3 => Just(b'\n'), 10 => any::<u8>()], 0..300),
        cell_bytes in 1u64..50,
    ) {
        prop_assume!(!text.starts_with(&[0xff, 0xfe]) && !text.starts_with(&[0xfe, 0xff]));
        let scratch = Scratch::new(&text);
        let file = Seekable::open(&scratch.0).unwrap().with_cell_bytes(cell_bytes);
        let mut at = 0u64;
        for (cell, (offset, bytes)) in cells(&file).into_iter().enumerate() {
            let mut starts = Vec::new();
            for line in bytes.split_inclusive(|&byte| byte == b'\n') {
                starts.push(at / cell_bytes);
                prop_assert!(starts.len() > 1 || offset == at);
                prop_assert_eq!(line, &text[at as usize..at as usize + line.len()]);
                at += line.len() as u64;
            }
            prop_assert!(starts.iter().all(|&start| start == cell as u64), "cell {}: {:?}", cell, starts);
        }
        prop_assert_eq!(at, text.len() as u64);
    }
}

proptest! {
    // A case takes a tenth of a second without optimisation.
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn compressed_text_is_read_back_unchanged(
        text in proptest::collection::vec(prop_oneof![Just(b'\n'), b' '..b'~'], 0..5000),
        which in 0..COMPRESSIONS.len(),
    ) {
        let (name, compress) = COMPRESSIONS[which];
        let (back, cut) = streamed(&compress(&text)).unwrap();
        prop_assert_eq!(back, text, "{}", name);
        prop_assert!(!cut);
    }

    #[test]
    fn damage_neither_panics_nor_loops(
        which in 0..COMPRESSIONS.len(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = SMALL[which].clone();
        for (place, value) in damage {
            let at = place.index(bytes.len());
            bytes[at] = value;
        }
        let error = streamed(&bytes).map_or_else(|error| error.to_string(), |_| String::new());
        prop_assert!(!error.ends_with("is damaged"), "the thread panicked");
    }
}

#[test]
fn compressed_files_are_detected_and_read_in_whole_lines() {
    let text = trace(LARGE_BYTES);
    for (name, bytes) in LARGE.iter() {
        let scratch = Scratch::new(bytes);
        let Source::Stream(mut stream) = input::open(&scratch.0).unwrap() else {
            panic!("{name} taken for text")
        };
        let chunks = chunks(&mut stream).unwrap();
        assert!(
            chunks.iter().all(|chunk| chunk.bytes.ends_with(b"\n")),
            "{name}"
        );
        let mut at = 0;
        for chunk in &chunks {
            assert_eq!(chunk.offset, at, "{name}");
            at += chunk.bytes.len() as u64;
        }
        assert!(
            chunks.len() >= 3 && chunks[0].bytes.len() < CHUNK_BYTES,
            "{name}: {} chunks",
            chunks.len()
        );
        assert!(
            chunks
                .into_iter()
                .flat_map(|chunk| chunk.bytes)
                .eq(text.iter().copied()),
            "{name}"
        );
        assert!(!stream.is_cut(), "{name}");
    }
}

#[test]
fn concatenated_members_streams_and_frames_are_read() {
    let (one, two) = (trace(200_000), b"and more\n".to_vec());
    for (name, compress) in COMPRESSIONS {
        let bytes = [compress(&one), compress(b""), compress(&two)].concat();
        let (text, cut) = opened(&bytes).unwrap();
        assert!(
            text == [one.clone(), two.clone()].concat() && !cut,
            "{name}"
        );
    }
}

#[test]
fn skippable_frames_are_skipped() {
    let skip = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let frame = |text: &[u8]| compress_to_vec(text, CompressionLevel::Fastest);
    let bytes = [
        skip.clone(),
        frame(b"one\n"),
        skip.clone(),
        frame(b"two\n"),
        skip.clone(),
    ]
    .concat();
    assert_eq!(opened(&bytes).unwrap(), (b"one\ntwo\n".to_vec(), false));
    let cut = &bytes[..bytes.len() - 1];
    assert_eq!(opened(cut).unwrap(), (b"one\ntwo\n".to_vec(), true));
}

#[test]
fn a_cut_compressed_file_gives_its_intact_part() {
    let text = trace(LARGE_BYTES);
    for (name, bytes) in LARGE.iter() {
        for (part, parts) in [(1, 2), (9, 10), (99, 100)] {
            let (back, cut) = opened(&bytes[..bytes.len() * part / parts]).unwrap();
            assert!(cut, "{name} {part}/{parts}");
            assert!(text.starts_with(&back), "{name} {part}/{parts}");
            // bzip2 decodes only whole blocks.
            let min = (text.len() * part / parts).saturating_sub(text.len() / 8);
            assert!(
                back.len() >= min,
                "{name} {part}/{parts}: {} of {}",
                back.len(),
                text.len()
            );
        }
        let (back, cut) = opened(&bytes[..bytes.len() - 1]).unwrap();
        assert!(
            cut && text.starts_with(&back) && back.len() + 100 > text.len(),
            "{name}: {}",
            back.len()
        );
    }
}

#[test]
fn a_small_cut_file_gives_more_than_half() {
    let text = trace(600_000);
    for (name, compress) in COMPRESSIONS.into_iter().filter(|(name, _)| *name != "bz2") {
        let bytes = compress(&text);
        let (back, cut) = opened(&bytes[..bytes.len() * 3 / 4]).unwrap();
        assert!(
            cut && text.starts_with(&back) && back.len() * 2 > text.len(),
            "{name}: {}",
            back.len()
        );
    }
}

#[test]
fn beginning_ends_at_a_line_end_or_at_the_limit() {
    let beginning = |text: &[u8], bytes, most| {
        let file = Scratch::new(text);
        Seekable::open(&file.0)
            .unwrap()
            .beginning(bytes, most)
            .unwrap()
    };
    assert_eq!(beginning(b"one\ntwo", 5, 7), b"one\nt");
    assert_eq!(beginning(b"one two\nthree", 5, 9), b"one two\nt");
    assert_eq!(beginning(b"one", 5, 9), b"one");
    assert_eq!(beginning(b"", 5, 9), b"");
}

#[test]
fn a_damaged_file_is_cut_at_the_damage() {
    let text = trace(LARGE_BYTES);
    for (name, bytes) in LARGE.iter() {
        let mut bytes = bytes.clone();
        let middle = bytes.len() * 7 / 8;
        bytes[middle..middle + 50].fill(0xa5);
        let (back, cut) = opened(&bytes).unwrap();
        assert!(cut, "{name}");
        assert!(text[..1000] == back[..1000], "{name}");
    }
}

#[test]
fn an_unreadable_compressed_file_is_an_error() {
    for (name, compress) in COMPRESSIONS {
        let error = opened(&compress(&trace(100))[..14]).unwrap_err();
        assert!(
            error.to_string().contains("ends before any of it"),
            "{name}: {error}"
        );
    }
}

#[test]
fn compressed_empty_text_is_empty_and_not_cut() {
    for (name, compress) in COMPRESSIONS {
        assert_eq!(
            opened(&compress(b"")).unwrap(),
            (Vec::new(), false),
            "{name}"
        );
    }
}

#[test]
fn text_that_only_looks_compressed_is_text() {
    for text in ["BZh9 is how bzip2 begins\n", "\u{1f}\n", "(\u{b5}/\n"] {
        assert_eq!(opened(text.as_bytes()).unwrap().0, text.as_bytes());
        assert_eq!(
            streamed(text.as_bytes()).unwrap(),
            (text.as_bytes().to_vec(), false)
        );
    }
}

#[test]
fn text_in_utf16_is_read_as_utf8() {
    let text = "read(3, \"é€😀\", 9) = 9\r\n".repeat(5000);
    for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        let bytes: Vec<u8> = "\u{feff}"
            .encode_utf16()
            .chain(text.encode_utf16())
            .flat_map(to_bytes)
            .collect();
        assert_eq!(opened(&bytes).unwrap(), (text.clone().into_bytes(), false));
        assert_eq!(
            streamed(&bytes).unwrap(),
            (text.clone().into_bytes(), false)
        );
        let cut = opened(&bytes[..bytes.len() - 1]).unwrap().0;
        assert_eq!(cut, text.as_bytes()[..text.len() - 1]);
        assert!(
            opened(&COMPRESSIONS[0].1(&bytes))
                .unwrap_err()
                .to_string()
                .contains("UTF-16")
        );
    }
    assert_eq!(opened(b"\xff\xfe").unwrap(), (Vec::new(), false));
    assert_eq!(
        opened(b"\xff\xfe\0\xd8a\0").unwrap().0,
        "\u{fffd}a".as_bytes()
    );
}

#[test]
fn a_utf8_mark_is_dropped_and_others_are_errors() {
    type Case = (&'static [u8], Result<&'static [u8], &'static str>);
    const CASES: [Case; 5] = [
        (b"\xef\xbb\xbfone\ntwo\n", Ok(b"one\ntwo\n")),
        (b"\xef\xbb\xbf", Ok(b"")),
        (b"one\n\xef\xbb\xbftwo\n", Ok(b"one\n\xef\xbb\xbftwo\n")),
        (
            b"\xff\xfe\0\0o\0\0\0",
            Err("the text is UTF-32; convert it to UTF-8 first"),
        ),
        (
            b"\0\0\xfe\xff\0\0\0o",
            Err("the text is UTF-32; convert it to UTF-8 first"),
        ),
    ];
    for (bytes, expected) in CASES {
        let gz = COMPRESSIONS[0].1(bytes);
        for result in [opened(bytes), streamed(bytes), opened(&gz)] {
            match (result, expected) {
                (Ok((text, _)), Ok(expected)) => assert_eq!(text, expected),
                (Err(error), Err(expected)) => {
                    assert_eq!(
                        (error.to_string().as_str(), error.kind()),
                        (expected, io::ErrorKind::InvalidData)
                    );
                }
                (result, _) => panic!("{bytes:?}: {result:?}"),
            }
        }
    }
    for cell_bytes in 1..12 {
        let cells = Scratch::new(b"\xef\xbb\xbfone\ntwo\nthree").cells_of(cell_bytes);
        assert_eq!(cells.concat(), b"one\ntwo\nthree", "cells of {cell_bytes}");
    }
}

#[test]
fn an_empty_file_has_no_cells() {
    let scratch = Scratch::new(b"");
    let Source::File(file) = input::open(&scratch.0).unwrap() else {
        panic!("not a file")
    };
    let mut buffer = vec![1, 2, 3];
    assert_eq!((file.cells(), file.len(), file.is_empty()), (0, 0, true));
    assert_eq!(file.read_cell(0, &mut buffer).unwrap(), 0);
    assert!(buffer.is_empty());
    assert_eq!(file.read_cell(usize::MAX, &mut buffer).unwrap(), 0);
    assert_eq!(streamed(b"").unwrap(), (Vec::new(), false));
}

#[test]
fn the_last_line_may_lack_its_line_feed() {
    let text = b"one\ntwo\nthree";
    assert_eq!(
        Scratch::new(text).cells_of(8),
        [&b"one\ntwo\n"[..], b"three"]
    );
    let mut stream = Stream::new(&text[..]).unwrap();
    let chunks = chunks(&mut stream).unwrap();
    assert_eq!(
        (chunks.len(), chunks[0].bytes.as_slice(), chunks[0].last),
        (1, &text[..], true)
    );
}

#[test]
fn a_line_of_many_cells_belongs_to_the_first() {
    let long = vec![b'x'; 5 << 20];
    let text = [b"first\n", long.as_slice(), b"\nlast\n"].concat();
    let cells = Scratch::new(&text).cells_of(1 << 16);
    assert_eq!(cells[0].len(), 6 + long.len() + 1);
    assert!(cells[1..cells.len() - 1].iter().all(Vec::is_empty));
    assert_eq!(cells[cells.len() - 1], b"last\n");
    let (back, _) = streamed(&text).unwrap();
    assert!(back == text);
}

#[test]
fn a_file_that_shrinks_gives_its_remaining_bytes() {
    let scratch = Scratch::new(&trace(100_000));
    let file = Seekable::open(&scratch.0).unwrap().with_cell_bytes(1000);
    fs::File::options()
        .write(true)
        .open(&scratch.0)
        .unwrap()
        .set_len(50_500)
        .unwrap();
    let text: Vec<u8> = cells(&file)
        .into_iter()
        .flat_map(|(_, bytes)| bytes)
        .collect();
    assert!(text == trace(100_000)[..50_500]);
}

#[test]
fn a_file_that_grows_is_read_to_its_old_length() {
    let scratch = Scratch::new(b"one\ntw");
    let file = Seekable::open(&scratch.0).unwrap().with_cell_bytes(4);
    fs::File::options()
        .append(true)
        .open(&scratch.0)
        .unwrap()
        .write_all(b"o\nthree\n")
        .unwrap();
    assert_eq!(cells(&file), [(0, b"one\n".to_vec()), (4, b"tw".to_vec())]);
}

#[test]
fn an_open_file_is_read_from_its_position() {
    let scratch = Scratch::new(b"one\ntwo\n");
    let mut open = fs::File::open(&scratch.0).unwrap();
    open.read_exact(&mut [0; 4]).unwrap();
    assert_eq!(
        cells(&Seekable::from_file(open).unwrap()),
        [(4, b"two\n".to_vec())]
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_of_proc_is_not_empty() {
    let (text, cut) = text_of(input::open(Path::new("/proc/self/status")).unwrap()).unwrap();
    assert!(text.starts_with(b"Name:") && !cut);
}

#[test]
fn a_directory_is_an_error_that_names_it() {
    let error = input::open(Path::new(env!("CARGO_TARGET_TMPDIR")))
        .err()
        .unwrap();
    assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
}

#[test]
fn a_pipe_gives_lines_before_the_writer_ends() {
    let (reader, mut writer) = io::pipe().unwrap();
    let mut stream = Stream::new(reader).unwrap();
    let text = trace(100_000);
    let write = std::thread::spawn({
        let text = text.clone();
        move || writer.write_all(&text).map(|()| writer)
    });
    let first = stream.next_chunk().unwrap().unwrap();
    assert!(first.bytes.len() > 60_000 && !first.last && first.bytes.ends_with(b"\n"));
    drop(write.join().unwrap().unwrap());
    let rest = chunks(&mut stream).unwrap();
    assert!(rest[rest.len() - 1].last);
    assert!(
        [first]
            .into_iter()
            .chain(rest)
            .flat_map(|chunk| chunk.bytes)
            .eq(text)
    );
}

/// A source that fails after some text, like a disk that was removed.
struct Failing(io::Cursor<Vec<u8>>);

impl Read for Failing {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.0.read(into)? {
            0 => Err(io::Error::other("gone")),
            read => Ok(read),
        }
    }
}

#[test]
fn a_failing_stream_gives_its_text_then_the_error() {
    let mut stream = Stream::new(Failing(io::Cursor::new(b"one\ntwo\nthree".to_vec()))).unwrap();
    assert_eq!(
        stream.next_chunk().unwrap().unwrap().bytes,
        b"one\ntwo\nthree"
    );
    assert_eq!(stream.next_chunk().err().unwrap().to_string(), "gone");
    assert!(stream.next_chunk().unwrap().is_none());
}

/// An endless source that records when it is dropped.
struct Endless(std::sync::mpsc::Sender<()>);

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        into.fill(b'\n');
        Ok(into.len())
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

#[test]
fn dropping_a_stream_ends_its_thread() {
    let (told, dropped) = std::sync::mpsc::channel();
    let mut stream = Stream::new(Endless(told)).unwrap();
    assert!(stream.next_chunk().unwrap().is_some());
    assert!(dropped.try_recv().is_err());
    drop(stream);
    dropped
        .recv_timeout(std::time::Duration::from_secs(20))
        .unwrap();
}
