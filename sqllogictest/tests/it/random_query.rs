//! Random conditions and projections, as SQL over the tables of a random graph.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::random_graph::LABELS;

/// What a table has that conditions can name.
#[derive(Debug, Clone, Copy)]
pub struct Columns {
    /// Columns of internal ids.
    pub ids: &'static [&'static str],
    pub integers: &'static [&'static str],
    pub strings: &'static [&'static str],
    pub has_labels: bool,
}

pub const PERSON: Columns = Columns {
    ids: &["_vertex_id"],
    integers: &["id", "age", "rank"],
    strings: &["name"],
    has_labels: true,
};

pub const KNOWS: Columns = Columns {
    ids: &["_src_id", "_dst_id"],
    integers: &["w", "x"],
    strings: &["t", "u"],
    has_labels: false,
};

/// The default table of the edges, and the table of each layout.
pub const EDGE_TABLES: [&str; 5] = [
    "person_knows_person",
    "person_knows_person$ordered_by_source",
    "person_knows_person$ordered_by_dest",
    "person_knows_person$unordered_by_source",
    "person_knows_person$unordered_by_dest",
];

/// An edge table, ready to stand after FROM.
pub fn edge_table() -> impl Strategy<Value = String> {
    select(EDGE_TABLES.to_vec()).prop_map(|table| format!("g.\"{table}\""))
}

/// A condition, which has a value for every row: nothing in it fails.
pub fn condition(columns: Columns) -> impl Strategy<Value = String> {
    leaf(columns).prop_recursive(3, 10, 2, |inner| {
        prop_oneof![
            4 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} AND {b})")),
            4 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} OR {b})")),
            2 => inner.clone().prop_map(|a| format!("(NOT {a})")),
            1 => (inner, select(vec!["TRUE", "NOT TRUE", "FALSE", "NULL", "NOT NULL"]))
                .prop_map(|(a, what)| format!("({a} IS {what})")),
        ]
    })
}

/// Some columns in any order, or a constant.
pub fn projection(columns: Columns) -> impl Strategy<Value = String> {
    let all: Vec<&str> = [columns.ids, columns.integers, columns.strings].concat();
    let most = all.len();
    subsequence(all, 0..=most)
        .prop_shuffle()
        .prop_map(|chosen| match chosen.is_empty() {
            true => "1".to_owned(),
            false => chosen.join(", "),
        })
}

/// Rows of `VALUES`, some of which are ids.
pub fn few_ids() -> impl Strategy<Value = String> {
    vec(prop_oneof![9 => -1..15_i64, 1 => Just(i64::MAX)], 1..5).prop_map(|ids| {
        let rows: Vec<String> = ids.iter().map(|id| format!("({id})")).collect();
        rows.join(", ")
    })
}

fn leaf(columns: Columns) -> BoxedStrategy<String> {
    let labels = if columns.has_labels { 3 } else { 0 };
    prop_oneof![
        8 => on_integer(select(columns.ids.to_vec()).boxed()),
        4 => on_id(select(columns.ids.to_vec()).boxed()),
        8 => on_integer(select(columns.integers.to_vec()).boxed()),
        6 => on_string(select(columns.strings.to_vec()).boxed()),
        1 => select(vec!["TRUE", "FALSE", "CAST(NULL AS BOOLEAN)"]).prop_map(str::to_owned),
        labels => on_labels(),
    ]
    .boxed()
}

fn operator() -> impl Strategy<Value = &'static str> {
    let distinct = vec!["IS DISTINCT FROM", "IS NOT DISTINCT FROM"];
    prop_oneof![
        6 => select(vec!["=", "<>", "<", "<=", ">", ">="]),
        1 => select(distinct),
    ]
}

fn integer() -> impl Strategy<Value = String> {
    let far = [
        "9223372036854775807",
        "-9223372036854775807",
        "1099511627776",
    ];
    prop_oneof![
        12 => (-2..15_i64).prop_map(|value| value.to_string()),
        3 => (999..1015_i64).prop_map(|value| value.to_string()),
        1 => select(far.to_vec()).prop_map(str::to_owned),
        1 => Just("NULL".to_owned()),
    ]
}

