//! Lines as text, for cases that are data: `input  => result`, in sections with the name of a layout.
#![allow(dead_code)]

use parsers::line::Ended;
use parsers::{
    CallPart, Extra, Fact, Format, Head, Line, LineReader, NO_ID, NO_NS, Outcome, Parsed,
    Recognition, Text,
};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// One line, read and shown as text.
pub fn one(reader: &dyn LineReader, line: &[u8]) -> String {
    let mut parsed = Parsed::default();
    let line = reader.read(line, &mut parsed);
    shown(&line, &parsed)
}

/// A line as text: kind, the columns that are set, then name, operation, target and so on.
pub fn shown(line: &Line, parsed: &Parsed) -> String {
    let mut out = line.kind.name().to_owned();
    let mut put = |key: &str, value: String| write!(out, " {key}={value}").unwrap_or_default();
    for (key, id) in [("pid", line.pid), ("tid", line.tid), ("fd", line.fd)] {
        if id != NO_ID {
            put(key, id.to_string());
        }
    }
    for (key, ns) in [
        ("at", line.stamp_ns),
        ("dur", line.dur_ns),
        ("cpu", line.cpu_ns),
    ] {
        if ns != NO_NS {
            put(key, ns.to_string());
        }
    }
    for (key, text) in [
        ("name", line.name),
        ("op", line.op),
        ("target", line.target),
        ("errno", line.errno),
    ] {
        if text.is_some() {
            put(key, parsed.texts.string(text).into_owned());
        }
    }
    if line.ret != NO_NS {
        put("ret", line.ret.to_string());
    }
    if line.outcome != Outcome::Ok {
        put("outcome", line.outcome.name().to_owned());
    }
    if line.part != CallPart::Whole {
        put("part", format!("{:?}", line.part));
    }
    if let Some(extra) = parsed.extra(line) {
        put("extra", shown_extra(extra, parsed));
    }
    out
}

fn shown_extra(extra: &Extra, parsed: &Parsed) -> String {
    let ended = |ended: &Option<Ended>| match ended {
        None => String::new(),
        Some(Ended::Exited(status)) => format!(" exited {status}"),
        Some(Ended::Killed(signal)) => format!(" killed by {}", parsed.texts.string(*signal)),
    };
    match extra {
        Extra::Exec { path, argv } => format!(
            "exec({}|{})",
            parsed.texts.string(*path),
            parsed.texts.string(*argv)
        ),
        Extra::Waited { child, ended: end } => format!("waited({child}{})", ended(end)),
        Extra::Signal { from, ended: end } => format!("from({from}{})", ended(end)),
        Extra::End(end) => format!("end({})", ended(&Some(*end)).trim()),
        Extra::GroupEnd(end) => format!("group_end({})", ended(&Some(*end)).trim()),
        Extra::Spawn {
            child,
            thread,
            vfork,
            ..
        } => format!("spawn({child} thread={thread} vfork={vfork})"),
        Extra::Born {
            creator_pid,
            thread,
        } => format!("born({creator_pid} thread={thread})"),
        Extra::Program { name, .. } => format!("program({})", parsed.texts.string(*name)),
        Extra::Opened {
            created: made,
            access,
            syncs,
        } => {
            format!(
                "opened({}|{access:?}{})",
                parsed.texts.string(*made),
                if *syncs { "|syncs" } else { "" }
            )
        }
        Extra::Frame {
            module,
            function,
            source,
        } => {
            let texts =
                [module, function, source].map(|text| parsed.texts.string(*text).into_owned());
            format!("frame({})", texts.join("|"))
        }
        Extra::Fact(fact) => shown_fact(fact, parsed),
        Extra::With(with) => {
            let (extra, fact) = &**with;
            format!(
                "{} {}",
                shown_extra(extra, parsed),
                shown_fact(fact, parsed)
            )
        }
        Extra::Restarted { base_ns: NO_NS } => "restarted".to_owned(),
        Extra::Restarted { base_ns } => format!("restarted({base_ns})"),
        Extra::Joined(messages) => {
            let shown =
                |(at, _, text): &(i64, Text, Text)| format!("{at} {}", parsed.texts.string(*text));
            format!(
                "joined({})",
                messages.iter().map(shown).collect::<Vec<_>>().join("|")
            )
        }
        other => format!("{other:?}"),
    }
}

