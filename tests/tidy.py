#!/usr/bin/env python3
# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Checks the rules of STYLE.md that a program can check, and prints how large the files are.

Each rule is a function that yields (path, line number, what is wrong). Exit status 1 if any does.
"""

import pathlib
import re
import statistics
import sys
import textwrap

import prose

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE_FOLDERS = ("outsize", "tools", "tests", "bench", "examples")
BANNED = re.compile(r"(?:^|_)(?:utils?|helpers?|common|misc|managers?|impl2)(?:_|$)")

# The preprocessor chooses between platforms, and instruction sets, here and nowhere else.
CONDITIONAL_ALLOWED = (
    "outsize/base/assert.hpp", "outsize/base/detail/byte_places.cpp",
    "outsize/base/detail/cache_lines.cpp", "outsize/base/detail/closed_memory.cpp",
    "outsize/base/detail/gathered_bits.hpp", "outsize/base/detail/without_jump.hpp",
    "outsize/bsp/linux/", "outsize/io/linux/", "outsize/io/posix/", "tests/compile_fail/")

# Asks the storage itself, as its files go through a queue of their own.
OPENS_BY_ITSELF = ("bmmc.cpp",)

# Headers whose test is another file's, each with the reason.
UNTESTED = {
    "outsize/bsp/allocator.hpp": "by virtual_processors_test.cpp",
    "outsize/bsp/detail/arena_pages.hpp": "by arena_heap_test.cpp",
    "outsize/bsp/bsp_error.hpp": "by virtual_processors_test.cpp",
    "outsize/bsp/detail/board.hpp": "by virtual_processors_test.cpp",
    "outsize/bsp/detail/bsp_engine.hpp": "by processor_test.cpp and virtual_processors_test.cpp",
    "outsize/bsp/detail/lender.hpp": "by virtual_processors_test.cpp",
    "outsize/bsp/detail/mailbox.hpp": "by processor_test.cpp",
    "outsize/bsp/detail/member.hpp": "by processor_test.cpp and em_test.cpp",
    "outsize/bsp/detail/message_ticket.hpp": "data",
    "outsize/bsp/detail/message_prefetch.hpp": "by virtual_processors_test.cpp",
    "outsize/bsp/detail/pager.hpp": "by virtual_processors_test.cpp",
    "outsize/bsp/detail/shared_block.hpp": "by processor_context_test.cpp",
    "outsize/bsp/detail/this_processor.hpp": "by em_test.cpp",
    "outsize/bsp/detail/arena_memory.hpp": "interface",
    "outsize/bsp/detail/arena_shape.hpp": "by processor_context_test.cpp",
    "outsize/bsp/detail/fiber_run.hpp": "by virtual_processors_test.cpp",
    "outsize/bsp/linux/local_arena.hpp": "by processor_context_test.cpp",
    "outsize/bsp/mpi/child.hpp": "by tests/mpi",
    "outsize/bsp/mpi/both_forms.hpp": "by tests/mpi",
    "outsize/bsp/mpi/communicators.hpp": "by tests/mpi",
    "outsize/bsp/mpi/datatype.hpp": "by tests/mpi",
    "outsize/bsp/mpi/exchange.hpp": "by tests/mpi",
    "outsize/bsp/mpi/exposed_items.hpp": "by tests/mpi",
    "outsize/bsp/mpi/folding.hpp": "by tests/mpi",
    "outsize/bsp/mpi/handle_table.hpp": "by tests/mpi",
    "outsize/bsp/mpi/layout.hpp": "by tests/mpi",
    "outsize/bsp/mpi/requests.hpp": "by tests/mpi",
    "outsize/bsp/process/control.hpp": "by tests/mpi",
    "outsize/bsp/process/frame_file.hpp": "by tests/mpi",
    "outsize/bsp/process/rank_server.hpp": "by tests/mpi",
    "tools/outsize_run/result_file.hpp": "by tests/mpi",
    "tools/outsize_run/run_json.hpp": "by tests/mpi",
    "tools/outsize_run/run_watch.hpp": "by tests/mpi",
    "outsize/bsp/detail/transfer_error.hpp": "by virtual_processors_test.cpp",
    "outsize/container/detail/priority/array_catalogue.hpp": "by priority_queue_file_test.cpp",
    "outsize/container/detail/priority/external_arrays.hpp": "by priority_queue_test.cpp",
    "outsize/container/detail/priority/item_queue.hpp": "by priority_queue_test.cpp",
    "outsize/container/detail/priority/kept_queue.hpp": "by priority_queue_file_test.cpp",
    "outsize/container/detail/priority/opposite_order.hpp": "by priority_queue_test.cpp",
    "outsize/container/detail/priority/push_slabs.hpp": "by priority_queue_test.cpp",
    "outsize/container/detail/priority/queue_core.hpp": "by priority_queue_test.cpp",
    "outsize/container/detail/priority/queue_file.hpp": "by priority_queue_file_test.cpp",
    "outsize/graph/edge.hpp": "by simple_edges_test.cpp",
    "outsize/stream/detail/boundary.hpp": "by graph_test.cpp",
    "outsize/stream/detail/container_sinks.hpp": "by sinks_test.cpp",
    "outsize/stream/detail/context.hpp": "by graph_test.cpp",
    "outsize/stream/detail/deal.hpp": "by graph_test.cpp",
    "outsize/stream/detail/expression.hpp": "by the operators' tests",
    "outsize/stream/detail/fragment.hpp": "by graph_test.cpp",
    "outsize/stream/detail/graph_state.hpp": "by graph_test.cpp",
    "outsize/stream/detail/link.hpp": "by graph_test.cpp",
    "outsize/stream/detail/record_gatherer.hpp": "by graph_test.cpp and reorder_test.cpp",
    "outsize/stream/detail/reversing.hpp": "by reorder_test.cpp",
    "outsize/stream/detail/piece_sources.hpp": "by sources_test.cpp",
    "outsize/stream/detail/segment.hpp": "by graph_test.cpp",
    "outsize/stream/detail/single_sources.hpp": "by sources_test.cpp",
    "outsize/stream/detail/sorting.hpp": "by graph_test.cpp",
    "outsize/stream/detail/typed_ports.hpp": "by graph_test.cpp",
    "outsize/stream/detail/vector_filler.hpp": "by sinks_test.cpp and reorder_test.cpp",
    "outsize/stream/detail/volumes.hpp": "by graph_test.cpp",
    "outsize/stream/element_stream.hpp": "concepts: by stream_range_test.cpp",
    "outsize/stream/flow.hpp": "by graph_test.cpp",
    "outsize/stream/graph_report.hpp": "by graph_test.cpp",
    "outsize/stream/operators/parallel.hpp": "by graph_test.cpp",
    "outsize/stream/operators/sorting_nodes.hpp": "by graph_test.cpp",
    "outsize/algorithm/detail/input_options.hpp": "by item_sources_test.cpp",
    "outsize/algorithm/detail/item_scan.hpp": "by item_sources_test.cpp",
    "outsize/algorithm/detail/item_writer.hpp": "by item_sources_test.cpp",
    "outsize/algorithm/detail/item_sort.hpp":
        "by sort_test.cpp, reduce_test.cpp and merge_test.cpp",
    "outsize/algorithm/detail/sort/engine_memory.hpp": "by tests/memory",
    "outsize/algorithm/detail/sort/encoded_blocks.hpp": "by run_writer_test.cpp",
    "outsize/algorithm/detail/sort/in_place_run.hpp": "by run_formation_test.cpp",
    "outsize/kernel/detail/item_kernel.hpp": "interface: by typed_kernel_test.cpp",
    "outsize/algorithm/detail/sort/run.hpp": "by run_writer_test.cpp",
    "outsize/algorithm/detail/sort/intermediate_merges.hpp":
        "by engine_test.cpp and sort_io_test.cpp",
    "outsize/algorithm/detail/sort/last_merge.hpp": "by engine_test.cpp",
    "outsize/algorithm/detail/sort/run_blocks.hpp":
        "by run_writer_test.cpp and merge_feed_test.cpp",
    "outsize/algorithm/detail/sort/family/number_items.hpp": "by reduce_test.cpp and sort_test.cpp",
    "outsize/algorithm/sort_options.hpp": "data",
    "outsize/algorithm/detail/sort/family/typed_chunk.hpp":
        "by typed_items_test.cpp and item_engine_test.cpp",
    "outsize/algorithm/detail/sort/sort_work.hpp": "data",
    "outsize/algorithm/detail/file_merge.hpp": "by record_sort_test.cpp and line_sort_test.cpp",
    "outsize/algorithm/detail/file_sort.hpp": "by record_sort_test.cpp and line_sort_test.cpp",
    "outsize/base/detail/memory_registry.hpp":
        "by memory_holder_test.cpp and memory_budget_test.cpp",
    "outsize/block/block_device.hpp": "interface: by storage_test.cpp and file_blocks_test.cpp",
    "outsize/block/block_id.hpp": "data",
    "outsize/container/detail/tree/btree_batch.hpp": "by map_test.cpp",
    "outsize/container/detail/tree/btree_builder.hpp": "by btree_test.cpp and map_test.cpp",
    "outsize/container/detail/tree/btree_iterator.hpp": "by map_test.cpp",
    "outsize/container/detail/tree/btree_layout.hpp": "by btree_test.cpp",
    "outsize/page/detail/disk_pages.hpp": "by page_space_test.cpp",
    "outsize/page/detail/file_pages.hpp": "by page_space_test.cpp",
    "outsize/container/detail/filling.hpp": "by map_test.cpp and unordered_map_test.cpp",
    "outsize/container/detail/tree/map_item.hpp": "by map_test.cpp and unordered_map_test.cpp",
    "outsize/container/map_options.hpp": "data",
    "outsize/container/detail/tree/ordered_container.hpp": "by map_test.cpp and map_file_test.cpp",
    "outsize/container/detail/blocks/matrix_items.hpp": "by matrix_test.cpp",
    "outsize/page/detail/page_run_writer.hpp": "by page_runs_test.cpp",
    "outsize/container/detail/array/page_window.hpp": "by vector_readers_test.cpp",
    "outsize/container/detail/array/paged_array.hpp": "by vector_test.cpp and deque_test.cpp",
    "outsize/container/detail/array/paged_items.hpp": "by the tests of the containers",
    "outsize/container/detail/piece_comparison.hpp": "by vector_test.cpp and map_test.cpp",
    "outsize/container/set.hpp": "by map_test.cpp",
    "outsize/container/detail/tree/sought_key.hpp": "by map_test.cpp and unordered_map_test.cpp",
    "outsize/container/detail/tree/tree_pages.hpp": "by btree_test.cpp and map_file_test.cpp",
    "outsize/container/detail/array/paged_readers.hpp":
        "by vector_readers_test.cpp and sequence_test.cpp",
    "outsize/scan/algorithms.hpp": "includes those in scan/",
    "outsize/container/detail/array/page_window.hpp":
        "by vector_readers_test.cpp and walk_test.cpp",
    "outsize/scan/detail/batch.hpp": "by walk_test.cpp and the tests of the algorithms",
    "outsize/scan/detail/cursors.hpp": "by walk_test.cpp",
    "outsize/scan/policy.hpp": "by the tests of the algorithms",
    "outsize/container/detail/hash/hash_table.hpp": "by unordered_map_test.cpp",
    "outsize/container/detail/hash/unordered_map_iterator.hpp": "by unordered_map_test.cpp",
    "outsize/container/unordered_map_options.hpp": "data",
    "outsize/page/page_options.hpp": "by container/page_options_test.cpp",
    "outsize/page/page_pool.hpp": "by container/page_pool_test.cpp",
    "outsize/io/file_identity.hpp": "by user_files_test.cpp",
    "outsize/io/posix/file_protection.hpp": "by unpublished_file_test.cpp",
    "outsize/io/simulation/disk_model.hpp": "interface: by the tests of the models",
    "outsize/pipeline/detail/network_run.hpp": "by network_test.cpp",
    "outsize/pipeline/stage.hpp": "by network_test.cpp",
    "tools/outsize/interruption.hpp": "ends the process: by tests/tool",
    "tools/outsize/sort_command.hpp": "by tests/tool",
    "tools/outsize/command.hpp": "declarations of the commands, which tests/tool runs",
    "tools/outsize_run/crew.hpp": "by tests/mpi",
}

ALGORITHMS = ("sort|stable_sort|ksort|sort_unique|reduce_by_key|sorter|merge|is_sorted_until|"
              "nth_element|top_k|shuffle|permute|generate|for_each|transform|scan")

EXCERPT = re.compile(r"^```cpp\n// (examples/\w+\.cpp)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WHOLE_PROGRAM = re.compile(r"^```cpp\n(#include .*?)^```$", re.MULTILINE | re.DOTALL)


def files(*suffixes, folders=CODE_FOLDERS):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                yield path


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines()


def layers():
    text = (ROOT / "outsize/CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"set\(outsize_layers([^)]*)\)", text).group(1).split()


def may_include():
    """For each module those that its files may include: itself, and what its DEPENDS lead to."""
    reach = {}
    for module in layers():
        text = (ROOT / "outsize" / module / "CMakeLists.txt").read_text(encoding="utf-8")
        found = re.search(r"\bDEPENDS((?:\s+[a-z]\w*)+)", text)
        below = found.group(1).split() if found else []
        reach[module] = {module}.union(*(reach[name] for name in below))
    return reach


def check_includes():
    reach = may_include()
    for path in files(".hpp", ".cpp", folders=["outsize"]):
        own = path.relative_to(ROOT / "outsize").parts[0]
        is_test = path.stem.endswith("_test")
        for number, line in enumerate(lines_of(path), 1):
            found = re.match(r'\s*#\s*include\s*[<"](?:outsize|tools/outsize)/(\w+)/', line)
            if not found:
                continue
            module = found.group(1)
            if module == "testing" and is_test:
                continue
            if module not in reach.get(own, ()):
                yield path, number, f"'{own}' includes '{module}', which it does not depend on"


def check_detail():
    """What users read and write names no header of a detail/ folder."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")),
             *sorted((ROOT / "docs" / "containers").glob("*.md"))]
    for path in [*files(".cpp", folders=["examples"]), *pages]:
        for number, line in enumerate(lines_of(path), 1):
            if re.match(r"\s*#\s*include\s*<outsize/[\w/]*\bdetail/", line):
                yield path, number, "includes a header that is not for users"


