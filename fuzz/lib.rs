//! What must hold for any bytes, whatever the format.

use parsers::{CachedLines, Head, Line, ChunkLines, Parsed};

/// Read bytes as a capture of this format: no panic, one line for each physical line, texts that exist, and the same when
/// the capture is read in two pieces.
pub fn read_as(format: &str, bytes: &[u8]) {
    let Some(format) = parsers::by_name(format) else { panic!("no format {format}") };
    let head = Head { bytes, complete: true };
    let _ = format.recognise(head);
    let reader = format.reader(head);
    let mut whole = Parsed::default();
    whole.read(reader.as_ref(), bytes);
    let ends = bytes.iter().filter(|&&byte| byte == b'\n').count();
    let unended = usize::from(bytes.last().is_some_and(|&byte| byte != b'\n'));
    assert_eq!(whole.lines.len(), ends + unended, "each physical line is read once");
    for line in &whole.lines {
        for text in [line.name, line.op, line.target, line.errno] {
            assert!((text.0 as usize) < whole.texts.len(), "a text of another chunk");
        }
    }
    let (mut remembers, mut again, mut cached) = (Parsed::default(), ChunkLines::default(), CachedLines::default());
    for _ in 0..2 {
        remembers.read_next(reader.as_ref(), bytes, &mut again);
        assert!(whole.lines.len() == again.refs.len(), "each physical line is read once");
        for (line, (known, extra)) in whole.lines.iter().zip(&cached.resolve_all(&again)) {
            let facts = |line: &Line| (line.kind, line.part, line.outcome, line.stamp_ns, line.dur_ns, line.ret, line.fd);
            assert_eq!(facts(line), facts(known), "a line that is repeated says the same");
            assert_eq!(line.extra == 0, extra.is_none(), "a line that is repeated says the same");
            for (text, known) in [(line.name, known.name), (line.op, known.op), (line.target, known.target)] {
                assert_eq!(whole.texts.bytes(text), remembers.texts.bytes(known), "a line that is repeated says the same");
            }
        }
    }
    let middle = bytes[..bytes.len() / 2].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let mut pieces = Vec::new();
    for piece in [&bytes[..middle], &bytes[middle..]] {
        let mut parsed = Parsed::default();
        parsed.read(reader.as_ref(), piece);
        pieces.extend(parsed.lines.iter().map(|line| (line.kind, line.part, line.outcome, line.stamp_ns, line.ret)));
    }
    let together = whole.lines.iter().map(|line| (line.kind, line.part, line.outcome, line.stamp_ns, line.ret));
    assert!(together.eq(pieces), "a line is read alike wherever it stands");
}
