// A set of one range is an array of one range, and constants of `f32` are to be rounded.
#![allow(
    clippy::single_range_in_vec_init,
    clippy::cast_possible_truncation,
    clippy::needless_pass_by_value
)]

mod strategies;

use std::sync::Arc;

use datafusion::arrow::array::{AsArray, Int64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, i256};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result;
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{Expr, Operator, cast, col, lit, not, try_cast};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_expr::expressions::{
    BinaryExpr as PhysicalBinary, CaseExpr, Column, DynamicFilterPhysicalExpr, InListExpr,
    lit as physical_lit,
};
use datafusion::physical_expr::{PhysicalExpr, create_physical_expr};
use proptest::prelude::*;

use self::strategies::*;
use super::{IdSet, ids_of_expr, ids_of_physical, is_id_condition};
use crate::format::RowRanges;

const ID: &str = "_vertex_id";
const LAST: u64 = i64::MAX as u64;

fn schema() -> Arc<Schema> {
    Arc::new(Schema::new(vec![Field::new(ID, DataType::Int64, false)]))
}

fn df_schema() -> Arc<DFSchema> {
    Arc::new(DFSchema::try_from(schema()).unwrap())
}

fn simplifier() -> ExprSimplifier {
    ExprSimplifier::new(SimplifyContext::builder().with_schema(df_schema()).build())
}

fn physical(expr: &Expr) -> Result<Arc<dyn PhysicalExpr>> {
    let context = PhysicalPlanningContext::default();
    create_physical_expr(expr, &df_schema(), &ExecutionProps::new(), &context)
}

/// What DataFusion says for each of these ids.
fn values(expr: &Arc<dyn PhysicalExpr>, ids: &[u64]) -> Result<Vec<Option<bool>>> {
    let column = Int64Array::from_iter_values(ids.iter().map(|id| i64::try_from(*id).unwrap()));
    let batch = RecordBatch::try_new(schema(), vec![Arc::new(column)])?;
    let values = expr.evaluate(&batch)?.into_array(ids.len())?;
    Ok(match values.as_boolean_opt() {
        Some(values) => values.iter().collect(),
        None => vec![None; ids.len()],
    })
}

fn holds(set: &IdSet, expr: &Arc<dyn PhysicalExpr>, some: &[u64], ids: u64) -> TestResult {
    for ranges in [&set.yes, &set.no] {
        prop_assert!(ranges.ranges().iter().all(|range| range.end <= ids));
    }
    let Ok(values) = values(expr, some) else {
        prop_assert!(!set.exact, "an error became a set: {}", expr);
        return Ok(());
    };
    for (id, value) in some.iter().zip(values) {
        let (yes, no) = (set.yes.contains(*id), set.no.contains(*id));
        if set.exact {
            prop_assert_eq!(
                (yes, no),
                (value == Some(true), value == Some(false)),
                "{} of {}",
                id,
                expr
            );
        } else {
            prop_assert!(yes || value != Some(true), "{} of {}", id, expr);
            prop_assert!(no || value != Some(false), "{} of {}", id, expr);
        }
    }
    Ok(())
}

type TestResult = std::result::Result<(), TestCaseError>;

/// Compares both front ends with DataFusion, and with each other, for the ids `some`.
fn check(expr: &Expr, some: &[u64], ids: u64) -> TestResult {
    let raw = ids_of_expr(expr, ID, ids);
    let Ok(coerced) = simplifier().coerce(expr.clone(), &df_schema()) else {
        prop_assert!(!raw.exact, "no common type, but a set: {}", expr);
        return Ok(());
    };
    let simple = simplifier().simplify(coerced.clone());
    for expr in simple.into_iter().chain([coerced.clone()]) {
        let Ok(planned) = physical(&expr) else {
            continue;
        };
        let logical = ids_of_expr(&expr, ID, ids);
        holds(&logical, &planned, some, ids)?;
        let physical = ids_of_physical(&planned, 0, ids);
        holds(&physical, &planned, some, ids)?;
        // Of a BETWEEN with one unknown bound, the physical plan keeps the other comparison.
        prop_assert_eq!(physical.exact, logical.exact, "{}", expr);
        prop_assert_eq!(&physical.yes.union(&logical.yes), &logical.yes, "{}", expr);
        prop_assert_eq!(&physical.no.union(&logical.no), &logical.no, "{}", expr);
        prop_assert!(!logical.exact || physical == logical, "{}", expr);
    }
    if let Ok(planned) = physical(&coerced) {
        holds(&raw, &planned, some, ids)?;
    }
    Ok(())
}

