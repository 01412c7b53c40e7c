#!/usr/bin/env python3
# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""The list of MPI functions, and all that is made from it. The compiler is $CXX, or c++."""

import contextlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import make_mpi
from mpi_functions import Mistake, read_list

PAGE = make_mpi.FOLDER.parents[2] / "docs" / "mpi-support.md"
COMPILER = shutil.which(os.environ.get("CXX") or "c++")
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]

T1 = """
Init Init_thread Initialized Finalize Finalized Abort Wtime Wtick Get_processor_name
Comm_rank Comm_size Comm_dup Comm_split Comm_free
Send Recv Ssend Isend Issend Irecv Sendrecv
Wait Waitall Waitany Test Testall Testany Probe Iprobe Get_count
Barrier Bcast Reduce Allreduce Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall
Alltoallv Scan Exscan
"""
T2 = """
Type_contiguous Type_vector Type_indexed Type_create_hvector Type_create_hindexed
Type_create_struct Type_create_resized Type_create_subarray Type_commit Type_free Type_size
Type_get_extent Get_address
Pack Unpack Pack_size
Op_create Op_free
Comm_create Comm_group Comm_compare Comm_split_type
Group_incl Group_translate_ranks Group_size Group_rank Group_free
Sendrecv_replace Rsend Send_init Recv_init Start Startall Request_free Waitsome Testsome
Reduce_scatter Reduce_scatter_block Ibarrier Ialltoallv
Cart_create Cart_coords Cart_rank Cart_shift Dims_create
"""

# Those of T1 and T2 that have no large form in MPI 4, as they count no items and no bytes.
WITHOUT_LARGE_FORM = """
Init Init_thread Initialized Finalize Finalized Abort Wtime Wtick Get_processor_name
Comm_rank Comm_size Comm_dup Comm_split Comm_free
Wait Waitall Waitany Test Testall Testany Probe Iprobe
Barrier
Type_commit Type_free Get_address Op_free
Comm_create Comm_group Comm_compare Comm_split_type
Group_incl Group_translate_ranks Group_size Group_rank Group_free
Start Startall Request_free Waitsome Testsome
Ibarrier
Cart_create Cart_coords Cart_rank Cart_shift Dims_create
"""

