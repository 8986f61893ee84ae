//! Reads the ids of all edges of an archive with the published crate `graphar`, and adds the destinations up.
//!
//! `published-crate FOLDER RUNS VERTICES` prints the number of edges, the sum, and the median time in milliseconds. The
//! bench `scan` runs it, if the environment variable `PUBLISHED_CRATE` says where it is.

use std::env;
use std::error::Error;
use std::time::Instant;

use arrow::array::AsArray;
use arrow::compute::sum;
use arrow::datatypes::Int64Type;
use graphar::metadata::EdgeInfo;
use graphar::reader::EdgeReader;
use graphar::types::AdjListType;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let folder = arguments
        .next()
        .ok_or("the folder of an archive is missing")?;
    let runs: usize = arguments
        .next()
        .ok_or("the number of runs is missing")?
        .parse()?;
    let vertices = arguments
        .next()
        .ok_or("the number of vertices is missing")?
        .parse()?;
    let info = EdgeInfo::load(format!("{folder}/node_links_node.edge.yml"))?;
    let reader = EdgeReader::new(info, &folder, vertices, vertices);
    let (mut times, mut edges, mut total) = (vec![], 0, 0);
    for _ in 0..runs {
        (edges, total) = (0, 0);
        let begin = Instant::now();
        for chunk in reader.iter_vertex_chunks(&AdjListType::OrderedBySource) {
            for batch in chunk?.1 {
                edges += batch.num_rows();
                let destinations = batch.column_by_name("_graphArDstIndex");
                let destinations = destinations
                    .ok_or("no destinations")?
                    .as_primitive::<Int64Type>();
                total += sum(destinations).unwrap_or(0);
            }
        }
        times.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    println!("{edges} {total} {:.3}", times[times.len() / 2]);
    Ok(())
}
