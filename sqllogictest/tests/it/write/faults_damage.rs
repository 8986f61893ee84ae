//! Damage to graphs that `COPY` wrote: each is found, and only that.

use datafusion_graphar::session::SessionContextExt;
use futures::TryStreamExt;
use object_store::ObjectStoreExt;
use object_store::path::Path;

use super::*;
use crate::fixture::{error, rows, try_rows};

/// What is done to a graph, the violations as file and rule, and a query that must fail;
/// `None` where look-ups need not fail, but find no edges of other vertices.
type Damage = (
    &'static str,
    &'static str,
    fn(&str) -> Option<String>,
    &'static [&'static str],
    Option<&'static str>,
);

/// A40.
#[tokio::test]
async fn each_damage_to_what_was_written_is_found_and_named() {
    let damages: [Damage; 4] = [
        (
            "a chunk that is gone",
            "/id/chunk1",
            |_| None,
            &["person/id/chunk1 missing_file"],
            Some("SELECT id FROM g.person"),
        ),
        (
            "a count of 9",
            "vertex/person/vertex_count",
            |_| Some("\u{9}\0\0\0\0\0\0\0".to_owned()),
            &["person/id/chunk2 row_count"],
            Some("SELECT id FROM g.person"),
        ),
        (
            "offsets that descend",
            "/ordered_by_source/offset/chunk0",
            |text| Some(text.replace("0\n2\n2\n2", "0\n2\n1\n2")),
            &["ordered_by_source/offset/chunk0 offsets"],
            None,
        ),
        (
            "an end that is no vertex",
            "/ordered_by_source/adj_list/part2/chunk0",
            |text| Some(text.replace("6,0", "6,99")),
            &["ordered_by_source/adj_list/part2/chunk0 edge_endpoint"],
            Some("SELECT _dst_id FROM g.person_knows_person"),
        ),
    ];
    for (what, file, damage, expected, query) in damages {
        let (store, ctx) = empty();
        let vertices = "SELECT 1000 + value AS id FROM range(0, 7) ORDER BY value";
        let options = "'vertex' 'person', 'key' 'id', 'chunk_size' '3', 'file_type' 'csv'";
        rows(&ctx, &copy(vertices, options)).await;
        let edges = "SELECT * FROM (VALUES (0, 1), (0, 2), (6, 0)) t(_src_id, _dst_id)";
        let options =
            "'edge' 'person-knows-person', 'layouts' 'ordered_by_source', 'file_type' 'csv'";
        rows(&ctx, &copy(edges, options)).await;
        assert_sound(&ctx).await;

        let files: Vec<_> = store.list(None).try_collect().await.unwrap();
        // Folders have a suffix of their own.
        let plain = |path: &str| {
            let names = path.split('/').map(|name| match name.rsplit_once('-') {
                Some((name, _)) => name,
                None => name,
            });
            names.collect::<Vec<_>>().join("/")
        };
        let mut paths = files.iter().map(|file| file.location.to_string());
        let path = paths.find(|path| plain(path).ends_with(file));
        let path = Path::from(path.unwrap_or_else(|| panic!("{file}")));
        let bytes = store.get(&path).await.unwrap().bytes().await.unwrap();
        let before = String::from_utf8(bytes.to_vec()).unwrap();
        match damage(&before) {
            None => store.delete(&path).await.unwrap(),
            Some(text) => {
                assert_ne!(text, before, "{what}");
                store.put(&path, text.into_bytes().into()).await.unwrap();
            }
        }
        let ctx = session(&store, &How::default());
        let sql = format!("SELECT file || ' ' || rule FROM graph_check('{GRAPH}') ORDER BY 1");
        let found: Vec<String> = rows(&ctx, &sql)
            .await
            .iter()
            .map(|row| plain(row))
            .collect();
        let same = found.len() == expected.len()
            && found
                .iter()
                .zip(expected)
                .all(|(row, end)| row.ends_with(end));
        assert!(same, "{what}: {found:#?}");
        ctx.register_graph("g", GRAPH).await.unwrap();
        if let Some(query) = query {
            let message = error(&ctx, query).await;
            assert!(plain(&message).contains("person"), "{what}: {message}");
        } else {
            for id in [1, 2] {
                let sql = format!("SELECT * FROM g.person_knows_person WHERE _src_id = {id}");
                let found = try_rows(&ctx, &sql).await.unwrap_or_default();
                assert!(found.is_empty(), "{what}: {found:?}");
            }
        }
    }
}
