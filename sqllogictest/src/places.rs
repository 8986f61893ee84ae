//! Folders that statements name by a variable, and that results must not show.

use std::path::{Path, PathBuf};

use crate::database::SqlError;

/// The variables of a file: `DATA`, `SCRATCH`, `GAR_TEST_DATA`, and `WORKSPACE`, which is
/// hidden in results but of no use in statements.
#[derive(Debug, Clone)]
pub struct Places {
    // Longest path first, so that a folder is not hidden as part of the one that holds it.
    folders: Vec<(&'static str, String)>,
}

impl Places {
    /// The places of a file with this scratch folder.
    pub fn new(scratch: &Path, gar_test_data: Option<&Path>) -> Self {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut folders = vec![
            ("DATA", package.join("data")),
            ("SCRATCH", scratch.to_owned()),
        ];
        folders.extend(
            package
                .parent()
                .map(|workspace| ("WORKSPACE", workspace.to_owned())),
        );
        folders.extend(gar_test_data.map(|data| ("GAR_TEST_DATA", data.to_owned())));
        let mut folders: Vec<_> = folders
            .into_iter()
            .map(|(name, folder)| (name, without_slash(&folder)))
            .collect();
        folders.sort_by_key(|(_, folder)| std::cmp::Reverse(folder.len()));
        Self { folders }
    }

    /// Names and folders.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.folders
            .iter()
            .map(|(name, folder)| (*name, folder.as_str()))
    }

    /// The statement with each `${NAME}` replaced by the folder.
    pub fn substitute(&self, sql: &str) -> Result<String, SqlError> {
        let mut result = sql.to_owned();
        for (name, folder) in &self.folders {
            result = result.replace(&format!("${{{name}}}"), folder);
        }
        match result.find("${GAR_TEST_DATA}") {
            Some(_) => Err(SqlError::UnknownVariable {
                name: "GAR_TEST_DATA".to_owned(),
            }),
            None => Ok(result),
        }
    }

    /// The text with each folder replaced by `<NAME>`, also where the leading slash is missing,
    /// as in the paths of an object store.
    pub fn hide(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, folder) in &self.folders {
            let shown = format!("<{name}>");
            text = replace_path(&text, folder, &shown);
            let relative = folder.trim_start_matches('/');
            // A single word such as `data` may stand for anything.
            if relative.contains('/') {
                text = replace_path(&text, relative, &shown);
            }
        }
        text
    }
}

fn without_slash(folder: &Path) -> String {
    let folder: PathBuf = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    folder.to_string_lossy().trim_end_matches('/').to_owned()
}

/// Replaces `path` where it is not the middle of a longer name.
fn replace_path(text: &str, path: &str, shown: &str) -> String {
    let in_name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(path).filter(|_| !path.is_empty()) {
        let (before, after) = (&rest[..at], &rest[at + path.len()..]);
        let begins = before
            .chars()
            .next_back()
            .or_else(|| result.chars().next_back());
        let inside = begins.is_some_and(in_name) || after.chars().next().is_some_and(in_name);
        result.push_str(before);
        result.push_str(if inside { path } else { shown });
        rest = after;
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places::new(Path::new("/tmp/s"), Some(Path::new("/mnt/graphs/")))
    }

    #[test]
    fn variables_become_folders() {
        let sql = "LOCATION '${GAR_TEST_DATA}/a' '${SCRATCH}/b' \"t$ordered_by_dest\"";
        let expected = "LOCATION '/mnt/graphs/a' '/tmp/s/b' \"t$ordered_by_dest\"";
        assert_eq!(places().substitute(sql).unwrap(), expected);
    }

    #[test]
    fn a_variable_without_a_value_is_an_error() {
        let places = Places::new(Path::new("/tmp/s"), None);
        let error = places.substitute("'${GAR_TEST_DATA}/a'").unwrap_err();
        assert_eq!(
            error.to_string(),
            "the environment variable GAR_TEST_DATA is not set"
        );
    }

    #[test]
    fn folders_are_hidden_in_paths_and_urls() {
        let places = places();
        assert_eq!(
            places.hide("file:///mnt/graphs/a, mnt/graphs/b"),
            "file://<GAR_TEST_DATA>/a, <GAR_TEST_DATA>/b"
        );
        assert_eq!(
            places.hide("/mnt/graphs2/a /tmp/s"),
            "/mnt/graphs2/a <SCRATCH>"
        );
    }

    #[test]
    fn the_innermost_folder_names_a_path() {
        let inside = format!("{}/data/modern", env!("CARGO_MANIFEST_DIR"));
        assert_eq!(places().hide(&inside), "<DATA>/modern");
    }
}
