# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Outputs that replace a file, of every command: what the new one keeps of the old one; inputs that
change before they are replaced or while they are read; raw disks, which are never replaced."""

import os
import signal
import stat
import struct
import subprocess
import unittest

from outsize_tool import TOOL, ToolTest, some_of

LINES = b"c\nb\na\n"
RECORDS = struct.pack("<8Q", 7, 2, 5, 0, 3, 6, 1, 4)

OWNER, NAMED_USER, GROUP, MASK, OTHERS = 0x01, 0x02, 0x04, 0x10, 0x20


def access_list(*entries):
    """An access control list as the system calls take it, of (tag, rights, id)."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


NONE = 0xFFFFFFFF
LIST = access_list((OWNER, 6, NONE), (NAMED_USER, 4, 4321), (GROUP, 0, NONE), (MASK, 4, NONE),
                   (OTHERS, 0, NONE))


def commands_in_place(path):
    """Every command that can write its output to its input: (words, contents that it takes)."""
    return [
        (["sort", path, "-o", path], LINES),
        (["sort", "-m", path, "-o", path], b"a\nb\nc\n"),
        (["sort", "-u", "--csv", path, "-o", path], LINES),
        (["sort", "--format=u64", path, "-o", path], RECORDS),
        (["sort", "--compress-output=gzip", path, "-o", path], LINES),
        (["uniq", path, path], LINES),
        (["count", path, "-o", path], LINES),
        (["top", "2", path, "-o", path], LINES),
        (["shuffle", path, "-o", path], LINES),
        (["join", path, path, f"--output={path}"], b"a\nb\nc\n"),
        (["columnsort", path, "-o", path], RECORDS),
        (["permute", "--record=8", "--gray", path, "-o", path], RECORDS),
        (["fft", path, "-o", path], RECORDS),
    ]


