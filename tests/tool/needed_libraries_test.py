#!/usr/bin/env python3
# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""The libraries that the tool is linked with: none that only parts of outsize need which it does
not use. OpenBLAS starts threads when it is loaded, which take signals that the tool waits for."""
import os
import subprocess
import unittest


class Libraries(unittest.TestCase):
    def test_matrices_are_not_among_what_the_tool_needs(self):
        needed = subprocess.run(["ldd", os.environ["OUTSIZE_TOOL"]], capture_output=True, text=True,
                                check=True).stdout
        self.assertIn("libc.", needed)
        for library in ("blas", "gfortran"):
            self.assertNotIn(library, needed)


if __name__ == "__main__":
    unittest.main()
