//! The front end for physical expressions.

use std::sync::Arc;

use datafusion::arrow::compute::CastOptions;
use datafusion::common::format::DEFAULT_FORMAT_OPTIONS;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{
    BinaryExpr, CaseExpr, CastExpr, Column, DynamicFilterPhysicalExpr, InListExpr, IsNotNullExpr,
    IsNullExpr, Literal, NegativeExpr, NotExpr, TryCastExpr,
};

use super::condition::Condition;
use super::operand::{MAX_DEPTH, Operand, binary, in_list};
use super::set::IdSet;

/// The ids of `0..ids` for which a condition is true and false.
///
/// The id column is the one with this index; it is `Int64`, not NULL, and not negative. Of a
/// dynamic filter this takes what it says now. The filter of a hash join is bounds and, when
/// few rows were built, a list; the hash table that stands there otherwise is unknown.
pub fn ids_of_physical(expr: &Arc<dyn PhysicalExpr>, column: usize, ids: u64) -> IdSet {
    read(expr, column, MAX_DEPTH).condition().evaluate(ids)
}

fn read(expr: &Arc<dyn PhysicalExpr>, column: usize, depth: usize) -> Operand {
    let Some(depth) = depth.checked_sub(1) else {
        return Operand::unknown();
    };
    let read = |expr: &Arc<dyn PhysicalExpr>| read(expr, column, depth);
    if let Some(found) = expr.downcast_ref::<Column>() {
        if found.index() == column {
            Operand::uncast_id()
        } else {
            Operand::unknown()
        }
    } else if let Some(literal) = expr.downcast_ref::<Literal>() {
        Operand::Constant(literal.value().clone())
    } else if let Some(negative) = expr.downcast_ref::<NegativeExpr>() {
        read(negative.arg()).negative()
    } else if let Some(cast) = expr.downcast_ref::<CastExpr>() {
        read(cast.expr()).cast(cast.cast_type(), cast.cast_options())
    } else if let Some(cast) = expr.downcast_ref::<TryCastExpr>() {
        let options = CastOptions {
            safe: true,
            format_options: DEFAULT_FORMAT_OPTIONS,
        };
        read(cast.expr()).cast(cast.cast_type(), &options)
    } else if let Some(filter) = expr.downcast_ref::<DynamicFilterPhysicalExpr>() {
        filter
            .current()
            .map_or_else(|_| Operand::unknown(), |current| read(&current))
    } else {
        Operand::Condition(condition(expr, &read))
    }
}

/// What cannot be anything else than boolean.
fn condition(
    expr: &Arc<dyn PhysicalExpr>,
    read: &dyn Fn(&Arc<dyn PhysicalExpr>) -> Operand,
) -> Condition {
    if let Some(not) = expr.downcast_ref::<NotExpr>() {
        read(not.arg()).condition().not()
    } else if let Some(is_null) = expr.downcast_ref::<IsNullExpr>() {
        read(is_null.arg()).null_test()
    } else if let Some(is_not_null) = expr.downcast_ref::<IsNotNullExpr>() {
        read(is_not_null.arg()).null_test().not()
    } else if let Some(comparison) = expr.downcast_ref::<BinaryExpr>() {
        let parts = |op| {
            let parts = chain(expr, op).into_iter();
            parts.map(|part| read(part).condition()).collect()
        };
        match comparison.op() {
            Operator::And => Condition::And(parts(Operator::And)),
            Operator::Or => Condition::Or(parts(Operator::Or)),
            op => binary(read(comparison.left()), *op, read(comparison.right())),
        }
    } else if let Some(among) = expr.downcast_ref::<InListExpr>() {
        let list = among.list().iter().map(read).collect();
        let condition = in_list(read(among.expr()), list);
        if among.negated() {
            condition.not()
        } else {
            condition
        }
    } else if let Some(case) = expr.downcast_ref::<CaseExpr>() {
        // The filter of a partitioned join: `CASE hash % n WHEN i THEN bounds_i ... ELSE false`.
        let thens = case.when_then_expr().iter().map(|(_, then)| then);
        let values = thens.chain(case.else_expr());
        Condition::OneOf(values.map(|value| read(value).condition()).collect())
    } else {
        Condition::Unknown
    }
}

/// The parts of `a op b op c …` in order. Long chains nest to the left, too deep for recursion.
fn chain(expr: &Arc<dyn PhysicalExpr>, op: Operator) -> Vec<&Arc<dyn PhysicalExpr>> {
    let (mut parts, mut stack) = (vec![], vec![expr]);
    while let Some(expr) = stack.pop() {
        match expr.downcast_ref::<BinaryExpr>() {
            Some(binary) if *binary.op() == op => stack.extend([binary.right(), binary.left()]),
            _ => parts.push(expr),
        }
    }
    parts
}
