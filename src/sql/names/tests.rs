use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::catalog::{MemorySchemaProvider, SchemaProvider};
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};

use super::*;

/// Schema `g` with some tables, schema `Other` with one, and a listing in `public`.
fn context(normalize: bool) -> SessionContext {
    let mut config = SessionConfig::new().with_information_schema(true);
    config.options_mut().sql_parser.enable_ident_normalization = normalize;
    let context = SessionContext::new_with_config(config);
    let catalog = context.catalog("datafusion").unwrap();
    let add = |schema: &Arc<dyn SchemaProvider>, name: &str, columns: &[&str]| {
        let fields: Vec<Field> = columns
            .iter()
            .map(|name| Field::new(*name, DataType::Int64, true))
            .collect();
        let schema_of_table = Arc::new(Schema::new(fields));
        let table = MemTable::try_new(schema_of_table, vec![vec![]]).unwrap();
        schema
            .register_table(name.to_owned(), Arc::new(table))
            .unwrap();
    };
    let graph: Arc<dyn SchemaProvider> = Arc::new(MemorySchemaProvider::new());
    add(
        &graph,
        "person",
        &["firstName", "age", "name", "_vertex_id"],
    );
    add(&graph, "Place", &["Name", "id"]);
    add(&graph, "twins", &["a", "A", "bC", "Bc"]);
    add(&graph, "dup", &["x"]);
    add(&graph, "DUP", &["x"]);
    add(&graph, "person_knows-person", &["_src_id", "_dst_id"]);
    catalog.register_schema("g", graph).unwrap();
    let other: Arc<dyn SchemaProvider> = Arc::new(MemorySchemaProvider::new());
    add(&other, "Thing", &["Key"]);
    catalog.register_schema("Other", other).unwrap();
    add(&catalog.schema("public").unwrap(), "g", &["kind"]);
    context
        .state_ref()
        .write()
        .config_mut()
        .options_mut()
        .catalog
        .default_schema = "g".into();
    context
}

async fn resolve(sql: &str, normalize: bool) -> Result<String> {
    let context = context(normalize);
    let state = context.state();
    let dialect = &state.config_options().sql_parser.dialect;
    let statement = state.sql_to_statement(sql, dialect)?;
    let statement = resolve_names(&state, statement).await?;
    // What was resolved must also plan.
    state.statement_to_plan(statement.clone()).await?;
    Ok(statement.to_string().replace('"', "'"))
}

#[tokio::test]
async fn names_become_what_they_stand_for() {
    // Quotes are written as ' to keep the table readable.
    let cases = [
        (
            "SELECT firstName FROM person",
            "SELECT 'firstName' FROM 'person'",
        ),
        (
            "SELECT FIRSTNAME FROM Person",
            "SELECT 'firstName' FROM 'person'",
        ),
        ("SELECT A FROM twins", "SELECT 'A' FROM 'twins'"),
        ("SELECT a FROM twins", "SELECT 'a' FROM 'twins'"),
        (
            "SELECT \"a\", t.A FROM twins T",
            "SELECT 'a', 'T'.'A' FROM 'twins' T",
        ),
        (
            "SELECT P.age FROM Person p",
            "SELECT 'p'.'age' FROM 'person' p",
        ),
        (
            "SELECT PERSON.Age FROM person",
            "SELECT 'person'.'age' FROM 'person'",
        ),
        (
            "SELECT G.Person.Age FROM g.PERSON",
            "SELECT 'g'.'person'.'age' FROM 'g'.'person'",
        ),
        (
            "SELECT key FROM other.thing",
            "SELECT 'Key' FROM 'Other'.'Thing'",
        ),
        ("SELECT KIND FROM g", "SELECT 'kind' FROM 'public'.'g'"),
        ("SELECT P.* FROM person p", "SELECT 'p'.* FROM 'person' p"),
        (
            "SELECT * EXCLUDE (FIRSTNAME) FROM person",
            "SELECT * EXCLUDE ('firstName') FROM 'person'",
        ),
        (
            "SELECT p.name, q.NAME FROM person p JOIN place q ON P.age = Q.ID",
            "SELECT 'p'.'name', 'q'.'Name' FROM 'person' p JOIN 'Place' q ON 'p'.'age' = 'q'.'id'",
        ),
        (
            "SELECT 1 FROM person p JOIN person q USING (AGE)",
            "SELECT 1 FROM 'person' p JOIN 'person' q USING('age')",
        ),
        (
            "SELECT FirstName FROM person p WHERE EXISTS (SELECT 1 FROM place WHERE ID = P.AGE)",
            "SELECT 'firstName' FROM 'person' p WHERE EXISTS (SELECT 1 FROM 'Place' WHERE 'id' = 'p'.'age')",
        ),
        (
            "WITH Old AS (SELECT AGE, name AS Who FROM person) SELECT WHO FROM OLD o WHERE O.Age > 3",
            "WITH Old AS (SELECT 'age', 'name' AS Who FROM 'person') SELECT 'Who' FROM 'Old' o WHERE 'o'.'age' > 3",
        ),
        (
            "WITH t(X) AS (SELECT age FROM person) SELECT x FROM t",
            "WITH t (X) AS (SELECT 'age' FROM 'person') SELECT 'X' FROM 't'",
        ),
        (
            "SELECT N FROM (SELECT AGE AS n FROM person) s WHERE S.N > 1",
            "SELECT 'n' FROM (SELECT 'age' AS n FROM 'person') s WHERE 's'.'n' > 1",
        ),
        (
            "SELECT age FROM person UNION ALL SELECT ID FROM place ORDER BY AGE",
            "SELECT 'age' FROM 'person' UNION ALL SELECT 'id' FROM 'Place' ORDER BY 'age'",
        ),
        (
            "SELECT upper(CAST(name AS VARCHAR)) AS Name FROM person ORDER BY NAME",
            "SELECT upper(CAST('name' AS VARCHAR)) AS Name FROM 'person' ORDER BY 'Name'",
        ),
        (
            "SELECT v FROM (VALUES (1)) AS t(V)",
            "SELECT 'V' FROM (VALUES (1)) AS t (V)",
        ),
        (
            "SELECT Value FROM Generate_Series(1, 3)",
            "SELECT 'value' FROM generate_series(1, 3)",
        ),
        ("DESCRIBE PERSON", "DESCRIBE 'person'"),
        (
            "EXPLAIN SELECT NAME FROM person",
            "EXPLAIN SELECT 'name' FROM 'person'",
        ),
        ("COPY PERSON TO 'x.csv'", "COPY 'person' TO x.csv"),
        (
            "COPY (SELECT Age FROM Person) TO 'x.csv'",
            "COPY (SELECT 'age' FROM 'person') TO x.csv",
        ),
        (
            "CREATE VIEW V AS SELECT AGE FROM person",
            "CREATE VIEW V AS SELECT 'age' FROM 'person'",
        ),
        (
            "CREATE TABLE T AS SELECT AGE FROM person",
            "CREATE TABLE T AS SELECT 'age' FROM 'person'",
        ),
        (
            "INSERT INTO PLACE (ID) SELECT Age FROM person",
            "INSERT INTO 'Place' ('id') SELECT 'age' FROM 'person'",
        ),
        ("DROP TABLE Place", "DROP TABLE 'Place'"),
        (
            "SELECT _SRC_ID FROM \"person_knows-person\"",
            "SELECT '_src_id' FROM 'person_knows-person'",
        ),
    ];
    for (sql, expected) in cases {
        assert_eq!(resolve(sql, false).await.unwrap(), expected, "{sql}");
    }
}

