//! Steps of a job, as the services print them that run builds.
//!
//! ```text
//! ##[group]Run npm ci … ##[group]Run npm test …        GitHub: a step lasts until the next one, or until the clean-up
//! ##[section]Starting: Build … ##[section]Finishing: Build        Azure Pipelines
//! ```
//! A group without `Run` is part of what a step prints.

use super::stated::is_unit;

const STEP: &str = "##[group]Run ";
const CLEAN_UP: &str = "Post job cleanup.";
const STARTING: &str = "##[section]Starting: ";
const FINISHING: &str = "##[section]Finishing: ";

/// Whether a message states how long a step took: `section step_script took 200s` of GitLab, `:app:compileJava (step) took 60s`
/// of Gradle, `serde@1.0.228 @1.560s +2.170s` of cargo.
pub fn is_step(message: &str) -> bool {
    let is_section = message.starts_with("section ") && message.contains(" took ");
    let is_cargo_unit = message
        .split_once(" @")
        .is_some_and(|(unit, times)| unit.contains('@') && times.contains(" +") && !is_unit(unit));
    is_section || is_cargo_unit || message.contains(" (step) took ")
}

/// The first message of each step, and the message that ends it, by their numbers.
pub fn steps<'text>(messages: impl Iterator<Item = &'text str>) -> Vec<(usize, usize)> {
    let (mut step, mut sections) = (None, Vec::new());
    let (mut found, mut last) = (Vec::new(), 0);
    for (number, text) in messages.enumerate() {
        last = number;
        if text.starts_with(STEP) || text.starts_with(CLEAN_UP) {
            found.extend(step.map(|begun| (begun, number)));
            step = text.starts_with(STEP).then_some(number);
        } else if let Some(name) = text.strip_prefix(STARTING) {
            sections.push((name, number));
        } else if let Some(name) = text.strip_prefix(FINISHING) {
            let open = sections.iter().rposition(|&(begun, _)| begun == name);
            found.extend(open.map(|open| (sections.remove(open).1, number)));
        }
    }
    // The log may end within a step.
    let open = step.or(sections.last().map(|&(_, begun)| begun));
    found.extend(
        open.filter(|&begun| begun < last)
            .map(|begun| (begun, last)),
    );
    found
}

#[cfg(test)]
mod tests {
    use super::{is_step, steps};

    #[test]
    fn messages_about_steps_have_their_form() {
        for message in [
            "section step_script took 200s",
            ":app:compileJava (step) took 60.500s",
            "serde@1.0.228 @1.560s +2.170s",
        ] {
            assert!(is_step(message), "{message}");
        }
        for message in [
            "user@1000.service @1.560s +2.170s",
            "web.service took 9s",
            "section 4 is missing",
            "mail for a@b @home",
        ] {
            assert!(!is_step(message), "{message}");
        }
    }

    #[test]
    fn a_step_lasts_until_the_next_one() {
        let github = [
            "##[group]Run actions/checkout@v4",
            "##[endgroup]",
            "##[group]Fetching",
            "##[group]Run make",
            "done",
            "Post job cleanup.",
            "bye",
        ];
        assert_eq!(steps(github.into_iter()), [(0, 3), (3, 5)]);
        assert_eq!(steps(github[..5].iter().copied()), [(0, 3), (3, 4)]);
        let azure = [
            "##[section]Starting: Job",
            "##[section]Starting: Build",
            "##[section]Finishing: Build",
            "##[section]Finishing: Other",
            "##[section]Finishing: Job",
        ];
        assert_eq!(steps(azure.into_iter()), [(1, 2), (0, 4)]);
        assert_eq!(
            steps(["##[section]Starting: Build", "x"].into_iter()),
            [(0, 1)]
        );
        assert_eq!(steps(["Running make"].into_iter()), []);
    }
}
