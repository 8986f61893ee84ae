//! Whatever is pushed into a scan: the rows are those of a naive evaluation. Random graphs and queries, with
//! every switch on, with every switch off, and on a copy of the tables in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use datafusion::arrow::datatypes::Schema;
use datafusion::catalog::{MemorySchemaProvider, SchemaProvider};
use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::fixture::*;
use crate::random_graph::*;
use crate::random_query::*;

/// The same tables in several sessions.
pub struct Sides {
    /// By partitions, then by batch size.
    on: [[SessionContext; 2]; 2],
    off: [SessionContext; 2],
    /// Copies in memory.
    naive: SessionContext,
    /// Takes turns, as a plan takes much longer than what it does here.
    turn: AtomicUsize,
}

/// How the rows of two answers are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Order {
    Any,
    Stated,
}

impl Sides {
    pub async fn of(graph: &RandomGraph) -> Self {
        let archive = graph.write().await;
        let open = async |partitions, batch_size, on| {
            let how = How::of(partitions, batch_size, on);
            archive.open(&how).await.unwrap()
        };
        let off = [open(1, 8192, false).await, open(5, 2, false).await];
        let naive = copy_of(&off[0]).await;
        let sql = "SELECT _vertex_id, id, age, name, rank, _labels FROM g.person";
        assert_eq!(sorted(rows(&naive, sql).await), graph.person_rows());
        for table in EDGE_TABLES {
            let sql = format!("SELECT _src_id, _dst_id, w, x, t, u FROM g.\"{table}\"");
            assert_eq!(
                sorted(rows(&naive, &sql).await),
                graph.knows_rows(),
                "{table}"
            );
        }
        Self {
            on: [
                [open(1, 2, true).await, open(1, 8192, true).await],
                [open(5, 2, true).await, open(5, 8192, true).await],
            ],
            off,
            naive,
            turn: AtomicUsize::new(0),
        }
    }

    pub fn all(&self) -> impl Iterator<Item = &SessionContext> {
        self.on.iter().flatten().chain(&self.off)
    }