def check_targets():
    """Each source is compiled, and each header of the library is in its module's HEADERS."""
    for path in files(".hpp", ".cpp", folders=["outsize", "tools"]):
        if path.suffix == ".hpp" and name_of(path).startswith("tools/"):
            continue
        listing = path.parent
        while not (listing / "CMakeLists.txt").exists():
            listing = listing.parent
        listed = (listing / "CMakeLists.txt").read_text(encoding="utf-8")
        relative = path.relative_to(listing).as_posix()
        if not re.search(r"(?<![\w./])" + re.escape(relative) + r"(?![\w./])", listed):
            yield path, 1, f"is in no target of {name_of(listing)}/CMakeLists.txt"


def check_tests():
    for path in files(".hpp", folders=["outsize", "tools"]):
        name = name_of(path)
        if name in UNTESTED or name.startswith("outsize/testing/"):
            continue
        if not path.with_name(path.stem + "_test.cpp").exists():
            yield path, 1, f"has no {path.stem}_test.cpp beside it"


def check_openers():
    """Layers above block open the user's files by block/user_files.hpp, which refuses raw disks."""
    for path in files(".hpp", ".cpp", folders=["outsize"]):
        module = path.relative_to(ROOT / "outsize").parts[0]
        if module in ("io", "block", "testing") or path.stem.endswith("_test") or \
                path.name in OPENS_BY_ITSELF:
            continue
        for number, line in enumerate(lines_of(path), 1):
            if re.search(r"\bio::open_(?:input|output|file)\(", line):
                yield path, number, "opens a file past block/user_files.hpp"


