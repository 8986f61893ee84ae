//! Groups and joins by ids, where partitions are ranges of ids.

use std::sync::Arc;

use datafusion::physical_plan::displayable;
use datafusion::prelude::SessionContext;
use proptest::prelude::*;
use tokio::runtime::Runtime;

use crate::fixture::*;
use crate::random_graph::{graph, sorted};

fn how(partitions: usize, ranges: bool) -> How {
    let mut how = How::of(partitions, 3, true);
    how.options.range_partitioning = ranges;
    how
}

/// Makes the planner exchange rows for joins, whatever their number.
async fn exchange(ctx: &SessionContext) {
    for setting in [
        "datafusion.optimizer.hash_join_single_partition_threshold = 0",
        "datafusion.optimizer.hash_join_single_partition_threshold_rows = 0",
    ] {
        let sql = format!("SET {setting}");
        ctx.sql(&sql).await.unwrap().collect().await.unwrap();
    }
}

const QUESTIONS: [&str; 16] = [
    "SELECT _vertex_id, count(*), max(age), min(name) FROM g.person GROUP BY _vertex_id",
    "SELECT _vertex_id, age, count(*) FROM g.person GROUP BY _vertex_id, age",
    "SELECT age, count(*), max(_vertex_id) FROM g.person GROUP BY age",
    "SELECT _vertex_id / 2, count(*), sum(rank) FROM g.person GROUP BY _vertex_id / 2",
    "SELECT DISTINCT _vertex_id, rank FROM g.person WHERE _vertex_id BETWEEN 2 AND 9",
    "SELECT a._vertex_id, a.age, b.name FROM g.person a JOIN g.person b ON a._vertex_id = b._vertex_id",
    "SELECT a._vertex_id, b.name FROM g.person a JOIN g.person b ON a._vertex_id = b._vertex_id AND a.age = b.age",
    "SELECT a._vertex_id, b._vertex_id, b.age FROM g.person a LEFT JOIN g.person b ON a._vertex_id = b._vertex_id AND b.age > 1",
    "SELECT a._vertex_id, b._vertex_id FROM (SELECT * FROM g.person WHERE _vertex_id > 3) a FULL JOIN (SELECT * FROM g.person WHERE _vertex_id < 8) b ON a._vertex_id = b._vertex_id",
    "SELECT a._vertex_id, b._vertex_id FROM g.person a RIGHT JOIN (SELECT * FROM g.person WHERE age >= 0) b ON a._vertex_id = b._vertex_id",
    "SELECT a._vertex_id, e._dst_id FROM g.person a JOIN g.person_knows_person e ON a._vertex_id = e._src_id",
    "SELECT e._src_id, count(*) FROM g.person_knows_person e JOIN g.person a ON a._vertex_id = e._src_id GROUP BY e._src_id",
    "SELECT b._vertex_id, count(e._src_id) FROM g.person b LEFT JOIN g.person_knows_person e ON b._vertex_id = e._dst_id GROUP BY b._vertex_id",
    "SELECT _vertex_id, age, row_number() OVER (PARTITION BY _vertex_id ORDER BY age) FROM g.person",
    "SELECT _vertex_id, count(*) FROM (SELECT _vertex_id FROM g.person UNION ALL SELECT _vertex_id FROM g.person WHERE age > 0) GROUP BY _vertex_id",
    "SELECT _vertex_id FROM g.person WHERE _vertex_id NOT IN (SELECT _src_id FROM g.person_knows_person) AND _vertex_id IN (SELECT _vertex_id FROM g.person WHERE age < 4)",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn groups_and_joins_are_those_of_one_partition(written in graph(), partitions in 2..7_usize) {
        Runtime::new().unwrap().block_on(async {
            let archive = written.write().await;
            let single = archive.open(&how(1, false)).await.unwrap();
            let open = async |partitions: usize, ranges: bool| {
                let ctx = archive.open(&how(partitions, ranges)).await.unwrap();
                exchange(&ctx).await;
                ctx
            };
            let many = [open(partitions, true).await, open(partitions, false).await];
            for sql in QUESTIONS {
                let expected = sorted(rows(&single, sql).await);
                for ctx in &many {
                    assert_eq!(sorted(rows(ctx, sql).await), expected, "{sql}");
                }
            }
            let sql = "SET datafusion.optimizer.prefer_hash_join = false";
            many[0].sql(sql).await.unwrap().collect().await.unwrap();
            for sql in QUESTIONS {
                let expected = sorted(rows(&single, sql).await);
                assert_eq!(sorted(rows(&many[0], sql).await), expected, "{sql}");
            }
        });
    }
}

async fn plan(ctx: &SessionContext, sql: &str) -> String {
    let plan = ctx.sql(sql).await.unwrap();
    let plan = plan.create_physical_plan().await.unwrap();
    displayable(plan.as_ref()).indent(true).to_string()
}

#[tokio::test]
async fn groups_and_joins_by_vertex_need_no_exchange() {
    use datafusion_graphar::format::FileType;
    let archive = Fixture::persons(100, 10, FileType::Parquet)
        .await
        .finish()
        .await;
    let sessions = Arc::new([how(4, true), how(4, false)]);
    for (how, ranges) in sessions.iter().zip([true, false]) {
        let ctx = archive.open(how).await.unwrap();
        exchange(&ctx).await;
        rows(&ctx, "SET graphar.expand_strategy = 'hash_join'").await;
        for sql in [
            "SELECT _vertex_id, max(id) FROM g.person GROUP BY _vertex_id",
            "SELECT a.id, b.id FROM g.person a JOIN g.person b ON a._vertex_id = b._vertex_id",
        ] {
            let shown = plan(&ctx, sql).await;
            assert_eq!(!shown.contains("RepartitionExec"), ranges, "{shown}");
        }
        // Ids of other ranges are exchanged.
        let sql = "SELECT a.id FROM g.person a JOIN g.person b ON a._vertex_id = b._vertex_id AND b._vertex_id > 49";
        assert_eq!(rows(&ctx, sql).await.len(), 50);
    }
}