# The values of the ABI of MPI 5.0.
VALUES = """
OP_NULL=0x20 SUM=0x21 MIN=0x22 MAX=0x23 PROD=0x24 BAND=0x28 BOR=0x29 BXOR=0x2a LAND=0x30 LOR=0x31
LXOR=0x32 MINLOC=0x38 MAXLOC=0x39 REPLACE=0x3c NO_OP=0x3d
COMM_NULL=0x100 COMM_WORLD=0x101 COMM_SELF=0x102 GROUP_NULL=0x108 GROUP_EMPTY=0x109
MESSAGE_NULL=0x128 MESSAGE_NO_PROC=0x129 INFO_NULL=0x130 INFO_ENV=0x131
ERRHANDLER_NULL=0x140 ERRORS_ARE_FATAL=0x141 ERRORS_RETURN=0x142 ERRORS_ABORT=0x143
REQUEST_NULL=0x180
DATATYPE_NULL=0x200 AINT=0x201 COUNT=0x202 OFFSET=0x203 PACKED=0x207
SHORT=0x208 INT=0x209 LONG=0x20a LONG_LONG=0x20b LONG_LONG_INT=0x20b
UNSIGNED_SHORT=0x20c UNSIGNED=0x20d UNSIGNED_LONG=0x20e UNSIGNED_LONG_LONG=0x20f
FLOAT=0x210 C_FLOAT_COMPLEX=0x212 C_COMPLEX=0x212 CXX_FLOAT_COMPLEX=0x213
DOUBLE=0x214 C_DOUBLE_COMPLEX=0x216 CXX_DOUBLE_COMPLEX=0x217
LONG_DOUBLE=0x220 C_LONG_DOUBLE_COMPLEX=0x224 CXX_LONG_DOUBLE_COMPLEX=0x225
FLOAT_INT=0x228 DOUBLE_INT=0x229 LONG_INT=0x22a 2INT=0x22b SHORT_INT=0x22c LONG_DOUBLE_INT=0x22d
C_BOOL=0x238 CXX_BOOL=0x239 WCHAR=0x23c
INT8_T=0x240 UINT8_T=0x241 CHAR=0x243 SIGNED_CHAR=0x244 UNSIGNED_CHAR=0x245 BYTE=0x247
INT16_T=0x248 UINT16_T=0x249 INT32_T=0x250 UINT32_T=0x251 INT64_T=0x258 UINT64_T=0x259
BOTTOM=0 IN_PLACE=1 BUFFER_AUTOMATIC=2 STATUS_IGNORE=0 STATUSES_IGNORE=0
ANY_SOURCE=-1 ANY_TAG=-2 PROC_NULL=-3 ROOT=-4 UNDEFINED=-32766 KEYVAL_INVALID=0
THREAD_SINGLE=0 THREAD_FUNNELED=1024 THREAD_SERIALIZED=2048 THREAD_MULTIPLE=4096
ORDER_C=12 ORDER_FORTRAN=15
DISTRIBUTE_NONE=16 DISTRIBUTE_BLOCK=17 DISTRIBUTE_CYCLIC=18 DISTRIBUTE_DFLT_DARG=19
IDENT=201 CONGRUENT=202 SIMILAR=203 UNEQUAL=204 CART=211 GRAPH=212 DIST_GRAPH=213
COMM_TYPE_SHARED=221 COMM_TYPE_HW_UNGUIDED=222 COMM_TYPE_HW_GUIDED=223
COMM_TYPE_RESOURCE_GUIDED=224
TAG_UB=501 IO=502 HOST=503 WTIME_IS_GLOBAL=504 UNIVERSE_SIZE=505 APPNUM=506 LASTUSEDCODE=507
MAX_PROCESSOR_NAME=256 MAX_ERROR_STRING=512 MAX_OBJECT_NAME=128 MAX_LIBRARY_VERSION_STRING=8192
MAX_INFO_KEY=256 MAX_INFO_VAL=1024 MAX_PORT_NAME=1024 MAX_DATAREP_STRING=128
MAX_STRINGTAG_LEN=1024 MAX_PSET_NAME_LEN=1024 BSEND_OVERHEAD=512
SUCCESS=0 ERR_BUFFER=1 ERR_COUNT=2 ERR_TYPE=3 ERR_TAG=4 ERR_COMM=5 ERR_RANK=6 ERR_REQUEST=7
ERR_ROOT=8 ERR_GROUP=9 ERR_OP=10 ERR_TOPOLOGY=11 ERR_DIMS=12 ERR_ARG=13 ERR_UNKNOWN=14
ERR_TRUNCATE=15 ERR_OTHER=16 ERR_INTERN=17 ERR_PENDING=18 ERR_IN_STATUS=19 ERR_ACCESS=20
ERR_KEYVAL=36 ERR_NO_MEM=39 ERR_NO_SPACE=41 ERR_QUOTA=44 ERR_SIZE=52 ERR_WIN=56
ERR_PROC_ABORTED=58 ERR_VALUE_TOO_LARGE=59 ERR_SESSION=60 ERR_ERRHANDLER=61 ERR_ABI=62
ERR_LASTCODE=16383
VERSION=4 SUBVERSION=0 ABI_VERSION=1 ABI_SUBVERSION=0
"""

LAYOUTS = """
static_assert(sizeof(MPI_Status) == 32 && alignof(MPI_Status) == alignof(int));
static_assert(offsetof(MPI_Status, MPI_SOURCE) == 0 && offsetof(MPI_Status, MPI_TAG) == 4);
static_assert(offsetof(MPI_Status, MPI_ERROR) == 8);
static_assert(sizeof(MPI_Aint) == sizeof(void *) && sizeof(MPI_Fint) == sizeof(int));
static_assert(sizeof(MPI_Offset) == 8 && sizeof(MPI_Count) == 8);
template <class... Handles>
constexpr bool are_pointers = (std::is_pointer_v<Handles> && ...);
static_assert(are_pointers<MPI_Comm, MPI_Group, MPI_Datatype, MPI_Op, MPI_Request, MPI_Message,
                           MPI_Info, MPI_Errhandler>);
static_assert(!std::is_convertible_v<MPI_Comm, MPI_Group>);
static_assert(std::is_same_v<decltype(MPI_COMM_WORLD), MPI_Comm>);
static_assert(std::is_same_v<decltype(MPI_UNDEFINED), int>);
"""


