//! Conditions on labels alone, as sets of rows: `AND` is what two sets have in common, `OR` what either has,
//! `NOT` the rest of the chunk. Each step costs ranges, not rows.

use std::sync::Arc;

use datafusion::arrow::array::{BooleanArray, BooleanBufferBuilder};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal, NotExpr};
use datafusion::physical_plan::PhysicalExpr;

use crate::format::RowRanges;

/// A condition on labels, none of which is null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LabelSets {
    /// The vertices of a label, by the number of its column.
    Label(usize),
    /// All vertices, or none.
    Constant(bool),
    Not(Box<LabelSets>),
    And(Box<LabelSets>, Box<LabelSets>),
    Or(Box<LabelSets>, Box<LabelSets>),
}

impl LabelSets {
    /// The condition, if it is made of labels, whose columns are those from `first` on, and at least one.
    pub fn of(condition: &Arc<dyn PhysicalExpr>, first: usize) -> Option<Self> {
        let sets = Self::part(condition, first)?;
        (!sets.labels().is_empty()).then_some(sets)
    }

    fn part(expr: &Arc<dyn PhysicalExpr>, first: usize) -> Option<Self> {
        if let Some(column) = expr.downcast_ref::<Column>() {
            return (column.index() >= first).then_some(Self::Label(column.index()));
        }
        if let Some(not) = expr.downcast_ref::<NotExpr>() {
            return Some(Self::Not(Box::new(Self::part(not.arg(), first)?)));
        }
        if let Some(literal) = expr.downcast_ref::<Literal>() {
            return match literal.value() {
                ScalarValue::Boolean(Some(value)) => Some(Self::Constant(*value)),
                _ => None,
            };
        }
        let binary = expr.downcast_ref::<BinaryExpr>()?;
        let sides = || {
            let left = Self::part(binary.left(), first)?;
            let right = Self::part(binary.right(), first)?;
            Some((Box::new(left), Box::new(right)))
        };
        match binary.op() {
            Operator::And => sides().map(|(left, right)| Self::And(left, right)),
            Operator::Or => sides().map(|(left, right)| Self::Or(left, right)),
            _ => None,
        }
    }

    /// The columns of the labels, each once.
    pub fn labels(&self) -> Vec<usize> {
        let mut labels = vec![];
        self.collect(&mut labels);
        labels.sort_unstable();
        labels.dedup();
        labels
    }

    fn collect(&self, labels: &mut Vec<usize>) {
        match self {
            Self::Label(column) => labels.push(*column),
            Self::Constant(_) => {}
            Self::Not(of) => of.collect(labels),
            Self::And(left, right) | Self::Or(left, right) => {
                left.collect(labels);
                right.collect(labels);
            }
        }
    }

    /// The rows of a chunk of `total` rows that fulfil the condition; `None` if the rows of a label are not known.
    pub fn rows(
        &self,
        of: &impl Fn(usize) -> Option<Arc<RowRanges>>,
        total: u64,
    ) -> Option<RowRanges> {
        Some(match self {
            Self::Label(column) => of(*column)?.as_ref().clone(),
            Self::Constant(true) => RowRanges::all(total),
            Self::Constant(false) => RowRanges::empty(),
            Self::Not(inner) => inner.rows(of, total)?.complement(total),
            Self::And(left, right) => left.rows(of, total)?.intersect(&right.rows(of, total)?),
            Self::Or(left, right) => left.rows(of, total)?.union(&right.rows(of, total)?),
        })
    }
}

/// For each of `rows` whether it is one of `kept`, which are among them.
pub(super) fn mask(rows: &RowRanges, kept: &RowRanges) -> BooleanArray {
    let mut bits = BooleanBufferBuilder::new(0);
    // Numbers of rows that are held in memory fit.
    let count = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
    for range in rows.ranges() {
        let mut at = range.start;
        for found in kept.within(range).ranges() {
            bits.append_n(count(found.start - at), false);
            bits.append_n(count(found.end - found.start), true);
            at = found.end;
        }
        bits.append_n(count(range.end - at), false);
    }
    BooleanArray::new(bits.finish(), None)
}

#[cfg(test)]
// A set of one range is a vector of one range, and not a slip of the pen.
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_merged_by_ranges() {
        let rows = |column: usize| {
            let ranges = match column {
                5 => vec![0..4, 6..8],
                6 => vec![3..7],
                _ => return None,
            };
            Some(Arc::new(RowRanges::from_unsorted(ranges)))
        };
        let label = |column| Box::new(LabelSets::Label(column));
        let and = LabelSets::And(label(5), label(6));
        assert_eq!(and.rows(&rows, 10).unwrap().ranges(), [3..4, 6..7]);
        let or = LabelSets::Or(label(5), label(6));
        assert_eq!(or.rows(&rows, 10).unwrap().ranges(), [0..8]);
        let not = LabelSets::Not(Box::new(and.clone()));
        assert_eq!(not.rows(&rows, 10).unwrap().ranges(), [0..3, 4..6, 7..10]);
        assert_eq!(not.labels(), [5, 6]);
        let none = LabelSets::And(Box::new(LabelSets::Constant(false)), label(5));
        assert!(none.rows(&rows, 10).unwrap().is_empty());
        assert!(LabelSets::Label(7).rows(&rows, 10).is_none());
    }

    #[test]
    fn masks_are_of_the_rows_that_were_read() {
        let rows = RowRanges::from_unsorted(vec![2..5, 8..11]);
        let kept = RowRanges::from_unsorted(vec![4..5, 8..9, 10..11]);
        let expected = vec![false, false, true, true, false, true];
        assert_eq!(mask(&rows, &kept), BooleanArray::from(expected));
    }
}