def check_conditionals():
    for path in files(".hpp", ".cpp"):
        if name_of(path).startswith(CONDITIONAL_ALLOWED):
            continue
        for number, line in enumerate(lines_of(path), 1):
            if re.match(r"\s*#\s*(if|ifdef|ifndef)\b", line):
                yield path, number, "conditional compilation outside of the platform files"


def check_names():
    for path in files(".hpp", ".cpp", ".py", ".sh", ".cmake"):
        for part in path.relative_to(ROOT).with_suffix("").parts:
            if BANNED.search(part):
                yield path, 1, f"'{part}' says nothing about what is in it"
        if path.suffix not in (".hpp", ".cpp"):
            continue
        for number, line in enumerate(lines_of(path), 1):
            found = re.match(r"\s*(?:class|struct|namespace|concept|enum class)\s+(\w+)", line)
            if found and BANNED.search(found.group(1)):
                yield path, number, f"'{found.group(1)}' says nothing about what it is"


def check_comments():
    """Statements and braces in comments. Examples in prose are indented by three or more."""
    statement = r"[^\s/].*[\w)\]]\s*;"
    control = r"(?:if|for|while|switch)\s*\(.*\{"
    code = re.compile(rf"^\s*//\s{{0,2}}(?:{statement}|{control}|[{{}}])\s*$")
    four_words = re.compile(r"(?:\w+[ ,]+){3}\w+")
    for path in files(".hpp", ".cpp"):
        for number, line in enumerate(lines_of(path), 1):
            if code.match(line) and not (four_words.search(line) and "=" not in line):
                yield path, number, "commented-out code"