class List(unittest.TestCase):
    def setUp(self):
        self.catalogue = make_mpi.read_catalogue()

    def test_the_first_two_tiers_are_listed(self):
        for tier, names, count in zip(self.catalogue.tiers, (T1, T2), (44, 45)):
            functions = tier.functions()
            self.assertEqual(sorted(function.name for function in functions),
                             sorted(names.split()), tier.name)
            self.assertEqual(len(functions), count)

    def test_tiers_and_families_are_there_as_a_whole(self):
        for tier in self.catalogue.tiers[:2]:
            self.assertTrue(all(function.is_there for function in tier.functions()), tier.name)
        there = [family.name for family in self.catalogue.tiers[2].families if family.there()]
        self.assertEqual(there, ["Further collectives"])
        for family in self.catalogue.families():
            self.assertIn(len(family.there()), (0, len(family.functions)), family.name)

    def test_large_forms_are_those_of_the_standard(self):
        listed = [function for tier in self.catalogue.tiers[:2] for function in tier.functions()]
        self.assertEqual(sorted(function.name for function in listed
                                if not function.has_large_form()),
                         sorted(WITHOUT_LARGE_FORM.split()))

    def test_no_symbol_comes_twice(self):
        names = [function.name for function in self.catalogue.functions()]
        self.assertEqual(len(names), len(set(names)))
        symbols = [*self.catalogue.symbols(), *self.catalogue.also]
        self.assertEqual(len(symbols), len(set(symbols)))
        self.assertEqual(len(self.catalogue.symbols()), 2 * (44 + 21 + 45 + 21 + 18 + 17))


class Mistakes(unittest.TestCase):
    def message(self, text):
        with self.assertRaises(Mistake) as caught:
            read_list(text, "MPI_Comm MPI_Count", "list")
        return str(caught.exception)

    def test_each_is_told_with_its_line(self):
        begin = "tier A: a\nfamily F\nthere\n"
        for text, expected in (
                (" int A(void)", "list:1: continues no entry"),
                ("tier A", "list:1: 'A' is not of the form NAME: TITLE"),
                ("family F", "list:1: family 'F' stands before the first tier"),
                ("tier A: a\ntier A: b", "list:2: tier 'A' comes twice"),
                ("tier A: a\nfamily F", "list:2: family 'F' has no functions"),
                ("tier A: a\nfamily F\nthere there", "list:3: 'there there' says more"),
                ("tier A: a\nthere\nint A(void)", "list:3: 'A' stands before the first family"),
                ("tier A: a\nfamily F\nint A(void)", "list:3: 'A' follows neither"),
                (begin + "names A", "list:4: 'names' lists absent functions"),
                (begin + "int A(void", "list:4: 'int A(void' is neither a keyword"),
                (begin + "int A()", "list:4: '' is not a parameter"),
                (begin + "int A(int)", "list:4: 'int' is not a parameter"),
                (begin + "int A(long a)", "list:4: type 'long' is not in the header"),
                (begin + "MPI_Win A(void)", "list:4: type 'MPI_Win' is not in the header"),
                (begin + "int A(int/MPI_Comm a)", "list:4: 'int/MPI_Comm' is not a pair"),
                (begin + "int A(void a)", "list:4: 'void a' has no type"),
                (begin + "int A(int a,\n  int a)", "list:4: two parameters are named 'a'"),
                (begin + "int MPI_A(void)", "list:4: 'MPI_A' is not the name of a function"),
                (begin + "int A(void)\nint A(void)", "list:5: 'A' comes twice"),
                (begin + "int A(int/MPI_Count a)\nint A_c(void)", "list:5: 'A_c' comes twice"),
                (begin + "- x", "list:4: the remark follows no function"),
                (begin + "int A(void)\n  - x\n  - y", "list:6: 'A' has two remarks"),
                (begin + "int A(void)\n  - x | y", "list:5: a remark is a text without '|'"),
                ("also 1", "list:1: '1' is not the name of a symbol"),
                ("also a a", "list:1: 'a' comes twice")):
            self.assertIn(expected, self.message(text), text)


