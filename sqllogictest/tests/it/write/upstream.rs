//! GraphAr's testing data, written anew by `COPY`: what comes out is what went in.

use datafusion_graphar::format::{Cardinality, EdgeInfo, Property, PropertyGroup, VertexInfo};
use datafusion_graphar::session::SessionContextExt;
use datafusion_graphar::storage::{Archive, Stores};

use super::*;
use crate::fixture::{rows, try_rows, value};

const GRAPHS: [&str; 16] = [
    "java/ldbc_sample/csv/ldbc_sample",
    "java/ldbc_sample/orc/ldbc_sample",
    "java/ldbc_sample/parquet/ldbc_sample",
    "ldbc/ldbc",
    "ldbc/parquet/ldbc",
    "ldbc_sample/csv/ldbc_sample",
    "ldbc_sample/json/LdbcSample",
    "ldbc_sample/orc/ldbc_sample",
    "ldbc_sample/parquet/ldbc_sample",
    "ldbc_sample/parquet/ldbc_sample_date",
    "ldbc_sample/parquet/ldbc_sample_timestamp",
    "ldbc_sample/parquet/ldbc_sample_with_feature",
    "modern_graph/modern_graph",
    "nebula/basketballplayergraph",
    "neo4j/MovieGraph",
    "transformer/ldbc_sample",
];

/// Graphs of info files only.
const WITHOUT_DATA: [&str; 2] = ["ldbc/ldbc", "transformer/ldbc_sample"];

#[tokio::test]
async fn archives_of_other_writers_are_the_same_after_they_are_written_anew() {
    let Ok(data) = std::env::var("GAR_TEST_DATA") else {
        println!("skipped: GAR_TEST_DATA is not set");
        return;
    };
    for graph in GRAPHS {
        let location = format!("{data}/{graph}.graph.yml");
        let (_, ctx) = empty();
        ctx.register_graph("o", &location).await.unwrap();
        let stores = Stores::new(ctx.runtime_env());
        let archive = Archive::open(&location, &stores).await.unwrap();
        let mut written = vec![];
        for vertices in &archive.vertices {
            let known = vertices.has_label_files && !vertices.info.labels.is_empty();
            if has_data(&ctx, &vertices.info.vertex_type).await {
                write_vertices(&ctx, &vertices.info, known).await;
                written.push((
                    vertices.info.vertex_type.clone(),
                    columns(&vertices.info, known),
                ));
            }
        }
        let is_there = |name: &String, written: &[(String, Vec<String>)]| {
            written.iter().any(|(table, _)| table == name)
        };
        for edges in &archive.edges {
            let info = &edges.info;
            if is_there(&info.src_type, &written) && is_there(&info.dst_type, &written) {
                written.extend(write_edges(&ctx, info).await);
            }
        }
        println!("{graph}: {} tables", written.len());
        if written.is_empty() {
            assert!(WITHOUT_DATA.contains(&graph), "{graph}");
            continue;
        }
        ctx.register_graph("r", GRAPH).await.unwrap();
        for (table, columns) in &written {
            compare(&ctx, table, columns).await;
        }
        assert_sound(&ctx).await;
    }
}

/// Whether a table can be read; if not, its files are not there.
async fn has_data(ctx: &SessionContext, table: &str) -> bool {
    match try_rows(ctx, &format!("SELECT count(*) FROM o.\"{table}\"")).await {
        Ok(_) => true,
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains("no data"), "{table}: {message}");
            false
        }
    }
}

fn columns(info: &VertexInfo, labels_are_known: bool) -> Vec<String> {
    let mut columns: Vec<String> = info.properties().map(|p| p.name.clone()).collect();
    columns.push("_vertex_id".to_owned());
    if labels_are_known {
        columns.push("_labels".to_owned());
    }
    columns
}

fn quoted(columns: &[String]) -> String {
    let columns: Vec<String> = columns.iter().map(|name| format!("\"{name}\"")).collect();
    columns.join(", ")
}

