# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""The list of MPI functions (functions.txt, whose head describes it), read and checked."""

import re
from dataclasses import dataclass, field

# The types that a large form has in place of others.
LARGE_TYPES = {("int", "MPI_Count"), ("int", "MPI_Aint"), ("MPI_Aint", "MPI_Count"),
               ("MPI_User_function", "MPI_User_function_c")}
PLAIN_TYPES = {"int", "double", "char", "void"}

NAME = re.compile(r"[A-Z]\w*")
FUNCTION = re.compile(r"(\w+)\s+(\w+)\((.*)\)")
PARAMETER = re.compile(r"(?P<constant>const )?(?P<type>\w+)(?:/(?P<large>\w+))? (?P<stars>\**)"
                       r"(?P<name>[a-z]\w*)(?P<dimensions>(?:\[\d*\])*)")


class Mistake(Exception):
    """A message for the user, with the place."""


@dataclass(frozen=True)
class Parameter:
    constant: str
    type: str
    large: str
    stars: str
    name: str
    dimensions: str

    def text(self, is_large):
        kind = self.large if is_large and self.large else self.type
        return f"{self.constant}{kind} {self.stars}{self.name}{self.dimensions}"


@dataclass
class Function:
    name: str
    is_there: bool
    returned: str = ""
    parameters: tuple = ()
    remark: str = ""

    def has_large_form(self):
        return any(parameter.large for parameter in self.parameters)

    def forms(self):
        return [False, True] if self.has_large_form() else [False]

    def prototype(self, prefix, is_large):
        end = "_c" if is_large else ""
        parameters = ", ".join(parameter.text(is_large) for parameter in self.parameters)
        return f"{self.returned} {prefix}{self.name}{end}({parameters or 'void'})"

    def symbols(self):
        return [f"{prefix}{self.name}{'_c' if is_large else ''}"
                for is_large in self.forms() for prefix in ("MPI_", "PMPI_")]


@dataclass
class Family:
    name: str
    functions: list = field(default_factory=list)

    def there(self):
        return [function for function in self.functions if function.is_there]


@dataclass
class Tier:
    name: str
    title: str
    families: list = field(default_factory=list)

    def functions(self):
        return [function for family in self.families for function in family.functions]


@dataclass
class Catalogue:
    """The list, read."""
    tiers: list = field(default_factory=list)
    also: list = field(default_factory=list)

    def families(self):
        return [family for tier in self.tiers for family in tier.families]

    def functions(self):
        return [function for tier in self.tiers for function in tier.functions()]

    def there(self):
        return [function for function in self.functions() if function.is_there]

    def symbols(self):
        return sorted(symbol for function in self.there() for symbol in function.symbols())


