//! Conditions and constants around the borders of small and of very large sets of ids.

use datafusion::arrow::datatypes::{DataType, i256};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{
    Between, BinaryExpr, Expr, Operator, cast, col, lit, not, try_cast, when,
};
use proptest::prelude::*;
use proptest::sample::select;

use super::{ID, LAST};

pub(super) fn constants() -> Vec<ScalarValue> {
    let mut all = vec![
        ScalarValue::Null,
        ScalarValue::Int64(None),
        ScalarValue::Float64(None),
        ScalarValue::Utf8(None),
        ScalarValue::Decimal128(None, 10, 2),
        ScalarValue::Boolean(Some(true)),
        ScalarValue::Boolean(None),
        ScalarValue::UInt64(Some(u64::MAX)),
        ScalarValue::UInt64(Some(1 << 63)),
        ScalarValue::Int64(Some(i64::MIN)),
        ScalarValue::Int64(Some(i64::MAX)),
        ScalarValue::Int8(Some(-1)),
        ScalarValue::Int8(Some(11)),
        ScalarValue::UInt8(Some(12)),
        ScalarValue::Int16(Some(5)),
        ScalarValue::UInt16(Some(0)),
        ScalarValue::Int32(Some(7)),
        ScalarValue::UInt32(Some(13)),
        ScalarValue::Utf8(Some("7".into())),
        ScalarValue::Utf8(Some("seven".into())),
        ScalarValue::Date32(Some(3)),
        ScalarValue::Dictionary(
            Box::new(DataType::Int32),
            Box::new(ScalarValue::Int64(Some(4))),
        ),
        ScalarValue::Decimal128(Some(350), 10, 2),
        ScalarValue::Decimal128(Some(-350), 10, 2),
        ScalarValue::Decimal128(Some(400), 10, 2),
        ScalarValue::Decimal128(Some(5), 38, 38),
        ScalarValue::Decimal128(Some(i128::MAX / 2), 38, 0),
        ScalarValue::Decimal128(Some(3), 5, -1),
        ScalarValue::Decimal64(Some(45), 5, 1),
        ScalarValue::Decimal256(Some(i256::from_i128(-55)), 40, 1),
        ScalarValue::Decimal256(Some(i256::from_i128(90)), 70, 1),
        ScalarValue::Decimal256(Some(i256::MAX), 76, 0),
    ];
    all.extend((-1..=13).map(|value| ScalarValue::Int64(Some(value))));
    for value in [
        0.0,
        -0.0,
        0.5,
        3.0,
        -3.5,
        11.0,
        11.5,
        12.0,
        1e300,
        9_223_372_036_854_775_807.0,
        f64::NAN,
        -f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE,
    ] {
        all.push(ScalarValue::Float64(Some(value)));
        all.push(ScalarValue::Float32(Some(value as f32)));
    }
    all
}

pub(super) fn types() -> Vec<DataType> {
    vec![
        DataType::Int64,
        DataType::UInt64,
        DataType::Int8,
        DataType::UInt32,
        DataType::Float64,
        DataType::Float32,
        DataType::Decimal128(20, 0),
        DataType::Decimal128(38, 19),
        DataType::Decimal128(3, 2),
        DataType::Decimal256(60, 4),
        DataType::Decimal64(18, 3),
        DataType::Utf8,
        DataType::Boolean,
        DataType::Float16,
    ]
}

pub(super) fn any_constant(values: Vec<ScalarValue>) -> impl Strategy<Value = Expr> {
    let value = select(values).prop_map(|value| Expr::Literal(value, None));
    (value, select(types()), 0..12_u8).prop_map(|(value, data_type, wrapped)| match wrapped {
        0 => cast(value, data_type),
        1 => try_cast(value, data_type),
        2 => Expr::Negative(Box::new(value)),
        3 => value.alias("x"),
        _ => value,
    })
}

pub(super) fn any_id() -> impl Strategy<Value = Expr> {
    let twice = (select(types()), select(types()));
    (twice, 0..8_u8).prop_map(|((inner, outer), wrapped)| match wrapped {
        0 => cast(col(ID), inner),
        1 => try_cast(col(ID), inner),
        2 => cast(cast(col(ID), inner), outer),
        3 => col(ID).alias("x"),
        _ => col(ID),
    })
}