class Made(unittest.TestCase):
    """Each test has a folder with the files that are made."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.catalogue = make_mpi.read_catalogue()

    def call(self, *words):
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            status = make_mpi.main([str(word) for word in words])
        return status, output.getvalue()

    def make(self):
        self.assertEqual(self.call("--output", self.folder), (0, ""))

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def compile(self, *words):
        done = subprocess.run([COMPILER, f"-I{self.folder}", *(str(word) for word in words)],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Header(Made):
    def values(self, text):
        """The macros of a header, without their casts."""
        macros = dict(re.findall(r"^#define (MPI_\w+) (.+)$", text, re.MULTILINE))
        plain = {name: re.sub(r"\(\w+ ?\**\)|[()]", "", value) for name, value in macros.items()}
        return {name: int(plain.get(value, value), 0) for name, value in plain.items()}

    def test_values_are_those_of_the_abi(self):
        self.make()
        found = self.values((self.folder / "mpi.h").read_text(encoding="utf-8"))
        for pair in VALUES.split():
            name, value = pair.split("=")
            self.assertEqual(found.get(f"MPI_{name}"), int(value, 0), name)
        classes = {name: value for name, value in found.items()
                   if name.startswith("MPI_ERR_") and name != "MPI_ERR_LASTCODE"}
        self.assertEqual(sorted(classes.values()), list(range(1, 63)))

    def test_declares_just_the_functions_that_are_there(self):
        self.make()
        text = (self.folder / "mpi.h").read_text(encoding="utf-8")
        declared = re.findall(r"^\w+ (P?MPI_\w+)\(", text, re.MULTILINE)
        self.assertEqual(sorted(declared), self.catalogue.symbols())
        self.assertFalse([line for line in text.split("\n") if len(line) > 100])

    @unittest.skipUnless(COMPILER, "there is no compiler")
    def test_is_c99_c11_and_cxx20(self):
        self.make()
        source = self.write("user.c", "#include <mpi.h>\nMPI_Comm comm = MPI_COMM_WORLD;\n"
                            "int main(void) { return MPI_Init(0, 0) != MPI_SUCCESS; }\n")
        for language, standard in (("c", "c99"), ("c", "c11"), ("c++", "c++20")):
            self.compile(*WARNINGS, "-fsyntax-only", "-x", language, f"-std={standard}", source)

    @unittest.skipUnless(COMPILER, "there is no compiler")
    def test_layouts_are_those_of_the_abi(self):
        self.make()
        source = self.write("layouts.cpp", "#include <cstddef>\n#include <type_traits>\n"
                            "#include <mpi.h>\n" + LAYOUTS)
        self.compile(*WARNINGS, "-fsyntax-only", "-std=c++20", source)

    @unittest.skipUnless(COMPILER, "there is no compiler")
    def test_declarations_of_absent_functions_are_valid_too(self):
        for function in self.catalogue.functions():
            function.is_there = bool(function.returned)
        text = make_mpi.header(self.catalogue, make_mpi.read_text(make_mpi.HEADER))
        self.assertIn("MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3],", text)
        header = self.write("all.h", text)
        self.compile(*WARNINGS, "-fsyntax-only", "-x", "c", "-std=c99", header)


class Library(Made):
    """A library whose functions do nothing, but for MPI_Wtick."""

    def sources(self, without=""):
        lines = ["#include <mpi.h>", '#include "pmpi_aliases.inc"', 'extern "C" {']
        for function in self.catalogue.there():
            result = "7" if function.name == "Wtick" else "0"
            lines += [f"{function.prototype('PMPI_', is_large)} {{ return {result}; }}"
                      for is_large in function.forms()]
        lines += [f"void {name}(void) {{}}" for name in ("also_this", "not_this")]
        lines.append("}")
        lines += [f"OUTSIZE_MPI_WEAK({function.name})" for function in self.catalogue.there()
                  if function.name != without]
        return "\n".join(lines) + "\n"

    def build(self, without=""):
        self.catalogue.also = ["also_this"]
        self.make()
        exports = self.write("exports.map", make_mpi.export_map(self.catalogue))
        library = self.folder / "libmpi_abi.so"
        self.compile("-std=c++20", "-shared", "-fPIC", "-o", library,
                     f"-Wl,--version-script={exports}", self.write("l.cpp", self.sources(without)))
        return library

    @unittest.skipUnless(COMPILER and shutil.which("nm"), "there is no compiler, or no nm")
    def test_exports_both_names_of_each_function_and_nothing_else(self):
        self.assertEqual(list(make_mpi.differences(self.catalogue, self.build())), [])

    @unittest.skipUnless(COMPILER and shutil.which("nm"), "there is no compiler, or no nm")
    def test_tells_names_that_are_missing(self):
        library = self.build(without="Send")
        self.assertEqual(list(make_mpi.differences(self.catalogue, library)),
                         ["'MPI_Send' is not exported", "'MPI_Send_c' is not exported"])
        status, output = self.call("--check-library", library)
        self.assertEqual(status, 1)
        self.assertIn(f"make_mpi: {library}: 'MPI_Send_c' is not exported\n", output)
        self.assertIn(f"make_mpi: {library}: 'malloc' is not exported\n", output)
        self.assertIn("'also_this' is exported, but not in the list\n", output)
        self.assertNotIn("not_this", output)

    @unittest.skipUnless(COMPILER, "there is no compiler")
    def test_a_program_may_put_itself_between(self):
        library = self.build()
        source = self.write("tool.c", "#include <mpi.h>\n"
                            "double MPI_Wtick(void) { return PMPI_Wtick() + 1; }\n"
                            "int main(void) { return (int)MPI_Wtick() + (int)MPI_Wtime(); }\n")
        program = self.folder / "tool"
        self.compile("-x", "c", "-std=c99", source, "-x", "none", library, "-o", program,
                     f"-Wl,-rpath,{self.folder}")
        self.assertEqual(subprocess.run([program], check=False).returncode, 8)

    @unittest.skipUnless(shutil.which("nm"), "there is no nm")
    def test_that_cannot_be_read_is_told(self):
        status, output = self.call("--check-library", self.folder / "none.so")
        self.assertEqual(status, 2)
        self.assertTrue(output.startswith("make_mpi: nm fails: "), output)


class Page(Made):
    def test_is_up_to_date(self):
        self.assertEqual(self.call("--check", PAGE), (0, ""))

    def test_that_is_old_is_told(self):
        page = self.write("page.md", PAGE.read_text(encoding="utf-8") + "\n")
        status, output = self.call("--check", page)
        self.assertEqual(status, 1)
        self.assertEqual(output, f"make_mpi: '{page}' is not up to date: run make_mpi.py --docs "
                         f"'{page}'\n")
        self.assertEqual(self.call("--docs", page, "--check", page), (0, ""))

    def test_that_cannot_be_read_is_told(self):
        status, output = self.call("--check", self.folder / "none.md")
        self.assertEqual(status, 2)
        self.assertIn("none.md': No such file or directory", output)

    def test_has_a_row_for_each_function(self):
        text = make_mpi.page(self.catalogue)
        for function in self.catalogue.functions():
            name = f"MPI_{function.name}" if function.is_there else function.name
            self.assertEqual(text.count(f"`{name}` |") + text.count(f"`{name}` `"), 1, name)

    def test_says_no_where_a_family_is_there_in_part(self):
        self.catalogue.tiers[0].functions()[0].is_there = False
        text = make_mpi.page(self.catalogue)
        self.assertIn("43 of 44 functions are there.", text)
        self.assertIn("| `MPI_Init` | no | | ", text)


if __name__ == "__main__":
    unittest.main()
