//! Locks between writers of local files, which the system releases when a process ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use datafusion::common::runtime::SpawnedTask;

use crate::error::{GraphArError, Result};
use crate::storage::Location;

/// The path of a place in the local file system; `None` for other stores.
pub(in crate::writer) fn local_path(place: &Location) -> Option<PathBuf> {
    (place.store_url().as_str() == "file:///").then(|| PathBuf::from(place.to_string()))
}

/// A lock that is held until this is dropped.
#[derive(Debug)]
pub(in crate::writer) struct Lock {
    _file: File,
    /// Removed at the end.
    path: Option<PathBuf>,
}

impl Lock {
    /// Waits until no other writer holds the lock of this file, which stays.
    pub(super) async fn wait(place: &Location) -> Result<Option<Self>> {
        take(place, false).await
    }

    /// Marks the folder beside `place` as being written to. The file goes with the lock.
    pub(in crate::writer) async fn claim(place: &Location) -> Result<Option<Self>> {
        take(place, true).await
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // Left behind it is only a file that the next writer removes.
            let _ = fs::remove_file(path);
        }
    }
}

async fn take(place: &Location, remove: bool) -> Result<Option<Lock>> {
    let Some(path) = local_path(place) else {
        return Ok(None);
    };
    let name = place.to_string();
    let locked = SpawnedTask::spawn_blocking(move || {
        let file = match create(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                create(&path)?
            }
            other => other?,
        };
        file.lock()?;
        Ok::<_, io::Error>(Lock {
            _file: file,
            path: remove.then_some(path),
        })
    });
    match locked.join_unwind().await {
        Ok(Ok(lock)) => Ok(Some(lock)),
        Ok(Err(error)) => Err(GraphArError::payload(name, error)),
        Err(error) => Err(GraphArError::payload(name, error)),
    }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

/// Whether a writer that lives holds the lock of this file.
pub(super) fn is_held(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => matches!(file.try_lock(), Err(TryLockError::WouldBlock)),
        Err(_) => false,
    }
}