def repeated(content, most_bytes=1 << 21):
    """Much more of what a command takes, in order if it was."""
    if content in (LINES, RECORDS):
        return content * (most_bytes // len(content))
    return b"".join(b"%08d\n" % i for i in range(most_bytes // 9))


class Changes(ToolTest):
    """Inputs that change while a command works on them, which is stopped for that moment."""

    def has_begun(self, process):
        """Whether it has made the file that is to be the output."""
        folder = f"/proc/{process.pid}/fd"
        try:
            links = [os.readlink(os.path.join(folder, number)) for number in os.listdir(folder)]
        except OSError:  # closed in between, or the process has ended
            return False
        return any(link.startswith(self.folder) and "(deleted)" in link for link in links)

    def run_while(self, words, change):
        """Returns the exit code and the message, or nothing if the command was too quick."""
        process = subprocess.Popen([TOOL, *words], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        with process:
            while not self.has_begun(process):
                if process.poll() is not None:
                    return None
            process.send_signal(signal.SIGSTOP)
            _, status = os.waitpid(process.pid, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                process.returncode = os.waitstatus_to_exitcode(status)
                return None
            change()
            process.send_signal(signal.SIGCONT)
            message = process.stderr.read().decode()
            return process.wait(60), message

    def append(self):
        with open(self.path("f"), "ab") as file:
            file.write(b"0" * 16)

    def replace(self):
        os.replace(self.write("new", b"of somebody else"), self.path("f"))

    def test_are_not_lost_by_an_output_in_place(self):
        path = self.path("f")
        for i, (words, content) in enumerate(some_of(commands_in_place(path))):
            content = repeated(content)
            change, left = ((self.replace, b"of somebody else") if i % 3 == 0 else
                            (self.append, content + b"0" * 16))
            for _ in range(100):  # until it is stopped in time
                self.write("f", content)
                end = self.run_while(words, change)
                if end is not None and end[0] != 0:
                    break
            else:
                self.fail(f"{words} replaced what had changed, or was never stopped")
            self.assertEqual(end[0], 2, words)
            self.assertIn("/f: ", end[1])
            self.assertRegex(end[1], "meanwhile|since the work began|while it was read")
            self.assertTrue(self.read("f") == left, words)
            self.assertEqual(os.listdir(self.folder), ["f"])


    def test_while_they_are_read_are_errors(self):
        """Of commands whose work depends on how long the input is."""
        for words in (["columnsort"], ["permute", "--record=8", "--gray"], ["fft"]):
            for change in (self.append, lambda: os.truncate(self.path("f"), 4096)):
                for _ in range(100):  # until it is stopped in time
                    path = self.write("f", repeated(RECORDS))
                    self.write("out", b"old")
                    end = self.run_while([*words, path, "-o", self.path("out")], change)
                    if end is not None and end[0] != 0:
                        break
                else:
                    self.fail(f"{words} took no notice, or was never stopped")
                self.assertEqual(end[0], 2, words)
                self.assertRegex(end[1], "/f: changed while it was read|/f: cut short")
                self.assertEqual(self.read("out"), b"old")


    def test_that_grow_are_told_of_on_one_line(self):
        path = self.write("a\x1b\nb", repeated(b""))
        os.mkfifo(self.path("pipe"))
        with subprocess.Popen([TOOL, "sort", "-m", "-S", "2M", path, self.path("pipe")],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            with open(self.path("pipe"), "wb") as pipe:  # when the first input has been opened
                with open(path, "ab") as file:
                    file.write(b"0")
                pipe.write(b"1\n")
            message = process.stderr.read().decode()
        self.assertEqual(process.returncode, 0)
        self.assertRegex(message, r"^outsize[^\n]*: [^\n]*/a\\033\\nb: [^\n]*\n$")


class Overlaps(ToolTest):
    """Files that are read and written under whatever names, and streams that are files."""

    def run_here(self, *words, **how):
        return subprocess.run([TOOL, *words], stderr=subprocess.PIPE, cwd=self.folder, **how)

    def assert_refused_here(self, message, words, **how):
        done = self.run_here(*words, **how)
        self.assertEqual(done.returncode, 2, words)
        self.assertIn(message, done.stderr.decode())

    def test_in_folders_whose_path_cannot_be_followed(self):
        top = os.getcwd()
        self.addCleanup(os.chdir, top)
        os.chdir(self.folder)
        for _ in range(25):  # longer than a path may be
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
        for words, content in commands_in_place("f"):
            with open("f", "wb") as file:
                file.write(content)
            done = subprocess.run([TOOL, *words], stderr=subprocess.PIPE)
            self.assertEqual((done.returncode, done.stderr), (0, b""), words)
            self.assertGreater(os.path.getsize("f"), 0, words)
        with open("f", "wb") as file:
            file.write(LINES)
        done = subprocess.run([TOOL, "sort", "f", "--json", "f"], stderr=subprocess.PIPE)
        self.assertIn(b"both an input and --json", done.stderr)
        self.assertEqual(os.path.getsize("f"), len(LINES))

    def test_of_standard_output_and_reports_are_refused(self):
        self.write("in", LINES)
        for words in (["sort", "in", "--json"], ["uniq", "in", "--trace"],
                      ["top", "1", "in", "--report"], ["check", "in", "--json"]):
            for report in ("out", "-", "/dev/stdout"):
                with open(self.path("out"), "wb") as out:
                    self.assert_refused_here(f"{words[-1]}", [*words, report], stdout=out)
        with open(self.path("out"), "wb") as out:
            self.assert_refused_here("--json and --trace", ["sort", "in", "-o", "o", "--json", "-",
                                                            "--trace", "/dev/fd/1"], stdout=out)
        self.assert_refused_here("both", ["sort", "in", "--json", "-"], stdout=subprocess.PIPE)
        self.assertEqual(self.run_here("sort", "in", "-o", "o", "--json", "-",
                                       stdout=subprocess.PIPE).returncode, 0)
        self.assert_refused_here("both an input and --json", ["check", "-R", "--random-source=in",
                                                              "--json", "in", "out"])
        self.assertEqual(self.read("in"), LINES)

    def test_of_inputs_and_open_outputs_are_refused(self):
        self.write("in", LINES)
        for words in (["sort", "in"], ["uniq", "in"], ["sort", "-m", "in", "-o", "/dev/stdout"],
                      ["join", "in", "in"], ["uniq", "-"], ["top", "1", "in", "-o", "/dev/fd/1"]):
            for mode in ("r+b", "ab"):
                with open(self.path("in"), mode) as out, open(self.path("in"), "rb") as source:
                    self.assert_refused_here("is open already", words, stdout=out, stdin=source)
                self.assertEqual(self.read("in"), LINES)

    def test_of_columns_are_files(self):
        os.mkfifo(self.path("pipe"))
        self.write("in", RECORDS)
        for words in (["columnsort"], ["fft"], ["permute", "--record=8", "--gray"]):
            for source in ("pipe", "/dev/zero"):
                self.assert_refused_here("not a file", [*words, source, "-o", "out"])
            self.assert_refused_here("-o -", [*words, "in", "-o", "-"])


class RawDisks(ToolTest):
    """A file that the list of disks says to write over, under any name."""

    def setUp(self):
        super().setUp()
        self.disk = self.path("disk")
        self.environment = {"OUTSIZE_DISKS": f"{self.disk} raw=yes;"}

    def test_are_no_inputs_and_no_outputs(self):
        linked = self.path("linked")
        for words, content in commands_in_place(linked):
            self.write("disk", content)
            os.link(self.disk, linked)
            self.assert_refused("is written over", *words)
            self.assertEqual(self.read("disk"), content, words)
            os.remove(linked)

    def test_are_neither_of_both_nor_reports(self):
        self.write("disk", LINES)
        source = self.write("in", LINES)
        os.symlink("disk", self.path("link"))
        for words in (["sort", self.path("link")], ["sort", source, "-o", self.disk],
                      ["sort", source, "--json", self.path("link")],
                      ["sort", source, "--trace", self.disk],
                      ["sort", source, "--report", self.disk]):
            self.assert_refused("is written over", *words)
        for ends in (("disk", os.devnull), ("in", "disk")):
            with open(self.path(ends[0]), "rb") as file, open(self.path(ends[1]), "ab") as out:
                done = subprocess.run([TOOL, "sort"], stdin=file, stdout=out,
                                      stderr=subprocess.PIPE,
                                      env=dict(os.environ, **self.environment))
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"-: the raw disk", done.stderr)
        self.assertEqual(self.read("disk"), LINES)
        self.output_of("sort", source, "-o", self.path("out"))

    def test_are_different(self):
        os.link(self.write("disk", LINES), self.path("same"))
        self.environment = {"OUTSIZE_DISKS": f"{self.disk} raw=yes;{self.path('same')} raw=yes"}
        self.assert_refused("would be written over each other", "sort", self.write("in", LINES))


class Protection(ToolTest):
    """Access lists and attributes of a file, and modes."""

    def protected(self, content):
        path = self.write("f", content)
        try:
            os.setxattr(path, "system.posix_acl_access", LIST)
            os.setxattr(path, "user.note", b"kept")
        except OSError as error:
            self.skipTest(f"no access control lists here: {error}")
        return path

    def protection_of(self, path):
        status = os.stat(path)
        return (stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid,
                {name: os.getxattr(path, name) for name in os.listxattr(path)})

    def test_is_kept_by_every_command(self):
        path = self.path("f")
        others = [(["gen", "u64", "--count", "5", "-o", path], RECORDS),
                  (["sort", self.write("in", LINES), "-o", path], LINES),
                  (["sort", self.path("in"), "--json", path], LINES)]
        for words, content in commands_in_place(path) + others:
            before = self.protection_of(self.protected(content))
            self.assertEqual(before[0], 0o640)
            inode = os.stat(path).st_ino
            done = self.run_tool(*words)
            self.assertEqual((done.returncode, done.stderr), (0, b""), words)
            self.assertNotEqual(os.stat(path).st_ino, inode, words)
            self.assertEqual(self.protection_of(path), before, words)
            os.remove(path)

    def test_that_cannot_be_kept_is_told_before_the_work(self):
        if os.geteuid() != 0:
            self.skipTest("needs a file of another user")
        os.chmod(self.folder, 0o777)
        os.chmod(self.write("in", LINES), 0o644)
        os.chmod(self.write("out", b"old"), 0o666)
        for words in ([self.path("in")], []):
            try:
                done = self.run_tool("sort", *words, "-o", self.path("out"), user=4321)
            except PermissionError:
                self.skipTest("the tool is where others cannot run it")
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"/out: cannot replace it and keep its owner, user 0", done.stderr)
        self.assertEqual(self.read("out"), b"old")
        self.assertEqual(sorted(os.listdir(self.folder)), ["in", "out"])


if __name__ == "__main__":
    unittest.main()
