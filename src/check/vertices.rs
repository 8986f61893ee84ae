//! One vertex type: its count, property groups, labels and keys.

use datafusion::error::Result;

use super::Context;
use super::Rule;
use super::chunks::{Find, Series};
use super::counts::{self, Count};
use super::keys::Keys;
use super::shape::settle;
use super::values::ValuesLook;
use crate::format::{FileType, PropertyGroup, VertexInfo, VertexPaths, chunk_count};
use crate::storage::{Placed, label_schema, vertex_group_schema};

/// Checks a vertex type. Gives the number of its vertices: of the rows that the files have if all of
/// them agree, or else by the count file.
pub(super) async fn check_vertices(
    context: &Context,
    vertex: &Placed<VertexInfo>,
) -> Result<Option<u64>> {
    let (info, folder) = (&vertex.info, &vertex.folder);
    let paths = VertexPaths::new(folder.path());
    let file = folder.with_path(&paths.vertex_count());
    let counted = match counts::read(context, &file).await {
        Count::Read(count) => Some(count),
        Count::Missing => {
            let count = count_groups(context, vertex, &paths).await;
            let what = format!("the number of vertices of type {}", info.vertex_type);
            match count {
                Some(_) => counts::missing(context, &file, &what),
                None => {
                    let expected = format!("the files of vertex type {}", info.vertex_type);
                    let report = &context.report;
                    report.add(&file, Rule::NoData, expected, "no such file");
                }
            }
            count
        }
        Count::Broken => count_groups(context, vertex, &paths).await,
    };
    let Some(count) = counted else {
        return Ok(None);
    };
    let mut walks = vec![];
    let key = only_key(info);
    for group in &info.property_groups {
        let series = group_series(vertex, &paths, group, count);
        let own = key.filter(|key| group.properties.iter().any(|p| p.name == *key));
        let mut keys = own.map(|key| Keys::new(key, context.reservation()));
        let walked = {
            let mut look = ValuesLook::of_group(group, keys.as_mut());
            series.walk(context, &mut look).await?
        };
        walks.push(walked);
        if let Some(keys) = keys {
            keys.report(context, &series).await?;
        }
    }
    if !info.labels.is_empty() {
        let series = Series {
            folder,
            file_type: FileType::Parquet,
            declared: label_schema(&info.labels),
            find: Find::Position,
            rows: count,
            chunk_size: info.chunk_size,
            counted_in: "vertex_count".to_owned(),
            path: Box::new(|chunk| paths.label_chunk(chunk)),
        };
        // Some writers declare labels and store none; then those of all vertices are unknown.
        let last = chunk_count(count, info.chunk_size).saturating_sub(1);
        let has_labels = counts::is_there(context, &series.file(0)).await
            || counts::is_there(context, &series.file(last)).await;
        if has_labels {
            let mut look = ValuesLook::of_labels(&info.labels);
            walks.push(series.walk(context, &mut look).await?);
        }
    }
    let totals = walks.iter();
    let totals: Vec<_> = totals.map(|w| w.counted.then_some(w.rows)).collect();
    if let Some(agreed) = settle(context, &file, count, walks) {
        return Ok(Some(agreed));
    }
    let first = totals.first().copied().flatten();
    let agree = totals.iter().all(|total| *total == first);
    Ok(first.filter(|_| agree).or(Some(count)))
}

/// The key, if it is a single property.
fn only_key(info: &VertexInfo) -> Option<&str> {
    let mut keys = info.properties().filter(|property| property.is_primary);
    match (keys.next(), keys.next()) {
        (Some(key), None) => Some(&key.name),
        _ => None,
    }
}

/// The number of rows of the first property group that has files.
async fn count_groups(
    context: &Context,
    vertex: &Placed<VertexInfo>,
    paths: &VertexPaths,
) -> Option<u64> {
    for group in &vertex.info.property_groups {
        let series = group_series(vertex, paths, group, 0);
        if let Some(rows) = counts::count_chunks(context, &series).await {
            return Some(rows);
        }
    }
    None
}

fn group_series<'a>(
    vertex: &'a Placed<VertexInfo>,
    paths: &'a VertexPaths,
    group: &'a PropertyGroup,
    rows: u64,
) -> Series<'a> {
    Series {
        folder: &vertex.folder,
        file_type: group.file_type,
        declared: vertex_group_schema(group),
        find: Find::NameButFirst,
        rows,
        chunk_size: vertex.info.chunk_size,
        counted_in: "vertex_count".to_owned(),
        path: Box::new(|chunk| paths.property_chunk(group, chunk)),
    }
}
