//! Redacts a capture to standard output with a fixed key: `cargo run --profile quick --example redact FILE`.
use redact::{Key, Options, Redactor};
use std::io::Write;

fn main() -> std::io::Result<()> {
    let options = Options {
        key: Key::new(std::array::from_fn(|at| at as u8)),
        keep: None,
        keeps_programs: false,
        format: None,
        has_map: false,
    };
    let Ok(mut redactor) = Redactor::new(&options) else {
        return Ok(());
    };
    let mut out = std::io::stdout().lock();
    let paths: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, one, other] = paths.as_slice()
        && flag == "--verify"
    {
        let verdict = redact::verify::Verifier::default().verify(one.as_ref(), other.as_ref())?;
        println!(
            "{} lines {} findings {:?}",
            verdict.lines,
            verdict.count,
            &verdict.findings[..verdict.findings.len().min(8)]
        );
        return Ok(());
    }
    for path in std::env::args().skip(1) {
        redactor.copy(path.as_ref(), |piece, _| out.write_all(piece))?;
    }
    Ok(())
}
