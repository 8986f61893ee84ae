//! Random graphs, written in one go and extended: the tables are what a plain list of rows says.

use datafusion_graphar::format::FileType;
use datafusion_graphar::session::SessionContextExt;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use tokio::runtime::Runtime;

use super::*;
use crate::fixture::{How, rows, value};

/// A property: its name, its type in SQL, and its values, as text in SQL and as they are shown.
type Kind = (
    &'static str,
    &'static str,
    [(&'static str, &'static str); 3],
);

/// One of every type but for lists.
const KINDS: [Kind; 8] = [
    (
        "flag",
        "BOOLEAN",
        [("true", "true"), ("false", "false"), ("true", "true")],
    ),
    (
        "small",
        "INT",
        [("0", "0"), ("-2147483648", "-2147483648"), ("7", "7")],
    ),
    (
        "big",
        "BIGINT",
        [
            ("1", "1"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("1099511627776", "1099511627776"),
        ],
    ),
    (
        "half",
        "FLOAT",
        [("1.5", "1.5"), ("-0.25", "-0.25"), ("0", "0.0")],
    ),
    (
        "num",
        "DOUBLE",
        [("0.1", "0.1"), ("-2.5", "-2.5"), ("1024", "1024.0")],
    ),
    (
        "text",
        "VARCHAR",
        [("", ""), ("a,\"b", "a,\"b"), ("é\nline ", "é\nline ")],
    ),
    (
        "day",
        "DATE",
        [
            ("1969-12-31", "1969-12-31"),
            ("2024-02-29", "2024-02-29"),
            ("0001-01-01", "0001-01-01"),
        ],
    ),
    (
        "at",
        "TIMESTAMP",
        [
            ("1969-12-30T23:59:59.999", "1969-12-30T23:59:59.999"),
            ("2020-01-01T00:00:00", "2020-01-01T00:00:00"),
            ("1900-05-05T12:34:56.100", "1900-05-05T12:34:56.100"),
        ],
    ),
];

/// The lists that the column `tags` has, by their number, and as they are shown.
const LISTS: [(&str, &str); 3] = [
    ("[1, NULL]", "[1, NULL]"),
    ("arrow_cast(make_array(), 'List(Int64)')", "[]"),
    ("[3, -4, 3]", "[3, -4, 3]"),
];

/// Which value each property has, in the order of the kinds, and last the list of a vertex; none is null. Edges have
/// no lists.
type Values = Vec<Option<usize>>;

fn values(count: usize) -> impl Strategy<Value = Values> {
    vec(prop::option::weighted(0.7, 0..3_usize), count)
}

fn vertex() -> impl Strategy<Value = Values> {
    values(KINDS.len() + 1)
}

/// An edge whose ends are not yet ids: they are taken modulo the number of vertices.
type RawEdge = (usize, usize, Values);

fn raw_edge() -> impl Strategy<Value = RawEdge> {
    // Few ends, so that edges repeat.
    (
        0..1000_usize,
        prop_oneof![0..4_usize, 0..1000_usize],
        values(KINDS.len()),
    )
}

#[derive(Debug, Clone)]
enum Insert {
    Vertices(usize, Vec<Values>),
    Edges(Vec<RawEdge>),
}

fn insert() -> impl Strategy<Value = Insert> {
    prop_oneof![
        (0..2_usize, vec(vertex(), 1..9)).prop_map(|(which, rows)| Insert::Vertices(which, rows)),
        vec(raw_edge(), 1..20).prop_map(Insert::Edges),
    ]
}

/// How a graph is written, and of what.
#[derive(Debug, Clone)]
struct Plan {
    partitions: usize,
    batch_size: usize,
    /// Chunk sizes of the first and second vertex type, and of the edges.
    chunks: Vec<u64>,
    file_types: Vec<FileType>,
    layouts: Vec<&'static str>,
    /// Vertices of each type; with one type only, edges are between its own.
    vertices: Vec<Vec<Values>>,
    edges: Vec<RawEdge>,
    inserts: Vec<Insert>,
}

fn plan() -> impl Strategy<Value = Plan> {
    let layouts: Vec<&str> = LAYOUTS.split(',').collect();
    let how = (select(vec![1, 1, 1, 16]), select(vec![1, 3, 8192]));
    (
        how,
        vec(1..8_u64, 3),
        vec(select(FileType::ALL.to_vec()), 3),
        subsequence(layouts, 1..=4),
        vec(vec(vertex(), 0..=40), 1..=2),
        vec(raw_edge(), 0..=120),
        vec(insert(), 0..=3),
    )
        .prop_map(
            |(how, chunks, file_types, layouts, vertices, edges, inserts)| Plan {
                partitions: how.0,
                batch_size: how.1,
                chunks,
                file_types,
                layouts,
                vertices,
                edges,
                inserts,
            },
        )
}

/// What the graph has to hold.
#[derive(Debug, Default)]
struct Model {
    /// Rows of each vertex type, by internal id.
    vertices: Vec<Vec<Values>>,
    edges: Vec<(usize, usize, Values)>,
}

const TYPES: [&str; 2] = ["p", "q"];

impl Model {
    /// The type of edges' destinations.
    fn destination(&self) -> usize {
        self.vertices.len() - 1
    }

    fn table(&self) -> String {
        format!("p_e_{}", TYPES[self.destination()])
    }

    /// Edges between vertices that there are; none if there are no vertices.
    fn edges_of(&self, raw: &[RawEdge]) -> Vec<(usize, usize, Values)> {
        let (sources, destinations) = (
            self.vertices[0].len(),
            self.vertices[self.destination()].len(),
        );
        if sources == 0 || destinations == 0 {
            return vec![];
        }
        raw.iter()
            .map(|(s, d, values)| (s % sources, d % destinations, values.clone()))
            .collect()
    }
}

/// Keys in an order of their own.
fn key(id: usize) -> usize {
    id ^ 5
}

fn shown(values: &Values) -> String {
    let lists = LISTS.map(|(_, shown)| shown);
    let kinds = KINDS
        .iter()
        .map(|(_, _, kind)| kind.map(|(_, shown)| shown));
    let shown = kinds.chain([lists]).zip(values);
    let shown: Vec<&str> = shown
        .map(|(kind, value)| value.map_or("NULL", |value| kind[value]))
        .collect();
    shown.join(" ")
}

/// The first columns of a vertex type and an edge triplet, as the tables have them.
const VERTEX: [&str; 2] = ["_vertex_id", "id"];
const EDGE: [&str; 2] = ["_src_id", "_dst_id"];

/// The names of these columns and of all properties.
fn names(first: &[&str]) -> String {
    let kinds = KINDS.iter().map(|(name, _, _)| *name);
    let lists = (first != EDGE).then_some("tags");
    let all: Vec<&str> = first.iter().copied().chain(kinds).chain(lists).collect();
    all.join(", ")
}

/// A query of new rows, which begin with these numbers. They stand in a view, as `VALUES` anywhere in an `INSERT`
/// would have to have its columns.
async fn query<'a>(
    ctx: &SessionContext,
    first: &[&str],
    new: impl Iterator<Item = (Vec<usize>, &'a Values)>,
) -> String {
    let mut texts: Vec<String> = new
        .enumerate()
        .map(|(row, (numbers, values))| {
            let mut texts = vec![row.to_string()];
            texts.extend(numbers.iter().map(usize::to_string));
            let kinds = KINDS.iter().map(|(_, _, kind)| kind.map(|(text, _)| text));
            for (kind, value) in kinds.chain([["0", "1", "2"]]).zip(values) {
                texts.push(value.map_or("NULL".to_owned(), |value| format!("'{}'", kind[value])));
            }
            format!("({})", texts.join(", "))
        })
        .collect();
    let mut condition = "";
    if texts.is_empty() {
        let nulls = vec!["NULL"; 1 + names(first).split(", ").count()];
        texts.push(format!("({})", nulls.join(", ")));
        condition = "WHERE false";
    }
    let mut columns: Vec<String> = first
        .iter()
        .map(|name| format!("CAST({name} AS BIGINT) AS {name}"))
        .collect();
    for (name, of, _) in KINDS {
        columns.push(format!("CAST({name} AS {of}) AS {name}"));
    }
    if first != EDGE {
        let [a, b, c] = LISTS.map(|(sql, _)| sql);
        columns.push(format!(
            "CASE CAST(tags AS INT) WHEN 0 THEN {a} WHEN 1 THEN {b} WHEN 2 THEN {c} END AS tags"
        ));
    }
    let view = format!(
        "CREATE OR REPLACE VIEW new_rows AS SELECT n, {} FROM (VALUES {}) t(n, {}) {condition}",
        columns.join(", "),
        texts.join(", "),
        names(first)
    );
    rows(ctx, &view).await;
    format!("SELECT {} FROM new_rows ORDER BY n", names(first))
}

async fn vertex_query(ctx: &SessionContext, first: usize, new: &[Values]) -> String {
    let new = new.iter().enumerate();
    let new = new.map(|(row, values)| (vec![key(first + row)], values));
    query(ctx, &["id"], new).await
}

async fn edge_query(ctx: &SessionContext, new: &[(usize, usize, Values)]) -> String {
    let new = new.iter().map(|(s, d, values)| (vec![*s, *d], values));
    query(ctx, &EDGE, new).await
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort();
    rows
}

/// Compares all tables that are there with the model.
async fn check(ctx: &SessionContext, model: &Model, layouts: &[&str]) {
    for (name, vertices) in TYPES.iter().zip(&model.vertices) {
        let expected: Vec<String> = vertices
            .iter()
            .enumerate()
            .map(|(id, values)| format!("{id} {} {}", key(id), shown(values)))
            .collect();
        let columns = names(&VERTEX);
        let sql = format!("SELECT {columns} FROM g.{name} ORDER BY _vertex_id");
        assert_eq!(rows(ctx, &sql).await, expected, "{name}");
    }
    let edges = model.edges.iter();
    let edges: Vec<String> = edges
        .map(|(s, d, values)| format!("{s} {d} {}", shown(values)))
        .collect();
    let table = model.table();
    let tables = [""].into_iter().chain(layouts.iter().copied());
    let (mut queries, mut expected) = (vec![], vec![]);
    for layout in tables {
        let separator = if layout.is_empty() { "" } else { "$" };
        let columns = names(&EDGE);
        queries.push(format!(
            "SELECT ':{layout}', {columns} FROM g.\"{table}{separator}{layout}\""
        ));
        expected.extend(edges.iter().map(|edge| format!(":{layout} {edge}")));
    }
    let found = rows(ctx, &queries.join(" UNION ALL ")).await;
    assert_eq!(sorted(found), sorted(expected));
    assert_sound(ctx).await;
}

async fn run(plan: &Plan) {
    let store = Arc::new(InMemory::new());
    let how = How {
        partitions: plan.partitions,
        batch_size: plan.batch_size,
        ..How::default()
    };
    let ctx = session(&store, &how);
    let mut model = Model::default();
    for (number, vertices) in plan.vertices.iter().enumerate() {
        let options = format!(
            "'vertex' '{}', 'key' 'id', 'chunk_size' '{}', 'file_type' '{}', 'groups' 'tags as parquet'",
            TYPES[number], plan.chunks[number], plan.file_types[number]
        );
        let query = vertex_query(&ctx, 0, vertices).await;
        rows(&ctx, &copy(&query, &options)).await;
        model.vertices.push(vertices.clone());
    }
    model.edges = model.edges_of(&plan.edges);
    let options = format!(
        "'edge' 'p-e-{}', 'chunk_size' '{}', 'file_type' '{}', 'layouts' '{}'",
        TYPES[model.destination()],
        plan.chunks[2],
        plan.file_types[2],
        plan.layouts.join(", ")
    );
    let query = edge_query(&ctx, &model.edges).await;
    rows(&ctx, &copy(&query, &options)).await;
    ctx.register_graph("g", GRAPH).await.unwrap();
    check(&ctx, &model, &plan.layouts).await;
    for insert in &plan.inserts {
        let (statement, count) = match insert {
            Insert::Vertices(which, new) => {
                let which = which % model.vertices.len();
                let query = vertex_query(&ctx, model.vertices[which].len(), new).await;
                model.vertices[which].extend_from_slice(new);
                let columns = names(&["id"]);
                let into = TYPES[which];
                (
                    format!("INSERT INTO g.{into} ({columns}) {query}"),
                    new.len(),
                )
            }
            Insert::Edges(raw) => {
                let new = model.edges_of(raw);
                let query = edge_query(&ctx, &new).await;
                let (table, columns) = (model.table(), names(&EDGE));
                let count = new.len();
                model.edges.extend(new);
                (format!("INSERT INTO g.{table} ({columns}) {query}"), count)
            }
        };
        assert_eq!(value(&ctx, &statement).await, count.to_string());
        check(&ctx, &model, &plan.layouts).await;
    }
    if !plan.inserts.is_empty() {
        check(&reopened(&store).await, &model, &plan.layouts).await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        max_shrink_iters: 100,
        failure_persistence: None,
        ..ProptestConfig::with_cases(10)
    })]

    #[test]
    fn tables_are_what_the_statements_wrote(plan in plan()) {
        Runtime::new().unwrap().block_on(Box::pin(run(&plan)));
    }
}
