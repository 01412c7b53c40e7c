# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Outputs that replace a file, of every command: what the new file keeps of the old one."""

import os
import stat
import struct
import unittest

from outsize_tool import ToolTest

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