class Reader:
    """Reads a list line by line; any mistake is told with the line where its entry begins."""

    def __init__(self, text, name, known_types):
        self.name = name
        self.known_types = known_types | PLAIN_TYPES
        self.catalogue = Catalogue()
        self.known_names = set()
        self.is_there = None
        self.number = 0
        self.last = None  # the function that a remark is for
        for self.number, entry in self.entries(text):
            self.read(entry)
        for tier in self.catalogue.tiers:
            for family in tier.families:
                if not family.functions:
                    self.fail(f"family '{family.name}' has no functions")

    def fail(self, message):
        raise Mistake(f"{self.name}:{self.number}: {message}")

    def entries(self, text):
        """Numbers and texts of entries, continuation lines joined; a remark is its own entry."""
        number, entry = 0, ""
        for at, line in enumerate(text.split("\n"), 1):
            if not line.strip() or line.startswith("#"):
                continue
            if line[0].isspace() and not line.lstrip().startswith("- "):
                if not entry:
                    self.number = at
                    self.fail("continues no entry")
                entry += " " + line.strip()
                continue
            if entry:
                yield number, entry
            number, entry = at, line.strip()
        if entry:
            yield number, entry

    def read(self, entry):
        word, _, rest = entry.partition(" ")
        handlers = {"tier": self.read_tier, "family": self.read_family, "there": self.read_status,
                    "absent": self.read_status, "names": self.read_names, "also": self.read_also,
                    "-": self.read_remark}
        if word in handlers:
            handlers[word](rest.strip() if word not in ("there", "absent") else entry)
            if word != "-":
                self.last = None
        else:
            self.read_function(entry)

    def read_tier(self, rest):
        found = re.fullmatch(r"(\w+): (.+)", rest)
        if not found:
            self.fail(f"'{rest}' is not of the form NAME: TITLE")
        if any(tier.name == found[1] for tier in self.catalogue.tiers):
            self.fail(f"tier '{found[1]}' comes twice")
        self.catalogue.tiers.append(Tier(found[1], found[2]))
        self.is_there = None

    def read_family(self, rest):
        if not rest:
            self.fail("a family needs a name")
        if not self.catalogue.tiers:
            self.fail(f"family '{rest}' stands before the first tier")
        if any(family.name == rest for family in self.catalogue.families()):
            self.fail(f"family '{rest}' comes twice")
        self.catalogue.tiers[-1].families.append(Family(rest))

    def read_status(self, entry):
        if entry not in ("there", "absent"):
            self.fail(f"'{entry}' says more than 'there' or 'absent'")
        self.is_there = entry == "there"

    def read_also(self, rest):
        for name in rest.split():
            if not re.fullmatch(r"[A-Za-z_]\w*", name):
                self.fail(f"'{name}' is not the name of a symbol")
            if name in self.catalogue.also:
                self.fail(f"'{name}' comes twice")
            self.catalogue.also.append(name)

    def read_names(self, rest):
        if self.is_there:
            self.fail("'names' lists absent functions: those that are there need a declaration")
        if not rest:
            self.fail("'names' lists nothing")
        for name in rest.split():
            self.add(Function(name, False))

    def read_remark(self, rest):
        if self.last is None:
            self.fail("the remark follows no function")
        if self.last.remark:
            self.fail(f"'{self.last.name}' has two remarks")
        if "|" in rest or not rest:
            self.fail("a remark is a text without '|'")
        self.last.remark = rest

    def read_function(self, entry):
        found = FUNCTION.fullmatch(entry)
        if not found:
            self.fail(f"'{entry}' is neither a keyword nor of the form TYPE NAME(PARAMETERS)")
        returned, name, inside = found.groups()
        self.check_type(returned)
        parameters = () if inside == "void" else tuple(
            self.parameter(text.strip()) for text in inside.split(","))
        names = [parameter.name for parameter in parameters]
        for twice in {name for name in names if names.count(name) > 1}:
            self.fail(f"two parameters are named '{twice}'")
        self.last = Function(name, bool(self.is_there), returned, parameters)
        self.add(self.last)

    def parameter(self, text):
        found = PARAMETER.fullmatch(text)
        if not found:
            self.fail(f"'{text}' is not a parameter of the form TYPE NAME")
        kind, large = found["type"], found["large"] or ""
        self.check_type(kind)
        if large and (kind, large) not in LARGE_TYPES:
            self.fail(f"'{kind}/{large}' is not a pair of types of a large form")
        if kind == "void" and not found["stars"]:
            self.fail(f"'{text}' has no type")
        return Parameter(found["constant"] or "", kind, large, found["stars"], found["name"],
                         found["dimensions"])

    def check_type(self, name):
        if name not in self.known_types:
            self.fail(f"type '{name}' is not in the header")

    def add(self, function):
        if not NAME.fullmatch(function.name) or function.name.startswith(("MPI_", "PMPI_")):
            self.fail(f"'{function.name}' is not the name of a function, without MPI_")
        if not self.catalogue.tiers or not self.catalogue.tiers[-1].families:
            self.fail(f"'{function.name}' stands before the first family")
        if self.is_there is None:
            self.fail(f"'{function.name}' follows neither 'there' nor 'absent'")
        for name in [function.name] + [function.name + "_c"] * function.has_large_form():
            if name in self.known_names:
                self.fail(f"'{name}' comes twice")
            self.known_names.add(name)
        self.catalogue.tiers[-1].families[-1].functions.append(function)


def read_list(text, header_text, name="functions.txt"):
    """Throws Mistake if the list is malformed, or names a type that the header does not have."""
    return Reader(text, name, set(re.findall(r"\bMPI_[A-Z][a-z]\w*", header_text))).catalogue
