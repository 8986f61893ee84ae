//! Random small graphs: tiny chunks, empty parts, hubs, loops and repeated edges, in all layouts, with two
//! property groups of vertices and of edges, each in a payload of its own.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, Int32Array, Int64Array, ListArray, ListBuilder, StringArray, StringBuilder,
};
use datafusion_graphar::format::{AdjListType, FileType, Property, ScalarType};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::fixture::*;

/// Declared labels; a vertex has any of them.
pub const LABELS: [&str; 2] = ["red", "blue"];

#[derive(Debug, Clone)]
pub struct RandomGraph {
    vertex_chunk: u64,
    edge_chunk: u64,
    persons: Vec<Person>,
    knows: Vec<Knows>,
    /// Without label files it is unknown who has which label.
    has_label_files: bool,
    vertex_files: Vec<FileType>,
    edge_files: Vec<FileType>,
    layout_files: Vec<FileType>,
}

/// Columns `age` in the group of the key, `name` and `rank` in another.
#[derive(Debug, Clone)]
struct Person {
    age: Option<i64>,
    name: Option<String>,
    rank: Option<i32>,
    labels: Vec<bool>,
}

/// Columns `w` and `x` in one group, `t` and `u` in another: a CSV file of a single column
/// cannot hold a null.
#[derive(Debug, Clone)]
struct Knows {
    /// Not yet an id; see [`RandomGraph::end`].
    ends: (usize, usize),
    w: Option<i64>,
    x: Option<i64>,
    t: Option<String>,
    u: Option<String>,
}

/// From here on, a number means the hub.
const HUB: usize = 20;

fn person_row() -> impl Strategy<Value = Person> {
    let rank = prop_oneof![9 => -2..6_i32, 1 => select(vec![i32::MIN, i32::MAX])];
    let labels = vec(any::<bool>(), LABELS.len());
    (integer(), text(), option::weighted(0.8, rank), labels).prop_map(
        |(age, name, rank, labels)| Person {
            age,
            name,
            rank,
            labels,
        },
    )
}

fn knows_row() -> impl Strategy<Value = Knows> {
    let ends = (0..2 * HUB, 0..2 * HUB);
    (ends, integer(), integer(), text(), text()).prop_map(|(ends, w, x, t, u)| Knows {
        ends,
        w,
        x,
        t,
        u,
    })
}

fn integer() -> impl Strategy<Value = Option<i64>> {
    let value = prop_oneof![19 => -2..6_i64, 1 => select(vec![i64::MIN, i64::MAX, 1 << 40])];
    option::weighted(0.8, value)
}

/// Without blanks, which stand between the values of a row.
fn text() -> impl Strategy<Value = Option<String>> {
    let words = [
        "",
        "a",
        "ab",
        "abc",
        "b",
        "A",
        "a%",
        "é",
        "a,\"b",
        "\u{10ffff}z",
    ];
    option::weighted(0.8, select(words.map(str::to_owned).to_vec()))
}

fn file_types(count: usize) -> impl Strategy<Value = Vec<FileType>> {
    // Only Parquet has pages and statistics.
    let file_type = prop_oneof![Just(FileType::Parquet), select(FileType::ALL.to_vec())];
    vec(file_type, count)
}

pub fn graph() -> impl Strategy<Value = RandomGraph> {
    (
        1..=5_u64,
        1..=4_u64,
        vec(person_row(), 0..14),
        vec(knows_row(), 0..30),
        prop::bool::weighted(0.9),
        file_types(2),
        file_types(2),
        file_types(4),
    )
        .prop_map(
            |(
                vertex_chunk,
                edge_chunk,
                persons,
                mut knows,
                has_label_files,
                vertex_files,
                edge_files,
                layout_files,
            )| {
                if persons.is_empty() {
                    knows.clear();
                }
                RandomGraph {
                    vertex_chunk,
                    edge_chunk,
                    persons,
                    knows,
                    has_label_files,
                    vertex_files,
                    edge_files,
                    layout_files,
                }
            },
        )
}

impl RandomGraph {
    fn end(&self, raw: usize) -> i64 {
        let vertices = self.persons.len();
        let id = if raw >= HUB {
            vertices / 2
        } else {
            raw % vertices
        };
        i64::try_from(id).unwrap()
    }

