#!/usr/bin/env python3
# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Writes from the list of functions (functions.txt) all that must agree with it:

  --output DIR         DIR/mpi.h             prototypes, in the frame of mpi_header.h.in
                       DIR/libmpi_abi.map    the symbols that the library exports
                       DIR/pmpi_aliases.inc  MPI_ names as weak names of PMPI_ functions
  --docs PAGE          docs/mpi-support.md
  --check PAGE         writes nothing: exit status 1 if the page is not up to date
  --check-library LIB  writes nothing: exit status 1 if LIB does not export just these symbols

Exit status 2 for a mistake in the list, with its line, or for a file that cannot be used.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import textwrap

from mpi_functions import Mistake, read_list

FOLDER = pathlib.Path(__file__).resolve().parent
LIST = FOLDER / "functions.txt"
HEADER = FOLDER / "mpi_header.h.in"
GENERATED = "Made by make_mpi.py from functions.txt and mpi_header.h.in: change those."


def read_text(path):
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise Mistake(f"cannot read '{path}': {reason}") from error


def write_text(path, text):
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Mistake(f"cannot write '{path}': {error.strerror}") from error


def read_catalogue():
    return read_list(read_text(LIST), read_text(HEADER))


def wrapped(text, width=100):
    """Breaks a declaration after commas only."""
    joined = re.sub("(?<!,) ", "\0", text)
    return "\n".join(textwrap.wrap(joined, width, subsequent_indent="    ")).replace("\0", " ")


def header(catalogue, frame):
    """mpi.h: for each family its functions, then their PMPI_ names."""
    parts = []
    for family in catalogue.families():
        if not family.there():
            continue
        lines = [f"/* {family.name} */"]
        for prefix in ("MPI_", "PMPI_"):
            lines += [wrapped(function.prototype(prefix, is_large) + ";")
                      for function in family.there() for is_large in function.forms()]
        parts.append("\n".join(lines))
    for mark in ("@GENERATED@", "@PROTOTYPES@"):
        if frame.count(mark) != 1:
            raise Mistake(f"{HEADER.name}: needs {mark} once")
    return frame.replace("@GENERATED@", GENERATED).replace("@PROTOTYPES@", "\n\n".join(parts))


def export_map(catalogue):
    """A version script without versions: the ABI of MPI knows none."""
    names = "\n".join(f"    {name};" for name in [*catalogue.symbols(), *sorted(catalogue.also)])
    return f"/* {GENERATED} */\n{{\n  global:\n{names}\n  local:\n    *;\n}};\n"


ALIASES_BEGINNING = """\
/*
 * OUTSIZE_MPI_WEAK(Send) makes MPI_Send, and MPI_Send_c if there is one, weak names of PMPI_Send
 * and PMPI_Send_c. It stands after their definitions in the same source, outside of namespaces, as
 * an alias needs its target there. mpi.h is included before.
 */
#define OUTSIZE_MPI_WEAK(name) OUTSIZE_MPI_WEAK_##name
"""


def aliases(catalogue):
    """A macro for each function."""
    parts = [f"/* {GENERATED} */\n{ALIASES_BEGINNING}"]
    for function in catalogue.there():
        lines = [f"#define OUTSIZE_MPI_WEAK_{function.name}"]
        for is_large in function.forms():
            target = f"PMPI_{function.name}{'_c' if is_large else ''}"
            declared = wrapped(function.prototype("MPI_", is_large), 94).split("\n")
            lines += ["  " + line for line in declared]
            lines.append(f'      __attribute__((weak, alias("{target}")));')
        parts.append(" \\\n".join(lines))
    return "\n".join(parts) + "\n"


