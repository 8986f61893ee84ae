use std::fs;
use std::io::{self, Write};

use crate::cli::{Terminals, run};

/// Exit code, standard output and standard error of a run with this input.
fn shell(words: &[&str], input: &str) -> (u8, String, String) {
    let (mut out, mut err) = (vec![], vec![]);
    let words = ["graphar-sql"].iter().chain(words);
    let mut stdin = input.as_bytes();
    let code = run(words, &mut stdin, Terminals::default(), &mut out, &mut err);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (code, text(out), text(err))
}

/// Standard output of `-c` runs that work.
fn output(format: &str, sql: &str) -> String {
    let (code, out, err) = shell(&["--format", format, "-c", sql], "");
    assert_eq!((code, err.as_str()), (0, ""), "{sql}");
    out
}

#[test]
fn a_table_and_nothing_else() {
    let sql =
        "SELECT 1 AS one, 'a\tb' AS text, NULL AS none UNION ALL SELECT 20, '日本', 3 ORDER BY 1";
    let expected = "\
+-----+--------+------+
| one | text   | none |
+-----+--------+------+
| 1   | a    b |      |
| 20  | 日本   | 3    |
+-----+--------+------+
";
    assert_eq!(output("table", sql), expected);
    assert_eq!(
        output("table", "SELECT 1 AS x WHERE false"),
        "+---+\n| x |\n+---+\n+---+\n"
    );
}

#[test]
fn cells_of_several_lines_stay_in_their_box() {
    let expected = "+---+---+\n| x | y |\n+---+---+\n| a | 1 |\n| b |   |\n+---+---+\n";
    assert_eq!(output("table", "SELECT 'a\nb' AS x, 1 AS y"), expected);
    let plan = output("table", "EXPLAIN FORMAT INDENT SELECT 1 AS x");
    assert!(
        plan.contains("| logical_plan  | Projection: Int64(1) AS x"),
        "{plan}"
    );
    assert!(
        plan.lines().all(|line| line.starts_with(['|', '+'])),
        "{plan}"
    );
}

#[test]
fn a_table_longer_than_what_is_measured() {
    let out = output(
        "table",
        "SELECT value AS v FROM generate_series(1, 3000) ORDER BY v",
    );
    assert_eq!(out.lines().count(), 3004);
    assert!(
        out.ends_with("| 3000 |\n+------+\n"),
        "{}",
        &out[out.len() - 40..]
    );
}

const MIXED: &str = "SELECT * FROM (VALUES \
    (9007199254740993, 1.5, 'a,\"b\"', [1, NULL], TIMESTAMP '2024-05-06 07:08:09', DATE '2024-05-06'), \
    (NULL, 'NaN'::double, '', NULL, NULL, NULL)) AS t(i, f, s, l, t, d)";

#[test]
fn delimited_text_tells_null_from_empty() {
    let csv = "i,f,s,l,t,d\n\
        9007199254740993,1.5,\"a,\"\"b\"\"\",\"[1,null]\",2024-05-06T07:08:09,2024-05-06\n\
        ,NaN,\"\",,,\n";
    assert_eq!(output("csv", MIXED), csv);
    assert_eq!(
        output("tsv", "SELECT 'a\tb' AS x, 1 AS y"),
        "x\ty\n\"a\tb\"\t1\n"
    );
    assert_eq!(output("csv", "SELECT 1 AS x WHERE false"), "x\n");
}

#[test]
fn json_lines() {
    let expected = "\
{\"i\":9007199254740993,\"f\":1.5,\"s\":\"a,\\\"b\\\"\",\"l\":[1,null],\"t\":\"2024-05-06T07:08:09\",\"d\":\"2024-05-06\"}
{\"i\":null,\"f\":null,\"s\":\"\",\"l\":null,\"t\":null,\"d\":null}
";
    assert_eq!(output("ndjson", MIXED), expected);
    assert_eq!(output("ndjson", "SELECT 1 AS x WHERE false"), "");
    let sql =
        "SELECT s.x, q.x, 'Infinity'::double AS x_2 FROM (SELECT 1 AS x) s, (SELECT 2 AS x) q";
    let expected = "{\"x\":1,\"x_3\":2,\"x_2\":null}\n";
    assert_eq!(output("ndjson", sql), expected);
}

#[test]
fn one_json_array() {
    let sql = "SELECT 1 AS x UNION ALL SELECT 2 ORDER BY 1";
    assert_eq!(output("json", sql), "[{\"x\":1},\n {\"x\":2}]\n");
    assert_eq!(output("json", "SELECT 1 AS x WHERE false"), "[]\n");
}

#[test]
fn statements_without_a_result_print_nothing() {
    for format in ["table", "csv", "tsv", "json", "ndjson"] {
        assert_eq!(
            output(format, "CREATE VIEW v AS SELECT 1 AS x; -- done"),
            "",
            "{format}"
        );
    }
}

#[test]
fn a_script_stops_at_the_first_failure() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("three.sql");
    fs::write(
        &file,
        "SELECT 1 AS a;\n\nSELECT nothing\nFROM nowhere;\nSELECT 3 AS c;\n",
    )
    .unwrap();
    let name = file.display().to_string();
    let (code, out, err) = shell(&["--format", "csv", "-f", &name], "");
    assert_eq!((code, out.as_str()), (1, "a\n1\n"));
    assert!(err.starts_with(&format!("{name}:3: ")), "{err}");
    assert!(err.contains("nowhere") && err.lines().count() == 1, "{err}");

    let (code, out, err) = shell(&["--format", "csv"], &fs::read_to_string(&file).unwrap());
    assert_eq!((code, out.as_str()), (1, "a\n1\n"));
    assert!(err.starts_with("stdin:3: "), "{err}");
}

