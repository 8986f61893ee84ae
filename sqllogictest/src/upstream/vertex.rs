//! The part of a suite about a vertex type.

use super::SuiteError;
use super::model::{LabelData, Status, Vertex, missing_file};
use super::property::value_text;
use super::text::{Suite, escaped, quoted};

/// Writes the queries about a vertex type.
pub(super) fn write(suite: &mut Suite, name: &str, vertex: &Vertex) -> Result<(), SuiteError> {
    let table = format!("g.{}", quoted(name));
    suite.heading(&format!("Vertex type {name}"));
    let rows = match (vertex.status, vertex.rows) {
        (Status::Ok, Some(rows)) => rows,
        _ => {
            let path = missing_file(&vertex.errors).ok_or_else(|| {
                SuiteError::new(name, format!("no missing file in {:?}", vertex.errors))
            })?;
            let expression = format!("no data: missing file .*{}", escaped(path));
            suite.query_error(&expression, &format!("SELECT count(*) FROM {table}"));
            suite.query_error(&expression, &format!("SELECT * FROM {table}"));
            return Ok(());
        }
    };
    let id_sum = if rows == 0 {
        "NULL".to_owned()
    } else {
        (rows * (rows - 1) / 2).to_string()
    };
    suite.query(
        "II",
        &format!("SELECT count(*), sum(_vertex_id) FROM {table}"),
        &[vec![rows.to_string(), id_sum]],
    );
    suite.query(
        "III",
        &format!(
            "SELECT count(DISTINCT _vertex_id), min(_vertex_id), max(_vertex_id) FROM {table}"
        ),
        &[if rows == 0 {
            vec!["0".to_owned(), "NULL".to_owned(), "NULL".to_owned()]
        } else {
            vec![rows.to_string(), "0".to_owned(), (rows - 1).to_string()]
        }],
    );
    let mut types = vertex
        .properties
        .iter()
        .map(|property| property.column_type())
        .collect::<Result<String, _>>()?;
    if !vertex.labels.is_empty() {
        types.push('?');
    }
    types.push('I');
    suite.comment("Number, order and types of the columns.");
    suite.query(
        &types,
        &format!("SELECT * FROM {table} WHERE _vertex_id < 0"),
        &[],
    );
    suite.comment("Nulls and checksum of each property.");
    for property in &vertex.properties {
        property.check(suite, &table, rows)?;
    }
    first_rows(suite, &table, vertex)?;
    if let Some(labels) = &vertex.label_data {
        write_labels(suite, &table, labels);
    }
    Ok(())
}

fn first_rows(suite: &mut Suite, table: &str, vertex: &Vertex) -> Result<(), SuiteError> {
    let (mut types, mut columns) = ("I".to_owned(), vec!["_vertex_id".to_owned()]);
    for property in &vertex.properties {
        let (expression, character) = property.shown()?;
        types.push(character);
        columns.push(expression);
    }
    let mut rows = Vec::new();
    for (id, values) in vertex.first_3_rows.iter().enumerate() {
        let mut row = vec![id.to_string()];
        for property in &vertex.properties {
            let value = values.get(&property.name);
            let value = value.ok_or_else(|| {
                SuiteError::new(&property.name, "not in the first rows".to_owned())
            })?;
            row.push(value_text(value)?);
        }
        rows.push(row);
    }
    let columns = columns.join(", ");
    suite.query(
        &types,
        &format!("SELECT {columns}\nFROM {table} ORDER BY _vertex_id LIMIT 3"),
        &rows,
    );
    Ok(())
}

fn write_labels(suite: &mut Suite, table: &str, labels: &LabelData) {
    suite.comment("Labels.");
    let counts: Vec<_> = labels
        .true_counts
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(label, count)| vec![label.clone(), count.to_string()])
        .collect();
    suite.query(
        "TI",
        &format!(
            "SELECT label, count(*) FROM (SELECT unnest(_labels) AS label FROM {table})\n\
             GROUP BY label ORDER BY label"
        ),
        &counts,
    );
    suite.query(
        "II",
        &format!(
            "SELECT count(*) FILTER (WHERE labels = 0), count(*) FILTER (WHERE labels > 1)\n\
             FROM (SELECT cardinality(_labels) AS labels FROM {table})"
        ),
        &[vec![
            labels.rows_without_label.to_string(),
            labels.rows_with_several_labels.to_string(),
        ]],
    );
    let rows: Vec<_> = labels
        .first_3_rows
        .iter()
        .enumerate()
        .map(|(id, labels)| vec![id.to_string(), format!("[{}]", labels.join(", "))])
        .collect();
    suite.query(
        "I?",
        &format!("SELECT _vertex_id, _labels\nFROM {table} ORDER BY _vertex_id LIMIT 3"),
        &rows,
    );
}