PAGE_BEGINNING = """\
<!-- SPDX-FileCopyrightText: the outsize authors -->
<!-- SPDX-License-Identifier: BSL-1.0 -->
<!-- Made by outsize/bsp/mpi/make_mpi.py from functions.txt: change that list. -->
# MPI: which functions there are

The `mpi.h` of outsize has the values and layouts of the ABI of MPI 5.0; the library is
`libmpi_abi.so.0`. A function that is not there has no prototype and no symbol: a program that calls
it does not build, and the message names the function. Each function has its `PMPI_` name as well.
Large forms, with 64-bit counts, end in `_c`; they are those of MPI 4, hence `MPI_VERSION` is 4.

All types of C and `stdint.h`, the complex and the pair types are there, the twelve operations, and
`MPI_IN_PLACE`. An error ends the run with one line: the rank, the function, the argument.

Not planned: Fortran, `MPI_Comm_spawn` and ports, sessions, partitioned communication, `MPI_T`, and
`MPI_THREAD_MULTIPLE`. The tables hold all other functions that are planned.
"""


def page_of_tier(tier):
    functions = tier.functions()
    there = [function for function in functions if function.is_there]
    lines = [f"## {tier.name}: {tier.title}",
             f"{len(there)} of {len(functions)} functions are there.", ""]
    single = [family for family in tier.families if family.there()]
    if single:
        lines += ["| function | there | large form | remark |", "|---|---|---|---|"]
    for family in single:
        lines.append(f"| **{family.name}** | | | |")
        lines += [f"| `MPI_{function.name}` | {'yes' if function.is_there else 'no'} | "
                  f"{'`_c`' if function.has_large_form() else ''} | {function.remark} |"
                  for function in family.functions]
    missing = [family for family in tier.families if not family.there()]
    if missing:
        lines += [""] * bool(single) + ["| not there | `MPI_` functions |", "|---|---|"]
    for family in missing:
        names = " ".join(f"`{function.name}`" for function in family.functions)
        lines.append(f"| {family.name} | {names} |")
    return "\n".join(lines) + "\n"


def page(catalogue):
    text = "\n".join([PAGE_BEGINNING, *(page_of_tier(tier) for tier in catalogue.tiers)])
    return re.sub(r" +\|", " |", text)


def differences(catalogue, path):
    """How the symbols of a library differ from the list's."""
    try:
        found = subprocess.run(["nm", "-D", "--defined-only", "-P", str(path)], check=True,
                               capture_output=True, text=True)
    except FileNotFoundError as error:
        raise Mistake("cannot run nm: it is not installed") from error
    except subprocess.CalledProcessError as error:
        raise Mistake(f"nm fails: {error.stderr.strip()}") from error
    kinds = {line.split()[0].split("@")[0]: line.split()[1] for line in found.stdout.splitlines()}
    wanted = {*catalogue.symbols(), *catalogue.also}
    yield from (f"'{name}' is not exported" for name in sorted(wanted - kinds.keys()))
    yield from (f"'{name}' is exported, but not in the list"
                for name in sorted(kinds.keys() - wanted))
    yield from (f"'{name}' is not weak" for name in catalogue.symbols()
                if name.startswith("MPI_") and kinds.get(name, "W") != "W")


def faults_of(arguments, catalogue):
    if arguments.check and read_text(arguments.check) != page(catalogue):
        yield f"'{arguments.check}' is not up to date: run make_mpi.py --docs '{arguments.check}'"
    if arguments.check_library:
        yield from (f"{arguments.check_library}: {difference}"
                    for difference in differences(catalogue, arguments.check_library))


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name in ("--output", "--docs", "--check", "--check-library"):
        parser.add_argument(name, type=pathlib.Path)
    arguments = parser.parse_args(words)
    try:
        catalogue = read_catalogue()
        if arguments.output:
            write_text(arguments.output / "mpi.h", header(catalogue, read_text(HEADER)))
            write_text(arguments.output / "libmpi_abi.map", export_map(catalogue))
            write_text(arguments.output / "pmpi_aliases.inc", aliases(catalogue))
        if arguments.docs:
            write_text(arguments.docs, page(catalogue))
        faults = list(faults_of(arguments, catalogue))
    except Mistake as mistake:
        print(f"make_mpi: {mistake}", file=sys.stderr)
        return 2
    for fault in faults:
        print(f"make_mpi: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