/// The options that the properties have: the same groups and file types.
fn option_of(groups: &[PropertyGroup]) -> String {
    let names = |chosen: &dyn Fn(&Property) -> bool| -> String {
        let all = groups.iter().flat_map(|group| &group.properties);
        let chosen = all.filter(|p| chosen(p)).map(|p| p.name.as_str());
        chosen.collect::<Vec<_>>().join(", ")
    };
    let groups: Vec<String> = groups
        .iter()
        .filter(|group| !group.properties.is_empty())
        .map(|group| {
            let names: Vec<&str> = group.properties.iter().map(|p| p.name.as_str()).collect();
            format!("{} as {}", names.join(", "), group.file_type)
        })
        .collect();
    format!(
        "'groups' '{}', 'set' '{}', 'not_null' '{}'",
        groups.join("; "),
        names(&|p| p.cardinality == Cardinality::Set),
        names(&|p| !p.is_nullable && !p.is_primary),
    )
}

async fn write_vertices(ctx: &SessionContext, info: &VertexInfo, labels_are_known: bool) {
    let key: Vec<&str> = info
        .properties()
        .filter(|p| p.is_primary)
        .map(|p| p.name.as_str())
        .collect();
    let labels = if labels_are_known {
        info.labels.join(", ")
    } else {
        String::new()
    };
    let query = format!(
        "SELECT {} FROM o.\"{}\" ORDER BY _vertex_id",
        quoted(&columns(info, labels_are_known)),
        info.vertex_type
    );
    let options = format!(
        "'vertex' '{}', 'key' '{}', 'labels' '{labels}', 'chunk_size' '{}', {}",
        info.vertex_type,
        key.join(", "),
        info.chunk_size,
        option_of(&info.property_groups)
    );
    rows(ctx, &copy(&query, &options)).await;
}

/// Writes the edges of the layout with the most properties in all layouts that can be read. Gives the tables to
/// compare, with their columns.
async fn write_edges(ctx: &SessionContext, info: &EdgeInfo) -> Vec<(String, Vec<String>)> {
    let key = info.key();
    let mut lists = vec![];
    for list in &info.adj_lists {
        if has_data(ctx, &format!("{key}${}", list.layout)).await {
            lists.push(list);
        }
    }
    let of_list = |layout| {
        let groups = info.property_groups_of(layout).iter();
        let properties = groups.flat_map(|group| &group.properties);
        let mut columns: Vec<String> = properties.map(|p| p.name.clone()).collect();
        columns.extend(["_src_id", "_dst_id"].map(str::to_owned));
        columns
    };
    let Some(most) = lists.iter().max_by_key(|list| of_list(list.layout).len()) else {
        return vec![];
    };
    let all = of_list(most.layout);
    let query = format!("SELECT {} FROM o.\"{key}${}\"", quoted(&all), most.layout);
    let layouts: Vec<String> = lists.iter().map(|list| list.layout.to_string()).collect();
    let options = format!(
        "'edge' '{}', 'source' '{}', 'destination' '{}', 'layouts' '{}', 'chunk_size' '{}', 'directed' '{}', \
         'file_type' '{}', {}",
        info.edge_type,
        info.src_type,
        info.dst_type,
        layouts.join(","),
        info.chunk_size,
        info.directed.unwrap_or(true),
        most.file_type,
        option_of(info.property_groups_of(most.layout))
    );
    rows(ctx, &copy(&query, &options)).await;
    let mut tables = vec![(key.clone(), all)];
    for list in lists {
        tables.push((format!("{key}${}", list.layout), of_list(list.layout)));
    }
    tables
}

/// Every row stands there as often before and after.
async fn compare(ctx: &SessionContext, table: &str, columns: &[String]) {
    let columns = quoted(columns);
    let sql = format!(
        "SELECT count(*) FROM (
             SELECT {columns}, sum(__n) AS __n FROM (
                 SELECT {columns}, 1 AS __n FROM o.\"{table}\" UNION ALL SELECT {columns}, -1 FROM r.\"{table}\"
             ) GROUP BY {columns}) WHERE __n <> 0"
    );
    assert_eq!(value(ctx, &sql).await, "0", "{table}");
    let count = |graph: &str| format!("SELECT count(*) FROM {graph}.\"{table}\"");
    assert_eq!(
        value(ctx, &count("o")).await,
        value(ctx, &count("r")).await,
        "{table}"
    );
}
