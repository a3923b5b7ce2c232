//! What holds for any bytes.

use proptest::prelude::*;
use redact::verify::{Problem, Verdict, Verifier};
use redact::{Key, Options, Redactor};

const HEADS: [&str; 4] = [
    "4711  1795224208.254344 close(3</etc/passwd>) = 0 <0.000011>\n4711  1795224208.255344 read(0, \"\", 1) = 0 <0.000011>\n",
    "12196:\t 3.6520\t 0.0018\t 0.0000\tclose(3)\t\t\t= 0\n12196:\t 3.6521\t 0.0018\t 0.0000\tioctl(0, TCGETA, 0x08046D0C)\t= 0\n",
    "  2769 rmdir    CALL  issetugid\n  2769 rmdir    RET   issetugid 0\n",
    "[    1.486287] md: stopping all md devices.\n[    2.492737] ACPI: Preparing to enter system sleep state S5\n",
];

fn redactor(key: u8) -> Redactor {
    let options = Options {
        key: Key::new([key; 16]),
        keep: None,
        keeps_programs: false,
        format: None,
        has_map: false,
    };
    Redactor::new(&options).expect("the options are valid")
}

fn redacted(key: u8, text: &[u8]) -> Vec<u8> {
    let (mut redactor, mut out) = (redactor(key), Vec::new());
    redactor.feed(text, &mut out);
    redactor.finish(&mut out);
    out
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split(|&byte| byte == b'\n').collect()
}

/// Pieces that lines are made of, and any bytes.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let parts = [
        "openat(AT_FDCWD, \"",
        "\", O_RDONLY) = 3 <0.000011>",
        "read(3</home/",
        ">, \"",
        " <unfinished ...>",
        "\n",
        "\\",
        "\"",
        "<... read resumed>",
        "4711  1795224208.254344 ",
        "/proc/4711/stat",
        "10.1.2.3:80",
        "fe80::1%eth0",
        "took 12.3 s",
        "/tmp/tmp.Xa81kQ",
        "tmpa1b2c3d4",
        "{\"log\":\"",
        "\\n\",\"time\":\"2026-01-02T03:04:05Z\"}",
        "\\x41\\x42",
        "\\303\\251",
        "é",
        "--- SIGCHLD {si_signo=SIGCHLD} ---",
        "Err#2 ENOENT",
        "RET   open -1 errno 2 ",
        "\t",
        "3f2a9bc01d",
        "0x7ffd",
        " | 00000  65",
    ];
    prop_oneof![
        4 => prop::sample::select(parts.to_vec()).prop_map(|part| part.as_bytes().to_vec()),
        2 => "[a-zA-Z0-9_./-]{1,12}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ]
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    (
        prop::sample::select(HEADS.to_vec()),
        prop::collection::vec(piece(), 0..40),
    )
        .prop_map(|(head, pieces)| [head.as_bytes(), &pieces.concat()].concat())
}

/// As many lines come out, and each word is known or a pseudonym.
fn check(text: &[u8]) -> Result<(), TestCaseError> {
    let out = redacted(1, text);
    let (before, after) = (lines(text), lines(&out));
    prop_assert_eq!(before.len(), after.len());
    let (mut verifier, mut verdict) = (Verifier::default(), Verdict::default());
    for (number, (before, after)) in before.iter().zip(&after).enumerate() {
        verifier.line(before, after, number as u64, &mut verdict);
    }
    let unknown = verdict
        .findings
        .iter()
        .find(|found| found.problem == Problem::Word);
    if let Some(found) = unknown {
        let at = found.line as usize;
        let [before, after] = [before[at], after[at]].map(String::from_utf8_lossy);
        prop_assert!(false, "{:?}\n{}\n{}", found, before, after);
    }
    Ok(())
}

/// What the fuzzer found.
#[test]
fn words_that_touch_other_words_are_pseudonyms() {
    let cases: [&[u8]; 2] = [
        b"{\"time\":\"2021-03-05T19:43:34Zqtmtw\",\"host\":\"web\"}\ntime=\"2021-03-05T19:43:34Z\" level=info msg=\"x\"\n",
        b"4711 close(3</etc/passwd>) = 0\n/proc/4711/statread(3</home/tmpa1b2c3d4g-aaA0Aaopenat(AT_FDCWD, \" <unfinished ...>",
    ];
    for case in cases {
        check(case).expect("each word is known or a pseudonym");
    }
}

#[test]
fn calls_of_ltrace_keep_their_names() {
    let text =
        b"4711 SYS_close(3) = 0 <0.000059>\n4711 SYS_openat2(3, 0x55) = 0 <0.000059>\n4711 SYS_335(3) = 0 <0.000059>\n";
    assert_eq!(redacted(1, text), text);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn as_many_lines_come_out_and_each_word_is_known_or_a_pseudonym(text in text()) {
        check(&text)?;
    }

    #[test]
    fn no_planted_secret_survives(
        before in text(), after in prop::collection::vec(piece(), 0..20), secret in "([abcdefilou][a-z]{2}){4}"
    ) {
        let text = [&before[..], secret.as_bytes(), &after.concat()].concat();
        let out = redacted(1, &text);
        let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        for (text, length) in [(&secret, 6), (&hex, 12)] {
            for part in text.as_bytes().windows(length) {
                let place = out.windows(length).position(|window| window == part);
                prop_assert_eq!(place, None, "{} in {}", String::from_utf8_lossy(part), String::from_utf8_lossy(&out));
            }
        }
    }

    #[test]
    fn pieces_of_any_size_give_the_same(text in text(), size in 1usize..50) {
        let (mut redactor, mut out) = (redactor(1), Vec::new());
        text.chunks(size).for_each(|piece| redactor.feed(piece, &mut out));
        redactor.finish(&mut out);
        prop_assert_eq!(out, redacted(1, &text));
    }

    #[test]
    fn another_key_changes_names_only(text in text()) {
        let counts = |text: &[u8]| lines(text).iter().map(|line| line.iter().filter(|byte| b"\"(){}".contains(byte)).count()).collect::<Vec<_>>();
        prop_assert_eq!(counts(&redacted(1, &text)), counts(&redacted(2, &text)));
    }
}
