//! The part of a suite about an edge triplet.

use super::SuiteError;
use super::model::{AdjList, Edge, Status, missing_file};
use super::property::value_text;
use super::text::{Suite, escaped, quoted};

/// Layouts in the order in which a scan of the whole edge type prefers them.
const LAYOUTS: [&str; 4] = [
    "ordered_by_source",
    "ordered_by_dest",
    "unordered_by_source",
    "unordered_by_dest",
];

/// Writes the queries about an edge triplet: its table, then each layout.
pub(super) fn write(suite: &mut Suite, edge: &Edge) -> Result<(), SuiteError> {
    let name = format!("{}_{}_{}", edge.src_type, edge.edge_type, edge.dst_type);
    let table = format!("g.{}", quoted(&name));
    suite.heading(&format!("Edge triplet {name}"));
    let layouts: Vec<_> = LAYOUTS
        .into_iter()
        .filter_map(|layout| Some((layout, edge.adj_lists.get(layout)?)))
        .collect();
    let Some((_, preferred)) = layouts.iter().find(|(_, list)| list.status == Status::Ok) else {
        for (layout, list) in &layouts {
            no_data(
                suite,
                &name,
                &format!("g.{}", quoted(&format!("{name}${layout}"))),
                list,
            )?;
        }
        // The table reads the layout that comes first.
        return match layouts.first() {
            Some((_, list)) => no_data(suite, &name, &table, list),
            None => Err(SuiteError::new(&name, "no adjacency list".to_owned())),
        };
    };
    let mut types = preferred
        .properties
        .iter()
        .map(|property| property.column_type())
        .collect::<Result<String, _>>()?;
    types.push_str("II");
    suite.comment("Number, order and types of the columns.");
    suite.query(
        &types,
        &format!("SELECT * FROM {table} WHERE _src_id < 0"),
        &[],
    );
    check(suite, &name, &table, preferred)?;
    for (layout, list) in &layouts {
        let layout_table = format!("g.{}", quoted(&format!("{name}${layout}")));
        suite.comment(&format!("Layout {layout}."));
        if list.status == Status::Ok {
            check(suite, &name, &layout_table, list)?;
            same_edges(suite, &table, &layout_table, list);
        } else {
            no_data(suite, &name, &layout_table, list)?;
        }
    }
    suite.comment(
        "The first edges in the order of storage. Only a scan by a single partition has an order\n\
         without ORDER BY.",
    );
    suite.statement("SET datafusion.execution.target_partitions = 1");
    for (layout, list) in layouts.iter().filter(|(_, list)| list.status == Status::Ok) {
        first_rows(
            suite,
            &format!("g.{}", quoted(&format!("{name}${layout}"))),
            list,
        )?;
    }
    suite.statement("SET datafusion.execution.target_partitions = 4");
    Ok(())
}

fn no_data(suite: &mut Suite, name: &str, table: &str, list: &AdjList) -> Result<(), SuiteError> {
    let path = missing_file(&list.errors)
        .ok_or_else(|| SuiteError::new(name, format!("no missing file in {:?}", list.errors)))?;
    let expression = format!("no data: missing file .*{}", escaped(path));
    suite.query_error(&expression, &format!("SELECT count(*) FROM {table}"));
    Ok(())
}

fn check(suite: &mut Suite, name: &str, table: &str, list: &AdjList) -> Result<(), SuiteError> {
    let unknown = |what: &str| SuiteError::new(name, format!("{what} is unknown"));
    let count = list
        .edge_count_from_chunks
        .ok_or_else(|| unknown("edge_count_from_chunks"))?;
    let sum_src = list.sum_src.ok_or_else(|| unknown("sum_src"))?;
    let sum_dst = list.sum_dst.ok_or_else(|| unknown("sum_dst"))?;
    let sum = |sum: i64| {
        if count == 0 {
            "NULL".to_owned()
        } else {
            sum.to_string()
        }
    };
    suite.query(
        "III",
        &format!("SELECT count(*), sum(_src_id), sum(_dst_id)\nFROM {table}"),
        &[vec![count.to_string(), sum(sum_src), sum(sum_dst)]],
    );
    let degrees = [
        (
            "_src_id",
            list.vertices_with_out_degree,
            list.max_out_degree,
        ),
        ("_dst_id", list.vertices_with_in_degree, list.max_in_degree),
    ];
    for (end, vertices, maximum) in degrees {
        let vertices = vertices.ok_or_else(|| unknown("vertices with a degree"))?;
        let maximum = maximum.ok_or_else(|| unknown("maximum degree"))?;
        let maximum = if count == 0 {
            "NULL".to_owned()
        } else {
            maximum.to_string()
        };
        suite.query(
            "II",
            &format!(
                "SELECT count(*), max(degree)\nFROM (SELECT count(*) AS degree FROM {table} GROUP BY {end})"
            ),
            &[vec![vertices.to_string(), maximum]],
        );
    }
    if let Some(paths) = list.two_hop_paths {
        suite.query(
            "I",
            &format!("SELECT count(*)\nFROM {table} a\nJOIN {table} b ON a._dst_id = b._src_id"),
            &[vec![paths.to_string()]],
        );
    }
    for property in &list.properties {
        property.check(suite, table, count)?;
    }
    Ok(())
}

/// EXCEPT ALL of DataFusion is an anti join and blind to how often a row occurs, so the copies
/// are counted: once up in one table, once down in the other.
fn same_edges(suite: &mut Suite, table: &str, layout_table: &str, list: &AdjList) {
    let mut columns: Vec<_> = list
        .properties
        .iter()
        .map(|property| quoted(&property.name))
        .collect();
    columns.extend(["_src_id".to_owned(), "_dst_id".to_owned()]);
    let columns = columns.join(", ");
    suite.query(
        "I",
        &format!(
            "SELECT count(*) FROM (\n\
             \x20 SELECT {columns} FROM (\n\
             \x20   SELECT {columns}, 1 AS copies FROM {table}\n\
             \x20   UNION ALL\n\
             \x20   SELECT {columns}, -1 FROM {layout_table})\n\
             \x20 GROUP BY {columns} HAVING sum(copies) <> 0)"
        ),
        &[vec!["0".to_owned()]],
    );
}

fn first_rows(suite: &mut Suite, table: &str, list: &AdjList) -> Result<(), SuiteError> {
    let (mut types, mut columns) = (
        "II".to_owned(),
        vec!["_src_id".to_owned(), "_dst_id".to_owned()],
    );
    let mut names = vec!["src", "dst"];
    for property in &list.properties {
        let (expression, character) = property.shown()?;
        types.push(character);
        columns.push(expression);
        names.push(&property.name);
    }
    let mut rows = Vec::new();
    for values in &list.first_3_rows {
        let mut row = Vec::new();
        for name in &names {
            let value = values.get(*name);
            let value =
                value.ok_or_else(|| SuiteError::new(name, "not in the first rows".to_owned()))?;
            row.push(value_text(value)?);
        }
        rows.push(row);
    }
    suite.query(
        &types,
        &format!("SELECT {}\nFROM {table} LIMIT 3", columns.join(", ")),
        &rows,
    );
    Ok(())
}
