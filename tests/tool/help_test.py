# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Every command that the tool lists explains itself."""

import re
import unittest

from outsize_tool import ToolTest


class Help(ToolTest):
    def test_every_command_has_a_page(self):
        names = re.findall(r"^  (\w+) ", self.output_of("--help").decode(), re.MULTILINE)
        self.assertGreater(len(names), 10)
        for name in names:
            text = self.output_of(name, "--help").decode()
            self.assertTrue(text.startswith(f"usage: outsize {name}"), name)
            self.assert_refused("frobnicate", name, "--frobnicate")


if __name__ == "__main__":
    unittest.main()
