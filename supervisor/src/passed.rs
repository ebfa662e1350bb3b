//! Files and folders that a search passed over, and why. Plain data; knows neither how they were found nor what is shown.

/// Why something found in a search is no input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Passed {
    /// Neither the name nor the first bytes are those of a picture.
    NotPicture,
    /// Its name starts with a dot.
    Hidden,
    /// The user's own filters leave it out.
    Excluded,
    /// A symbolic link that is not followed.
    Link,
    /// A symbolic link to something that is not there.
    Dangling,
    /// Results or originals of earlier runs.
    Ours,
    /// A folder in a list of files.
    Folder,
    /// A pipe, a socket or a device.
    Special,
    /// It cannot be read, so nobody can tell.
    Unreadable,
}

impl Passed {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 9] = [
        Self::NotPicture,
        Self::Hidden,
        Self::Excluded,
        Self::Link,
        Self::Dangling,
        Self::Ours,
        Self::Folder,
        Self::Special,
        Self::Unreadable,
    ];

    /// Name for scripts.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotPicture => "not_a_picture",
            Self::Hidden => "hidden",
            Self::Excluded => "excluded",
            Self::Link => "link",
            Self::Dangling => "dangling_link",
            Self::Ours => "ours",
            Self::Folder => "folder",
            Self::Special => "special_file",
            Self::Unreadable => "unreadable",
        }
    }

    /// What a person is told about one of them.
    pub fn title(self) -> &'static str {
        match self {
            Self::NotPicture => "not a picture",
            Self::Hidden => "hidden; --hidden takes it",
            Self::Excluded => "left out by a filter",
            Self::Link => "a link; --follow-symlinks follows it",
            Self::Dangling => "a link to something that is not there",
            Self::Ours => "results or originals of earlier runs",
            Self::Folder => "a folder in a list of files",
            Self::Special => "a pipe, a socket or a device",
            Self::Unreadable => "cannot be read",
        }
    }

    /// What so many of them are called in a sum.
    pub fn noun(self, number: u64) -> &'static str {
        let (one, many) = match self {
            Self::NotPicture => ("file that is no picture", "files that are no pictures"),
            Self::Hidden => ("hidden (--hidden)", "hidden (--hidden)"),
            Self::Excluded => ("left out by filters", "left out by filters"),
            Self::Link => ("link (--follow-symlinks)", "links (--follow-symlinks)"),
            Self::Dangling => ("link to nothing", "links to nothing"),
            Self::Ours => (
                "folder with results or originals of earlier runs",
                "folders with results or originals of earlier runs",
            ),
            Self::Folder => ("folder in a list of files", "folders in a list of files"),
            Self::Special => ("pipe, socket or device", "pipes, sockets or devices"),
            Self::Unreadable => ("that cannot be read", "that cannot be read"),
        };
        if number == 1 { one } else { many }
    }

    /// Whether somebody may miss it: a text beside the pictures, or what a filter was written for, nobody does.
    pub fn is_missed(self) -> bool {
        match self {
            Self::NotPicture | Self::Excluded | Self::Folder => false,
            Self::Hidden
            | Self::Link
            | Self::Dangling
            | Self::Ours
            | Self::Special
            | Self::Unreadable => true,
        }
    }
}

/// How many of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PassedOver([u64; Passed::ALL.len()]);

impl PassedOver {
    /// One more.
    pub fn add(&mut self, kind: Passed) {
        self.set(kind, self.of(kind) + 1);
    }

    /// So many of a kind.
    pub fn set(&mut self, kind: Passed, count: u64) {
        self.0[kind as usize] = count;
    }

    /// How many of a kind.
    pub fn of(&self, kind: Passed) -> u64 {
        self.0[kind as usize]
    }

    /// How many in all.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The kinds there are, with their numbers.
    pub fn kinds(&self) -> impl Iterator<Item = (Passed, u64)> {
        let all = Passed::ALL.map(|kind| (kind, self.of(kind)));
        all.into_iter().filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_counted_under_its_own_name() {
        let mut over = PassedOver::default();
        for (at, kind) in Passed::ALL.into_iter().enumerate() {
            over.set(kind, at as u64);
        }
        over.add(Passed::NotPicture);
        assert_eq!(over.total(), 1 + (1..9).sum::<u64>());
        let names: std::collections::BTreeSet<_> =
            over.kinds().map(|(kind, _)| kind.name()).collect();
        assert_eq!(names.len(), Passed::ALL.len());
        assert_eq!(
            (over.of(Passed::NotPicture), over.of(Passed::Unreadable)),
            (1, 8)
        );
    }
}