def doc_above(lines, index):
    """The lines of the `///` block above lines[index], past template heads and constraints."""
    while index > 0 and re.match(r"\s*(template|requires|\[\[|\s{2,}(?!///)\S)", lines[index - 1]):
        index -= 1
    end = index
    while index > 0 and lines[index - 1].lstrip().startswith("///"):
        index -= 1
    return lines[index:end]


def check_bounds():
    """Every public algorithm states its I/Os, once for all its overloads."""
    declared = re.compile(
        rf"^(?:class|struct)\s+({ALGORITHMS})\b(?!\s*;)|^[\w:<>,&*\s]*[\w>&*]\s+({ALGORITHMS})\(")
    for path in files(".hpp", folders=["outsize/algorithm"]):
        lines = lines_of(path)
        stated = set()
        hidden = False
        for index, line in enumerate(lines):
            if line.startswith("namespace "):
                hidden = "detail" in line
            elif line.startswith("}  // namespace detail"):
                hidden = False
            found = declared.match(line)
            if hidden or not found or line.startswith(("//", " ")):  # a comment, a member
                continue
            name = found.group(1) or found.group(2)
            if any("I/Os:" in text for text in doc_above(lines, index)):
                stated.add(name)
            elif name not in stated:
                yield path, index + 1, f"algorithm '{name}' does not state its I/Os"