fn shown_fact(fact: &Fact, parsed: &Parsed) -> String {
    match fact {
        Fact::Timeout(NO_NS) => "timeout(forever)".to_owned(),
        Fact::FaultCode(code) => format!("FaultCode({})", parsed.texts.string(*code)),
        Fact::RefusedPromise(name) => format!("RefusedPromise({})", parsed.texts.string(*name)),
        other => format!("{other:?}"),
    }
}

/// Compare all cases; with TRACEALYZE_BLESS=1, rewrite them. An arrow is a tab, ␛ the escape character.
pub fn check(
    file: &str,
    cases: &str,
    layouts: &[(&str, &str)],
    reader: fn(&str) -> Box<dyn LineReader>,
) {
    let mut head = "";
    let mut shown = String::new();
    for case in cases.lines() {
        if let Some(name) = case
            .strip_prefix("[")
            .and_then(|case| case.strip_suffix("]"))
        {
            head = layouts
                .iter()
                .find(|(layout, _)| *layout == name)
                .expect("a known layout")
                .1;
        }
        match case.split_once("  =>") {
            Some((input, _)) if !case.starts_with('#') => {
                let found = one(
                    reader(head).as_ref(),
                    input.replace('→', "\t").replace('␛', "\x1b").as_bytes(),
                );
                writeln!(shown, "{input}  => {found}").unwrap_or_default();
            }
            _ => writeln!(shown, "{case}").unwrap_or_default(),
        }
    }
    if std::env::var_os("TRACEALYZE_BLESS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests")
            .join(file);
        std::fs::write(path, &shown).expect("the cases can be written");
        return;
    }
    for (found, expected) in shown.lines().zip(cases.lines()) {
        assert_eq!(found, expected);
    }
}

/// A format recognises its own texts, rejects those of others, and needs more for an empty one.
pub fn check_recognition(format: &dyn Format, own: &[&str], others: &[&str]) {
    let head = |text| Head {
        bytes: str::as_bytes(text),
        complete: true,
    };
    for text in own {
        assert_eq!(
            parsers::recognise(head(text)).map(Format::name),
            Some(format.name()),
            "{text}"
        );
    }
    for text in others {
        assert_eq!(format.recognise(head(text)), Recognition::No, "{text}");
    }
    assert_eq!(
        format.recognise(Head {
            bytes: b"",
            complete: false
        }),
        Recognition::NeedMore
    );
}

/// A public sample, if their folder is available.
pub fn corpus(name: &str) -> Option<String> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    let folder = std::env::var_os("TRACEALYZE_CORPUS").map_or(beside, PathBuf::from);
    let text = std::fs::read_to_string(folder.join(name)).ok();
    if text.is_none() {
        println!("not tested on {name}: set TRACEALYZE_CORPUS to the folder of the public samples");
    }
    text
}

/// For any bytes, each reader gives one line per physical line and none panics.
pub fn all_survive(format: &dyn Format, layouts: &[(&str, &str)], text: &[u8]) {
    let own = Head {
        bytes: text,
        complete: false,
    };
    format.recognise(own);
    let mut readers = vec![format.reader(own)];
    readers.extend(layouts.iter().map(|(_, head)| {
        format.reader(Head {
            bytes: head.as_bytes(),
            complete: true,
        })
    }));
    let lines = text.split(|&byte| byte == b'\n').count()
        - usize::from(text.ends_with(b"\n") || text.is_empty());
    for reader in readers {
        let mut parsed = Parsed::default();
        parsed.read(reader.as_ref(), text);
        assert_eq!(parsed.lines.len(), lines);
    }
}
