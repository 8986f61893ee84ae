//! Every SQL block of the README and the documentation runs, in the order in which it stands
//! there, one session for each file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion_graphar::sql::sql_with_names;
use object_store::memory::InMemory;

use crate::fixture::How;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

fn markdown(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            markdown(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// The statements of the blocks marked as `sql`, with the line of each block.
fn statements(text: &str) -> Vec<(usize, String)> {
    let mut found = vec![];
    let mut block: Option<(usize, String)> = None;
    for (number, line) in text.lines().enumerate() {
        match (&mut block, line.trim()) {
            (None, "```sql") => block = Some((number + 2, String::new())),
            (Some(_), "```") => {
                let (line, sql) = block.take().unwrap();
                let parts = sql
                    .split(';')
                    .map(str::trim)
                    .filter(|part| !part.is_empty());
                found.extend(parts.map(|part| (line, part.to_owned())));
            }
            (Some((_, sql)), _) => {
                sql.push_str(line);
                sql.push('\n');
            }
            _ => {}
        }
    }
    assert!(block.is_none(), "a block is not closed");
    found
}

#[tokio::test]
async fn every_sql_block_runs() {
    let root = root();
    for folder in ["readme", "writing"] {
        let scratch = root.join("sqllogictest/test_files/scratch").join(folder);
        if scratch.exists() {
            fs::remove_dir_all(scratch).unwrap();
        }
    }
    let mut files = vec![root.join("README.md")];
    markdown(&root.join("docs"), &mut files);
    let mut count = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let store = Arc::new(InMemory::new());
        let ctx = How::default().session(store).enable_url_table();
        for (line, sql) in statements(&text) {
            // Locations in the documentation are seen from the root of the repository.
            let sql = sql.replace(
                "'sqllogictest/",
                &format!("'{}/sqllogictest/", root.display()),
            );
            let result = match sql_with_names(&ctx, &sql).await {
                Ok(frame) => frame.collect().await,
                Err(error) => Err(error),
            };
            if let Err(error) = result {
                panic!(
                    "{}:{line}: {}\n{sql}",
                    file.display(),
                    error.strip_backtrace()
                );
            }
            count += 1;
        }
    }
    assert!(count >= 5, "only {count} statements were found");
}