#[tokio::test]
async fn ordinary_habits_work_with_and_without_normalization() {
    let statements = [
        "SELECT Count(*) AS N FROM Person p WHERE P.age > 3 ORDER BY n",
        "SELECT age, COUNT(*) AS Total FROM person GROUP BY AGE HAVING total > 1 ORDER BY TOTAL",
        "SELECT Max(Age) OVER (PARTITION BY NAME ORDER BY firstname) FROM person",
        "SELECT CASE WHEN AGE > 1 THEN Name END FROM person WHERE FirstName IS NOT NULL",
        "WITH RECURSIVE r AS (SELECT 1 AS N UNION ALL SELECT n + 1 FROM R WHERE n < 3) SELECT n FROM r",
        "SELECT (SELECT max(ID) FROM place WHERE Place.name = PERSON.name) FROM person",
        "SELECT * FROM person p, LATERAL (SELECT ID FROM place WHERE NAME = p.Name) q",
        "SELECT table_name FROM INFORMATION_SCHEMA.TABLES",
        "SELECT DISTINCT AGE FROM person LIMIT 3",
        "SELECT * FROM (person p JOIN place q ON p.AGE = q.ID)",
        "SELECT x.Y FROM (SELECT age AS y FROM person) X",
        "SELECT count(P.*) FROM person P",
        "SHOW TABLES",
    ];
    for sql in statements {
        for normalize in [false, true] {
            resolve(sql, normalize)
                .await
                .unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
    }
}

#[tokio::test]
async fn ambiguity_lists_the_candidates() {
    let cases = [
        (
            "SELECT bc FROM twins",
            "column name 'bc' fits \"Bc\" and \"bC\"",
        ),
        (
            "SELECT NAME FROM person, place",
            "column name 'NAME' fits \"Name\" and \"name\"",
        ),
        (
            "SELECT x FROM Dup",
            "table name 'Dup' fits \"DUP\" and \"dup\"",
        ),
        (
            "SELECT T.bc FROM twins t",
            "column name 'bc' fits \"Bc\" and \"bC\"",
        ),
        (
            "SELECT pP.age FROM person pp, person PP",
            "table name 'pP' fits \"PP\" and \"pp\"",
        ),
    ];
    for (sql, expected) in cases {
        let error = resolve(sql, false).await.unwrap_err().strip_backtrace();
        assert!(error.contains(expected), "{sql}: {error}");
    }
}

#[tokio::test]
async fn quoted_names_are_exact() {
    let cases = [
        ("SELECT \"FIRSTNAME\" FROM person", "FIRSTNAME"),
        ("SELECT firstName FROM \"Person\"", "Person"),
        ("SELECT \"P\".age FROM person p", "P"),
    ];
    for (sql, name) in cases {
        let error = resolve(sql, false).await.unwrap_err().strip_backtrace();
        assert!(error.contains(name), "{sql}: {error}");
    }
}

#[tokio::test]
async fn unknown_names_keep_the_hint_of_the_engine() {
    let error = resolve("SELECT firstNam FROM person", false)
        .await
        .unwrap_err()
        .strip_backtrace();
    assert!(error.contains("Did you mean"), "{error}");
}

#[tokio::test]
async fn a_query_runs() {
    let context = context(false);
    let frame = sql_with_names(&context, "SELECT Count(*) AS N FROM PERSON ORDER BY n").await;
    let batches = frame.unwrap().collect().await.unwrap();
    assert_eq!(batches[0].schema().field(0).name(), "N");
}
