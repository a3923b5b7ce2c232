//! Properties that hold for any bytes and each format.

use parsers::{CachedLines, ChunkLines, Head, Line, Parsed};

/// Read bytes as a capture of this format. There must be no panic, one line for each physical line, only texts that exist,
/// and the same result with the line cache and when the capture is read in two pieces.
pub fn read_as(format: &str, bytes: &[u8]) {
    let Some(format) = parsers::by_name(format) else {
        panic!("no format {format}")
    };
    let head = Head {
        bytes,
        complete: true,
    };
    let _ = format.recognise(head);
    let reader = format.reader(head);
    let mut whole = Parsed::default();
    whole.read(reader.as_ref(), bytes);
    let ends = bytes.iter().filter(|&&byte| byte == b'\n').count();
    let unended = usize::from(bytes.last().is_some_and(|&byte| byte != b'\n'));
    assert_eq!(
        whole.lines.len(),
        ends + unended,
        "each physical line is read once"
    );
    for line in &whole.lines {
        for text in [line.name, line.op, line.target, line.errno] {
            assert!(
                (text.0 as usize) < whole.texts.len(),
                "a text of another chunk"
            );
        }
    }
    let (mut parsed, mut chunk, mut cached) = (
        Parsed::default(),
        ChunkLines::default(),
        CachedLines::default(),
    );
    for _ in 0..2 {
        parsed.read_next(reader.as_ref(), bytes, &mut chunk);
        assert!(
            whole.lines.len() == chunk.refs.len(),
            "each physical line is read once"
        );
        for (line, (known, extra)) in whole.lines.iter().zip(&cached.resolve_all(&chunk)) {
            let fields = |line: &Line| {
                (
                    line.kind,
                    line.part,
                    line.outcome,
                    line.stamp_ns,
                    line.dur_ns,
                    line.ret,
                    line.fd,
                )
            };
            assert_eq!(fields(line), fields(known), "a cached line is the same");
            assert_eq!(
                line.extra == 0,
                extra.is_none(),
                "a cached line is the same"
            );
            for (text, known) in [
                (line.name, known.name),
                (line.op, known.op),
                (line.target, known.target),
            ] {
                assert_eq!(
                    whole.texts.bytes(text),
                    parsed.texts.bytes(known),
                    "a cached line is the same"
                );
            }
        }
    }
    let middle = bytes[..bytes.len() / 2]
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |at| at + 1);
    let mut pieces = Vec::new();
    for piece in [&bytes[..middle], &bytes[middle..]] {
        let mut parsed = Parsed::default();
        parsed.read(reader.as_ref(), piece);
        pieces.extend(
            parsed
                .lines
                .iter()
                .map(|line| (line.kind, line.part, line.outcome, line.stamp_ns, line.ret)),
        );
    }
    let together = whole
        .lines
        .iter()
        .map(|line| (line.kind, line.part, line.outcome, line.stamp_ns, line.ret));
    assert!(together.eq(pieces), "a line is read the same in each place");
}
