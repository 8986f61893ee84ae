//! What is written is what is read, in every payload format.

use datafusion_graphar::format::FileType;

use super::*;
use crate::fixture::{rows, value};

/// Rows of every type with what careless writers lose.
const UGLY: &str = r#"SELECT * FROM (VALUES
    (0, -9223372036854775808, 'a,"b"', 1.5, true, DATE '1969-12-31', TIMESTAMP '1900-01-01T00:00:00.001'),
    (1, 9223372036854775807, '', -0.0, false, DATE '9999-12-31', TIMESTAMP '2262-01-01T12:00:00'),
    (2, NULL, NULL, NULL, NULL, NULL, NULL),
    (3, 0, '  lead, trail  ', 0.1, true, DATE '0001-01-01', TIMESTAMP '1970-01-01T00:00:00'),
    (4, -1, 'null', 1e300, true, DATE '2024-02-29', TIMESTAMP '1969-12-30T23:59:59.999'),
    (5, 1, 'é
line', 5e-324, NULL, NULL, NULL)
    ) t(id, big, text, num, flag, day, at)"#;

#[tokio::test]
async fn every_payload_keeps_every_value() {
    for file_type in FileType::ALL {
        let (store, ctx) = empty();
        for (kind, chunk) in [("p", 1), ("q", 4), ("r", 100)] {
            let options = format!(
                "'vertex' '{kind}', 'key' 'id', 'chunk_size' '{chunk}', 'groups' 'id; flag, day, at; text, num', \
                 'file_type' '{file_type}'"
            );
            rows(&ctx, &copy(UGLY, &options)).await;
        }
        let edge = format!(
            "SELECT id AS _src_id, (id * 5) % 6 AS _dst_id, t.* EXCEPT (id) FROM ({UGLY}) t"
        );
        let options = format!(
            "'edge' 'p-e-q', 'chunk_size' '2', 'file_type' '{file_type}', \
             'layouts' 'ordered_by_source,ordered_by_dest,unordered_by_source,unordered_by_dest'"
        );
        rows(
            &ctx,
            &copy(
                &edge.replace("t.* EXCEPT (id)", "big, text, num, flag, day, at"),
                &options,
            ),
        )
        .await;
        let ctx = reopened(&store).await;
        let columns = "big, text, num, flag, day, at";
        let expected = rows(
            &ctx,
            &format!("SELECT id, {columns} FROM ({UGLY}) ORDER BY id"),
        )
        .await;
        for kind in ["p", "q", "r"] {
            let sql = format!("SELECT id, {columns} FROM g.{kind} ORDER BY _vertex_id");
            assert_eq!(rows(&ctx, &sql).await, expected, "{file_type} {kind}");
        }
        for layout in [
            "",
            "$ordered_by_dest",
            "$unordered_by_source",
            "$unordered_by_dest",
        ] {
            let sql =
                format!(r#"SELECT _src_id, {columns} FROM g."p_e_q{layout}" ORDER BY _src_id"#);
            assert_eq!(rows(&ctx, &sql).await, expected, "{file_type} {layout}");
        }
        let sql = "SELECT count(*) FROM g.p_e_q WHERE _dst_id = (_src_id * 5) % 6";
        assert_eq!(value(&ctx, sql).await, "6");
    }
}

#[tokio::test]
async fn nan_and_infinities_where_the_format_has_them() {
    for file_type in [FileType::Parquet, FileType::Orc, FileType::Arrow] {
        let (store, ctx) = empty();
        let query =
            "SELECT * FROM (VALUES ('NaN'::double), ('inf'::double), ('-inf'::double)) t(x)";
        rows(
            &ctx,
            &copy(query, &format!("'vertex' 'p', 'file_type' '{file_type}'")),
        )
        .await;
        let ctx = reopened(&store).await;
        let found = rows(&ctx, "SELECT x FROM g.p ORDER BY _vertex_id").await;
        assert_eq!(found, ["NaN", "inf", "-inf"], "{file_type}");
    }
}