#[test]
fn a_syntax_error_is_placed_in_the_script() {
    let (code, out, err) = shell(
        &[
            "--format",
            "csv",
            "-c",
            "SELECT 1 AS a;\n\nSELECT\n  FROM x y z;SELECT 2",
        ],
        "",
    );
    assert_eq!((code, out.as_str()), (1, "a\n1\n"));
    assert!(
        err.starts_with("-c:3: ") && err.contains("Line: 4"),
        "{err}"
    );
    let (code, _, err) = shell(&["-c", "SELECT 1;\nSELECT 'x"], "");
    assert_eq!(code, 1);
    assert!(err.starts_with("-c:2: Unterminated"), "{err}");
}

#[test]
fn an_error_among_the_rows_is_a_failure() {
    let sql = "SELECT CAST(x AS INT) AS n FROM (VALUES ('1'), ('two')) AS t(x); SELECT 5 AS later";
    let (code, out, err) = shell(&["--format", "ndjson", "-c", sql], "");
    assert_eq!(code, 1);
    assert!(!out.contains("later") && err.contains("two"), "{out}{err}");
}

#[test]
fn commands_and_files_run_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("b.sql");
    fs::write(&file, "SELECT 2 AS b").unwrap();
    let name = file.display().to_string();
    let words = [
        "-c",
        "\\format csv\nSELECT 1 AS a",
        "-f",
        &name,
        "-c",
        "SELECT 3 AS c",
    ];
    assert_eq!(
        shell(&words, "SELECT 'unread'"),
        (0, "a\n1\nb\n2\nc\n3\n".into(), String::new())
    );
    let (code, _, err) = shell(&["-f", "no/such.sql"], "");
    assert_eq!(code, 1);
    assert!(err.starts_with("error: cannot read 'no/such.sql'"), "{err}");
}

#[test]
fn commands_in_scripts() {
    let script = "CREATE TABLE \"Cat\" (Name VARCHAR NOT NULL, age INT);\n\\format csv\n\\d cat\n\\d\n\\q\nSELECT 1;";
    let (code, out, err) = shell(&[], script);
    assert_eq!((code, err.as_str()), (0, ""));
    let expected = "column_name,data_type,is_nullable\nName,Utf8View,NO\nage,Int32,YES\n\
        schema,table,kind,rows\npublic,Cat,table,0\n";
    assert_eq!(out, expected);

    let (code, _, err) = shell(&[], "\n\\dt\n");
    assert_eq!(code, 1);
    assert_eq!(
        err,
        "stdin:2: unknown command \\dt; \\? lists the commands\n"
    );
    let (code, _, err) = shell(&["-c", "\\format xml"], "");
    assert_eq!(code, 1);
    assert!(err.contains("table, csv, tsv, json, ndjson"), "{err}");
    assert!(shell(&["-c", "\\?"], "").1.contains("\\timing"));
}

#[test]
fn timing_is_not_among_the_results() {
    let (_, out, err) = shell(&["--format", "csv"], "\\timing\nSELECT 1 AS a;\n");
    assert_eq!(out, "a\n1\n");
    assert!(
        err.starts_with("Timing is on.\nTime: ") && err.ends_with(" ms\n"),
        "{err}"
    );
}

#[test]
fn the_sample_graph() {
    let sql = "SELECT Name, AGE FROM Person WHERE age > 30 ORDER BY age";
    let (code, out, err) = shell(&["--sample", "--format", "csv", "-c", sql], "");
    assert_eq!(
        (code, out.as_str(), err.as_str()),
        (0, "name,age\njosh,32\npeter,35\n", "")
    );
    let (_, out, _) = shell(&["--sample", "--format", "csv", "-c", "\\d"], "");
    assert!(
        out.starts_with("schema,table,kind,rows\npublic,sample,graph,"),
        "{out}"
    );
    assert!(out.contains("\nsample,person,vertex,"), "{out}");
    let (code, _, _) = shell(&["--sample", "-c", "SELECT * FROM Sample"], "");
    assert_eq!(code, 0);
}

#[test]
fn an_archive_that_is_not_there() {
    let (code, out, err) = shell(&["no/missing.graph.yml", "-c", "SELECT 1"], "");
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(
        err.starts_with("error: cannot open 'no/missing.graph.yml': "),
        "{err}"
    );
    assert_eq!(err.lines().count(), 1);
}