def check_evidence():
    """`Checked:` names files that exist: in the same room, or by their path from the root."""
    for path in files(".hpp"):
        for number, line in enumerate(lines_of(path), 1):
            found = re.search(r"\bChecked:\s+(.*)", line)
            named = re.findall(r"[\w/.]+\.(?:cpp|py|sh)\b", found.group(1)) if found else []
            for evidence in named:
                room = ROOT / "/".join(path.relative_to(ROOT).parts[:2])
                if not (ROOT / evidence).exists() and not any(room.rglob(evidence)):
                    yield path, number, f"is checked by {evidence}, which does not exist"


def check_excerpts():
    """Code in a page that begins with `// examples/NAME.cpp` is a part of that program, which the
    tests run, and what begins with its includes is one of them; every guide to containers has some.
    Other code in pages is compiled by tests/pages."""
    programs = [path.read_text(encoding="utf-8") for path in files(".cpp", folders=["examples"])]
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        excerpts = list(EXCERPT.finditer(text))
        if path.parent.name == "containers" and not excerpts:
            yield path, 1, "shows no part of an example"
        for found in excerpts:
            program, excerpt = ROOT / found.group(1), textwrap.indent(found.group(2), "  ")
            if not program.exists() or excerpt not in program.read_text(encoding="utf-8"):
                number = text.count("\n", 0, found.start()) + 2
                yield path, number, f"is no part of {found.group(1)}"
        for found in WHOLE_PROGRAM.finditer(text):
            if not any(program.endswith(found.group(1)) for program in programs):
                yield path, text.count("\n", 0, found.start()) + 2, "is none of the examples"


