# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""`outsize sort` while it runs: signals in every phase, its temporary files, inputs and blocks that
change."""

import os
import random
import signal
import stat
import subprocess
import time
import unittest

from outsize_tool import TOOL, ToolTest

SEED = int(os.environ.get("OUTSIZE_TEST_SEED", "20250107"))
SIGNALS = ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129),
           (signal.SIGQUIT, 131), (signal.SIGKILL, -signal.SIGKILL))
LIMIT_SECONDS = 60


def default_signals():
    """A shell's background jobs ignore SIGINT, and so would their children."""
    for number, _ in SIGNALS[:4]:
        signal.signal(number, signal.SIG_DFL)


def temporary_links(process, folder):
    """Paths under which the unnamed files in `folder` that the process has open can be opened."""
    found = []
    try:
        numbers = os.listdir(f"/proc/{process.pid}/fd")
    except OSError:
        return found  # it has ended
    for number in numbers:
        link = f"/proc/{process.pid}/fd/{number}"
        try:
            if os.readlink(link).startswith(folder + "/") and "(deleted)" in os.readlink(link):
                found.append(link)
        except FileNotFoundError:
            pass  # closed in between
    return found


def temporary_files(process, folder):
    """Status of the unnamed files in `folder` that the process has open."""
    found = []
    for link in temporary_links(process, folder):
        try:
            found.append(os.stat(link))
        except FileNotFoundError:
            pass
    return found


