# SPDX-License-Identifier: Apache-2.0
"""Reads NumPy archives, untrusted ones included: arrays alone, and of limited size."""

from __future__ import annotations

import io
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

LARGEST = 256_000_000
"""Bytes of all arrays of an archive: a few kilobytes of a compressed one can stand for billions of zeros."""


def read_arrays(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of an archive by their names.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no archive, is damaged or too large, or holds pickled objects, which are not loaded.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [member for member in archive.infolist() if member.filename.endswith(".npy")]
            size = sum(entry.file_size for entry in entries)
            if size > LARGEST:
                raise ValueError(f"its arrays have {size} bytes (expected at most {LARGEST})")
            return {entry.filename.removesuffix(".npy"): _array(archive.read(entry)) for entry in entries}
    except (OSError, ValueError):
        raise
    except MemoryError:
        raise ValueError("an array is larger than the memory") from None
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        struct.error,
        tokenize.TokenError,
        NotImplementedError,  # a compression that zipfile does not know
        RuntimeError,  # an encrypted entry, or one nested too deeply
        ArithmeticError,
        LookupError,
        SyntaxError,
        TypeError,
    ) as error:
        raise ValueError(" ".join(str(error).split()) or type(error).__name__) from None


def _array(data: bytes) -> np.ndarray[Any, Any]:
    return np.asarray(np.lib.format.read_array(io.BytesIO(data), allow_pickle=False))
