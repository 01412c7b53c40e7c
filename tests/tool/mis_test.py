# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""`outsize mis`: the set of a greedy from files of edges in all formats, its proof, refusals."""

import gzip
import json
import os
import random
import struct
import unittest

from outsize_tool import ToolTest, runs

SEED = int(os.environ.get("OUTSIZE_TEST_SEED", random.randrange(1 << 32)))


def greedy(vertices, edges):
    """The members, vertex by vertex."""
    neighbours = [[] for _ in range(vertices)]
    for u, v in edges:
        if u != v:
            neighbours[u].append(v)
            neighbours[v].append(u)
    taken = [False] * vertices
    for v in range(vertices):
        taken[v] = not any(taken[w] for w in neighbours[v])
    return [v for v in range(vertices) if taken[v]]


def lines_of(edges, separator=" ", base=0):
    return "".join(f"{u + base}{separator}{v + base}\n" for u, v in edges)


def metis_of(vertices, edges):
    simple = {(min(e), max(e)) for e in edges if e[0] != e[1]}
    lists = [[] for _ in range(vertices)]
    for u, v in simple:
        lists[u].append(v + 1)
        lists[v].append(u + 1)
    return f"{vertices} {len(simple)}\n" + "".join(
        " ".join(map(str, row)) + "\n" for row in lists)


class MisTest(ToolTest):
    def setUp(self):
        super().setUp()
        print("seed", SEED, flush=True)
        self.chance = random.Random(SEED)

    def edges(self, vertices, count):
        return [(self.chance.randrange(vertices), self.chance.randrange(vertices))
                for _ in range(count)]

    def set_of(self, *words, stdin=b""):
        return [int(line) for line in self.output_of("mis", *words, stdin=stdin).splitlines()]


class Sets(MisTest):
    def test_are_those_of_a_greedy_whatever_the_memory(self):
        vertices = 60_000
        edges = self.edges(vertices, 200_000)
        path = self.write("edges", lines_of(edges))
        want = greedy(vertices, edges)
        for words in (["-S", "2M"], ["-S", "2M", "--verify"], ["-S", "5M", "--parallel=1"],
                      ["--verify"], ["-S", "3M", "--batch-size=2"]):
            found = self.set_of("--vertices", vertices, "-T", self.folder, *words, path)
            self.assertTrue(found == want, words)
        self.output_of("mis", "-S", "2M", path, "-o", self.path("out"), "--json",
                       self.path("json"))
        report = json.loads(self.read("json"))
        self.assertEqual(report["items"], len(edges))
        self.assertEqual(report["output_items"], len(self.read("out").splitlines()))
        self.assertGreater(report["runs"], 0)
        self.assertEqual(sorted(os.listdir(self.folder)), ["edges", "json", "out"])

    def test_are_the_same_in_all_formats(self):
        for _ in range(runs(10)):
            vertices = self.chance.randrange(1, 40)
            edges = self.edges(vertices, self.chance.randrange(60))
            want = greedy(vertices, edges)
            numbers = [v for edge in edges for v in edge]
            market = (f"%%MatrixMarket matrix coordinate pattern general\n"
                      f"{vertices} {vertices} {len(edges)}\n" + lines_of(edges, base=1))
            for name, content, base in (
                    ("a.txt", lines_of(edges), 0), ("b.csv", "u,v\n" + lines_of(edges, ","), 0),
                    ("c.u32", struct.pack(f"<{len(numbers)}I", *numbers), 0),
                    ("d.u64", struct.pack(f"<{len(numbers)}Q", *numbers), 0),
                    ("e.mtx", market, 1), ("f.metis", metis_of(vertices, edges), 1)):
                path = self.write(name, content)
                found = self.set_of("--verify", "--vertices", vertices, path)
                self.assertEqual(found, [v + base for v in want], (name, content))
                form = {"a": "text", "e": "mm"}.get(name[0], name[2:])
                copy = self.write("copy", content)
                self.assertEqual(self.set_of(f"--format={form}", "--vertices", vertices, copy),
                                 found)

    def test_are_of_all_files_together(self):
        one, two = self.write("one", "0 1\n"), self.write("two", "1,2\n4,4\n")
        self.assertEqual(self.set_of(one, two), [0, 2, 3, 4])
        self.assertEqual(self.set_of("-", two, stdin=b"2 0\n0 1"), [0, 3, 4])
        self.assertEqual(self.set_of(stdin=b"\n# none\n"), [])
        self.assertEqual(self.set_of("--vertices=3", stdin=b""), [0, 1, 2])
        names = self.write("names", f"{one}\0{two}\0")
        self.assertEqual(self.set_of("--files0-from", names), [0, 2, 3, 4])
        self.output_of("mis", one, two, "-o", one)
        self.assertEqual(self.read("one"), b"0\n2\n3\n4\n")

    def test_of_compressed_files(self):
        text = gzip.compress(b"0 1\n1 2\n")
        self.assertEqual(self.set_of(self.write("in", text)), [0, 2])
        self.output_of("mis", self.write("in.csv.gz", gzip.compress(b"a,b\n0,1\n1,2\n")), "-o",
                       self.path("out.gz"))
        self.assertEqual(gzip.decompress(self.read("out.gz")), b"0\n2\n")
        pairs = self.write("in.u32.gz", gzip.compress(struct.pack("<4I", 0, 1, 1, 2)))
        self.assert_refused("its name promises gzip", "mis", pairs)
        self.assertEqual(self.set_of("--decompress", pairs), [0, 2])
        self.assert_refused("cut short", "mis", self.write("in", text[:-1]))

    def test_of_csv(self):
        path = self.write("in", "1;2;x\n3;1\n")
        self.assertEqual(self.set_of("-t;", path), [0, 1])
        self.assertEqual(self.set_of("-t;", "--header", path), [0, 1, 2])
        path = self.write("in", "u,v\n0,1\n")
        self.assertEqual(self.set_of(path), [0])
        self.assert_refused(f"{path}:1: not an edge", "mis", "--no-header", path)


