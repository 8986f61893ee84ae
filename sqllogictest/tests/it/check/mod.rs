//! `graph_check` on archives that are sound, and on copies with something wrong.

mod edges;
mod function;
mod infos;
mod labels;
mod levels;
mod parquet;
mod repair;
mod sound;
mod vertices;
mod whole;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::prelude::SessionContext;
use object_store::memory::InMemory;
use tempfile::TempDir;

use crate::fixture::*;

const CREATED: &str = "edge/person_created_software/ordered_by_source";
const KNOWS: &str = "edge/person_knows_person";

/// A copy of the sample graph in the local file system.
struct Copy {
    folder: TempDir,
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

impl Copy {
    /// Of the sample in this payload format.
    fn of(format: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/modern");
        copy(&data.join(format), folder.path());
        Self { folder }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn put(&self, file: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(file), bytes).unwrap();
    }

    fn count(&self, file: &str, count: i64) {
        self.put(file, count.to_le_bytes());
    }

    fn remove(&self, file: &str) {
        let path = self.path(file);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }

    fn replace(&self, file: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(file)).unwrap();
        assert!(text.contains(from), "{file}: {text}");
        self.put(file, text.replace(from, to));
    }

    fn parquet(&self, file: &str, columns: Vec<(&str, ArrayRef)>) {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let file = fs::File::create(self.path(file)).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    fn graph(&self) -> String {
        self.path("modern.graph.yml").to_str().unwrap().to_owned()
    }

    /// The violations as `file rule: expected …, found …`, sorted.
    async fn check(&self, level: &str) -> Vec<String> {
        let ctx = session();
        let sql = format!(
            "SELECT file || ' ' || rule || ': expected ' || expected || ', found ' || found \
             FROM graph_check('{}', '{level}')",
            self.graph()
        );
        let folder = format!("{}/", self.folder.path().display());
        let found = rows(&ctx, &sql).await;
        let mut found: Vec<String> = found.iter().map(|row| row.replace(&folder, "")).collect();
        found.sort();
        found
    }
}

fn session() -> SessionContext {
    How::default().session(Arc::new(InMemory::new()))
}

/// Something that is done to an archive, and the rows that a deep check then has.
type Damage = (&'static str, fn(&Copy), &'static [&'static str]);

async fn each(format: &str, level: &str, damages: &[Damage]) {
    for (what, damage, expected) in damages {
        let archive = Copy::of(format);
        damage(&archive);
        assert_eq!(archive.check(level).await, *expected, "{what}");
    }
}
