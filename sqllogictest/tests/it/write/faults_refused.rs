//! What users of similar software lost because of the payload format, or what they were not told.

use datafusion_graphar::format::FileType;
use datafusion_graphar::session::SessionContextExt;

use super::*;
use crate::fixture::{error, rows, value};

/// A21.
#[tokio::test]
async fn texts_with_separators_quotes_and_ends_of_lines_stay_as_they_are() {
    let texts = [
        "a,b",
        "a|b",
        "a\"b",
        "\"",
        "\"\"",
        "\"a\"",
        "a\\b",
        "\\",
        "\\n",
        "\\N",
        "a\nb",
        "\n",
        "a\r\nb",
        "a\rb",
        "\r",
        " lead",
        "trail ",
        " ",
        "",
        "NULL",
        "null",
        "a\tb",
        "a;b",
        "'",
        "a,b|\"c\"\\d\ne ",
        "#a",
        "-",
        "é",
    ];
    let values: Vec<String> = texts
        .iter()
        .enumerate()
        .map(|(i, text)| format!("({i}, '{}')", text.replace('\'', "''")))
        .collect();
    let query = format!(
        "SELECT id, name FROM (VALUES {}, ({}, NULL)) t(id, name) ORDER BY id",
        values.join(", "),
        texts.len()
    );
    let mut expected: Vec<String> = texts.iter().map(|text| format!("{text}:false")).collect();
    expected.push("none:true".to_owned());
    for file_type in FileType::ALL {
        for how in few_ways() {
            let store = Arc::new(InMemory::new());
            let ctx = session(&store, &how);
            let options =
                format!("'vertex' 'p', 'key' 'id', 'chunk_size' '7', 'file_type' '{file_type}'");
            rows(&ctx, &copy(&query, &options)).await;
            let query = format!("SELECT id AS _src_id, 0 AS _dst_id, id, name FROM ({query})");
            let options = format!("'edge' 'p-e-p', 'chunk_size' '3', 'file_type' '{file_type}'");
            rows(&ctx, &copy(&query, &options)).await;
            ctx.register_graph("g", GRAPH).await.unwrap();
            for (table, id) in [("p", "_vertex_id"), ("p_e_p", "_src_id")] {
                let sql = format!(
                    "SELECT coalesce(name, 'none') || ':' || (name IS NULL) FROM g.{table} ORDER BY {id}"
                );
                assert_eq!(rows(&ctx, &sql).await, expected, "{file_type} {how:?}");
            }
            assert_sound(&ctx).await;
        }
    }
}

/// A22. The ORC reader has no lists, so that ORC is refused, too.
#[tokio::test]
async fn lists_are_written_as_lists_or_not_at_all() {
    let query = "SELECT * FROM (VALUES (0, ['a,b', 'c\"d', NULL]), (1, []), (2, NULL)) t(id, tags) ORDER BY id";
    for file_type in FileType::ALL {
        for how in ways() {
            let store = Arc::new(InMemory::new());
            let ctx = session(&store, &how);
            let statement = copy(
                query,
                &format!("'vertex' 'p', 'key' 'id', 'file_type' '{file_type}'"),
            );
            let refusal = match file_type {
                FileType::Csv => Some("expected a single value, which is all that CSV holds"),
                FileType::Orc => Some("put it into a property group with file type parquet"),
                _ => None,
            };
            if let Some(refusal) = refusal {
                let message = error(&ctx, &statement).await;
                assert!(message.contains(refusal), "{message}");
                let reader = session(&store, &how);
                assert!(reader.register_graph("g", GRAPH).await.is_err());
                continue;
            }
            rows(&ctx, &statement).await;
            ctx.register_graph("g", GRAPH).await.unwrap();
            let sql = "SELECT id, tags, tags IS NULL, tags[1] = 'a,b', tags[2] = 'c\"d' FROM g.p ORDER BY id";
            let expected = [
                "0 [a,b, c\"d, NULL] false true true",
                "1 [] false NULL NULL",
                "2 NULL true NULL NULL",
            ];
            assert_eq!(rows(&ctx, sql).await, expected, "{file_type} {how:?}");
            assert_sound(&ctx).await;
        }
    }
}

