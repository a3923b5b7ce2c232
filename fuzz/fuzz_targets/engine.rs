#![no_main]

use engine::{read, select, window};

// A capture of any format through the whole engine: kinds sum to the lines, the pieces of the window to its length.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let path = std::env::temp_dir().join(format!("tracealyze-fuzz-{}", std::process::id()));
    if std::fs::write(&path, bytes).is_err() {
        return;
    }
    let capture = vec![path.to_string_lossy().into_owned()];
    let Ok(trace) = read::read(&[capture], None, &mut |_, _| {}) else { return };
    let wakers = engine::wakers::Wakers::new(&trace);
    for window in window::windows(&trace, &window::Choice::default()) {
        let mut charged_ns = 0;
        engine::path::walk(&trace, &wakers, &window, &mut |segment| charged_ns += segment.dur_ns());
        assert_eq!(charged_ns, window.wall_ns());
    }
    let choice = select::Choice::default();
    if let Ok(selection) = select::Selection::new(&trace, &choice) {
        let _ = engine::loops::table(&trace, &selection);
        let _ = engine::processes::processes(&trace, &selection, &[]);
        let _ = engine::gaps::gaps(&trace, &selection, 0);
    }
});