fn check_all(expr: &Expr, ids: u64) {
    let some: Vec<u64> = (0..ids).collect();
    check(expr, &some, ids).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn sets_are_what_datafusion_says(expr in any_condition(constants()), ids in 0..=12_u64) {
        let some: Vec<u64> = (0..ids).collect();
        check(&expr, &some, ids)?;
    }

    #[test]
    fn far_ids_are_what_datafusion_says(expr in any_condition(far_constants())) {
        check(&expr, &far_ids(), LAST)?;
    }

    #[test]
    fn an_id_condition_is_exact(expr in any_condition(constants()), ids in 0..=LAST) {
        if is_id_condition(&expr, ID) {
            prop_assert!(ids_of_expr(&expr, ID, ids).exact);
        }
    }
}

#[test]
fn every_comparison_with_every_constant() {
    for op in [
        Operator::Eq,
        Operator::Lt,
        Operator::GtEq,
        Operator::IsDistinctFrom,
    ] {
        for value in constants() {
            for data_type in types() {
                let value = Expr::Literal(value.clone(), None);
                check_all(&binary(cast(col(ID), data_type), op, value), 12);
            }
        }
    }
}

fn exactly(yes: &[std::ops::Range<u64>], expr: &Expr) {
    let set = ids_of_expr(expr, ID, 10);
    assert!(set.exact, "{expr}");
    assert_eq!(set.yes.ranges(), yes, "{expr}");
    check_all(expr, 10);
}

#[test]
fn constants_stand_on_either_side() {
    let id = || col(ID);
    exactly(&[7..8], &lit(7_i64).eq(id()));
    exactly(&[0..3], &lit(2_i64).gt_eq(id()));
    exactly(&[0..5, 6..10], &lit(5_i64).not_eq(id()));
    exactly(&[0..2], &lit(2_i64).gt(id()));
    exactly(&[3..10], &lit(2_i64).lt(id()));
    exactly(&[2..10], &lit(2_i64).lt_eq(id()));
}

#[test]
fn constants_of_other_types() {
    let id = || col(ID);
    exactly(&[3..4], &id().eq(lit("3")));
    exactly(&[], &id().eq(lit(3.5)));
    exactly(&[0..4], &id().lt(lit(3.5_f32)));
    exactly(&[0..10], &id().gt_eq(lit(-0.0)));
    exactly(&[0..10], &id().lt(lit(f64::NAN)));
    exactly(&[], &id().gt(lit(u64::MAX)));
    exactly(
        &[4..10],
        &id().gt(Expr::Literal(ScalarValue::Decimal128(Some(35), 3, 1), None)),
    );
    exactly(&[2..3], &id().eq(cast(lit("2"), DataType::Int32)));
    exactly(&[], &id().eq(try_cast(lit("two"), DataType::Int64)));
    exactly(&[0..1, 4..10], &id().not_between(lit(1), lit(3)));
}

