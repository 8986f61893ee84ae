//! The `version` text of an info file.

use std::fmt;

/// Version of the format, with the property types that the archive's author declares.
///
/// ```
/// use datafusion_graphar::format::InfoVersion;
///
/// let version = InfoVersion::parse("gar/v1(money, colour)").unwrap();
/// assert_eq!(version.to_string(), "gar/v1 (money,colour)");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InfoVersion {
    /// Number of the version, at least 1.
    pub number: u32,
    /// Names of declared types. No library can read a property of such a type.
    pub user_types: Vec<String>,
}

impl InfoVersion {
    /// The number that this crate reads and writes.
    pub const SUPPORTED: u32 = 1;

    /// Takes `gar/v<number>` apart; `None` if the text does not begin like that.
    ///
    /// Any positive number is taken, so that a message can name it. What follows the number
    /// counts only if it is a list of types in round brackets.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("gar/v")?;
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (digits, rest) = rest.split_at(end);
        let number = digits.parse().ok().filter(|number| *number > 0)?;
        let user_types = rest
            .trim_start_matches([' ', '\t'])
            .strip_prefix('(')
            .and_then(|list| list.rsplit_once(')'))
            .map(|(list, _)| split_types(list))
            .unwrap_or_default();
        Some(Self { number, user_types })
    }
}

impl Default for InfoVersion {
    fn default() -> Self {
        Self {
            number: Self::SUPPORTED,
            user_types: vec![],
        }
    }
}

impl fmt::Display for InfoVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gar/v{}", self.number)?;
        if self.user_types.is_empty() {
            return Ok(());
        }
        write!(f, " ({})", self.user_types.join(","))
    }
}

fn split_types(list: &str) -> Vec<String> {
    list.split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_taken_apart_as_the_cpp_library_does() {
        for (text, number, types, written) in [
            ("gar/v1", 1, &[][..], "gar/v1"),
            ("gar/v1 (t1,t2)", 1, &["t1", "t2"][..], "gar/v1 (t1,t2)"),
            ("gar/v1(t1, t2 )", 1, &["t1", "t2"][..], "gar/v1 (t1,t2)"),
            ("gar/v1 ()", 1, &[][..], "gar/v1"),
            ("gar/v1 (,a,, )", 1, &["a"][..], "gar/v1 (a)"),
            (
                "gar/v1 (a(b),c) tail",
                1,
                &["a(b)", "c"][..],
                "gar/v1 (a(b),c)",
            ),
            ("gar/v1 (a", 1, &[][..], "gar/v1"),
            ("gar/v1 x (a)", 1, &[][..], "gar/v1"),
            ("gar/v1.2", 1, &[][..], "gar/v1"),
            ("gar/v1abc", 1, &[][..], "gar/v1"),
            ("gar/v01", 1, &[][..], "gar/v1"),
            ("gar/v2 (t)", 2, &["t"][..], "gar/v2 (t)"),
        ] {
            let version = InfoVersion::parse(text).unwrap();
            assert_eq!(version.number, number, "{text}");
            assert_eq!(version.user_types, types, "{text}");
            assert_eq!(version.to_string(), written, "{text}");
            assert_eq!(InfoVersion::parse(written), Some(version), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_versions() {
        for text in [
            "",
            "v1",
            "GAR/v1",
            "gar/v",
            "gar/v0",
            " gar/v1",
            "gar/v-1",
            "gar/v99999999999",
        ] {
            assert_eq!(InfoVersion::parse(text), None, "{text}");
        }
    }
}
