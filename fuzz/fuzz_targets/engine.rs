#![no_main]

// Reads a capture of any format with the whole engine. The tests of the engine check the same for fewer captures.
#[path = "../../engine/binding/tests/suite/whole.rs"]
mod whole;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    whole::holds(bytes);
});