#[test]
fn null_in_a_list() {
    let list = vec![lit(3_i64), lit(ScalarValue::Null)];
    let set = ids_of_expr(&col(ID).in_list(list.clone(), false), ID, 10);
    assert_eq!(
        (set.yes, set.no, set.exact),
        (RowRanges::of(3..4), RowRanges::empty(), true)
    );
    let set = ids_of_expr(&col(ID).in_list(list, true), ID, 10);
    assert_eq!(
        (set.yes, set.no, set.exact),
        (RowRanges::empty(), RowRanges::of(3..4), true)
    );
}

/// DataFusion adds up digits as `i8` and panics in a debug build.
#[test]
fn decimals_without_a_common_type_are_unknown() {
    let value = |scale| Expr::Literal(ScalarValue::Decimal256(Some(i256::MIN), 76, scale), None);
    for scale in [-128, -1, 76, 127] {
        let decimal = cast(col(ID), DataType::Decimal256(76, 0)).gt(value(scale));
        assert_eq!(ids_of_expr(&decimal, ID, 10), IdSet::unknown(10));
        let same = cast(col(ID), DataType::Decimal256(76, scale)).gt(value(scale));
        let _ = ids_of_expr(&same, ID, 10);
    }
}

#[test]
fn long_lists_and_chains() {
    let odd = |count| (0..count).map(|number: i64| number * 2 + 1);
    let list = odd(20_000).rev().map(lit).collect();
    let set = ids_of_expr(&col(ID).in_list(list, false), ID, 100_000);
    assert_eq!(
        (set.yes.count(), set.no.count(), set.exact),
        (20_000, 80_000, true)
    );
    // Longer chains overflow the stack when DataFusion drops them.
    let chain = || odd(1000).map(|number| col(ID).eq(lit(number)));
    let same = chain().reduce(Expr::or).unwrap();
    let set = ids_of_expr(&same, ID, 100_000);
    assert_eq!((set.yes.count(), set.exact), (1000, true));
    assert_eq!(ids_of_physical(&physical(&same).unwrap(), 0, 100_000), set);
    let others = chain().map(not).reduce(Expr::and).unwrap();
    assert_eq!(ids_of_expr(&others, ID, 100_000), set.not());
    let deep = (0..500).fold(col(ID).eq(lit(3_i64)), |inner, _| not(inner));
    assert!(!ids_of_expr(&deep, ID, 10).exact);
}

#[test]
fn casts_too_narrow_for_the_ids_are_unknown() {
    let narrow = cast(col(ID), DataType::Int8).eq(lit(3_i8));
    assert!(ids_of_expr(&narrow, ID, 128).exact);
    assert_eq!(ids_of_expr(&narrow, ID, 129), IdSet::unknown(129));
    assert!(!is_id_condition(&narrow, ID));
    let decimal = cast(col(ID), DataType::Decimal128(5, 2)).is_null();
    assert!(ids_of_expr(&decimal, ID, 1000).exact);
    assert!(!ids_of_expr(&decimal, ID, 1001).exact);
}

#[test]
fn floats_that_many_ids_round_to() {
    let expr = cast(col(ID), DataType::Float32).eq(lit(16_777_216_f32));
    let set = ids_of_expr(&expr, ID, LAST);
    assert_eq!(set.yes.ranges(), [16_777_216..16_777_218]);
    check(&expr, &far_ids(), LAST).unwrap();
}

#[test]
fn other_columns_only_widen() {
    let other = col("name").eq(lit("x"));
    let set = ids_of_expr(&col(ID).lt(lit(4_i64)).and(other.clone()), ID, 10);
    assert_eq!(
        (set.yes, set.no, set.exact),
        (RowRanges::all(4), RowRanges::all(10), false)
    );
    let set = ids_of_expr(&col(ID).lt(lit(4_i64)).or(other.clone()), ID, 10);
    assert_eq!(
        (set.yes, set.no, set.exact),
        (RowRanges::all(10), RowRanges::of(4..10), false)
    );
    assert_eq!(ids_of_expr(&other.is_null(), ID, 10), IdSet::unknown(10));
}

