//! Last questions: the names that a process asked name servers for last, and whether an answer came (RFC 1035).
//!
//! ```text
//! write(5, "\321\231\1\0\0\1\0\0\0\0\0\0\4mail\7example\0…") = 33      mail.example, no answer yet
//! read(5, "\321\231\201\203\0\1…") = 33                               the same number: there is no such name
//! ```

use super::texts::{args_from, descriptor, literal_bytes};
use super::{EndedProcess, lines_of, processes};
use kit::table_support::builder::{BuiltTable, TableBuilder};
use kit::table_support::context::TableContext;
use kit::table_support::kit::{LinesOf, TaskAt, table};
use kit::table_support::provenance::Provenance;
use parsers::syscalls::Transfer;
use parsers::{Outcome, Text};
use trace::store::event::EventKind;
use trace::store::events::EventTable;
use trace::store::facts::Sink;

table! {
    last_questions "The names that these processes asked name servers for last.";
    times: Calls;
    row {
        of: OfTask { program "Program." },
        target: Text "What the descriptor belongs to: the name server, if the capture shows it.",
        name: Words "The name, as far as the tracer printed it.",
        calls: Count "Number of times that this question was sent.",
        answered: Flag "Whether something was received on the descriptor after it.",
        code: MaybeNumber "The code of the answer, as far as it was printed: 0 if it has the name, 3 if there is no such name.",
        calls_after: Count "Number of calls of the process after the last one.",
        lines: Lines {
            first_line "Line of the first one.",
            last_line "Line of the last one.",
        },
    }
}

/// The last calls of each process that move data and are read again.
const MAX_CALLS: usize = 96;
/// Bytes before the name: a number, flags, and four counts.
const HEAD: usize = 12;
/// The longest part of a name.
const MAX_LABEL: usize = 63;

/// A question, with the number by which its answer is known.
struct Question {
    number: [u8; 2],
    fd: i64,
    name: String,
    first_row: u32,
    last_row: u32,
    calls: i64,
    is_answered: bool,
    code: Option<i64>,
}

/// Builds the table, one row per question, in the order of the first lines of each process.
pub fn build(context: &TableContext<'_>) -> BuiltTable {
    let mut builder = TableBuilder::new(context, &TABLE.schema);
    for process in processes(context) {
        for question in questions(context, &process) {
            write(context, &process, &question, &mut builder);
        }
    }
    builder.finish()
}

fn questions(context: &TableContext<'_>, process: &EndedProcess) -> Vec<Question> {
    let events = &context.trace.events;
    let rows = moving_rows(context, process);
    let lines = lines_of(context, &rows);
    let mut found: Vec<Question> = Vec::new();
    for (&row, line) in rows.iter().zip(&lines) {
        let syscall = events.texts.string(events.shape(row).syscall);
        let Some((args, fd)) =
            args_from(line, &syscall).and_then(|args| Some((args, descriptor(args)?)))
        else {
            continue;
        };
        let texts = literal_bytes(args);
        if events.action(row).transfer() == Some(Transfer::Write) {
            if let Some((number, name)) = texts.iter().find_map(|text| asked(text)) {
                ask(&mut found, (number, fd, name), row);
            }
        } else if events.ret(row) > 0 {
            answer(&mut found, fd, &texts);
        }
    }
    found
}

/// The last calls of a process that sent or received something, in order.
fn moving_rows(context: &TableContext<'_>, process: &EndedProcess) -> Vec<u32> {
    let events = &context.trace.events;
    let moves = |&row: &u32| {
        events.kind(row) == EventKind::Call
            && events.action(row).transfer().is_some()
            && events.outcome(row) == Outcome::Ok
    };
    let mut rows: Vec<u32> = Vec::new();
    for &task in &process.tasks {
        rows.extend(context.calls_of(task).rev().filter(moves).take(MAX_CALLS));
    }
    rows.sort_unstable();
    rows.split_off(rows.len().saturating_sub(MAX_CALLS))
}