pub(super) fn any_comparison() -> impl Strategy<Value = Operator> {
    select(vec![
        Operator::Eq,
        Operator::NotEq,
        Operator::Lt,
        Operator::LtEq,
        Operator::Gt,
        Operator::GtEq,
        Operator::IsDistinctFrom,
        Operator::IsNotDistinctFrom,
    ])
}

pub(super) fn binary(left: Expr, op: Operator, right: Expr) -> Expr {
    Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)))
}

pub(super) fn any_leaf(values: Vec<ScalarValue>) -> impl Strategy<Value = Expr> {
    let constant = || any_constant(values.clone());
    let list = proptest::collection::vec(constant(), 0..6);
    prop_oneof![
        8 => (any_id(), any_comparison(), constant(), any::<bool>()).prop_map(|(id, op, value, flip)| {
            if flip { binary(value, op, id) } else { binary(id, op, value) }
        }),
        4 => (any_id(), list, any::<bool>()).prop_map(|(id, list, negated)| {
            Expr::InList(InList::new(Box::new(id), list, negated))
        }),
        3 => (any_id(), constant(), constant(), any::<bool>()).prop_map(|(id, low, high, negated)| {
            Expr::Between(Between::new(Box::new(id), negated, Box::new(low), Box::new(high)))
        }),
        1 => (constant(), any_id(), constant()).prop_map(|(value, id, high)| {
            Expr::Between(Between::new(Box::new(value), false, Box::new(id), Box::new(high)))
        }),
        1 => any_id().prop_map(Expr::is_null),
        1 => any_id().prop_map(Expr::is_not_null),
        1 => constant().prop_map(Expr::is_null),
        1 => select(vec![Some(true), Some(false), None]).prop_map(lit_bool),
        1 => (any_id(), constant()).prop_map(|(id, value)| (id + lit(1_i64)).gt(value)),
    ]
}

pub(super) fn lit_bool(value: Option<bool>) -> Expr {
    Expr::Literal(ScalarValue::Boolean(value), None)
}

pub(super) fn any_condition(values: Vec<ScalarValue>) -> impl Strategy<Value = Expr> {
    any_leaf(values).prop_recursive(3, 10, 3, |inner| {
        let test = select(vec![
            Expr::is_true as fn(Expr) -> Expr,
            Expr::is_not_true,
            Expr::is_false,
            Expr::is_not_false,
            Expr::is_unknown,
            Expr::is_not_unknown,
            Expr::is_null,
            Expr::is_not_null,
            not,
        ]);
        let truth = select(vec![Some(true), Some(false), None]).prop_map(lit_bool);
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.and(b)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.or(b)),
            (inner.clone(), test).prop_map(|(a, test)| test(a)),
            (inner.clone(), any_comparison(), truth)
                .prop_map(|(a, op, truth)| binary(a, op, truth)),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(a, b, c)| when(a, b).otherwise(c).unwrap()),
        ]
    })
}

/// Ids and constants where casts to floats round.
pub(super) fn far_ids() -> Vec<u64> {
    let borders = [
        1 << 24,
        1 << 31,
        1 << 53,
        (1 << 62) + 1,
        LAST - 600,
        LAST - 2,
    ];
    borders
        .iter()
        .flat_map(|border| border - 3..=border + 1)
        .collect()
}

pub(super) fn far_constants() -> Vec<ScalarValue> {
    let ids = far_ids().into_iter().flat_map(|id| {
        let signed = i64::try_from(id).unwrap();
        [
            ScalarValue::Int64(Some(signed)),
            ScalarValue::UInt64(Some(id)),
            ScalarValue::Float64(Some(id as f64)),
            ScalarValue::Float32(Some(id as f32)),
            ScalarValue::Decimal128(Some(i128::from(id) * 10 + 5), 25, 1),
            ScalarValue::Decimal256(Some(i256::from_i128(i128::from(id) * 10)), 25, 1),
        ]
    });
    ids.collect()
}