fn on_integer(column: BoxedStrategy<&'static str>) -> BoxedStrategy<String> {
    let constant = || prop_oneof![9 => integer(), 1 => Just("2.5".to_owned())];
    let not = || select(vec!["", "NOT "]);
    let compared = (column.clone(), operator(), constant());
    let reversed = (column.clone(), operator(), constant());
    let listed = (column.clone(), not(), vec(integer(), 1..5));
    let between = (column.clone(), not(), integer(), integer());
    let null = (column.clone(), not());
    let changed = select(vec!["{} + 1", "2 * {}", "{} % 3", "-{}", "coalesce({}, 1)"]);
    let changed = (column, changed, operator(), integer());
    prop_oneof![
        6 => compared.prop_map(|(c, op, k)| format!("({c} {op} {k})")),
        3 => reversed.prop_map(|(c, op, k)| format!("({k} {op} {c})")),
        3 => listed.prop_map(|(c, not, ks)| format!("({c} {not}IN ({}))", ks.join(", "))),
        3 => between.prop_map(|(c, not, a, b)| format!("({c} {not}BETWEEN {a} AND {b})")),
        1 => null.prop_map(|(c, not)| format!("({c} IS {not}NULL)")),
        1 => changed.prop_map(|(c, to, op, k)| format!("({} {op} {k})", to.replace("{}", c))),
    ]
    .boxed()
}

/// Casts that cannot fail, as ids are small, and ids beside each other.
fn on_id(column: BoxedStrategy<&'static str>) -> BoxedStrategy<String> {
    let small = || -2..15_i64;
    let cast = select(vec!["INT", "DOUBLE", "DECIMAL(20, 2)", "BIGINT"]);
    let cast = (column.clone(), cast, operator(), small());
    let text = (column.clone(), operator(), small());
    let typed = select(vec!["Int8", "Int32", "Float64", "Decimal128(10, 1)"]);
    let typed = (column.clone(), operator(), small(), typed);
    let both = (column.clone(), operator(), column.clone());
    let ranges = (column, small(), small(), small());
    prop_oneof![
        (cast.prop_map(|(c, to, op, k)| format!("(CAST({c} AS {to}) {op} {k})"))),
        (text.prop_map(|(c, op, k)| format!("(CAST({c} AS VARCHAR) {op} '{k}')"))),
        (typed.prop_map(|(c, op, k, to)| format!("({c} {op} arrow_cast({k}, '{to}'))"))),
        (both.prop_map(|(a, op, b)| format!("({a} {op} {b})"))),
        (ranges.prop_map(|(c, a, b, k)| format!("({c} < {a} OR {c} > {b} OR {c} = {k})"))),
    ]
    .boxed()
}

fn on_string(column: BoxedStrategy<&'static str>) -> BoxedStrategy<String> {
    let words = vec!["''", "'a'", "'ab'", "'abd'", "'b'", "'z'", "'é'", "NULL"];
    let word = || select(words.clone());
    let not = || select(vec!["", "NOT "]);
    let compared = (column.clone(), operator(), word());
    let reversed = (column.clone(), operator(), word());
    let listed = (column.clone(), not(), vec(word(), 1..4));
    let patterns = select(vec![
        "'a%'", "'ab%'", "'%b'", "'a_'", "'a\\%'", "'%'", "''", "'ab'",
    ]);
    let like = (
        column.clone(),
        not(),
        select(vec!["LIKE", "ILIKE"]),
        patterns,
    );
    let starts = (column.clone(), word());
    let between = (column.clone(), not(), word(), word());
    let null = (column.clone(), not());
    prop_oneof![
        4 => compared.prop_map(|(c, op, k)| format!("({c} {op} {k})")),
        2 => reversed.prop_map(|(c, op, k)| format!("({k} {op} {c})")),
        2 => listed.prop_map(|(c, not, ks)| format!("({c} {not}IN ({}))", ks.join(", "))),
        3 => like.prop_map(|(c, not, like, p)| format!("({c} {not}{like} {p})")),
        1 => starts.prop_map(|(c, k)| format!("starts_with({c}, {k})")),
        1 => between.prop_map(|(c, not, a, b)| format!("({c} {not}BETWEEN {a} AND {b})")),
        1 => null.prop_map(|(c, not)| format!("({c} IS {not}NULL)")),
        1 => column.prop_map(|c| format!("(character_length({c}) = 1)")),
    ]
    .boxed()
}

fn on_labels() -> BoxedStrategy<String> {
    let label = select([LABELS.as_slice(), &["none"]].concat());
    prop_oneof![
        4 => label.prop_map(|label| format!("array_has(_labels, '{label}')")),
        1 => Just("(_labels IS NULL)".to_owned()),
        1 => Just("(cardinality(_labels) = 1)".to_owned()),
    ]
    .boxed()
}
