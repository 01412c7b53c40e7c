# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Sizes in bytes: read from the command line, printed for people."""

import re

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
_UNITS = {"": 1, "b": 1, "k": KIB, "m": MIB, "g": GIB, "t": 1 << 40}


def parse_size(text):
    """Bytes of "4294967296", "4GiB", "512M" or "1.5G"; units are powers of 1024."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([bkmgt]?)(?:i?b)?", text.strip(), re.IGNORECASE)
    if not match:
        raise ValueError(f"'{text}' is no size (examples: 4GiB, 512M, 1048576)")
    return int(float(match[1]) * _UNITS[match[2].lower()] if "." in match[1]
               else int(match[1]) * _UNITS[match[2].lower()])


def format_size(size_bytes):
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if size_bytes >= unit:
            return f"{size_bytes / unit:.4g} {name}"
    return f"{size_bytes} bytes"