class Running(ToolTest):
    """Starts sorts that stop at a known point: a read or a write of a pipe that nobody serves."""

    def setUp(self):
        super().setUp()
        self.disk = self.path("disk")
        self.target = self.path("target")
        os.mkdir(self.disk)
        os.mkdir(self.target)
        self.out = os.path.join(self.target, "out")
        self.data = self.output_of("gen", "u64", "--count", "1M", "--seed", SEED)

    def start(self, *words, **pipes):
        process = subprocess.Popen(
            [TOOL, "sort", "--format=u64", "-S", "2M", "-T", self.disk, *words],
            stderr=subprocess.PIPE, preexec_fn=default_signals, **pipes)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait, LIMIT_SECONDS)
        self.addCleanup(process.kill)
        return process

    def wait_until(self, holds, process):
        end = time.monotonic() + LIMIT_SECONDS
        while not holds():
            self.assertIsNone(process.poll(), "it ended before it was expected to")
            self.assertLess(time.monotonic(), end, "nothing happened")
            time.sleep(0.01)

    def reading(self, *words):
        """A sort that has runs on disk and waits for more input."""
        process = self.start("-o", self.out, *words, stdin=subprocess.PIPE)
        self.addCleanup(process.stdin.close)
        process.stdin.write(self.data)
        process.stdin.flush()
        self.wait_until(lambda: any(s.st_blocks > 0 for s in temporary_files(process, self.disk)),
                        process)
        return process

    def writing(self):
        """A sort that waits for somebody to take its output."""
        process = self.start(self.write("in", self.data), stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.assertEqual(len(process.stdout.read(1)), 1)
        return process

    def assert_ended(self, process, number, code):
        process.send_signal(number)
        self.assertEqual(process.wait(LIMIT_SECONDS), code)
        message = process.stderr.read()
        if number == signal.SIGKILL:
            self.assertEqual(message, b"")
        else:
            self.assertRegex(message, rb"^outsize sort: interrupted by SIG[A-Z]+: [^\n]*\n$")
        self.assertEqual((os.listdir(self.disk), os.listdir(self.target)), ([], []))


class Signals(Running):
    def test_while_reading(self):
        for number, code in SIGNALS:
            self.assert_ended(self.reading(), number, code)

    def test_while_writing(self):
        for number, code in SIGNALS:
            self.assert_ended(self.writing(), number, code)
            self.assertEqual(self.read("in"), self.data)

    def test_at_any_time(self):
        print("seed", SEED, flush=True)
        draw = random.Random(SEED)
        path = self.write("in", self.data * 2)
        for i in range(12):
            number, code = SIGNALS[i % len(SIGNALS)]
            process = self.start(path, "-o", path)
            time.sleep(draw.uniform(0.02, 0.3))
            process.send_signal(number)
            found = process.wait(LIMIT_SECONDS)
            message = process.stderr.read()
            # Before the tool has looked after its signals they end it as they end any program.
            self.assertIn(found, (code, -number, 0))
            self.assertEqual(os.listdir(self.disk), [])
            self.assertEqual(sorted(os.listdir(self.folder)), ["disk", "in", "target"])
            # All or nothing; a signal may also come after the last step.
            is_done = self.read("in") != self.data * 2
            if found == code and number != signal.SIGKILL:
                told = b"the output is complete" if is_done else b"inputs are untouched"
                self.assertIn(told, message)
            if is_done:
                before = self.write("before", self.data * 2)
                self.assertEqual(
                    self.run_tool("check", "--format=u64", path, "--against", before).returncode, 0)
                os.remove(before)
                self.write("in", self.data * 2)
            else:
                self.assertNotEqual(found, 0)

    def test_ignored_signals_stay_ignored(self):
        process = subprocess.Popen([TOOL, "sort"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.stdin.write(b"b\n")
        process.stdin.flush()
        time.sleep(0.2)
        process.send_signal(signal.SIGHUP)
        out, _ = process.communicate(b"a\n", timeout=LIMIT_SECONDS)
        self.assertEqual((process.returncode, out), (0, b"a\nb\n"))

    def test_the_generator_leaves_nothing(self):
        for number, code in SIGNALS:
            process = subprocess.Popen([TOOL, "gen", "u64", "--count", "1T", "-o", self.out],
                                       stderr=subprocess.PIPE, preexec_fn=default_signals)
            self.wait_until(lambda: len(temporary_files(process, self.target)) > 0, process)
            process.send_signal(number)
            _, message = process.communicate(timeout=LIMIT_SECONDS)
            self.assertEqual(process.returncode, code, message)
            self.assertEqual(os.listdir(self.target), [])


class TemporaryFiles(Running):
    def test_are_private_and_have_no_names(self):
        process = self.reading()
        for folder in (self.disk, self.target):
            files = temporary_files(process, folder)
            self.assertGreater(len(files), 0, folder)
            for status in files:
                self.assertEqual(stat.S_IMODE(status.st_mode), 0o600)
                self.assertEqual(status.st_nlink, 0)
            self.assertEqual(os.listdir(folder), [])

    def test_several_disks_share_the_blocks(self):
        other = self.path("other")
        os.mkdir(other)
        process = self.reading("-T", other)
        self.wait_until(lambda: all(sum(s.st_size for s in temporary_files(process, d)) > 0
                                    for d in (self.disk, other)), process)
        process.stdin.close()
        self.assertEqual(process.wait(LIMIT_SECONDS), 0)
        with open(self.out, "rb") as file:
            self.assertEqual(len(file.read()), len(self.data))
        self.assertEqual((os.listdir(self.disk), os.listdir(other)), ([], []))


class ChangingInputs(Running):
    def run_while(self, change):
        """Sorts standard input and then the file "in", which changes in between."""
        path = self.write("in", self.data)
        process = self.reading("-", path)
        change(path)
        process.stdin.close()
        return process.wait(LIMIT_SECONDS), process.stderr.read()

    def end_of_reading(self, change, too_early=b"never said"):
        """Sorts a file, and stops the sort for the change when it has begun to read. It may not
        have read anything yet where it says `too_early`."""
        for _ in range(100):  # until it is stopped before it has read all
            path = self.write("in", self.data)
            process = self.start(path, "-o", self.out)
            while process.poll() is None and not temporary_files(process, self.target):
                pass
            process.send_signal(signal.SIGSTOP)
            change(path)
            process.send_signal(signal.SIGCONT)
            code, message = process.wait(LIMIT_SECONDS), process.stderr.read()
            if message and too_early not in message:
                return code, message
            os.remove(self.out)
        self.fail("the change was never noticed")

    def test_a_file_that_goes_away_is_an_error(self):
        code, message = self.run_while(os.remove)
        self.assertEqual(code, 2)
        self.assertRegex(message, rb"^outsize sort: .*/in: cannot open[^\n]*\n$")
        self.assertEqual((os.listdir(self.disk), os.listdir(self.target)), ([], []))

    def test_a_file_that_is_cut_inside_a_record_is_an_error(self):
        code, message = self.run_while(lambda path: os.truncate(path, 1_000_001))
        self.assertEqual(code, 2)
        self.assertIn(b"/in: the last record is cut short", message)
        self.assertEqual((os.listdir(self.disk), os.listdir(self.target)), ([], []))

    def test_a_file_that_shrinks_while_it_is_read_is_an_error(self):
        code, message = self.end_of_reading(lambda path: os.truncate(path, 800_000))
        self.assertEqual(code, 2)
        self.assertIn(b"/in: changed while it was read: it had 8000000 bytes, 800000 are there now",
                      message)
        self.assertEqual((os.listdir(self.disk), os.listdir(self.target)), ([], []))

    def test_a_file_that_grows_while_it_is_read_is_told_of(self):
        def append(path):
            with open(path, "ab") as file:
                file.write(bytes(800_000))

        code, message = self.end_of_reading(append)
        self.assertEqual(code, 0)
        self.assertRegex(message, b"^outsize: warning: .*/in: grew while it was read: it had "
                                  b"8000000 bytes, 8800000 are there now; [^\\n]*\\n$")
        self.assertEqual(os.path.getsize(self.out), 8_000_000)

    def test_a_file_that_is_written_anew_and_is_longer_is_an_error(self):
        def write_anew(path):
            with open(path, "wb") as file:
                file.write(b"another" * 1_500_000)

        code, message = self.end_of_reading(write_anew, too_early=b"grew while it was read")
        self.assertEqual(code, 2)
        self.assertIn(b"/in: changed while it was read: it had 8000000 bytes, 10500000 are there "
                      b"now", message)
        self.assertFalse(os.path.exists(self.out))

    def test_files_that_shrink_vanish_or_grow_do_no_harm(self):
        print("seed", SEED, flush=True)
        draw = random.Random(SEED)
        for i in range(9):
            path = self.write("in", self.data)
            process = self.start(path, "-o", self.out)
            time.sleep(draw.uniform(0, 0.06))
            if i % 3 == 0:
                os.truncate(path, draw.randrange(len(self.data) // 8) * 8)
            elif i % 3 == 1:
                os.remove(path)
            else:
                with open(path, "ab") as file:
                    file.write(self.data)
            code = process.wait(LIMIT_SECONDS)
            message = process.stderr.read()
            self.assertIn(code, (0, 2), message)
            has_grown = message.startswith(b"outsize: warning: ")
            self.assertEqual(message.count(b"\n"), 1 if code == 2 or has_grown else 0, message)
            self.assertEqual(os.path.exists(self.out), code == 0)
            self.assertEqual(os.listdir(self.disk), [])
            if code == 0:
                self.output_of("sort", "-c", "--format=u64", self.out)
                os.remove(self.out)


class ChangingBlocks(Running):
    """A disk that returns other bytes than were written to it."""

    def flip_a_bit(self, process):
        """Of the first block on the disk, as soon as it is there."""
        link = temporary_links(process, self.disk)[0]
        with open(link, "r+b", buffering=0) as file:
            self.wait_until(lambda: any(os.pread(file.fileno(), 4096, 0)), process)
            byte = os.pread(file.fileno(), 1, 0)[0]
            os.pwrite(file.fileno(), bytes([byte ^ 1]), 0)
            os.fsync(file.fileno())

    def end_of(self, process):
        process.stdin.close()
        code = process.wait(LIMIT_SECONDS)
        return code, process.stderr.read().decode()

    def test_a_flipped_bit_ends_a_sort(self):
        process = self.reading()
        self.flip_a_bit(process)
        code, message = self.end_of(process)
        self.assertEqual(code, 2)
        self.assertRegex(message, rf"^outsize sort: {self.disk}: the block of [0-9]+ bytes at "
                                  r"offset 0 is not what was written there[^\n]*\n$")
        self.assertEqual((os.listdir(self.disk), os.listdir(self.target)), ([], []))

    def test_checksums_change_nothing_else(self):
        outputs = []
        for words in ([], ["--no-block-checksums"]):
            self.assertEqual(self.end_of(self.reading(*words)), (0, ""))
            with open(self.out, "rb") as file:
                outputs.append(file.read())
        self.assertTrue(outputs[0] == outputs[1])


if __name__ == "__main__":
    unittest.main()