#[test]
fn usage() {
    let (code, out, _) = shell(&["--version"], "");
    assert_eq!((code, out.starts_with("graphar-sql ")), (0, true));
    let (code, out, err) = shell(&["--help"], "");
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(
        out.contains("--memory-limit <SIZE>") && out.contains("-f, --file"),
        "{out}"
    );
    for words in [
        &["--format", "xml"],
        &["--threads", "0"],
        &["--memory-limit", "12X"],
    ] {
        let (code, out, err) = shell(words, "");
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
    }
}

#[test]
fn a_memory_limit_stops_what_cannot_spill() {
    let sql = "SELECT max(n) FROM (SELECT array_agg(value) AS n FROM generate_series(1, 3000000))";
    let (code, _, err) = shell(&["--memory-limit", "1M", "--threads", "1", "-c", sql], "");
    assert_eq!(code, 1);
    assert!(
        err.contains("Resources exhausted") && err.lines().count() == 1,
        "{err}"
    );
    let (code, out, _) = shell(
        &[
            "--threads",
            "3",
            "--format",
            "csv",
            "-c",
            "SHOW datafusion.execution.target_partitions",
        ],
        "",
    );
    assert_eq!(code, 0);
    assert!(out.ends_with(",3\n"), "{out}");
}

/// A pipe whose reader has had enough.
struct Closed(usize);

impl Write for Closed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.0 -= 1;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let sql = "SELECT * FROM generate_series(1, 100000000); SELECT 1 / 0";
    for format in ["table", "csv", "json", "ndjson"] {
        let mut err = vec![];
        let words = ["graphar-sql", "--format", format, "-c", sql];
        let code = run(
            words,
            &mut io::empty(),
            Terminals::default(),
            &mut Closed(1),
            &mut err,
        );
        assert_eq!((code, err.len()), (0, 0), "{format}");
    }
}

/// The sample graph in this payload, from the fixtures.
fn modern(payload: &str) -> String {
    let root = env!("CARGO_MANIFEST_DIR");
    format!("{root}/sqllogictest/data/modern/{payload}/modern.graph.yml")
}

#[test]
fn the_first_archive_is_the_default_schema() {
    let (a, b) = (
        format!("a={}", modern("csv")),
        format!("b={}", modern("orc")),
    );
    let sql = "SELECT count(*) AS n FROM person JOIN B.Person x USING (id);
               SELECT count(*) AS s FROM b.software";
    let (code, out, err) = shell(&[&a, &b, "--format", "csv", "-c", sql], "");
    assert_eq!((code, out.as_str(), err.as_str()), (0, "n\n4\ns\n2\n", ""));
    // Without a name: that of the file; then --sample is not the first.
    let sql = "SELECT max(age) AS m FROM modern.person;";
    let place = modern("parquet");
    let words = [
        &place,
        "--sample",
        "--format",
        "csv",
        "-c",
        sql,
        "-c",
        "\\d person",
    ];
    let (code, out, err) = shell(&words, "");
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("m\n35\n"), "{out}");
    assert!(out.contains("_vertex_id,Int64,NO"), "{out}");
    // The listing is found from inside the graph's schema, and dropping it ends the graph.
    let sql = "SELECT count(*) AS n FROM modern; DROP TABLE modern; SELECT * FROM person";
    let (code, out, err) = shell(&[&place, "--format", "csv", "-c", sql], "");
    assert_eq!((code, out.as_str()), (1, "n\n4\n"));
    assert!(err.contains("person"), "{err}");
}

#[test]
fn names_with_capitals_are_found_with_their_values() {
    let folder = tempfile::tempdir().unwrap();
    let chunks = folder.path().join("vertex/person/firstName_a_A");
    fs::create_dir_all(&chunks).unwrap();
    let write = |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).unwrap();
    write(
        "g.graph.yml",
        b"name: g\nvertices:\n  - person.vertex.yml\n",
    );
    let info = "type: person
chunk_size: 2
prefix: vertex/person/
property_groups:
  - file_type: csv
    properties:
      - name: firstName
        data_type: string
      - name: a
        data_type: int64
      - name: A
        data_type: int64
";
    write("person.vertex.yml", info.as_bytes());
    write("vertex/person/vertex_count", &1_i64.to_le_bytes());
    let rows = b"_graphArVertexIndex,firstName,a,A\n0,Zoe,1,2\n";
    write("vertex/person/firstName_a_A/chunk0", rows);
    let place = format!("g={}", folder.path().display());
    let sql = "SELECT firstName, FIRSTNAME AS x, A, a AS y, \"a\" AS z FROM Person";
    let (code, out, err) = shell(&[&place, "--format", "csv", "-c", sql], "");
    let expected = "firstName,x,A,y,z\nZoe,Zoe,2,1,1\n";
    assert_eq!((code, out.as_str(), err.as_str()), (0, expected, ""));
}
