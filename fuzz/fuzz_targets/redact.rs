#![no_main]
//! Any bytes, between lines of strace: as many lines come out, and each word is known or a pseudonym.

use redact::verify::{Problem, Verdict, Verifier};
use redact::{Key, Options, Redactor};
use std::cell::RefCell;

const HEAD: &[u8] = b"4711  1795224208.253344 execve(\"/bin/sh\", [\"sh\"], 0x7ffd8a10 /* 35 vars */) = 0 <0.000322>
4711  1795224208.254344 close(3</etc/passwd>) = 0 <0.000011>
4711  1795224208.255344 read(0, \"\", 100) = 0 <0.000011>
";

thread_local! {
    static VERIFIER: RefCell<Verifier> = RefCell::new(Verifier::default());
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // Recognised by its own beginning, and as a part of a capture of strace.
    for head in [&b""[..], HEAD] {
        let text = [head, bytes].concat();
        let options = Options {
            key: Key::new([7; 16]),
            keep: None,
            keeps_programs: false,
            format: None,
            has_map: false,
        };
        let mut redactor = Redactor::new(&options).expect("the options are valid");
        let mut out = Vec::new();
        redactor.feed(&text, &mut out);
        redactor.finish(&mut out);
        let lines = |text: &[u8]| {
            text.split(|&byte| byte == b'\n')
                .map(<[u8]>::to_vec)
                .collect::<Vec<_>>()
        };
        let (before, after) = (lines(&text), lines(&out));
        assert_eq!(before.len(), after.len());
        let mut verdict = Verdict::default();
        for (number, (before, after)) in before.iter().zip(&after).enumerate() {
            VERIFIER.with_borrow_mut(|verifier| {
                verifier.line(before, after, number as u64, &mut verdict)
            });
        }
        let unknown = verdict
            .findings
            .iter()
            .find(|found| found.problem == Problem::Word);
        assert_eq!(
            unknown,
            None,
            "{}",
            String::from_utf8_lossy(&after[unknown.map_or(0, |found| found.line as usize)])
        );
    }
});
