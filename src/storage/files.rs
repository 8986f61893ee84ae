//! Small files: info files and counts.

use std::error::Error;
use std::io;

use futures::StreamExt;
use object_store::{GetResult, ObjectStoreExt};

use super::location::Location;
use crate::error::{GraphArError, Result};

/// Largest info file that is read, far above any real one.
const MAX_INFO_BYTES: u64 = 16 << 20;

/// Longest path that a link has.
const MAX_LINK_BYTES: u64 = 4096;

/// Bytes of a count file: one little-endian `i64`.
const COUNT_BYTES: usize = 8;

/// The text of an info file; `None` if there is no such file.
///
/// # Errors
/// If the store fails, or the file is larger than an info file can be, or not UTF-8.
pub async fn read_text(file: &Location) -> Result<Option<String>> {
    let Some(got) = get(file).await? else {
        return Ok(None);
    };
    if got.meta.size > MAX_INFO_BYTES {
        return Err(GraphArError::corrupt(
            file.to_string(),
            "size",
            format!("at most {MAX_INFO_BYTES} bytes"),
            format!("{} bytes", got.meta.size),
        ));
    }
    let bytes = got
        .bytes()
        .await
        .map_err(|e| GraphArError::store(file.to_string(), "an info file", e))?;
    match String::from_utf8(bytes.into()) {
        Ok(text) => Ok(Some(text)),
        Err(e) => Err(GraphArError::corrupt(
            file.to_string(),
            format!("byte {}", e.utf8_error().valid_up_to()),
            "UTF-8 text",
            "another encoding",
        )),
    }
}

/// The number in a count file (section "count files" of the format); `None` if there is no
/// such file. Bytes after the first eight are ignored, and not read.
///
/// # Errors
/// If the store fails, the file is too short, or the number is negative.
pub async fn read_count(file: &Location) -> Result<Option<u64>> {
    let Some(got) = get(file).await? else {
        return Ok(None);
    };
    let mut bytes = Vec::with_capacity(COUNT_BYTES);
    let mut chunks = got.into_stream();
    while bytes.len() < COUNT_BYTES
        && let Some(chunk) = chunks.next().await
    {
        let chunk = chunk.map_err(|e| GraphArError::store(file.to_string(), "a count", e))?;
        bytes.extend_from_slice(&chunk[..chunk.len().min(COUNT_BYTES - bytes.len())]);
    }
    let corrupt = |found: String| {
        GraphArError::corrupt(file.to_string(), "count", "8 bytes, a number >= 0", found)
    };
    let found = format!("{} bytes", bytes.len());
    let bytes: [u8; COUNT_BYTES] = bytes.try_into().map_err(|_| corrupt(found))?;
    let count = i64::from_le_bytes(bytes);
    u64::try_from(count)
        .map(Some)
        .map_err(|_| corrupt(count.to_string()))
}

/// Whether there is such a file.
///
/// # Errors
/// If the store fails.
pub async fn exists(file: &Location) -> Result<bool> {
    match file.store().head(&file.object_path()?).await {
        Ok(_) => Ok(true),
        Err(e) if is_missing(&e) => Ok(false),
        Err(e) => Err(GraphArError::store(file.to_string(), "a file", e)),
    }
}

/// Whether the error says that there is no such file: also because a part of its path is a file.
fn is_missing(error: &object_store::Error) -> bool {
    if matches!(error, object_store::Error::NotFound { .. }) {
        return true;
    }
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return error.kind() == io::ErrorKind::NotADirectory;
        }
        source = error.source();
    }
    false
}

/// What a file says that stands for a symbolic link: the path of another place. `None` if there is
/// no such file, or it says something else.
///
/// # Errors
/// If the store fails.
pub(super) async fn read_link(file: &Location) -> Result<Option<String>> {
    let Some(got) = get(file).await? else {
        return Ok(None);
    };
    if got.meta.size > MAX_LINK_BYTES {
        return Ok(None);
    }
    let bytes = got
        .bytes()
        .await
        .map_err(|e| GraphArError::store(file.to_string(), "a link", e))?;
    let text = String::from_utf8(bytes.into()).ok();
    Ok(text.filter(|text| !text.is_empty() && !text.contains(char::is_control)))
}

async fn get(file: &Location) -> Result<Option<GetResult>> {
    match file.store().get(&file.object_path()?).await {
        Ok(got) => Ok(Some(got)),
        Err(e) if is_missing(&e) => Ok(None),
        Err(e) => Err(GraphArError::store(file.to_string(), "a file", e)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use object_store::memory::InMemory;
    use object_store::path::Path;

    use super::*;
    use crate::storage::stores::Stores;

    async fn file(bytes: &[u8]) -> Location {
        let stores = Stores::default();
        let store = Arc::new(InMemory::new());
        store
            .put(&Path::from("f"), bytes.to_vec().into())
            .await
            .unwrap();
        stores.register("memory://m", store);
        Location::parse("memory://m/f", &stores).unwrap()
    }

    #[tokio::test]
    async fn a_count_is_the_first_eight_bytes() {
        let count = 903_i64.to_le_bytes();
        assert_eq!(read_count(&file(&count).await).await.unwrap(), Some(903));
        let long = [&count[..], b"more"].concat();
        assert_eq!(read_count(&file(&long).await).await.unwrap(), Some(903));
        let missing = file(&count)
            .await
            .parent()
            .resolve("g", &Stores::default())
            .unwrap();
        assert_eq!(read_count(&missing).await.unwrap(), None);
    }

    #[tokio::test]
    async fn short_and_negative_counts_are_errors_that_name_the_file() {
        for bytes in [&[][..], &[1, 2, 3], &(-1_i64).to_le_bytes()] {
            let error = read_count(&file(bytes).await)
                .await
                .unwrap_err()
                .to_string();
            assert!(
                error.contains("memory://m/f: count: expected 8 bytes"),
                "{error}"
            );
        }
    }

    #[tokio::test]
    async fn text_that_is_not_utf8_is_an_error() {
        let error = read_text(&file(b"a\xffb").await)
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains("memory://m/f: byte 1"), "{error}");
    }
}