    /// One partition and five with everything on, and one with everything off.
    fn next(&self) -> [(&'static str, &SessionContext); 3] {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let (a, b, c) = (turn % 2, turn / 2 % 2, turn / 4 % 2);
        [
            ("on, one partition", &self.on[0][a]),
            ("on, five partitions", &self.on[1][b]),
            ("off", &self.off[c]),
        ]
    }

    /// All sides give the rows of the naive evaluation, which are returned.
    pub async fn compare(&self, sql: &str, order: Order) -> Vec<String> {
        let expected = arranged(rows(&self.naive, sql).await, order);
        self.expect(sql, order, &expected).await;
        expected
    }

    async fn expect(&self, sql: &str, order: Order, expected: &[String]) {
        for (side, ctx) in self.next() {
            let found = arranged(rows(ctx, sql).await, order);
            assert_eq!(found, expected, "{sql}, {side}");
        }
    }

    /// All sides give `most` of these rows, or all if there are fewer.
    async fn expect_some(&self, sql: &str, most: usize, all: &[String]) {
        let sql = format!("{sql} LIMIT {most}");
        for (side, ctx) in self.next() {
            let found = sorted(rows(ctx, &sql).await);
            assert_eq!(found.len(), most.min(all.len()), "{sql}, {side}");
            let mut left = all.iter();
            let known = found.iter().all(|row| left.any(|other| other == row));
            assert!(known, "{sql}, {side}: {found:?} of {all:?}");
        }
    }
}

fn arranged(rows: Vec<String>, order: Order) -> Vec<String> {
    match order {
        Order::Any => sorted(rows),
        Order::Stated => rows,
    }
}

/// A session with the tables of `g` in memory.
async fn copy_of(ctx: &SessionContext) -> SessionContext {
    let tables = MemorySchemaProvider::new();
    for name in EDGE_TABLES.into_iter().chain(["person"]) {
        let frame = ctx
            .sql(&format!("SELECT * FROM g.\"{name}\""))
            .await
            .unwrap();
        let schema = Arc::new(Schema::clone(frame.schema().as_arrow()));
        let batches = frame.collect().await.unwrap();
        let table = MemTable::try_new(schema, vec![batches]).unwrap();
        tables
            .register_table(name.to_owned(), Arc::new(table))
            .unwrap();
    }
    let copy = SessionContext::new();
    let catalog = copy.catalog("datafusion").unwrap();
    catalog.register_schema("g", Arc::new(tables)).unwrap();
    copy
}

pub fn block_on(future: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(Box::pin(future));
}

fn cases() -> ProptestConfig {
    ProptestConfig {
        max_shrink_iters: 200,
        failure_persistence: None,
        ..ProptestConfig::with_cases(20)
    }
}

async fn check_vertices(graph: &RandomGraph, queries: &[(String, String, usize)]) {
    let sides = Sides::of(graph).await;
    for (condition, columns, most) in queries {
        let of = |what: &str| format!("SELECT {what} FROM g.person WHERE {condition}");
        let all = sides.compare(&of(columns), Order::Any).await;
        sides.expect_some(&of(columns), *most, &all).await;
        let counted =
            "count(*), count(age), min(_vertex_id), max(_vertex_id), min(name), max(rank)";
        sides.compare(&of(counted), Order::Any).await;
        let last = format!(
            "{} ORDER BY _vertex_id DESC LIMIT {most}",
            of("_vertex_id, _labels")
        );
        sides.compare(&last, Order::Stated).await;
    }
}

async fn check_edges(graph: &RandomGraph, condition: &str, columns: &str, most: usize) {
    let sides = Sides::of(graph).await;
    let of =
        |what: &str, table: &str| format!("SELECT {what} FROM g.\"{table}\" WHERE {condition}");
    let counted = "count(*), count(w), min(_src_id), max(_dst_id), min(w), max(t)";
    let [default, layouts @ ..] = EDGE_TABLES;
    let all = sides.compare(&of(columns, default), Order::Any).await;
    let counts = sides.compare(&of(counted, default), Order::Any).await;
    sides.expect_some(&of(columns, default), most, &all).await;
    for table in layouts {
        let sql = of(columns, table);
        sides.expect(&sql, Order::Any, &all).await;
        sides.expect_some(&sql, most, &all).await;
        sides.expect(&of(counted, table), Order::Any, &counts).await;
    }
}

/// A random choice for queries that order and group.
#[derive(Debug)]
struct Ordered {
    of_person: String,
    of_knows: String,
    table: String,
    /// A column of ids.
    end: &'static str,
    /// A column of persons.
    column: &'static str,
    /// What stands after a column.
    order: &'static str,
    most: usize,
    skipped: usize,
}

fn ordered() -> impl Strategy<Value = Ordered> {
    (
        condition(PERSON),
        prop_oneof![Just("TRUE".to_owned()), condition(KNOWS)],
        edge_table(),
        select(KNOWS.ids.to_vec()),
        select(vec!["age", "name", "rank", "_vertex_id"]),
        select(vec!["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]),
        (0..6_usize, 0..3_usize),
    )
        .prop_map(
            |(of_person, of_knows, table, end, column, order, (most, skipped))| Ordered {
                of_person,
                of_knows,
                table,
                end,
                column,
                order,
                most,
                skipped,
            },
        )
}

async fn check_orders(graph: &RandomGraph, ordered: &Ordered) {
    let Ordered {
        of_person,
        of_knows,
        table,
        end,
        column,
        order,
        most,
        skipped,
    } = ordered;
    let sides = Sides::of(graph).await;
    let edges = format!("FROM {table} WHERE {of_knows}");
    for what in [
        format!("{column} FROM g.person ORDER BY {column}{order} LIMIT {most}"),
        format!("{column} FROM g.person WHERE {of_person} ORDER BY {column}{order} LIMIT {most}"),
        format!("w {edges} ORDER BY w{order} LIMIT {most}"),
        format!("t {edges} ORDER BY t{order} LIMIT {most} OFFSET {skipped}"),
        format!("{end} {edges} ORDER BY {end}{order} LIMIT {most} OFFSET {skipped}"),
        format!("_src_id, _dst_id, w {edges} ORDER BY {end}{order}, _src_id, _dst_id, w"),
        format!("{end}, count(*) {edges} GROUP BY {end} ORDER BY {end}{order} LIMIT {most}"),
    ] {
        sides
            .compare(&format!("SELECT {what}"), Order::Stated)
            .await;
    }
    for what in [
        format!("{end}, count(*), sum(x), min(t) {edges} GROUP BY {end}"),
        format!("DISTINCT {end} {edges}"),
        format!("{end}, w, rank() OVER (PARTITION BY {end} ORDER BY w) {edges}"),
        "_vertex_id, lag(_vertex_id) OVER (ORDER BY _vertex_id) FROM g.person".to_owned(),
    ] {
        sides.compare(&format!("SELECT {what}"), Order::Any).await;
    }
}

/// A random choice for joins.
#[derive(Debug)]
struct Joined {
    of_person: String,
    of_knows: String,
    table: String,
    other: String,
    /// A column of ids.
    end: &'static str,
    /// Rows of `VALUES`.
    ids: String,
    hashed: bool,
}

fn joined() -> impl Strategy<Value = Joined> {
    (
        condition(PERSON),
        condition(KNOWS),
        edge_table(),
        edge_table(),
        select(KNOWS.ids.to_vec()),
        few_ids(),
        any::<bool>(),
    )
        .prop_map(
            |(of_person, of_knows, table, other, end, ids, hashed)| Joined {
                of_person,
                of_knows,
                table,
                other,
                end,
                ids,
                hashed,
            },
        )
}

async fn check_joins(graph: &RandomGraph, joined: &Joined) {
    let Joined {
        of_person,
        of_knows,
        table,
        other,
        end,
        ids,
        hashed,
    } = joined;
    let sides = Sides::of(graph).await;
    for ctx in sides.all() {
        let sql = format!("SET datafusion.optimizer.prefer_hash_join = {hashed}");
        rows(ctx, &sql).await;
    }
    let ids = format!("(VALUES {ids}) v(id)");
    let persons = format!("(SELECT * FROM g.person WHERE {of_person})");
    let edges = format!("(SELECT * FROM {table} WHERE {of_knows})");
    for what in [
        format!("p.*, v.id FROM g.person p JOIN {ids} ON p._vertex_id = v.id"),
        format!("e.*, v.id FROM {table} e JOIN {ids} ON e.{end} = v.id"),
        format!("v.id, e._dst_id, e.t FROM {ids} LEFT JOIN {edges} e ON e._src_id = v.id"),
        format!(
            "p.name, e.w, q.age FROM {persons} p JOIN {table} e ON e._src_id = p._vertex_id
             JOIN g.person q ON q._vertex_id = e._dst_id"
        ),
        format!("_vertex_id, name FROM g.person WHERE _vertex_id IN (SELECT {end} FROM {edges})"),
        format!("_vertex_id FROM {persons} WHERE _vertex_id NOT IN (SELECT {end} FROM {edges})"),
        format!(
            "a._src_id, b._dst_id, a.w, b.t FROM {edges} a JOIN {other} b ON a._dst_id = b._src_id"
        ),
        format!("p.id, e.w FROM {persons} p FULL JOIN {edges} e ON p._vertex_id = e.{end}"),
    ] {
        sides.compare(&format!("SELECT {what}"), Order::Any).await;
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn conditions_on_vertices_choose_the_same_rows(
        graph in graph(),
        queries in vec((condition(PERSON), projection(PERSON), 0..6_usize), 2),
    ) {
        block_on(check_vertices(&graph, &queries));
    }

    #[test]
    fn conditions_on_edges_choose_the_same_rows_of_every_layout(
        graph in graph(),
        condition in condition(KNOWS),
        columns in projection(KNOWS),
        most in 0..6_usize,
    ) {
        block_on(check_edges(&graph, &condition, &columns, most));
    }

    #[test]
    fn orders_and_groups_of_vertices_and_edges_are_the_same(graph in graph(), of in ordered()) {
        block_on(check_orders(&graph, &of));
    }

    #[test]
    fn joins_by_ids_give_the_same_rows(graph in graph(), of in joined()) {
        block_on(check_joins(&graph, &of));
    }
}
