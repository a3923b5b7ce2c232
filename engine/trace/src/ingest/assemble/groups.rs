//! Groups of lines in the log of a job.
//!
//! ```text
//! In:   ##[group]Run npm ci    shell: bash    ##[endgroup]              … silence …
//! Out:  ##[group]Run npm ci    shell: bash    ##[endgroup] Run npm ci   … silence …
//! ```
//! What a step prints comes after its group, so the end of the group says best what runs then.

const BEGIN: &[u8] = b"##[group]";
const END: &[u8] = b"##[endgroup]";

/// The title of the last group that began.
#[derive(Default)]
pub(super) struct Groups {
    title: Vec<u8>,
}

impl Groups {
    /// The end of a group with its title, if a message is such an end.
    pub fn titled_end(&mut self, message: &[u8]) -> Option<Vec<u8>> {
        if let Some(title) = message.strip_prefix(BEGIN) {
            self.title = title.to_vec();
        }
        let is_end = message == END && !self.title.is_empty();
        is_end.then(|| [END, b" ", std::mem::take(&mut self.title).as_slice()].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::Groups;

    #[test]
    fn the_end_of_a_group_has_its_title() {
        let mut groups = Groups::default();
        let mut read = |message: &str| {
            let end = groups.titled_end(message.as_bytes());
            end.map(|end| String::from_utf8_lossy(&end).into_owned())
        };
        assert_eq!(read("##[endgroup]"), None);
        assert_eq!(read("##[group]Run make"), None);
        assert_eq!(read("shell: bash"), None);
        assert_eq!(
            read("##[endgroup]").as_deref(),
            Some("##[endgroup] Run make")
        );
        assert_eq!(read("##[endgroup]"), None);
    }
}
