//! Finding test files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A suite.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestFile {
    /// What it is called: the path below `test_files`, or else the path as given.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
}

impl TestFile {
    fn new(path: PathBuf) -> Self {
        let absolute = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        let name = absolute.strip_prefix(test_files_root()).unwrap_or(&path);
        Self {
            name: name.to_string_lossy().replace('\\', "/"),
            path,
        }
    }

    /// Whether the file runs on GraphAr's testing data, so that its numbers come from
    /// elsewhere and may not be taken from our own engine.
    pub fn is_upstream(&self) -> bool {
        self.name.starts_with("upstream/")
    }

    /// Whether the file states rows that do not depend on the switches of the pushdowns.
    pub fn is_pushdown(&self) -> bool {
        self.name.starts_with("pushdown/")
    }

    /// The folder where the file may write. Flat, so that emptying it cannot empty that of
    /// another file, and with a first word, since a name may begin with dots.
    pub fn scratch(&self) -> PathBuf {
        let name = self.name.trim_end_matches(".slt").replace(['/', '\\'], "-");
        test_files_root()
            .join("scratch")
            .join(format!("run-{name}"))
    }
}

/// A path that cannot be searched.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {source}", path.display())]
pub struct DiscoverError {
    /// The path.
    pub path: PathBuf,
    /// What the file system said.
    pub source: io::Error,
}

/// The folder of all suites.
pub fn test_files_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("test_files")
}

/// The files named, and those with the extension `slt` in the folders named, sorted by name.
pub fn discover(paths: &[PathBuf]) -> Result<Vec<TestFile>, DiscoverError> {
    let mut files = Vec::new();
    for path in paths {
        let metadata = fs::metadata(path).map_err(|source| DiscoverError {
            path: path.clone(),
            source,
        })?;
        if metadata.is_dir() {
            walk(path, &mut files)?;
        } else {
            files.push(TestFile::new(path.clone()));
        }
    }
    files.sort();
    files.dedup();
    Ok(files)
}

fn walk(folder: &Path, files: &mut Vec<TestFile>) -> Result<(), DiscoverError> {
    let failed = |source| DiscoverError {
        path: folder.to_owned(),
        source,
    };
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            if path != test_files_root().join("scratch") {
                walk(&path, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "slt") {
            files.push(TestFile::new(path));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_their_place_below_the_root() {
        let file = TestFile::new(test_files_root().join("upstream/nebula.slt"));
        assert_eq!(file.name, "upstream/nebula.slt");
        assert!(file.is_upstream());
        assert_eq!(
            file.scratch(),
            test_files_root().join("scratch/run-upstream-nebula")
        );
    }

    #[test]
    fn scratch_folders_stay_inside() {
        for name in ["/a/b.slt", "../../b.slt", "...slt", ".slt"] {
            let file = TestFile {
                name: name.to_owned(),
                path: name.into(),
            };
            assert_eq!(
                file.scratch().parent(),
                Some(test_files_root().join("scratch").as_path())
            );
        }
    }

    #[test]
    fn a_missing_path_is_named() {
        let error = discover(&["no/such/folder".into()]).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("cannot read no/such/folder: ")
        );
    }
}
