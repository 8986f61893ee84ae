//! Writes the archives below `data/modern` again: the sample graph in every file type.

use std::error::Error;
use std::path::Path as FilePath;
use std::sync::Arc;

use datafusion_graphar::format::FileType;
use datafusion_graphar::sample::write_sample_as;
use object_store::local::LocalFileSystem;
use object_store::path::Path;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let data = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("data/modern");
    for file_type in FileType::ALL {
        let folder = data.join(file_type.name());
        std::fs::create_dir_all(&folder)?;
        let store = LocalFileSystem::new_with_prefix(&folder)?;
        write_sample_as(Arc::new(store), Path::default(), file_type).await?;
    }
    Ok(())
}
