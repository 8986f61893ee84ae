//! Where the prompt keeps what was typed.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

/// The history file, in a folder that exists; nothing if there is no place for it.
pub fn file() -> Option<PathBuf> {
    let folder = folder(env::var_os("XDG_STATE_HOME"), env::var_os("HOME"))?;
    fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}

fn folder(state: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    // The XDG rules say that a relative path is to be ignored.
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let state = state
        .and_then(absolute)
        .or_else(|| Some(home.and_then(absolute)?.join(".local").join("state")))?;
    Some(state.join("graphar-sql"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_folder_of_the_user() {
        let folder = |state: Option<&str>, home: Option<&str>| {
            folder(state.map(Into::into), home.map(Into::into))
        };
        assert_eq!(
            folder(Some("/s"), Some("/h")),
            Some("/s/graphar-sql".into())
        );
        assert_eq!(
            folder(Some("s"), Some("/h")),
            Some("/h/.local/state/graphar-sql".into())
        );
        assert_eq!(
            folder(None, Some("/h")),
            Some("/h/.local/state/graphar-sql".into())
        );
        assert_eq!(folder(None, Some("")), None);
        assert_eq!(folder(None, None), None);
    }
}
