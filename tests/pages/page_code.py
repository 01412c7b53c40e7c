#!/usr/bin/env python3
# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Makes one source file of the code that pages show, so that it is compiled.

    page_code.py ROOT OUTPUT PAGE...

Each fence of C++ becomes a function in the namespace of its page, docs_pipelines for
docs/pipelines.md, where given.hpp declares what the code takes for granted; … stands for any
statement. Specialisations of templates stand before the functions, outside of all namespaces. Parts
of examples, and whole programs, are left out: they are compiled as what they are
parts of, which tests/tidy.py compares.
"""

import pathlib
import re
import sys

FENCE = re.compile(r"^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OF_EXAMPLES = ("// examples/", "#include ")
SPECIALISATION = "template <>"


def code_of(page, text):
    """Specialisations and functions of a page."""
    specialisations, functions = [], []
    for found in FENCE.finditer(text):
        code = found.group(1)
        if code.startswith(OF_EXAMPLES):
            continue
        line = text.count("\n", 0, found.start(1)) + 1
        place = f"#line {line} \"{page}\"\n"
        if code.startswith(SPECIALISATION):
            specialisations.append(place + code)
        else:
            functions.append(f"void line_{line}() {{\n{place}{code.replace('…', '{}')}}}\n")
    return specialisations, functions


def main():
    root, output, *pages = sys.argv[1:]
    parts = ["#include <tests/pages/given.hpp>\n"]
    for page in pages:
        specialisations, functions = code_of(page, pathlib.Path(root, page).read_text("utf-8"))
        name = re.sub(r"\W", "_", page.removesuffix(".md"))
        if specialisations:
            parts += [f"\nusing namespace {name};\n", *specialisations]
        if functions:
            parts += [f"\nnamespace {name} {{\n", *functions, "}\n"]
    pathlib.Path(output).write_text("".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
