//! Addresses of hardware, UUIDs and percent-encoded words are replaced whole; names of constants stay.

use redact::{Key, Options, Redactor};

const HEAD: &str = "\
4711  1795224208.253344 execve(\"/bin/sh\", [\"sh\"], 0x7ffd8a10 /* 35 vars */) = 0 <0.000322>
4711  1795224208.254344 close(3</etc/passwd>) = 0 <0.000011>
";
const LOG_HEAD: &str = "\
[    0.000000] start of it
[    1.000000] eth0: link is up
[    2.000000] eth0: link is down
";

fn redacted(head: &str, lines: &[&str]) -> Vec<String> {
    let options = Options {
        key: Key::new([5; 16]),
        keep: None,
        keeps_programs: false,
        format: None,
        has_map: false,
    };
    let mut redactor = Redactor::new(&options).expect("no pattern");
    let mut out = Vec::new();
    redactor.feed(format!("{head}{}\n", lines.join("\n")).as_bytes(), &mut out);
    redactor.finish(&mut out);
    let text = String::from_utf8(out).expect("all inputs are text");
    text.lines()
        .skip(head.lines().count())
        .map(str::to_owned)
        .collect()
}

fn calls(calls: &[&str]) -> Vec<String> {
    let lines: Vec<String> = calls
        .iter()
        .map(|call| format!("4711  1795224208.353344 {call} = 0 <0.000322>"))
        .collect();
    redacted(HEAD, &lines.iter().map(String::as_str).collect::<Vec<_>>())
}

fn messages(messages: &[&str]) -> Vec<String> {
    let lines: Vec<String> = messages
        .iter()
        .map(|message| format!("[    3.000000] {message}"))
        .collect();
    redacted(
        LOG_HEAD,
        &lines.iter().map(String::as_str).collect::<Vec<_>>(),
    )
}

/// The two digits of each octet in a line, after a name.
fn octets(line: &str, after: &str) -> Vec<String> {
    let rest = &line[line.find(after).expect(after) + after.len()..];
    rest.replace("0x", "")
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
        .take(6)
        .map(|part| format!("{part:0>2}").to_lowercase())
        .collect()
}

#[test]
fn one_hardware_address_has_one_pseudonym() {
    let of_calls = calls(&[
        "bind(3, {sa_family=AF_PACKET, sll_protocol=htons(ETH_P_ALL), sll_addr=[0x58, 0x51, 0x88, 0x2d, 0x85, 0xc6]}, 20)",
        "connect(3, {sa_family=AF_BLUETOOTH, l2_bdaddr=58:51:88:2d:85:c6}, 14)",
        "ioctl(3, SIOCGIFHWADDR, {ifr_name=\"eth0\", ifr_hwaddr={sa_family=ARPHRD_ETHER, sa_data=58:51:88:2d:85:c6}})",
    ]);
    let of_logs = messages(&[
        "station 58:51:88:2d:85:c6 joined",
        "station 58-51-88-2D-85-C6 joined",
    ]);
    let made = octets(&of_calls[0], "sll_addr=");
    assert_eq!(made.len(), 6);
    let original = ["58", "51", "88", "2d", "85", "c6"];
    assert!(
        made.iter()
            .zip(original)
            .filter(|(made, from)| made == from)
            .count()
            <= 1,
        "{made:?}"
    );
    assert_eq!(octets(&of_calls[1], "l2_bdaddr="), made);
    assert_eq!(octets(&of_calls[2], "sa_data="), made);
    for line in &of_logs {
        let place = line.find([':', '-']).expect("an address") - 2;
        assert_eq!(octets(&line[place..], ""), made, "{line}");
    }
}

#[test]
fn numbers_are_kept_with_their_whole_unit_only() {
    let lines = messages(&[
        "token 76609638d88c0fc218c70013",
        "id 1234567d-89ab-4def-8123-456789abcdef",
        "pw %68%75%6E%74%65%72%32",
        "pw 76%33%72%79",
        "part 51:88:2d:85:c6",
    ]);
    for (line, left) in lines
        .iter()
        .zip(["76609638", "1234567d", "%75", "%33", "51:88"])
    {
        assert!(!line.contains(left), "{line}");
    }
    let message = "took 1min30s, then 1h2m3s, 45 s, 12ms, 80% at 00:01:30";
    assert!(messages(&[message])[0].contains("1min30s"));
    for kept in ["1h2m3s", "45 s", "12ms", "80%", "00:01:30"] {
        assert!(messages(&[message])[0].contains(kept), "{kept}");
    }
}

#[test]
fn names_of_constants_stay() {
    for name in [
        "FIONREAD",
        "FIOCLEX",
        "SIOCGIFCONF",
        "BLKGETSIZE64",
        "TIOCSCTTY",
        "TUNSETIFF",
        "KDGETMODE",
        "FICLONE",
    ] {
        let line = &calls(&[&format!("ioctl(3, {name}, 0x7ffd8a10)")])[0];
        assert!(line.contains(name), "{line}");
    }
}

#[test]
fn redacted_lines_control_no_terminal() {
    let lines = calls(&[
        "open(\"/a\x1b[2Jb\x07\", \x1b]0;x\x07O_RDONLY)",
        "\x1b[1mclose\x1b[0m(3)",
    ]);
    assert!(
        !lines[0].contains(['\x1b', '\x07']),
        "{}",
        lines[0].escape_debug()
    );
    assert!(lines[1].contains("close(3)"));
}

#[test]
fn colours_divide_no_name() {
    let lines = calls(&[
        "openat(4, \"/srv/\x1b[1malice\x1b[0m2024/x\", O_RDONLY)",
        "openat(4, \x1b[32m\"/srv/alice2024/x\"\x1b[0m, O_RDONLY)",
        "close(3\x1b[33m</srv/alice2024/x>\x1b[0m)",
    ]);
    let name = lines[2].split(['<', '>']).nth(1).expect("a name");
    assert!(
        !name.contains("2024") && name.starts_with("/srv/"),
        "{name}"
    );
    assert!(lines.iter().all(|line| line.contains(name)), "{lines:?}");
}

#[test]
fn ids_after_names_of_threads_stay() {
    let head = "     0.014 ( 0.004 ms): sh/71 close(fd: 3</etc/passwd>) = 0\n".repeat(3);
    let line = "     0.014 ( 0.004 ms): a-20260101/71 openat(filename: /x 1, flags: 2) = 3";
    let made = &redacted(&head, &[line])[0];
    assert!(made.contains("/71 openat(") && !made.contains("20260101"));
    assert!(made.ends_with(", flags: 2) = 3"), "{made}");
    let head = "19:43:34.201733  read   F=3  B=0x200   0.076120 W ls.1234\n".repeat(3);
    let line = "19:43:34.201830  fstatat64   [-2]/a 20260101   0.000034   ls 20260101.51";
    let made = &redacted(&head, &[line])[0];
    assert!(made.contains("[-2]/") && made.ends_with(".51") && !made.contains("20260101"));
}