    fn edges(&self) -> Vec<(i64, i64)> {
        let ends = self.knows.iter().map(|edge| edge.ends);
        ends.map(|(s, d)| (self.end(s), self.end(d))).collect()
    }

    pub async fn write(&self) -> Archive {
        let fixture = self.write_persons(Fixture::new()).await;
        self.write_knows(fixture).await.finish().await
    }

    async fn write_persons(&self, fixture: Fixture) -> Fixture {
        let mut info = person(self.vertex_chunk, self.vertex_files[0]);
        info.labels = LABELS.map(str::to_owned).to_vec();
        info.property_groups[0]
            .properties
            .push(property("age", ScalarType::Int64));
        let rest = vec![
            property("name", ScalarType::String),
            property("rank", ScalarType::Int32),
        ];
        info.property_groups.push(group(self.vertex_files[1], rest));
        let rank: Int32Array = self.persons.iter().map(|p| p.rank).collect();
        let rows = batch(vec![
            ("id", ints((1000..).take(self.persons.len()))),
            ("age", numbers(self.persons.iter().map(|p| p.age))),
            (
                "name",
                strings(self.persons.iter().map(|p| p.name.as_deref())),
            ),
            ("rank", Arc::new(rank)),
        ]);
        if self.has_label_files {
            fixture.labelled(info, &rows, &self.labels()).await
        } else {
            fixture.vertices(info, &rows).await
        }
    }

    fn labels(&self) -> ListArray {
        let mut labels = ListBuilder::new(StringBuilder::new());
        for person in &self.persons {
            labels.append_value(person.labels().map(Some));
        }
        labels.finish()
    }

    async fn write_knows(&self, fixture: Fixture) -> Fixture {
        let mut info = knows(self.vertex_chunk, self.edge_chunk, FileType::Parquet);
        info.adj_lists = AdjListType::ALL
            .into_iter()
            .zip(&self.layout_files)
            .map(|(layout, file_type)| list(layout, *file_type))
            .collect();
        let pair = |names: [&str; 2], scalar: ScalarType| -> Vec<Property> {
            names.map(|name| property(name, scalar)).to_vec()
        };
        info.property_groups = vec![
            group(self.edge_files[0], pair(["w", "x"], ScalarType::Int64)),
            group(self.edge_files[1], pair(["t", "u"], ScalarType::String)),
        ];
        let rows = batch(vec![
            ("w", numbers(self.knows.iter().map(|e| e.w))),
            ("x", numbers(self.knows.iter().map(|e| e.x))),
            ("t", strings(self.knows.iter().map(|e| e.t.as_deref()))),
            ("u", strings(self.knows.iter().map(|e| e.u.as_deref()))),
        ]);
        fixture.edges(info, &self.edges(), Some(rows)).await
    }

    /// What `SELECT _vertex_id, id, age, name, rank, _labels FROM g.person` gives, sorted.
    pub fn person_rows(&self) -> Vec<String> {
        let rows = self.persons.iter().enumerate().map(|(row, person)| {
            let labels: Vec<&str> = person.labels().collect();
            let labels = self
                .has_label_files
                .then(|| format!("[{}]", labels.join(", ")));
            format!(
                "{row} {} {} {} {} {}",
                1000 + row,
                shown(person.age),
                shown(person.name.as_deref()),
                shown(person.rank),
                shown(labels)
            )
        });
        sorted(rows.collect())
    }

    /// What `SELECT _src_id, _dst_id, w, x, t, u` gives for every layout, sorted.
    pub fn knows_rows(&self) -> Vec<String> {
        let rows = self.knows.iter().zip(self.edges()).map(|(edge, (s, d))| {
            let (w, x) = (shown(edge.w), shown(edge.x));
            let (t, u) = (shown(edge.t.as_deref()), shown(edge.u.as_deref()));
            format!("{s} {d} {w} {x} {t} {u}")
        });
        sorted(rows.collect())
    }
}

impl Person {
    fn labels(&self) -> impl Iterator<Item = &'static str> {
        let has = LABELS.into_iter().zip(&self.labels);
        has.filter(|(_, has)| **has).map(|(label, _)| label)
    }
}

fn numbers(values: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.collect::<Int64Array>())
}

fn strings<'a>(values: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    Arc::new(values.collect::<StringArray>())
}

fn shown(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "NULL".to_owned(), |value| value.to_string())
}

pub fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort();
    rows
}
