//! The front end for logical expressions.

use datafusion::arrow::compute::CastOptions;
use datafusion::common::ScalarValue;
use datafusion::common::format::{DEFAULT_CAST_OPTIONS, DEFAULT_FORMAT_OPTIONS};
use datafusion::logical_expr::expr::{Case, InList, Placeholder};
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};

use super::condition::Condition;
use super::operand::{MAX_DEPTH, Operand, between, binary, in_list};
use super::set::IdSet;

/// The ids of `0..ids` for which a condition is true and false.
///
/// The id column is the one with this unqualified name; it is `Int64`, not NULL, and not
/// negative. Other columns, functions, subqueries and placeholders are unknown.
pub fn ids_of_expr(expr: &Expr, column: &str, ids: u64) -> IdSet {
    let reader = Reader {
        column,
        bound: false,
    };
    reader.read(expr, MAX_DEPTH).condition().evaluate(ids)
}

/// Whether [`ids_of_expr`] will be exact for any number of ids and whatever the placeholders in
/// the condition get bound to, unless to a value that DataFusion fails to compare with an id.
pub fn is_id_condition(expr: &Expr, column: &str) -> bool {
    let reader = Reader {
        column,
        bound: true,
    };
    let condition = reader.read(expr, MAX_DEPTH).condition();
    condition.evaluate(i64::MAX.unsigned_abs()).exact
}

struct Reader<'a> {
    column: &'a str,
    /// A placeholder counts as a constant.
    bound: bool,
}

impl Reader<'_> {
    fn read(&self, expr: &Expr, depth: usize) -> Operand {
        let Some(depth) = depth.checked_sub(1) else {
            return Operand::unknown();
        };
        let read = |expr: &Expr| self.read(expr, depth);
        Operand::Condition(match expr {
            Expr::Alias(alias) => return read(&alias.expr),
            Expr::Column(column) if column.name == self.column => return Operand::uncast_id(),
            Expr::Literal(value, _) => return Operand::Constant(value.clone()),
            Expr::Placeholder(placeholder) if self.bound => return stand_in(placeholder),
            Expr::Negative(inner) => return read(inner).negative(),
            Expr::Cast(cast) => {
                return read(&cast.expr).cast(cast.field.data_type(), &DEFAULT_CAST_OPTIONS);
            }
            Expr::TryCast(cast) => {
                let options = CastOptions {
                    safe: true,
                    format_options: DEFAULT_FORMAT_OPTIONS,
                };
                return read(&cast.expr).cast(cast.field.data_type(), &options);
            }
            Expr::Not(inner) => read(inner).condition().not(),
            Expr::IsNull(inner) | Expr::IsUnknown(inner) => read(inner).null_test(),
            Expr::IsNotNull(inner) | Expr::IsNotUnknown(inner) => read(inner).null_test().not(),
            Expr::IsTrue(inner) => read(inner).true_test(),
            Expr::IsNotTrue(inner) => read(inner).true_test().not(),
            Expr::IsFalse(inner) => read(inner).false_test(),
            Expr::IsNotFalse(inner) => read(inner).false_test().not(),
            Expr::BinaryExpr(BinaryExpr { op, .. })
                if matches!(op, Operator::And | Operator::Or) =>
            {
                let parts = chain(expr, *op).into_iter();
                let parts = parts.map(|part| read(part).condition()).collect();
                if *op == Operator::And {
                    Condition::And(parts)
                } else {
                    Condition::Or(parts)
                }
            }
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                binary(read(left), *op, read(right))
            }
            Expr::Between(Between {
                expr,
                negated,
                low,
                high,
            }) => negated_if(*negated, between(read(expr), read(low), read(high))),
            Expr::InList(InList {
                expr,
                list,
                negated,
            }) => {
                let list = list.iter().map(read).collect();
                negated_if(*negated, in_list(read(expr), list))
            }
            Expr::Case(Case {
                when_then_expr,
                else_expr,
                ..
            }) => {
                let thens = when_then_expr.iter().map(|(_, then)| then);
                let values = thens.chain(else_expr).map(|value| read(value).condition());
                Condition::OneOf(values.collect())
            }
            _ => Condition::Unknown,
        })
    }
}

/// A NULL in the place of a value that is not there yet: the shape of the condition is the same.
fn stand_in(placeholder: &Placeholder) -> Operand {
    let value = match &placeholder.field {
        Some(field) => ScalarValue::try_new_null(field.data_type()).ok(),
        // Of the types that it may get, decimals ask most of a cast of the column.
        None => Some(ScalarValue::Decimal128(None, 20, 0)),
    };
    value.map_or_else(Operand::unknown, Operand::Constant)
}

/// The parts of `a op b op c …` in order. Long chains nest to the left, too deep for recursion.
fn chain(expr: &Expr, op: Operator) -> Vec<&Expr> {
    let (mut parts, mut stack) = (vec![], vec![expr]);
    while let Some(expr) = stack.pop() {
        match expr {
            Expr::BinaryExpr(binary) if binary.op == op => {
                stack.extend([&*binary.right, &*binary.left]);
            }
            part => parts.push(part),
        }
    }
    parts
}

fn negated_if(negated: bool, condition: Condition) -> Condition {
    if negated { condition.not() } else { condition }
}