def check_form():
    for path in files(".hpp", ".cpp", ".py", ".cmake", ".txt"):
        if path.suffix == ".txt" and path.name != "CMakeLists.txt":
            continue
        lines = lines_of(path)
        head = "\n".join(lines[:4])
        if "SPDX-FileCopyrightText:" not in head or "SPDX-License-Identifier: BSL-1.0" not in head:
            yield path, 1, "does not begin with the two SPDX lines"
        if path.suffix == ".hpp" and "#pragma once" not in lines:
            yield path, 1, "header without #pragma once"
        for number, line in enumerate(lines, 1):
            if len(line) > 100:
                yield path, number, f"{len(line)} columns"


def check_mentions():
    """Sources that pages and comments name exist, and headers have names of their own."""
    sources = [name_of(path) for path in files(".hpp", ".cpp", ".py")]
    ends = {"/".join(name.split("/")[at:]) for name in sources for at in range(name.count("/") + 1)}
    invented = {"x.hpp", "x_test.cpp", "name_test.cpp", "NAME.cpp", "config.hpp", "_test.cpp"}
    mention = re.compile(r"(?<![\w./<>-])((?:[\w-]+/)*[\w-]+\.(?:hpp|cpp))\b")
    pages = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "STYLE.md",
             *sorted((ROOT / "docs").rglob("*.md")), *files(".md")]
    for path in [*pages, *files(".hpp", ".cpp")]:
        for number, line in enumerate(lines_of(path), 1):
            text = line if path.suffix == ".md" else line.partition("//")[2]
            for name in mention.findall(text) if "#include" not in line else ():
                is_ours = not name.startswith("boost/")
                if is_ours and name not in ends and name.split("/")[-1] not in invented:
                    yield path, number, f"names {name}, which does not exist"
            for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", line):
                if path.suffix == ".md" and not (path.parent / link).exists():
                    yield path, number, f"links {link}, which does not exist"
    known = {}
    for path in files(".hpp", folders=["outsize"]):
        if path.name in known:
            yield path, 1, f"has the name of {known[path.name]}"
        known[path.name] = name_of(path)


def check_pages():
    """Pages have 110 columns, but for tables, code, and what has no place to break."""
    for path in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")),
                 *files(".md")]:
        is_code = False
        for number, line in enumerate(lines_of(path), 1):
            if line.lstrip().startswith("```"):
                is_code = not is_code
            if len(line) > 110 and not is_code and not line.startswith("|") and " " in line.strip():
                yield path, number, f"{len(line)} columns"


def print_sizes():
    print(f"{'lines':20} {'files':>6} {'median':>7} {'9 in 10':>8} {'largest':>8}")
    kinds = {"headers": [], "sources": [], "tests": []}
    for path in files(".hpp", ".cpp"):
        is_test = path.stem.endswith("_test") or name_of(path).startswith("tests/")
        kind = "tests" if is_test else "headers" if path.suffix == ".hpp" else "sources"
        kinds[kind].append((len(lines_of(path)), name_of(path)))
    for kind, sizes in kinds.items():
        if not sizes:
            continue
        sizes.sort()
        counts = [count for count, _ in sizes]
        print(f"{kind:20} {len(counts):6} {statistics.median(counts):7.0f} "
              f"{counts[(len(counts) - 1) * 9 // 10]:8} {counts[-1]:8} {sizes[-1][1]}")


def main():
    print_sizes()
    faults = [fault for rule in (check_includes, check_targets, check_tests, check_openers,
                                 check_conditionals, check_names, check_comments, check_bounds,
                                 check_evidence, check_excerpts, check_form, check_mentions,
                                 check_pages, check_detail, prose.check)
              for fault in rule()]
    for path, number, what in faults:
        print(f"{name_of(path)}:{number}: {what}")
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
