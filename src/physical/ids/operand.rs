//! What both front ends build conditions from.

use datafusion::arrow::compute::CastOptions;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::common::format::DEFAULT_CAST_OPTIONS;
use datafusion::logical_expr::Operator;
use datafusion::logical_expr::type_coercion::binary::comparison_coercion;

use super::condition::{Comparison, Condition};
use super::value::Value;
use super::view::{EVERY_ID, View};

/// Conditions nested deeper than this are not looked into, for the sake of the stack. A chain of
/// `AND` or `OR` is one level.
pub(super) const MAX_DEPTH: usize = 100;

/// An expression as far as it is understood.
#[derive(Debug, Clone)]
pub(super) enum Operand {
    Id(View),
    Constant(ScalarValue),
    /// Something boolean, or not understood.
    Condition(Condition),
}

impl Operand {
    pub fn unknown() -> Self {
        Self::Condition(Condition::Unknown)
    }

    pub fn uncast_id() -> Self {
        Self::Id(View::uncast())
    }

    /// `CAST` or `TRY_CAST`. Both are the same for the column: where they differ, the id is
    /// above the limit of the view.
    pub fn cast(self, to: &DataType, options: &CastOptions<'static>) -> Self {
        match self {
            Self::Id(view) => view.cast(to).map(Self::Id),
            Self::Constant(value) => value
                .cast_to_with_options(to, options)
                .ok()
                .map(Self::Constant),
            Self::Condition(_) => None,
        }
        .unwrap_or_else(Self::unknown)
    }

    /// `-x`.
    pub fn negative(self) -> Self {
        match self {
            Self::Constant(ScalarValue::Null) => self,
            Self::Constant(value) => value
                .arithmetic_negate()
                .map_or_else(|_| Self::unknown(), Self::Constant),
            _ => Self::unknown(),
        }
    }

    /// `x IS NULL`.
    pub fn null_test(self) -> Condition {
        match self {
            Self::Id(view) => guarded(&view, Condition::Constant(Some(false))),
            Self::Constant(value) => Condition::Constant(Some(value.is_null())),
            Self::Condition(condition) => Condition::IsNull(Box::new(condition)),
        }
    }

    /// `x IS TRUE`.
    pub fn true_test(self) -> Condition {
        Condition::IsTrue(Box::new(self.condition()))
    }

    /// `x IS FALSE`.
    pub fn false_test(self) -> Condition {
        Condition::IsTrue(Box::new(self.condition().not()))
    }

    /// The operand as a condition.
    pub fn condition(self) -> Condition {
        match self {
            Self::Condition(condition) => condition,
            Self::Constant(ScalarValue::Boolean(value)) => Condition::Constant(value),
            Self::Constant(ScalarValue::Null) => Condition::Constant(None),
            Self::Constant(_) | Self::Id(_) => Condition::Unknown,
        }
    }

    fn data_type(&self) -> Option<DataType> {
        match self {
            Self::Id(view) => Some(view.data_type.clone()),
            Self::Constant(ScalarValue::Dictionary(_, value)) => Some(value.data_type()),
            Self::Constant(value) => Some(value.data_type()),
            Self::Condition(_) => None,
        }
    }

    /// The cast that type coercion would add.
    fn coerced(self, to: &DataType) -> Self {
        let plain = match self {
            Self::Constant(ScalarValue::Dictionary(_, value)) => Self::Constant(*value),
            other => other,
        };
        plain.cast(to, &DEFAULT_CAST_OPTIONS)
    }
}

/// `left op right`, where `op` is not `AND` or `OR`.
pub(super) fn binary(left: Operand, op: Operator, right: Operand) -> Condition {
    match (left, right) {
        (Operand::Condition(condition), Operand::Constant(value))
        | (Operand::Constant(value), Operand::Condition(condition)) => truth(condition, op, &value),
        (
            left @ Operand::Constant(ScalarValue::Boolean(_) | ScalarValue::Null),
            Operand::Constant(value),
        ) => truth(left.condition(), op, &value),
        (left, right) => {
            let common = left
                .data_type()
                .zip(right.data_type())
                .and_then(|(left, right)| common_type(&left, &right));
            common.map_or(Condition::Unknown, |common| {
                compare(left.coerced(&common), op, right.coerced(&common))
            })
        }
    }
}

