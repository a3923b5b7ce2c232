//! The whole engine on damaged captures: lines in any order, cut, repeated, with bytes changed.

use proptest::prelude::*;

/// Short captures of each format.
const TEXTS: [&[u8]; 9] = [
    include_bytes!("../../../../parsers/benches/texts/dtruss.txt"),
    include_bytes!("../../../../parsers/benches/texts/kdump.txt"),
    include_bytes!("../../../../parsers/benches/texts/kernel_log.txt"),
    include_bytes!("../../../../parsers/benches/texts/ltrace.txt"),
    include_bytes!("../../../../parsers/benches/texts/perf_trace.txt"),
    include_bytes!("../../../../parsers/benches/texts/strace.txt"),
    include_bytes!("../../../../parsers/benches/texts/truss_aix.txt"),
    include_bytes!("../../../../parsers/benches/texts/truss_freebsd.txt"),
    include_bytes!("../../../../parsers/benches/texts/truss_solaris.txt"),
];

#[test]
fn intact_captures_hold() {
    assert!(TEXTS.iter().all(|text| crate::whole::holds(text)));
}

#[test]
fn calls_without_a_stamp_hold() {
    let close = "  7 sh       0.000181 CALL  close(0x3)\n  7 sh       0.000186 RET   close 0\n";
    let unstamped = "  7 sh       0.0001B9 CALL  access(0x800627000,0x4<R_OK>)\n";
    assert!(crate::whole::holds(
        format!("{close}{close}{unstamped}").as_bytes()
    ));
}

#[test]
fn calls_that_damage_joined_hold() {
    let text = String::from_utf8_lossy(TEXTS[0]);
    let joined: String = text
        .split_inclusive('\n')
        .enumerate()
        .map(|(at, line)| {
            if at == 0 || at == 2 {
                line.replace('\n', "\0")
            } else {
                line.to_owned()
            }
        })
        .collect();
    assert!(crate::whole::holds(joined.as_bytes()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn lines_in_any_order_hold(
        text in prop::sample::select(&TEXTS[..]),
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..80),
        cut in any::<prop::sample::Index>(),
    ) {
        let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
        let mixed: Vec<u8> = order.iter().flat_map(|at| lines[at.index(lines.len())]).copied().collect();
        crate::whole::holds(&mixed[..=cut.index(mixed.len())]);
    }

    #[test]
    fn changed_bytes_hold(
        text in prop::sample::select(&TEXTS[..]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
    ) {
        let mut changed = text.to_vec();
        changes.iter().for_each(|(at, byte)| changed[at.index(text.len())] = *byte);
        crate::whole::holds(&changed);
    }
}
