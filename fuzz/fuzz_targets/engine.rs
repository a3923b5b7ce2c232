#![no_main]

// A capture of any format through the whole engine. The tests of the engine ask the same of fewer captures.
#[path = "../../engine/tests/suite/whole.rs"]
mod whole;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    whole::holds(bytes);
});