#[test]
fn placeholders_count_as_constants_in_the_shape_only() {
    let free = || Expr::Placeholder(Placeholder::new_with_field("$1".into(), None));
    let typed = |data_type| {
        let field = Arc::new(Field::new("", data_type, true));
        Expr::Placeholder(Placeholder::new_with_field("$1".into(), Some(field)))
    };
    let id = || col(ID);
    for shape in [
        id().eq(free()),
        id().eq(typed(DataType::Int64)),
        id().lt(typed(DataType::Float64)),
        free().gt(id()),
        id().between(free(), lit(5_i64)),
        id().in_list(vec![free(), lit(3_i64)], true)
            .or(id().eq(lit(1_i64))),
        id().eq(cast(free(), DataType::Int64)),
        id().eq(-free()),
        cast(id(), DataType::Float64).lt(typed(DataType::Float64)),
    ] {
        assert!(is_id_condition(&shape, ID), "{shape}");
        assert_eq!(
            ids_of_expr(&shape, ID, 10).yes,
            RowRanges::all(10),
            "{shape}"
        );
        assert!(!ids_of_expr(&shape, ID, 10).exact);
    }
    assert_eq!(ids_of_expr(&id().eq(free()), ID, 10), IdSet::unknown(10));
    for shape in [
        id().eq(typed(DataType::Date32)),
        // It may be bound to a decimal, and floats do not become decimals in order.
        cast(id(), DataType::Float64).lt(free()),
        id().eq(free()).and(col("name").eq(lit("x"))),
        col("name").eq(free()),
        // NULL would do, another value would not.
        col("name").eq(lit("x")).eq(typed(DataType::Boolean)),
        free().eq(lit(3_i64)),
    ] {
        assert!(!is_id_condition(&shape, ID), "{shape}");
    }
}

#[test]
fn filters_of_hash_joins() {
    let schema = Schema::new(vec![
        Field::new("name", DataType::Utf8, true),
        Field::new(ID, DataType::Int64, false),
    ]);
    let key = || -> Arc<dyn PhysicalExpr> { Arc::new(Column::new(ID, 1)) };
    let binary = |left, op, right| -> Arc<dyn PhysicalExpr> {
        Arc::new(PhysicalBinary::new(left, op, right))
    };
    let bounds = |low: i64, high: i64| {
        let low = binary(key(), Operator::GtEq, physical_lit(low));
        let high = binary(key(), Operator::LtEq, physical_lit(high));
        binary(low, Operator::And, high)
    };
    let filter = Arc::new(DynamicFilterPhysicalExpr::new(
        vec![key()],
        physical_lit(true),
    ));
    let expr: Arc<dyn PhysicalExpr> = Arc::clone(&filter) as _;
    assert_eq!(ids_of_physical(&expr, 1, 100).yes, RowRanges::all(100));

    let array = Arc::new(Int64Array::from(vec![90, 3, 4, 8]));
    let list = InListExpr::try_new_from_array(key(), array, false, &schema).unwrap();
    filter
        .update(binary(bounds(3, 90), Operator::And, Arc::new(list)))
        .unwrap();
    let set = ids_of_physical(&expr, 1, 100);
    assert_eq!(set.yes.ranges(), [3..5, 8..9, 90..91]);
    assert!(set.exact);
    assert_eq!(ids_of_physical(&expr, 0, 100), IdSet::unknown(100));

    let routed = binary(key(), Operator::Modulo, physical_lit(2_i64));
    let branches = vec![
        (physical_lit(0_i64), bounds(10, 19)),
        (physical_lit(1_i64), bounds(40, 49)),
    ];
    let case = CaseExpr::try_new(Some(routed), branches, Some(physical_lit(false))).unwrap();
    filter.update(Arc::new(case)).unwrap();
    let set = ids_of_physical(&expr, 1, 100);
    assert_eq!(set.yes.ranges(), [10..20, 40..50]);
    assert!(!set.exact);
}