fn ask(found: &mut Vec<Question>, (number, fd, name): ([u8; 2], i64, String), row: u32) {
    let same = |known: &&mut Question| (known.number, &known.name) == (number, &name);
    match found.iter_mut().rev().find(same) {
        Some(known) => {
            (known.last_row, known.fd) = (row, fd);
            known.calls += 1;
        }
        None => found.push(Question {
            number,
            fd,
            name,
            first_row: row,
            last_row: row,
            calls: 1,
            is_answered: false,
            code: None,
        }),
    }
}

/// Something was received. Where the tracer does not print what, any question on the descriptor may be answered by it.
fn answer(found: &mut [Question], fd: i64, texts: &[Vec<u8>]) {
    let numbered = |known: &Question| texts.iter().find(|text| text.starts_with(&known.number));
    let is_known = found
        .iter()
        .any(|known| known.fd == fd && numbered(known).is_some());
    for question in found.iter_mut().filter(|known| known.fd == fd) {
        match numbered(question) {
            Some(text) => {
                question.is_answered = true;
                question.code = text.get(3).map(|flags| i64::from(flags & 0x0f));
            }
            None if !is_known => question.is_answered = true,
            None => {}
        }
    }
}

/// The number and the name of a question to a name server: one name, and no answer.
fn asked(text: &[u8]) -> Option<([u8; 2], String)> {
    let (head, mut rest) = text.split_at_checked(HEAD)?;
    let [first, second, flags, _, counts @ ..] = head else {
        return None;
    };
    let is_question = flags & 0xf8 == 0 && counts.get(..6) == Some(&[0, 1, 0, 0, 0, 0]);
    let mut labels: Vec<&str> = Vec::new();
    while let Some((&length, after)) = rest.split_first().filter(|&(&length, _)| length > 0) {
        let length = usize::from(length);
        // The tracer may have cut it.
        let label = after.get(..length.min(after.len()))?;
        let is_label = length <= MAX_LABEL && label.iter().all(|&byte| is_of_name(byte));
        labels.push(
            std::str::from_utf8(label)
                .ok()
                .filter(|_| is_label && !label.is_empty())?,
        );
        rest = &after[label.len()..];
    }
    let is_cut = rest.is_empty();
    let name = format!("{}{}", labels.join("."), if is_cut { "…" } else { "" });
    (is_question && !labels.is_empty()).then_some(([*first, *second], name))
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// The name server: the address of the message, or the peer of the socket.
fn sent_to(events: &EventTable, row: u32) -> Text {
    let sink = events.facts.get::<Sink>(row);
    sink.copied().unwrap_or(events.target(row))
}

fn write(
    context: &TableContext<'_>,
    process: &EndedProcess,
    question: &Question,
    builder: &mut TableBuilder<'_>,
) {
    let events = &context.trace.events;
    let after = process.tasks.iter().map(|&task| {
        let calls = context.calls_of(task).rev();
        calls.take_while(|&row| row > question.last_row).count() as i64
    });
    let row = TableRow {
        of: TaskAt {
            task: events.task(question.last_row),
            row: question.last_row,
        },
        target: sent_to(events, question.last_row),
        name: Some(question.name.clone()),
        calls: question.calls,
        answered: question.is_answered,
        code: question.code,
        calls_after: after.sum(),
        lines: LinesOf {
            first_row: question.first_row,
            last_row: question.last_row,
        },
    };
    builder.add(row, Provenance::Rows(vec![question.last_row]));
}

#[cfg(test)]
mod tests {
    use super::asked;

    #[test]
    fn a_question_has_one_name_and_no_answer() {
        let head = b"\x07\x08\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01";
        let cases: [(&[u8], Option<&str>); 5] = [
            (
                b"\x04mail\x07example\x00\x00\x01\x00\x01",
                Some("mail.example"),
            ),
            (b"\x04mail\x07exam", Some("mail.exam…")),
            (b"\x04mail\x07example", Some("mail.example…")),
            (b"\x04m il\x00", None),
            (b"", None),
        ];
        for (rest, name) in cases {
            let text = [&head[..], rest].concat();
            let found = asked(&text).map(|(_, name)| name);
            assert_eq!(found.as_deref(), name, "{rest:?}");
        }
        let answer = b"\x07\x08\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00\x04mail\x00";
        assert_eq!(asked(answer), None);
        assert_eq!(asked(b"GET / HTTP/1.1"), None);
    }
}
