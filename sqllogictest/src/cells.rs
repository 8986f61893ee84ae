//! Values as text.
//!
//! | Value | Text |
//! |---|---|
//! | null | `NULL` |
//! | empty string | `(empty)` |
//! | text | as it is; newline, carriage return and tab as `\n`, `\r`, `\t` |
//! | float, double | the shortest decimal text that reads back as the same number, without an exponent and without a trailing `.0`: `0.1`, `2`; `NaN`, `Infinity`, `-Infinity` |
//! | list | `[a, b]` with the items as in this table, so `[]`, `[NULL]` and `[(empty)]` differ |
//! | the rest | as Arrow's formatter writes it: `2020-01-31`, `2020-01-31T12:00:00.005` |
//!
//! A sum of floats depends on the order of the rows: a file rounds it in SQL.

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

const FORMAT: FormatOptions<'static> = FormatOptions::new().with_null("NULL");

/// All rows of the batches, in their order.
pub fn rows(batches: &[RecordBatch]) -> Result<Vec<Vec<String>>, ArrowError> {
    let mut rows = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            rows.push(
                batch
                    .columns()
                    .iter()
                    .map(|column| cell(column, row))
                    .collect::<Result<_, _>>()?,
            );
        }
    }
    Ok(rows)
}

/// One value.
pub fn cell(column: &dyn Array, row: usize) -> Result<String, ArrowError> {
    if column.is_null(row) {
        return Ok("NULL".to_owned());
    }
    let text = match column.data_type() {
        DataType::Null => "NULL".to_owned(),
        DataType::Float32 => {
            let value = column.as_primitive::<Float32Type>().value(row);
            float(value.into(), || value.to_string())
        }
        DataType::Float64 => {
            let value = column.as_primitive::<Float64Type>().value(row);
            float(value, || value.to_string())
        }
        DataType::List(_) => list(&column.as_list::<i32>().value(row))?,
        DataType::LargeList(_) => list(&column.as_list::<i64>().value(row))?,
        DataType::FixedSizeList(..) => list(&column.as_fixed_size_list().value(row))?,
        _ => ArrayFormatter::try_new(column, &FORMAT)?
            .value(row)
            .try_to_string()?,
    };
    Ok(if text.is_empty() {
        "(empty)".to_owned()
    } else {
        escape(&text)
    })
}

fn float(value: f64, finite: impl FnOnce() -> String) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 {
            "Infinity".to_owned()
        } else {
            "-Infinity".to_owned()
        }
    } else {
        finite()
    }
}

fn list(items: &ArrayRef) -> Result<String, ArrowError> {
    let items = (0..items.len())
        .map(|row| cell(items, row))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(format!("[{}]", items.join(", ")))
}

fn escape(text: &str) -> String {
    text.replace('\n', "\\n")
        .replace('\r', "\\r")
        .replace('\t', "\\t")
}

/// A plan as rows: its kind, then its lines. Lines are numbered because leading blanks, which
/// show the depth, do not survive in every editor.
pub fn plan_rows(rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    for mut row in rows {
        let plan = row.pop().unwrap_or_default();
        lines.push(row);
        let plan = plan.strip_suffix("\\n").unwrap_or(&plan);
        for (number, line) in (1..).zip(plan.split("\\n")) {
            let depth = line.len() - line.trim_start_matches(' ').len();
            lines.push(vec![format!(
                "{number:02}){}{}",
                "-".repeat(depth),
                &line[depth..]
            )]);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{
        Float32Array, Float64Array, Int64Array, ListArray, NullArray, StringArray, StringViewArray,
    };
    use datafusion::arrow::datatypes::Int32Type;

    use super::*;

    fn texts(array: &dyn Array) -> Vec<String> {
        (0..array.len())
            .map(|row| cell(array, row).unwrap())
            .collect()
    }

    #[test]
    fn floats_are_the_shortest_text_that_reads_back() {
        let doubles = Float64Array::from(vec![
            2.0,
            0.1,
            -0.5,
            1e21,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ]);
        let expected = [
            "2",
            "0.1",
            "-0.5",
            "1000000000000000000000",
            "NaN",
            "Infinity",
            "-Infinity",
        ];
        assert_eq!(texts(&doubles), expected);
        assert_eq!(texts(&Float32Array::from(vec![0.1, 3.0])), ["0.1", "3"]);
    }

    #[test]
    fn null_and_empty_text_differ() {
        assert_eq!(
            texts(&StringArray::from(vec![None, Some(""), Some("a b")])),
            ["NULL", "(empty)", "a b"]
        );
        assert_eq!(
            texts(&StringViewArray::from(vec![None, Some(""), Some("a\nb")])),
            ["NULL", "(empty)", "a\\nb"]
        );
        assert_eq!(texts(&NullArray::new(1)), ["NULL"]);
        assert_eq!(
            texts(&Int64Array::from(vec![None, Some(-1)])),
            ["NULL", "-1"]
        );
    }

    #[test]
    fn empty_lists_null_lists_and_null_items_differ() {
        let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([
            None,
            Some(vec![]),
            Some(vec![None]),
            Some(vec![Some(1), Some(2)]),
        ]);
        assert_eq!(texts(&lists), ["NULL", "[]", "[NULL]", "[1, 2]"]);
    }

    #[test]
    fn a_plan_is_one_row_for_each_line() {
        let plan = vec![vec![
            "logical_plan".to_owned(),
            "Filter\\n  Scan\\n".to_owned(),
        ]];
        assert_eq!(
            plan_rows(plan),
            [["logical_plan"], ["01)Filter"], ["02)--Scan"]]
        );
    }

    #[test]
    fn rows_keep_their_order() {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        let batch = RecordBatch::try_from_iter([("a", column)]).unwrap();
        assert_eq!(rows(&[batch]).unwrap(), [["1"], ["2"]]);
        assert!(rows(&[]).unwrap().is_empty());
    }
}