/// A37. Rows with a missing end cannot be skipped: nothing is written.
#[tokio::test]
async fn a_missing_end_is_named_by_its_key_and_row() {
    let uuid = |i: i32| format!("6fa459ea-ee8a-3ca4-894e-db77e160355{i}");
    for how in ways() {
        let store = Arc::new(InMemory::new());
        let ctx = session(&store, &how);
        let values: Vec<String> = (0..3).map(|i| format!("('{}')", uuid(i))).collect();
        let query = format!("SELECT id FROM (VALUES {}) t(id)", values.join(", "));
        rows(&ctx, &copy(&query, "'vertex' 'person', 'key' 'id'")).await;
        let ends = [(0, 1), (1, 2), (2, 0), (0, 9), (1, 1)];
        let values: Vec<String> = (0..)
            .zip(ends)
            .map(|(row, (a, b))| format!("({row}, '{}', '{}')", uuid(a), uuid(b)))
            .collect();
        let query = format!(
            "SELECT a, b FROM (VALUES {}) t(n, a, b) ORDER BY n",
            values.join(", ")
        );
        let options = "'edge' 'person-knows-person', 'source_key' 'a', 'destination_key' 'b'";
        let message = error(&ctx, &copy(&query, options)).await;
        let part = format!(
            "rows of person_knows_person: destination of row 3: expected the primary key of one of the 3 vertices \
             of 'person', found {}",
            uuid(9)
        );
        assert!(message.contains(&part), "{how:?}: {message}");
        let ctx = reopened(&store).await;
        assert_eq!(rows(&ctx, "SELECT name FROM g").await, ["person"]);
        assert_sound(&ctx).await;
    }
}

/// A38, the first half.
#[tokio::test]
async fn equal_keys_are_named_with_both_rows_and_nothing_is_left() {
    for how in ways() {
        let store = Arc::new(InMemory::new());
        let ctx = session(&store, &how);
        let query = "SELECT k AS id FROM (VALUES (0, 'a'), (1, 'b'), (2, 'same'), (3, 'c'), (4, 'd'), (5, 'same'),
                     (6, 'e')) t(n, k) ORDER BY n";
        let statement = copy(query, "'vertex' 'person', 'key' 'id', 'chunk_size' '2'");
        let message = error(&ctx, &statement).await;
        let part =
            "primary key of row 5: expected a key that no other row has, found 'same', as in row 2";
        assert!(message.contains(part), "{how:?}: {message}");
        assert!(
            session(&store, &how)
                .register_graph("g", GRAPH)
                .await
                .is_err()
        );
    }
}

/// A45.
#[tokio::test]
async fn vertices_keep_none_one_and_three_labels_and_their_lists() {
    for file_type in FileType::ALL {
        for how in few_ways() {
            let store = Arc::new(InMemory::new());
            let ctx = session(&store, &how);
            let query = "SELECT id, tags, _labels FROM (VALUES
                         (0, ['x', 'y'], ['a']), (1, [], ['a', 'b', 'c']), (2, NULL, []), (3, ['z'], NULL))
                         t(id, tags, _labels) ORDER BY id";
            let options = format!(
                "'vertex' 'p', 'key' 'id', 'labels' 'a, b, c', 'chunk_size' '3', 'file_type' '{file_type}', \
                 'groups' 'tags as parquet'"
            );
            rows(&ctx, &copy(query, &options)).await;
            ctx.register_graph("g", GRAPH).await.unwrap();
            let insert = "INSERT INTO g.p (id, tags, _labels) VALUES (4, ['w'], ['c', 'a', 'b'])";
            rows(&ctx, insert).await;
            let sql = "SELECT id, tags, _labels FROM g.p ORDER BY _vertex_id";
            let expected = [
                "0 [x, y] [a]",
                "1 [] [a, b, c]",
                "2 NULL []",
                "3 [z] []",
                "4 [w] [a, b, c]",
            ];
            assert_eq!(rows(&ctx, sql).await, expected, "{file_type} {how:?}");
            let sql = "SELECT count(*) FROM g.p WHERE has_label(_labels, 'a')";
            assert_eq!(value(&ctx, sql).await, "3");
            assert_sound(&ctx).await;
        }
    }
}