class Checks(MisTest):
    def answer(self, members, *words, stdin=b""):
        path = self.write("members", members)
        done = self.run_tool("mis", *words, "--check", path, stdin=stdin)
        self.assertEqual(done.stderr, b"")
        return done.returncode, done.stdout.decode().splitlines()[-1]

    def test_tell_whether_a_set_is_right(self):
        right = "set         independent and maximal"
        vertices = 2000
        edges = self.edges(vertices, 4000)
        members = greedy(vertices, edges)
        path = self.write("edges", lines_of(edges))
        words = ["--vertices", vertices, "-S", "2M", path]
        self.chance.shuffle(members)
        text = "".join(f"{v}\n" for v in members)
        self.assertEqual(self.answer(text, *words), (0, right))
        for v in self.chance.sample(range(vertices), 5):
            less = "".join(f"{w}\n" for w in members if w != v)
            code, told = self.answer(less if v in members else text + f"{v}\n", *words)
            self.assertEqual(code, 1)
            self.assertIn("wrong: ", told)
            if v not in members:
                self.assertRegex(told, rf"\b{v}\b.* are members and joined by an edge")

    def test_name_a_fault_as_the_files_number_vertices(self):
        path = self.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n2 1 5\n")
        self.assertEqual(self.answer("1\n3\n", path)[0], 0)
        self.assertEqual(self.answer("2\n3\n", path)[0], 0)
        self.assertEqual(self.answer("1\n2\n3\n", path),
                         (1, "set         wrong: 1 and 2 are members and joined by an edge"))
        self.assertEqual(self.answer("1\n", path), (
            1, "set         wrong: vertex 3 is no member and has no neighbour that is one"))
        self.assertEqual(self.answer("0\n2\n", "--vertices=3", stdin=b"0 1\n1 2\n")[0], 0)


class Refusals(MisTest):
    def test_name_the_place(self):
        out = self.path("out")
        for name, content, mention in (
                ("a.txt", "0 1\n1 x\n", ":2: not an edge of two vertices: '1 x'"),
                ("b.csv", "0,1\n1\n", ":2: not an edge of two vertices: '1'"),
                ("c.u32", bytes(12), ": the last record is cut short: 12 bytes"),
                ("d.u64", b"\xff" * 16, ": pair 1: vertex 18446744073709551615 is too large"),
                ("e.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n",
                 ":2: 1 entries, but there are 0"),
                ("f.mtx", "1 2\n", ":1: not the first line of a Matrix Market file"),
                ("g.graph", "2 1\n2\n\n", ":1: 1 edges, so 2 neighbours, but there are 1"),
                ("h", "0 1\0\n", ": is no text; numbers in binary need a format")):
            path = self.write(name, content)
            self.assert_refused(path + mention, "mis", path, "-o", out)
        path = self.write("i", "0 1\n\n5 1\n")
        self.assert_refused(f"{path}:3: vertex 5, but there are 5 vertices", "mis",
                            "--vertices=5", path, "-o", out)
        self.assertFalse(os.path.exists(out))

    def test_of_words_that_contradict(self):
        path, other = self.write("in", "0 1\n"), self.write("in.graph", "2 1\n2\n1\n")
        members = self.write("members", "2\n")
        for mention, words in (
                ("'tsv'", ["--format=tsv", path]), ("'many'", ["--vertices=many", path]),
                ("'-1'", ["--vertices=-1", path]), ("';;'", ["-t", ";;", path]),
                ("are for CSV", ["--format=text", "-t;", path]),
                ("-o and --verify", ["--check", path, "--verify", path]),
                ("-o and --verify", ["--check", path, "-o", "x", path]),
                ("standard input cannot be both", ["--check=-"]),
                ("cannot be read twice", ["--verify"]),
                ("cannot be read twice", ["--check", path]),
                ("numbers vertices from 1", [path, other]),
                ("no-such", ["no-such"]), ("no-such", [path, "--check=no-such"]),
                (f"{members}:1: vertex 2, but there are 2", ["--check", members, path]),
                ("2 vertices, but there are to be 1 at most", ["--vertices=1", other])):
            self.assert_refused(mention, "mis", *words)


if __name__ == "__main__":
    unittest.main()
