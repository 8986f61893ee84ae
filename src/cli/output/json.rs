//! Results as JSON.

use std::io::Write;
use std::sync::Arc;

use datafusion::arrow::array::StructArray;
use datafusion::arrow::datatypes::{Field, FieldRef, Fields, SchemaRef};
use datafusion::arrow::json::writer::{EncoderOptions, make_encoder};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::HashSet;

use crate::cli::error::ShellError;
use crate::cli::output::ResultWriter;

/// Writes a result as JSON objects.
///
/// Every object has every key, NULL is `null`, and so are the floats that JSON lacks. Integers
/// and decimals are numbers with all their digits, times are ISO 8601 strings, binary values are
/// hexadecimal strings. A second column `name` becomes `name_2`: objects with one key twice lose
/// a value in most readers.
pub struct Json {
    fields: Fields,
    /// Before the first object, between two, after the last, and after the result.
    frame: [&'static str; 4],
    rows: usize,
}

impl Json {
    /// One array of objects, an object per line.
    pub fn array(schema: &SchemaRef) -> Self {
        Self {
            fields: distinct(schema.fields()),
            frame: ["[", ",\n ", "", "]\n"],
            rows: 0,
        }
    }

    /// Objects on lines of their own.
    pub fn lines(schema: &SchemaRef) -> Self {
        Self {
            fields: distinct(schema.fields()),
            frame: ["", "", "\n", ""],
            rows: 0,
        }
    }
}

impl ResultWriter for Json {
    fn batch(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> Result<(), ShellError> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let objects = StructArray::try_new(self.fields.clone(), batch.columns().to_vec(), None)?;
        let options = EncoderOptions::default().with_explicit_nulls(true);
        let field = FieldRef::new(Field::new_struct("row", self.fields.clone(), false));
        let mut encoder = make_encoder(&field, &objects, &options)?;
        let [open, between, after, _] = self.frame;
        let mut text = Vec::new();
        for row in 0..batch.num_rows() {
            text.clear();
            let before = if self.rows == 0 { open } else { between };
            text.extend_from_slice(before.as_bytes());
            encoder.encode(row, &mut text);
            text.extend_from_slice(after.as_bytes());
            out.write_all(&text)?;
            self.rows += 1;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<(), ShellError> {
        let [open, _, _, close] = self.frame;
        if self.rows == 0 {
            out.write_all(open.as_bytes())?;
        }
        Ok(out.write_all(close.as_bytes())?)
    }
}

/// The same fields under distinct names. Nullable, because a join may promise more than it keeps.
fn distinct(fields: &Fields) -> Fields {
    let given: HashSet<&String> = fields.iter().map(|field| field.name()).collect();
    let mut taken: HashSet<String> = HashSet::new();
    fields
        .iter()
        .map(|field| {
            let mut name = field.name().clone();
            let mut number = 2;
            while taken.contains(&name) || (number > 2 && given.contains(&name)) {
                name = format!("{}_{number}", field.name());
                number += 1;
            }
            taken.insert(name.clone());
            Arc::new(field.as_ref().clone().with_name(name).with_nullable(true))
        })
        .collect()
}
