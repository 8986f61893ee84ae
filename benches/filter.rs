//! Selective conditions on properties, in one property group and across two.
//!
//! `cargo bench --features cli --bench filter`. Answers are checked before anything is timed.

#![allow(clippy::print_stdout)]

mod support;

use datafusion_graphar::config::GraphArOptions;
use tokio::runtime::Runtime;

use support::{Error, PAIRS, Written, print_ratio, print_times, read, sums, time};

/// Scores below this pass, of a million.
const BOUNDS: [(&str, u32); 3] = [("0.1%", 1_000), ("1%", 10_000), ("10%", 100_000)];

fn main() -> Result<(), Error> {
    let runtime = Runtime::new()?;
    let written = runtime.block_on(Written::new())?;
    let (ctx, _graph) = runtime.block_on(written.session(GraphArOptions::default()))?;
    for (share, bound) in BOUNDS {
        let cases = [
            (
                "one group",
                "id",
                "g.node".to_owned(),
                "vertex_numbers".to_owned(),
            ),
            (
                "two groups",
                "octet_length(name)",
                "g.node".to_owned(),
                r#"vertex_numbers a JOIN vertex_names b
                   ON a."_graphArVertexIndex" = b."_graphArVertexIndex""#
                    .to_owned(),
            ),
        ];
        for (name, column, ours, theirs) in cases {
            let query = |from: &str| {
                format!("SELECT count(*), sum({column}) FROM {from} WHERE score < {bound}")
            };
            let (ours, theirs) = (query(&ours), query(&theirs));
            assert_eq!(
                runtime.block_on(sums(&ctx, &ours))?,
                runtime.block_on(sums(&ctx, &theirs))?
            );
            let (mut times, mut ratios) = (vec![], vec![]);
            for _ in 0..PAIRS {
                let one = runtime.block_on(time(read(&ctx, &[&ours])))?;
                let other = runtime.block_on(time(read(&ctx, &[&theirs])))?;
                ratios.push(one.as_secs_f64() / other.as_secs_f64());
                times.push(one);
            }
            print_times(&format!("selective_filter/{name}/{share}"), times);
            print_ratio(
                &format!("selective_filter/{name}/{share}: graphar / listing"),
                ratios,
            );
        }
    }
    Ok(())
}
