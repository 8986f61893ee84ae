//! Conditions on labels.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, ListBuilder, StringArray, StringBuilder};
use datafusion_graphar::format::{FileType, ScalarType};
use datafusion_graphar::session::SessionContextExt;

use crate::counting_store::CountingStore;
use crate::fixture::*;

/// `n` persons in chunks of `chunk_size`. Every third is `x`, every fifth `y`, every 4,000th `rare`.
async fn labelled(n: i64, chunk_size: u64) -> Archive {
    let mut info = person(chunk_size, FileType::Parquet);
    info.labels = ["x", "y", "rare"].map(str::to_owned).to_vec();
    let name = group(
        FileType::Parquet,
        vec![property("name", ScalarType::String)],
    );
    info.property_groups.push(name);
    let mut labels = ListBuilder::new(StringBuilder::new());
    for id in 0..n {
        let names = [("x", 3), ("y", 5), ("rare", 4000)].into_iter();
        labels.append_value(
            names
                .filter(|(_, step)| id % step == 0)
                .map(|(name, _)| Some(name)),
        );
    }
    // Names that do not compress, so that a file of many is larger than what is read of its end.
    let scattered = |id: i64| id.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed());
    let names: StringArray = (0..n)
        .map(|id| Some(format!("person {id} {:x}", scattered(id))))
        .collect();
    let rows = batch(vec![
        ("id", ints((0..n).map(|id| 1000 + id))),
        ("name", Arc::new(names) as ArrayRef),
    ]);
    Fixture::new()
        .labelled(info, &rows, &labels.finish())
        .await
        .finish()
        .await
}

#[tokio::test]
async fn both_functions_find_the_vertices_of_a_label() {
    let archive = labelled(50, 7).await;
    for how in How::all() {
        let ctx = archive.open(&how).await.unwrap();
        for has in ["has_label", "array_has"] {
            let count = async |condition: &str| {
                let sql = format!("SELECT count(*) FROM g.person WHERE {condition}");
                value(&ctx, &sql.replace("has(", &format!("{has}("))).await
            };
            assert_eq!(count("has(_labels, 'x')").await, "17");
            assert_eq!(count("has(_labels, 'y')").await, "10");
            assert_eq!(count("has(_labels, 'x') AND has(_labels, 'y')").await, "4");
            assert_eq!(count("has(_labels, 'x') OR has(_labels, 'y')").await, "23");
            assert_eq!(count("NOT has(_labels, 'x')").await, "33");
            assert_eq!(count("has(_labels, 'z')").await, "0");
            assert_eq!(count("NOT has(_labels, 'z')").await, "50");
            assert_eq!(count("has(_labels, NULL)").await, "0");
            assert_eq!(
                count("has(_labels, 'x') AND _vertex_id BETWEEN 3 AND 9").await,
                "3"
            );
            assert_eq!(
                count("has(_labels, 'x') AND cardinality(_labels) = 2").await,
                "3"
            );
        }
        let sql = "SELECT split_part(name, ' ', 2), _labels FROM g.person WHERE has_label(_labels, 'y') AND id > 1029 ORDER BY id";
        let expected = ["30 [x, y]", "35 [y]", "40 [y]", "45 [x, y]"];
        assert_eq!(rows(&ctx, sql).await, expected);
    }
}

#[tokio::test]
async fn has_label_is_null_where_labels_are() {
    let archive = labelled(5, 2).await;
    let ctx = archive.session().await;
    let sql = "SELECT has_label(_labels, 'x'), has_label(_labels, NULL) FROM g.person WHERE _vertex_id < 2";
    assert_eq!(rows(&ctx, sql).await, ["true NULL", "false NULL"]);
    for chunk in 0..3 {
        archive
            .delete(&format!("vertex/person/labels/chunk{chunk}"))
            .await;
    }
    let ctx = archive.session().await;
    for sql in [
        "SELECT count(*) FROM g.person WHERE has_label(_labels, 'x')",
        "SELECT count(*) FROM g.person WHERE NOT has_label(_labels, 'x')",
    ] {
        assert_eq!(value(&ctx, sql).await, "0");
    }
}

#[tokio::test]
async fn a_rare_label_leads_to_a_few_pages_of_the_other_groups() {
    let archive = labelled(60_000, 1 << 16).await;
    let store = Arc::new(CountingStore::new(Arc::clone(&archive.store)));
    let ctx = How::default().session(Arc::<CountingStore>::clone(&store));
    ctx.register_graph("g", "memory://t/data/g.graph.yml")
        .await
        .unwrap();
    store.take();
    let sql =
        "SELECT count(name) FROM g.person WHERE has_label(_labels, 'rare') AND _vertex_id < 10000";
    assert_eq!(value(&ctx, sql).await, "3");
    let noted = store.noted();
    assert_eq!(noted.bytes("/id/"), 0);
    let size = archive.get("vertex/person/name/chunk0").await.len() as u64;
    let read = noted.bytes("/name/");
    assert!(read * 2 < size, "{read} of {size} bytes");
}
