//! Lines of truss on AIX. The cases are in `truss_aix.cases`.

use parsers::truss_aix::TrussAix;
use parsers::{Format, Head, LineReader};
use proptest::prelude::*;

use crate::cases;

const CASES: &str = include_str!("../truss_aix.cases");

/// Heads that decide the layout, by the name of a section of the cases.
const LAYOUTS: &[(&str, &str)] = &[
    (
        "-f",
        "8192196:  _getpid() = 8192196\n8192196:  kread(0, \"x\", 1) = 1\n",
    ),
    (
        "-f -l",
        "8192196: 21037193: _getpid() = 8192196\n8192196: 21037193: kread(0, \"x\", 1) = 1\n",
    ),
    (
        "-f -d",
        "Base time stamp:  1259020532.4127  [ x ]\n8192196:  0.0010 _getpid() = 8192196\n8192196:  0.0020 kread(0, \"x\", 1) = 1\n",
    ),
];

fn reader(head: &str) -> Box<dyn LineReader> {
    TrussAix.reader(Head {
        bytes: head.as_bytes(),
        complete: true,
    })
}

#[test]
fn each_case_reads_as_expected() {
    cases::check("truss_aix.cases", CASES, LAYOUTS, reader);
}

#[test]
fn look_alikes_are_not_recognised() {
    let yes = [
        LAYOUTS[0].1,
        LAYOUTS[1].1,
        LAYOUTS[2].1,
        "statx(\"/x\", 0x2FF22A28, 128, 010)   Err#2  ENOENT",
        "open(\"/x\", O_RDONLY)   Err#2  ENOENT",
        "syscall               seconds   calls  errors\nkread                    .000      12       3\n",
    ];
    let no = [
        "open(\"/etc/nothere\", O_RDONLY)\t\t\tErr#2 ENOENT",
        "4711:\tforkx()\t\t(returning as child ...)\t= 4710",
        "statx(3, \"\", AT_EMPTY_PATH, STATX_ALL, {stx_mask=STATX_ALL}) = 0",
        "kread(0, \"x\", 1 <unfinished ...>",
        "write(1, \"kread(0) = 1\", 12) = 12",
        "syscall               seconds   calls  errors\nread                    .000      12       3\n",
    ];
    cases::check_recognition(&TrussAix, &yes, &no);
}

proptest! {
    #[test]
    fn any_words_of_truss_give_one_line_each(
        words in prop::collection::vec(prop::sample::select(vec![
            "8192196", ":", " ", "21037193", "\t", "0.0021", "kread", "statx", "(", ")", "\"", ", ", "= ", "Err#2", "  ",
            "ENOENT", "(returning as child ...)", "(sleeping...)", "argc: ", "99999999999999999999", "\n",
        ]), 0..40)
    ) {
        cases::all_survive(&TrussAix, LAYOUTS, words.concat().as_bytes());
    }
}
