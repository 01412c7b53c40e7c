#!/usr/bin/env python3
# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""The scripts beside this one that choose and count."""
import json
import pathlib
import tempfile
import unittest

import build_times
import prose
import tidy_files


class Prose(unittest.TestCase):
    def counts(self, text, name="x.hpp"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.write_text(text, encoding="utf-8")
            return prose.counts_of(path)

    def test_counts_turns_of_phrase_in_comments_alone(self):
        text = 'int what = 1;  // what it is\n/// Of those, so many\n/// are.\n'
        words, counts = self.counts(text)
        self.assertEqual(words, 8)
        self.assertEqual(counts, {"what": 1, "of which": 1, "beginnings": 1, "so many": 1})

    def test_sees_them_across_lines_and_only_where_a_sentence_begins(self):
        _, counts = self.counts("// It is one of\n// which many know\n// What is meant.\n")
        self.assertEqual((counts["of which"], counts["beginnings"]), (1, 0))
        _, counts = self.counts("// It ends here. What begins?\n\n// Who knows.\n")
        self.assertEqual(counts["beginnings"], 2)

    def test_leaves_out_the_code_of_pages(self):
        _, counts = self.counts("# So many\n```cpp\n// what\n```\n`what`\n", "x.md")
        self.assertEqual((counts["what"], counts["so many"]), (0, 1))

    def test_allows_one_of_each_in_any_file(self):
        self.assertTrue(prose.is_within_limits(100, dict.fromkeys(prose.PATTERNS, 1)))
        self.assertFalse(prose.is_within_limits(100, dict.fromkeys(prose.PATTERNS, 2)))


class Choice(unittest.TestCase):
    def test_takes_a_move_for_no_change(self):
        self.assertEqual(tidy_files.changed_paths("1\t0\ta.cpp\0" "0\t0\t\0b.hpp\0d/b.hpp\0"
                                                  "0\t2\t\0c.hpp\0d/c.hpp\0" "0\t0\te.cpp\0"),
                         {"a.cpp", "d/c.hpp"})

    def setUp(self):
        self.sources = [f"outsize/a/{i:02}.cpp" for i in range(20)]
        self.contents = dict.fromkeys(self.sources, "")

    def chosen(self, touched, turn=0):
        return tidy_files.chosen(self.sources, touched, turn, self.contents.__getitem__)

    def test_every_source_has_its_turn(self):
        seen = [source for turn in range(tidy_files.TURNS) for source in self.chosen([], turn)]
        self.assertEqual(sorted(seen), self.sources)

    def test_what_was_touched_is_chosen_in_every_turn(self):
        for turn in range(tidy_files.TURNS):
            self.assertIn("outsize/a/07.cpp", self.chosen(["outsize/a/07.cpp", "README.md"], turn))
            self.assertIn("outsize/a/11.cpp", self.chosen(["outsize/a/11.hpp"], turn))

    def test_a_header_without_source_is_seen_by_the_first_that_includes_it(self):
        for including in ("outsize/a/13.cpp", "outsize/a/14.cpp"):
            self.contents[including] = "#include <outsize/b/shape.hpp>\n"
        found = self.chosen(["outsize/b/shape.hpp"], turn=7)
        self.assertIn("outsize/a/13.cpp", found)
        self.assertNotIn("outsize/a/14.cpp", found)


class Times(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_of_an_object_made_twice_the_last_counts(self):
        rows = ["# ninja log v5"]
        for begin, end, output in ((0, 9000, "a/CMakeFiles/t.dir/b.cpp.o"), (0, 500, "lib.a"),
                                   (100, 1600, "a/CMakeFiles/t.dir/b.cpp.o")):
            rows.append(f"{begin}\t{end}\t0\t{output}\thash")
        self.write(".ninja_log", "\n".join(rows) + "\n")
        self.assertEqual(build_times.compilations(self.folder),
                         [(1.5, "a/CMakeFiles/t.dir/b.cpp.o")])
        self.assertEqual(build_times.source_of("a/CMakeFiles/t.dir/b.cpp.o"), "a/b.cpp (t)")

    def test_tests_are_those_of_the_last_run(self):
        self.write("Testing/Temporary/LastTest.log",
                   "1/2 Testing: io/a\n1/2 Test: io/a\nOutput:\nTest time =   0.25 sec\n"
                   "2/2 Test: io/b  # x\nTest time =  12.00 sec\n")
        self.assertEqual(build_times.test_runs(self.folder), [(0.25, "io/a"), (12.0, "io/b  # x")])

    def test_times_in_traces_are_without_what_is_inside(self):
        def event(kind, begin, microseconds, detail):
            return {"ph": "X", "name": kind, "ts": begin, "dur": microseconds,
                    "args": {"detail": detail}}
        self.write("x.cpp.json", json.dumps({"traceEvents": [
            event("Source", 0, 5_000_000, "/tree/a.hpp"),
            event("Source", 1_000_000, 2_000_000, "/usr/include/c++/12/vector"),
            event("InstantiateClass", 0, 1_000_000, "std::vector<int>"),
            event("InstantiateFunction", 2_000_000, 500_000, "std::vector<long>"),
        ]}))
        headers, templates = build_times.traced(self.folder, pathlib.Path("/tree"))
        self.assertEqual(dict(headers), {"a.hpp": [3.0], "vector": [2.0]})
        self.assertEqual(dict(templates), {"std::vector<>": [1.0, 0.5]})


if __name__ == "__main__":
    unittest.main()
