# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""--csv, --tsv and --header of uniq, count, join and shuffle against Python's csv module."""

import csv
import io
import itertools
import os
import random
import unittest

from outsize_tool import ToolTest

SEED = int(os.environ.get("OUTSIZE_TEST_SEED", random.randrange(1 << 32)))
VALUES = ["", "a", "b", "10", "9", "a,b", 'x"y', '"', "two\nlines", "c\r\nd", "a;b", "t\tt"]


def written(row, delimiter=",", quoting=csv.QUOTE_MINIMAL):
    """The record of a row, without its end."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, quoting=quoting).writerow(row)
    return out.getvalue().removesuffix("\r\n")


def rows_of(output, delimiter=","):
    """What Python's csv module reads; a blank line is a row of one empty value to us."""
    text = io.StringIO(output.decode(), newline="")
    return [row or [""] for row in csv.reader(text, delimiter=delimiter, strict=True)]


def joined(records, end="\n"):
    return "".join(record + end for record in records).encode()


class CsvTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)

    def rows(self, count, width=3, values=VALUES):
        return [[self.random.choice(values) for _ in range(width)] for _ in range(count)]

    def records(self, rows, delimiter=","):
        """Each record is written in a random way."""
        ways = (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
        return [written(row, delimiter, self.random.choice(ways)) for row in rows]


class Uniq(CsvTest):
    def groups(self, records, key=lambda record: record):
        return [list(group) for _, group in itertools.groupby(records, key)]

    def test_groups_are_of_records(self):
        records = self.records(self.rows(400, 2, VALUES[7:9]))
        groups = self.groups(records)
        self.assertLess(len(groups), 400)
        for header in ([], ["--header"]):
            names = ['"n\n"', "m"] if header else []
            text = joined([",".join(names)] * bool(names) + records)
            first = [",".join(names)] * bool(names)
            counted = ["count," + ",".join(names)] * bool(names)
            for words, want in (
                    ([], first + [group[0] for group in groups]),
                    (["-d"], first + [group[0] for group in groups if len(group) > 1]),
                    (["-u"], first + [group[0] for group in groups if len(group) == 1]),
                    (["-D"], first + sum((group for group in groups if len(group) > 1), [])),
                    (["-c"], counted + [f"{len(group)},{group[0]}" for group in groups])):
                got = self.output_of("uniq", "--csv", *header, *words, stdin=text)
                self.assertEqual(got, joined(want), words)

    def test_fields_that_do_not_count_are_those_of_csv(self):
        rows = self.rows(300, 2, VALUES[5:8])
        records = [written(row, quoting=csv.QUOTE_ALL) for row in rows]
        groups = self.groups(list(zip(rows, records)), lambda pair: pair[0][1])
        got = self.output_of("uniq", "--csv", "-f1", stdin=joined(records))
        self.assertEqual(got, joined(group[0][1] for group in groups))

    def test_separators_may_be_others(self):
        for words, delimiter in ((["--csv", "-t;"], ";"), (["--tsv"], "\t")):
            records = [written(["x\ny", "a"], delimiter), written(["x\ny", "a"], delimiter)]
            self.assertEqual(self.output_of("uniq", *words, stdin=joined(records)),
                             joined(records[:1]))
            self.assertEqual(self.output_of("uniq", "-c", *words, stdin=joined(records)),
                             joined([f"2{delimiter}{records[0]}"]))

    def test_headers_of_lines_are_in_no_group(self):
        self.assertEqual(self.output_of("uniq", "--header", stdin=b"a\na\na\n"), b"a\na\n")
        self.assertEqual(self.output_of("uniq", "-c", "--header", stdin=b"a\na\na\n"),
                         b"  count a\n      2 a\n")
        self.assertEqual(self.output_of("uniq", "-c", "--header"), b"")


class Count(CsvTest):
    def expected(self, rows, fields):
        """(count, values of the fields) in the order of the values."""
        counts = {}
        for row in rows:
            key = tuple(row[field] for field in fields)
            counts[key] = counts.get(key, 0) + 1
        order = sorted(counts, key=lambda key: [value.encode() for value in key])
        return [[str(counts[key]), *key] for key in order]

    def test_keys_are_values(self):
        rows = self.rows(500)
        path = self.write("in", joined(self.records(rows)))
        for fields in ([0], [2], [1, 0], [2, 1, 0]):
            words = [f"-k{field + 1}" for field in fields]
            want = self.expected(rows, fields)
            self.assertEqual(rows_of(self.output_of("count", "--csv", *words, path)), want, fields)
            want.sort(key=lambda row: -int(row[0]))
            self.assertEqual(rows_of(self.output_of("count", "--csv", "--by-count", *words, path)),
                             want, fields)

    def test_whole_records_are_counted_as_they_are_written(self):
        records = self.records(self.rows(300, 2, VALUES[6:9]))
        want = [f"{records.count(record)},{record}" for record in
                sorted(set(records), key=str.encode)]
        self.assertEqual(self.output_of("count", "--csv", stdin=joined(records)), joined(want))

    def test_headers_name_the_counts_and_keys(self):
        names = ["first, or so", "second", "third"]
        rows = self.rows(100)
        paths = []
        for number in range(2):
            records = [written(names), *self.records(rows[number * 50:][:50])]
            paths.append(self.write(f"in{number}", joined(records)))
        want = [["count", "third", "first, or so"], *self.expected(rows, [2, 0])]
        got = self.output_of("count", "--csv", "--header", "-k3", "-k1", *paths)
        self.assertEqual(rows_of(got), want)
        self.assertEqual(self.output_of("count", "--header", "-k2,2", stdin=b"a b\nx y\n"),
                         b"  count  b\n      1  y\n")
        self.assertEqual(self.output_of("count", "--header"), b"")

    def test_numbers_tabs_and_little_memory(self):
        rows = [[str(self.random.randrange(30_000)), 'x"' + "y" * 40] for _ in range(60_000)]
        path = self.write("in", joined(self.records(rows, "\t")))
        counts = {}
        for row in rows:
            counts[row[0]] = counts.get(row[0], 0) + 1
        got = self.output_of("count", "--tsv", "-k1n", "-k2", "-S", "2M", "-T", self.folder, path)
        want = [[str(counts[key]), key, 'x"' + "y" * 40] for key in sorted(counts, key=int)]
        self.assertTrue(rows_of(got, "\t") == want)


class Join(CsvTest):
    def keyed(self, rows, field):
        return sorted(rows, key=lambda row: row[field].encode())

    def pairs(self, first, second, fields):
        """What join writes for sorted rows, with unpaired ones of the first."""
        made = []
        for one in first:
            key = one[fields[0]]
            rest = one[:fields[0]] + one[fields[0] + 1:]
            partners = [two for two in second if two[fields[1]] == key]
            made += [[key, *rest, *two[:fields[1]], *two[fields[1] + 1:]] for two in partners]
            made += [[key, *rest]] * (not partners)
        return made

    def test_is_by_values_and_quotes_what_it_writes(self):
        for fields in ((0, 0), (1, 0), (2, 1)):
            first, second = self.rows(60), self.rows(40, 2)
            paths = [self.write(name, joined(self.records(rows)))
                     for name, rows in (("a", first), ("b", second))]
            words = ["--csv", "--sort", "-a1", f"-1{fields[0] + 1}", f"-2{fields[1] + 1}"]
            want = self.pairs(self.keyed(first, fields[0]), self.keyed(second, fields[1]), fields)
            got = self.output_of("join", *words, *paths)
            self.assertEqual(rows_of(got), want, fields)
            ordered = [self.path(name) + ".sorted" for name in "ab"]
            for path, field, to in zip(paths, fields, ordered):
                self.output_of("sort", "--csv", "-s", f"-k{field + 1}", path, "-o", to)
            words.remove("--sort")
            self.assertEqual(self.output_of("join", *words, *ordered), got)

    def test_headers_are_joined_first(self):
        first = self.write("a", 'id,"a,b"\nz,1\n"x\n",2\n')
        second = self.write("b", "key,c\n\"x\n\",3\nz,4\n")
        got = self.output_of("join", "--csv", "--header", "--sort", first, second)
        self.assertEqual(got, b'id,"a,b",c\n"x\n",2,3\nz,1,4\n')

    def test_columns_fillers_and_ends(self):
        first = self.write("a", 'a,""\r\nb,"1,2"\r\n')
        second = self.write("b", "b,\"q\"\"\"\nc,3\n")
        got = self.output_of("join", "--csv", "-a1", "-a2", "-e", "n,o", "-o", "2.2,0,1.2", first,
                             second)
        self.assertEqual(got, b'"n,o",a,"n,o"\r\n"q""",b,"1,2"\r\n3,c,"n,o"\r\n')
        self.assertEqual(rows_of(got), [["n,o", "a", "n,o"], ['q"', "b", "1,2"],
                                        ["3", "c", "n,o"]])

    def test_disorder_is_told_in_one_line(self):
        first = self.write("a", 'a,1\nc,"x\ny"\n"b\nb",1\n')
        second = self.write("b", "b,1\n")
        self.assert_refused("a:4: is not sorted: \"b", "join", "--csv", first, second, "--output",
                            self.path("out"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["a", "b"])

    def test_groups_on_disk(self):
        first = self.write("a", 'k,"1\n1"\n"k",2\n')
        rows = [["k", f"{i}\n" + "x," * 30] for i in range(20_000)]
        second = self.write("b", joined(written(row) for row in rows))
        got = self.output_of("join", "--csv", "-S", "2M", "-T", self.folder, first, second)
        want = [["k", one, row[1]] for one in ("1\n1", "2") for row in rows]
        self.assertTrue(rows_of(got) == want)


class Shuffle(CsvTest):
    def test_records_stay_whole(self):
        rows = self.rows(300)
        records = self.records(rows)
        path = self.write("in", joined(records))
        got = self.output_of("shuffle", "--csv", "--seed=5", path)
        self.assertNotEqual(got, joined(records))
        self.assertEqual(sorted(rows_of(got)), sorted(rows_of(joined(records))))
        lines = self.write("lines", joined(str(i) for i in range(300)))
        order = [int(i) for i in self.output_of("shuffle", "--seed=5", lines).split()]
        self.assertEqual(got, joined(records[i] for i in order))

    def test_headers_come_first_and_are_not_drawn(self):
        path = self.write("in", 'n,"m\n"\n' + "".join(f"{i},\n" for i in range(50)))
        for words in ([], ["-n10"], ["-r", "-n100"], ["-n0"]):
            rows = rows_of(self.output_of("shuffle", "--csv", "--header", *words, path))
            self.assertEqual(rows[0], ["n", "m\n"])
            drawn = [row[0] for row in rows[1:]]
            self.assertEqual(len(drawn), int(words[-1][2:]) if words else 50)
            self.assertTrue(set(drawn) <= {str(i) for i in range(50)})
        got = self.output_of("shuffle", "--header", stdin=b"z\na\nb\n")
        self.assertEqual((got[:2], sorted(got.split())), (b"z\n", [b"a", b"b", b"z"]))


class ByteOrderMark(CsvTest):
    MARK = b"\xef\xbb\xbf"
    TEXT = 'n,m\n"b,\n1",x\n"b,\n1",x\na,y\n'

    def test_is_the_files_and_stays_in_front(self):
        marked, plain = self.write("marked", self.MARK + self.TEXT.encode()), self.write(
            "plain", self.TEXT)
        for words in (["uniq"], ["uniq", "-c"], ["uniq", "-f1"], ["count"], ["count", "-k1"],
                      ["count", "--by-count"], ["shuffle", "--seed=1"], ["shuffle", "-n0"],
                      ["shuffle", "-r", "-n9", "--seed=1"], ["top", "2"], ["top", "2", "-k1"],
                      ["sort"], ["sort", "-k1"], ["sort", "-u"], ["sort", "-m", "-k2"]):
            for header in ([], ["--header"]):
                given = [words[0], "--csv", *header, *words[1:]]
                self.assertEqual(self.output_of(*given, marked),
                                 self.MARK + self.output_of(*given, plain), given)
        for words in (["check", "-k2"], ["sort", "-c", "-k2"]):
            self.assertEqual(self.run_tool(words[0], "--csv", *words[1:], marked).returncode,
                             self.run_tool(words[0], "--csv", *words[1:], plain).returncode)

    def test_is_taken_from_the_first_input(self):
        marked = self.write("marked", self.MARK + b'"a,1",x\n')
        plain = self.write("plain", '"a,1",y\n')
        for words in (["sort", "-s", "-k1"], ["sort", "-m", "-s", "-k1"],
                      ["top", "9", "-s", "-k1"]):
            self.assertEqual(self.output_of(words[0], "--csv", *words[1:], marked, plain),
                             self.MARK + b'"a,1",x\n"a,1",y\n')
            self.assertEqual(self.output_of(words[0], "--csv", *words[1:], plain, marked),
                             b'"a,1",y\n"a,1",x\n')
        self.assertEqual(self.output_of("join", "--csv", marked, plain), self.MARK + b'"a,1",x,y\n')
        self.assertEqual(self.output_of("join", "--csv", "--sort", "--header", plain, marked),
                         b'"a,1",y,x\n')
        same = self.write("same", b'"a,1",x\n1,2\n')
        self.assertEqual(self.output_of("sort", "--csv", "--header", marked, same),
                         self.MARK + b'"a,1",x\n1,2\n')

    def test_alone_is_no_record(self):
        mark = self.write("mark", self.MARK)
        for command in ("sort", "uniq", "count", "shuffle"):
            self.assertEqual(self.output_of(command, "--csv", mark), self.MARK)

    def test_of_lines_is_a_part_of_the_first(self):
        self.assertEqual(self.output_of("sort", stdin=self.MARK + b"b\na\n"),
                         b"a\n" + self.MARK + b"b\n")


class Refusals(CsvTest):
    def test_of_malformed_csv_name_the_place_and_leave_nothing(self):
        good = self.write("good", "a,b\n")
        for text, message in (('a,b\n"c\nd",x"\ne,"f\n', ":4:3: the quote is not closed"),
                              ('a,"b"c\n', ":1:6: a quoted field goes on behind its quote")):
            path = self.write("in", text)
            for words in (["uniq", path, "-o"], ["count", "-k1", path, "-o"], ["count", path, "-o"],
                          ["shuffle", path, "-o"], ["shuffle", "-r", "-n1", path, "-o"],
                          ["join", path, good, "--output"], ["join", good, path, "--output"],
                          ["join", "--sort", path, good, "--output"]):
                self.assert_refused(f"{path}{message}", words[0], "--csv", *words[1:],
                                    self.path("out"))
            self.assertEqual(sorted(os.listdir(self.folder)), ["good", "in"])

    def test_of_options(self):
        path = self.write("in", "a\n")
        for command in (["uniq"], ["count"], ["shuffle"], ["join", path]):
            self.assert_refused("-z", *command, "--csv", "-z", path)
            self.assert_refused("quote", *command, "--csv", "-t", '"', path)
            self.assert_refused("-t" if command[0] == "join" else "separator", *command, "--tsv",
                                "-t,", path)
        self.assert_refused("one field", "count", "--csv", "-k1,2", path)
        for words in (["-e", "a"], ["-i1-3"]):
            self.assert_refused("--header", "shuffle", "--header", *words)

    def test_of_headers_that_differ(self):
        first, second = self.write("a", "n\n1\n"), self.write("b", "m\n1\n")
        self.assert_refused(f"{second}: its header differs from that of {first}", "count",
                            "--header", first, second)


if __name__ == "__main__":
    print("seed", SEED, flush=True)
    unittest.main()
