# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""`outsize sort --csv`, --tsv and --header against Python's csv module."""

import csv
import gzip
import io
import os
import random
import unittest

from outsize_tool import ToolTest

SEED = int(os.environ.get("OUTSIZE_TEST_SEED", random.randrange(1 << 32)))
VALUES = ["", "a", "b", "aa", "10", "9", "-1", "a,b", 'x"y', '"', "two\nlines", " 7", "c\r\nd",
          "a;b", "t\tt"]


def written(rows, delimiter=",", quoting=csv.QUOTE_MINIMAL):
    """The record of each row, without its end."""
    records = []
    for row in rows:
        out = io.StringIO()
        csv.writer(out, delimiter=delimiter, quoting=quoting).writerow(row)
        records.append(out.getvalue().removesuffix("\r\n"))
    return records


class CsvTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)

    def rows(self, count, width=3):
        return [[self.random.choice(VALUES) for _ in range(width)] for _ in range(count)]

    def records(self, rows, delimiter=","):
        """Each record is written in a random way."""
        ways = (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
        return [written([row], delimiter, quoting=self.random.choice(ways))[0] for row in rows]


class EndsOfLines(CsvTest):
    """Files whose lines end in CR alone, as old programs of Macs write them."""

    def test_stay_cr_alone_in_every_command(self):
        text = 'key,value\rb,"two\r\nlines"\ra,1\ra,1'
        path = self.write("in", text)
        for words, want in {
            ("sort", "--header"): 'key,value\ra,1\ra,1\rb,"two\r\nlines"\r',
            ("sort",): 'a,1\ra,1\rb,"two\r\nlines"\rkey,value\r',
            ("sort", "-u", "-k1"): 'a,1\rb,"two\r\nlines"\rkey,value\r',
            ("uniq",): 'key,value\rb,"two\r\nlines"\ra,1\r',
            ("uniq", "-c", "--header"): 'count,key,value\r1,b,"two\r\nlines"\r2,a,1\r',
            ("uniq", "--group", "--header"): 'key,value\rb,"two\r\nlines"\r\ra,1\ra,1\r',
            ("count", "-k1", "--header"): "count,key\r2,a\r1,b\r",
            ("count", "-k2"): '2,1\r1,"two\r\nlines"\r1,value\r',
            ("top", "2"): "a,1\ra,1\r",
        }.items():
            for data in (text, text.encode("utf-16"), gzip.compress(text.encode())):
                command, *options = words
                got = self.output_of(command, "--csv", *options, self.write("in", data))
                self.assertEqual(got, want.encode(), words)
        path = self.write("in", text)
        got = self.output_of("shuffle", "--csv", "--header", path)
        self.assertEqual(sorted(got.split(b"\r")), sorted((text + "\r").encode().split(b"\r")))
        joined = self.output_of("join", "--csv", "--header", "--sort", path, path)
        self.assertEqual(joined, b'key,value,value\r' + 4 * b"a,1,1\r" +
                         b'b,"two\r\nlines","two\r\nlines"\r')
        self.output_of("sort", "--csv", path, "-o", path)
        self.assertEqual(self.output_of("sort", "-m", "--csv", path, path),
                         b"".join(2 * (line + b"\r") for line in
                                  [b"a,1", b"a,1", b'b,"two\r\nlines"', b"key,value"]))
        self.assertEqual(self.output_of("sort", "-c", "--csv", path), b"")
        self.assertIn(b"lines       4\n", self.output_of("check", "--csv", path))

    def test_of_many_records_stay(self):
        rows = self.rows(3000)
        records = [record for record in self.records(rows)]
        path = self.write("in", "\r".join(records))
        for words in ([], ["-S", "2M"], ["-s", "-k2"]):
            plain = self.output_of("sort", "--csv", *words, self.write("lf", "\n".join(records)))
            got = self.output_of("sort", "--csv", *words, path)
            lines = list(csv.reader(io.StringIO(got.decode(), newline=""), strict=True))
            self.assertEqual(lines, list(csv.reader(io.StringIO(plain.decode(), newline=""))))
            self.assertTrue(got.endswith(b"\r") and len(got) == len(plain))

    def test_that_are_mixed_are_refused(self):
        path = self.write("in", "a,1\rb,2\nc,3\r")
        for words in (["sort"], ["uniq"], ["count"], ["top", "1"], ["shuffle"], ["check"],
                      ["sort", "-c"]):
            self.assert_refused(f"{path}:2:4: a line ends in LF", words[0], "--csv", *words[1:],
                                path)
        mac, unix = self.write("mac", "a,1\rb,2\r"), self.write("unix", "a,1\nb,2\n")
        for first, second in ((mac, unix), (unix, mac)):
            for words in (["sort"], ["sort", "-m"], ["count"], ["top", "1"], ["join"]):
                self.assert_refused(f"{second}: its lines end in", words[0], "--csv", *words[1:],
                                    first, second)
        empty, one = self.write("empty", ""), self.write("one", "c,3")
        self.assertEqual(self.output_of("sort", "--csv", empty, one, mac), b"a,1\rb,2\rc,3\r")

    def test_that_are_others_stay(self):
        for text in (b"b,1\na\rx,2\n", b"b,1\r\na\rx,2\r\n"):
            lines = text.removesuffix(b"\n").split(b"\n")
            want = b"".join(line + b"\n" for line in sorted(lines))
            self.assertEqual(self.output_of("sort", "--csv", stdin=text), want)
        self.assertEqual(self.output_of("sort", stdin=b"b\ra\r"), b"b\ra\r\n")


class Order(CsvTest):
    def assert_sorted(self, rows, records, key, *words, end="\n", unique=False):
        """`key` of a row decides, then the bytes of the record (not with -s, -u)."""
        whole = not ({"-s", "-u"} & set(words))
        order = sorted(range(len(rows)), key=lambda i: (key(rows[i]), records[i].encode())
                       if whole else key(rows[i]))
        if unique:
            seen = set()
            order = [i for i in order if not (key(rows[i]) in seen or seen.add(key(rows[i])))]
        want = "".join(records[i] + end for i in order).encode()
        path = self.write("in", "".join(record + end for record in records))
        got = self.output_of("sort", "--csv", *words, path)
        self.assertEqual(got, want, words)

    def test_is_that_of_the_unquoted_values(self):
        rows = self.rows(300)
        records = self.records(rows)
        for i in range(3):
            self.assert_sorted(rows, records, lambda row: row[i].encode(), f"-k{i + 1}")
            self.assert_sorted(rows, records, lambda row: row[i].encode(), f"-k{i + 1},{i + 1}")
        self.assert_sorted(rows, records, lambda row: (row[2].encode(), row[0].encode()), "-k3",
                           "-k1")

    def test_is_stable_or_unique_if_asked(self):
        rows = self.rows(300)
        records = self.records(rows)
        self.assert_sorted(rows, records, lambda row: row[1].encode(), "-s", "-k2")
        self.assert_sorted(rows, records, lambda row: row[1].encode(), "-u", "-k2", unique=True)

    def test_may_be_numeric_and_of_a_part(self):
        numbers = [[self.random.choice(["x", 'q"', "a,b"]), str(self.random.randrange(-99, 999))]
                   for _ in range(200)]
        records = self.records(numbers)
        self.assert_sorted(numbers, records, lambda row: int(row[1]), "-k2n")
        self.assert_sorted(numbers, records, lambda row: row[1].encode()[1:2], "-k2.2,2.2")

    def test_is_that_of_bytes_without_keys(self):
        rows = self.rows(300)
        records = self.records(rows)
        self.assert_sorted(rows, records, lambda row: 0)

    def test_ends_of_records_stay(self):
        rows = [[value.replace("\r", "") for value in row] for row in self.rows(100)]
        self.assert_sorted(rows, self.records(rows), lambda row: row[2].encode(), "-k3", end="\r\n")
        for end in (b"\n", b"\r\n"):
            got = self.output_of("sort", "--csv", "-k1", stdin=b'"b"' + end + b'"a\n"')
            self.assertEqual(got, b'"a\n"' + end + b'"b"' + end)

    def test_separators_may_be_others(self):
        for words, delimiter in ((("-t;",), ";"), (("--tsv",), "\t"), (("-t", "\t"), "\t")):
            rows = self.rows(200)
            records = self.records(rows, delimiter)
            want = "".join(records[i] + "\n" for i in sorted(
                range(len(rows)), key=lambda i: (rows[i][1].encode(), records[i].encode())))
            text = "".join(record + "\n" for record in records)
            option = () if words == ("--tsv",) else ("--csv",)
            got = self.output_of("sort", *option, *words, "-k2", stdin=text.encode())
            self.assertEqual(got, want.encode(), words)

    def test_does_not_depend_on_memory(self):
        rows = self.rows(60_000)
        for row in rows:
            row[0] += str(self.random.randrange(10**6)) + "x" * 30
        records = self.records(rows)
        order = sorted(range(len(rows)),
                       key=lambda i: (rows[i][1].encode(), rows[i][0].encode(),
                                      records[i].encode()))
        want = "".join(records[i] + "\n" for i in order).encode()
        path = self.write("in", "".join(record + "\n" for record in records))
        got = self.output_of("sort", "--csv", "-S", "2M", "-T", self.folder, "-k2", "-k1", path)
        self.assertTrue(got == want)


class Checks(CsvTest):
    def test_say_in_which_line_the_order_ends(self):
        path = self.write("in", b'x,"b\n"\r\ny,a\r\n')
        done = self.run_tool("sort", "-c", "--csv", "-k2", path)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertTrue(done.stderr.endswith(b"in:3: disorder: y,a\n"), done.stderr)
        self.assertIn(b"line 3 (at byte", self.run_tool("check", "--csv", "-k2", path).stdout)
        self.assertEqual(self.run_tool("sort", "-c", "--csv", "-k1", path).returncode, 0)
        self.assertEqual(self.run_tool("check", "--csv", "-k1", path).returncode, 0)

    def test_leave_headers_out(self):
        path = self.write("in", b"name\na\nb\n")
        self.assertEqual(self.run_tool("sort", "-c", path).returncode, 1)
        self.assertEqual(self.run_tool("sort", "-c", "--header", path).returncode, 0)
        self.assertEqual(self.run_tool("check", "--header", path).returncode, 0)


class Header(CsvTest):
    def test_stays_first(self):
        for option in ((), ("--csv",)):
            got = self.output_of("sort", *option, "--header", stdin=b"z,n\nb,1\na,2\n")
            self.assertEqual(got, b"z,n\na,2\nb,1\n")
        got = self.output_of("sort", "--csv", "--header", "-k2nr", stdin=b'"z\n",n\nb,1\na,2\n')
        self.assertEqual(got, b'"z\n",n\na,2\nb,1\n')

    def test_may_be_all_there_is(self):
        for text in (b"", b"z\n", b"z"):
            want = b"z\n" if text else b""
            self.assertEqual(self.output_of("sort", "--header", stdin=text), want)
            path = self.write("in", text)
            self.assertEqual(self.output_of("sort", "-m", "--header", path, path), want)

    def test_of_several_inputs_comes_once(self):
        first, second = self.write("a", b"z\na\nc\n"), self.write("b", b"z\nb\n")
        empty = self.write("c", b"")
        for words in ([], ["-m"]):
            got = self.output_of("sort", *words, "--header", empty, first, second)
            self.assertEqual(got, b"z\na\nb\nc\n")

    def test_must_be_the_same_everywhere(self):
        first, second = self.write("a", b"z\na\n"), self.write("b", b"y\nb\n")
        for words in ([], ["-m"]):
            self.assert_refused(f"{second}: its header differs from that of {first}", "sort",
                                *words, "--header", first, second, "-o", self.path("out"))
            self.assertFalse(os.path.exists(self.path("out")))

    def test_of_csv_is_the_same_however_it_ends(self):
        first = self.write("a", b"a,b\r\n2,x\r\n")
        for other in (b"a,b", b"a,b\n1,y\n", b"a,b\r\n1,y\r\n"):
            second = self.write("b", other)
            for words in ([], ["-m"]):
                got = self.output_of("sort", "--csv", *words, "--header", first, second)
                rest = [line for line in other.splitlines(True)[1:]] + [b"2,x\r\n"]
                self.assertEqual(got, b"a,b\r\n" + b"".join(rest))

    def test_of_a_length_that_memory_has_room_for_is_no_error(self):
        header = b"h" * (1 << 18) + b"\n"
        path = self.write("in", header + b"b\na\n")
        for out in (["-o", self.path("out")], []):
            got = self.output_of("sort", "-S", "2M", "--header", path, *out)
            self.assertTrue((got or self.read("out")) == header + b"a\nb\n")

    def test_of_any_length_is_in_front_of_files_and_pipes(self):
        for length in (1, 510, 511, 512, 4095, 4096, 10_000):
            header = b"h" * length + b"\n"
            lines = [b"%d" % self.random.randrange(10**9) for _ in range(30_000)]
            path = self.write("in", header + b"\n".join(lines) + b"\n")
            want = header + b"\n".join(sorted(lines)) + b"\n"
            self.output_of("sort", "--header", path, "-o", self.path("out"))
            self.assertTrue(self.read("out") == want, length)
            self.assertTrue(self.output_of("sort", "--header", path) == want, length)
            self.output_of("sort", "--header", "-S", "2M", path, "-o", self.path("out.gz"))
            self.assertTrue(gzip.decompress(self.read("out.gz")) == want, length)

    def test_does_not_count_as_equal(self):
        self.assertEqual(self.output_of("sort", "-u", "--header", stdin=b"a\nb\na\nb\n"),
                         b"a\na\nb\n")


class Refusals(CsvTest):
    def assert_malformed(self, place, reason, text):
        path = self.write("in", text)
        before = os.listdir(self.folder)
        for words in (["sort"], ["sort", "-m"]):
            self.assert_refused(f"{path}:{place}: {reason}", *words, "--csv", "-k2", path, "-o",
                                self.path("out"))
        self.assertEqual(os.listdir(self.folder), before)

    def test_name_file_line_and_column(self):
        behind = "a quoted field goes on behind its quote"
        unclosed = "the quote is not closed"
        self.assert_malformed("1:3", unclosed, b'a,"b\n')
        self.assert_malformed("1:6", behind, b'a,"b"c\n')
        self.assert_malformed("2:3", unclosed, b'a,b\nc,"d\ne,f\n')
        self.assert_malformed("3:4", behind, b'a,b\n"c\nde"x,f\n')
        self.assert_malformed("3:4", behind, b'x,y\n"a\nbc"\r,c\n')

    def test_of_records_without_a_key_name_line_key_and_fields(self):
        path = self.write("in", b'a,b,c\n"d\n",e,f\ng,"h,i"\n')
        before = os.listdir(self.folder)
        two = f"{path}:4: a key is field 3, but there are only 2"
        for words in (["sort", "-k3"], ["sort", "-m", "-k1", "-k3n"], ["top", "-k3", "9"],
                      ["count", "-k3"]):
            self.assert_refused(two, words[0], "--csv", *words[1:], path, "-o", self.path("out"))
        for words in (["sort", "-c", "-k3"], ["check", "-k3"]):
            self.assert_refused(two, words[0], "--csv", *words[1:], path)
        self.assert_refused(f"{path}:1: a key is field 9, but there are only 3", "sort", "--csv",
                            "-k9", path, "-o", self.path("out"))
        self.assert_refused(f"{path}:1: a key is field 4, but there are only 3", "join", "--csv",
                            "-1", "4", path, path, "--output", self.path("out"))
        self.assertEqual(os.listdir(self.folder), before)
        self.output_of("sort", "-t,", "-k9", path)  # of lines such keys are empty

    def test_of_text_cut_short_anywhere_or_not(self):
        text = b'a,"b ""c""\r\n",d\r\n"e",f\r\n'
        for size in range(len(text)):
            cut = text[:size].decode()
            try:
                list(csv.reader(io.StringIO(cut, newline=""), strict=True))
                open_quote = False
            except csv.Error:
                open_quote = True
            done = self.run_tool("sort", "--csv", stdin=cut.encode())
            self.assertEqual(done.returncode, 2 if open_quote else 0, cut)

    def test_of_records_too_long_say_why(self):
        path = self.write("in", b'a\n"' + b"x\n" * 2_000_000)
        self.assert_refused(f"{path}:2: ", "sort", "--csv", "-S", "2M", path)

    def test_of_options(self):
        self.assert_refused("one field", "sort", "--csv", "-k2,3")
        self.assert_refused("-z", "sort", "--csv", "-z")
        self.assert_refused("quote", "sort", "--csv", "-t", '"')
        self.assert_refused("--csv", "sort", "--csv", "--format", "u64")
        self.assert_refused("--header", "sort", "--header", "--format", "u64")
        self.assert_refused("separator", "sort", "--tsv", "-t,")


if __name__ == "__main__":
    print("seed", SEED, flush=True)
    unittest.main()
