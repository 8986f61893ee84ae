"""Reads archives that the shell has written with the C++ library, by its Python package `graphar`.

    read_written.py COMMAND...

COMMAND runs the shell, for example `target/debug/graphar-sql`. Counts and sums that the C++ library finds have to be those
of the shell, in every payload that both have, along both ordered layouts, and for single vertices by their offsets.
"""

import json
import subprocess
import sys
import tempfile

import graphar
from graphar import _core

VERTICES = 1000

WRITE = """
COPY (SELECT value * 3 AS id, 'name ' || value AS name, value * 0.5 AS score, value % 2 = 0 AS even
      FROM range(0, {vertices}))
TO '{file}' STORED AS GRAPHAR
OPTIONS ('vertex' 'person', 'key' 'id', 'chunk_size' '100', 'file_type' '{payload}', 'groups' 'id; name, score');
COPY (SELECT a.value * 3 AS a, (a.value * 7 + b.value * 13) % {vertices} * 3 AS b, a.value + b.value AS w,
             'note ' || b.value AS note
      FROM range(0, {vertices}) a, range(0, 5) b WHERE a.value % 10 <> 3)
TO '{file}' STORED AS GRAPHAR
OPTIONS ('edge' 'person-knows-person', 'source_key' 'a', 'destination_key' 'b', 'chunk_size' '256',
         'file_type' '{payload}', 'groups' 'w; note');
"""

READ = """
CREATE EXTERNAL TABLE g STORED AS GRAPHAR LOCATION '{file}';
SELECT (SELECT count(*) FROM g.person) AS vertices, (SELECT sum(id) FROM g.person) AS ids,
       (SELECT sum(octet_length(name)) FROM g.person) AS names,
       count(*) AS edges, sum(_src_id) AS sources, sum(_dst_id) AS destinations, sum(w) AS weights,
       sum(octet_length(note)) AS notes
FROM g.person_knows_person;
"""


def shell(command, sql, *options):
    done = subprocess.run([*command, *options, "-c", sql], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{sql}\n{done.stderr}")
    return done.stdout


def vertices_of(graph):
    found = {"vertices": 0, "ids": 0, "names": 0}
    for vertex in graphar.VerticesCollection.Make(graph, "person"):
        found["vertices"] += 1
        found["ids"] += vertex.property("id")
        found["names"] += len(vertex.property("name").encode())
    return found


def edges_of(graph, layout):
    found = {"edges": 0, "sources": 0, "destinations": 0, "weights": 0, "notes": 0}
    degrees = [0] * VERTICES
    edges = graphar.EdgesCollection.Make(graph, "person", "knows", "person", layout)
    for edge in edges:
        found["edges"] += 1
        found["sources"] += edge.source()
        found["destinations"] += edge.destination()
        found["weights"] += edge.property("w")
        found["notes"] += len(edge.property("note").encode())
        degrees[edge.source()] += 1
    return found, degrees, edges


def check(what, found, expected):
    wrong = {key: (value, expected[key]) for key, value in found.items() if value != expected[key]}
    if wrong:
        sys.exit(f"{what}: found and expected {wrong}")
    print(f"{what}: {found}")


def main(command):
    for payload in ("parquet", "orc", "csv"):
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/social.graph.yml"
            shell(command, WRITE.format(file=file, payload=payload, vertices=VERTICES))
            rows = json.loads(shell(command, READ.format(file=file), "--format", "json"))
            expected = rows[0]
            if not _core.check_graph(file):
                sys.exit(f"{payload}: the C++ library does not take the info files for valid")
            graph = graphar.GraphInfo.load(file)
            check(f"{payload}, vertices", vertices_of(graph), expected)
            layouts = graphar.AdjListType if hasattr(graphar, "AdjListType") else _core.AdjListType
            by_source, degrees, edges = edges_of(graph, layouts.ordered_by_source)
            check(f"{payload}, by source", by_source, expected)
            by_destination, _, _ = edges_of(graph, layouts.ordered_by_dest)
            check(f"{payload}, by destination", by_destination, expected)
            for vertex in range(0, VERTICES, 37):
                if degrees[vertex] == 0:
                    continue
                edge = edges.find_src(vertex, edges.begin())
                if edge.source() != vertex:
                    sys.exit(f"{payload}: vertex {vertex} is looked up as {edge.source()}")


if __name__ == "__main__":
    main(sys.argv[1:])