/// `operand BETWEEN low AND high`.
pub(super) fn between(operand: Operand, low: Operand, high: Operand) -> Condition {
    let common = || {
        let data_type = operand.data_type()?;
        let low = common_type(&data_type, &low.data_type()?)?;
        let high = common_type(&data_type, &high.data_type()?)?;
        common_type(&low, &high)
    };
    let Some(common) = common() else {
        return Condition::Unknown;
    };
    let operand = operand.coerced(&common);
    Condition::And(vec![
        compare(operand.clone(), Operator::GtEq, low.coerced(&common)),
        compare(operand, Operator::LtEq, high.coerced(&common)),
    ])
}

/// `operand IN (list)`.
pub(super) fn in_list(operand: Operand, list: Vec<Operand>) -> Condition {
    let common = || {
        let mut common = operand.data_type()?;
        for item in &list {
            common = common_type(&common, &item.data_type()?)?;
        }
        Some(common)
    };
    let Some(common) = common() else {
        return Condition::Unknown;
    };
    let Operand::Id(view) = operand.coerced(&common) else {
        return Condition::Unknown;
    };
    let (mut values, mut null) = (Vec::with_capacity(list.len()), false);
    for item in list {
        let Operand::Constant(value) = item.coerced(&common) else {
            return Condition::Unknown;
        };
        match Value::of(&value) {
            _ if value.is_null() => null = true,
            Some(value) => values.push(value),
            None => return Condition::Unknown,
        }
    }
    guarded(&view, Condition::In { values, null })
}

/// Compares operands of one type.
fn compare(left: Operand, op: Operator, right: Operand) -> Condition {
    let (view, value, flip) = match (left, right) {
        (Operand::Id(view), Operand::Constant(value)) => (view, value, false),
        (Operand::Constant(value), Operand::Id(view)) => (view, value, true),
        _ => return Condition::Unknown,
    };
    let Some(comparison) = comparison(op) else {
        return Condition::Unknown;
    };
    let condition = match Value::of(&value) {
        _ if value.is_null() => Condition::Constant(match op {
            Operator::IsDistinctFrom => Some(true),
            Operator::IsNotDistinctFrom => Some(false),
            _ => None,
        }),
        Some(value) if flip => Condition::Compare(comparison.flipped(), value),
        Some(value) => Condition::Compare(comparison, value),
        None => return Condition::Unknown,
    };
    guarded(&view, condition)
}

/// Compares a condition with a boolean: `c IS NOT DISTINCT FROM TRUE` is what `c IS TRUE` becomes.
fn truth(condition: Condition, op: Operator, value: &ScalarValue) -> Condition {
    let value = match value {
        ScalarValue::Boolean(value) => *value,
        ScalarValue::Null => None,
        _ => return Condition::Unknown,
    };
    let same = match op {
        Operator::Eq | Operator::IsNotDistinctFrom => true,
        Operator::NotEq | Operator::IsDistinctFrom => false,
        _ => return Condition::Unknown,
    };
    let distinct = matches!(op, Operator::IsDistinctFrom | Operator::IsNotDistinctFrom);
    let equal = match value {
        Some(value) => {
            let equal = if value { condition } else { condition.not() };
            if distinct {
                Condition::IsTrue(Box::new(equal))
            } else {
                equal
            }
        }
        None if distinct => Condition::IsNull(Box::new(condition)),
        // NULL, but that is not worth knowing here: the value may stand for a placeholder.
        None => Condition::Unknown,
    };
    if same { equal } else { equal.not() }
}

fn comparison(op: Operator) -> Option<Comparison> {
    Some(match op {
        Operator::Eq | Operator::IsNotDistinctFrom => Comparison::Equal,
        Operator::NotEq | Operator::IsDistinctFrom => Comparison::NotEqual,
        Operator::Lt => Comparison::Less,
        Operator::LtEq => Comparison::LessOrEqual,
        Operator::Gt => Comparison::Greater,
        Operator::GtEq => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

/// The type that DataFusion compares two types in.
fn common_type(left: &DataType, right: &DataType) -> Option<DataType> {
    if left == right {
        return Some(left.clone());
    }
    // DataFusion adds up precision and scale as `i8`, and numbers become decimals of 30 digits at most.
    let size = |data_type: &DataType| match *data_type {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => (i16::from(precision), i16::from(scale)),
        _ => (30, 0),
    };
    let (left_size, right_size) = (size(left), size(right));
    let whole = (left_size.0 - left_size.1).max(right_size.0 - right_size.1);
    let scale = left_size.1.max(right_size.1);
    if left_size.1 < 0 || right_size.1 < 0 || whole + scale > i16::from(i8::MAX) {
        return None;
    }
    comparison_coercion(left, right)
}

fn guarded(view: &View, condition: Condition) -> Condition {
    if view.limit == EVERY_ID {
        condition
    } else {
        Condition::Below(view.limit, Box::new(condition))
    }
}
