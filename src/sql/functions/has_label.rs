//! `has_label(_labels, 'label')`.

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, BooleanArray};
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::internal_err;
use datafusion::common::utils::take_function_args;
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// Whether a vertex has a label: `has_label(list of labels, label)`. NULL if either is NULL.
///
/// The same as `array_has`, under the name that says what is meant. In the `WHERE` of a scan both are
/// answered from the column of that one label.
pub fn has_label() -> ScalarUDF {
    ScalarUDF::from(HasLabel::new())
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct HasLabel {
    signature: Signature,
}

impl HasLabel {
    fn new() -> Self {
        let list = DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)));
        Self {
            signature: Signature::exact(vec![list, DataType::Utf8], Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for HasLabel {
    fn name(&self) -> &str {
        "has_label"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [labels, label] = take_function_args(self.name(), args.args)?;
        let (labels, label) = (labels.into_array(rows)?, label.into_array(rows)?);
        let (Some(labels), Some(label)) =
            (labels.as_list_opt::<i32>(), label.as_string_opt::<i32>())
        else {
            return internal_err!("has_label takes a list of texts and a text");
        };
        let has = |row: usize| {
            if labels.is_null(row) || label.is_null(row) {
                return None;
            }
            let wanted = label.value(row);
            let found = labels.value(row);
            let found = found.as_string_opt::<i32>()?;
            Some(found.iter().any(|found| found == Some(wanted)))
        };
        let answers: BooleanArray = (0..rows).map(has).collect();
        Ok(ColumnarValue::Array(Arc::new(answers)))
    }
}
