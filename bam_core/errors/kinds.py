# SPDX-License-Identifier: Apache-2.0
"""The errors that a user can cause, by kind: each knows the objects that its line is about.

Programs distinguish errors by type and attributes; the words may be improved in any version. Every kind
composes its line from the objects, so that it has the same shape everywhere::

    thing: what is wrong (what was expected); what to do
"""

from __future__ import annotations

import copy
import difflib
import os
import re
from collections.abc import Iterable
from typing import Any, TypeVar

_E = TypeVar("_E", bound="BamError")

CORRECT_IT = "correct it"
"""What to do, where nothing better is known."""

_CLOSE = 0.75
"""Least similarity (`difflib`) of a misspelt name and a valid one. One wrong letter of five has 0.8. Names of
different servos are below it: 'xm430' and 'xl330' have 0.6, 'sts3095' and 'sts3215' 0.71."""

# Characters. Lines of our own words, lists of valid names included, and paths are shorter, as a rule.
_LONGEST_VALUE = 240
_LONGEST_LINE = 1000
_LONGEST_TEXT = 100_000  # longer ones are shortened before they are searched
_LONG = f"{{{_LONGEST_VALUE - 1},}}"
_LONG_VALUE = re.compile(rf"(?<!\w)'[^']{_LONG}'(?!\w)|(?<!\w)\"[^\"]{_LONG}\"(?!\w)|\S{_LONG}")
"""What may be a value from a file: text in quotes, or a word."""


class BamError(Exception):
    """A mistake in what the user gave, or something that the program needs and does not find.

    The command line prints its line on standard error and exits with status 2; nodes log it. It never needs a
    traceback. Errors may be pickled: jobs in other processes raise them as well.

    It is one line whatever names and values from files are in it: characters that do not print, such as line
    breaks and the escape sequences of terminals, are written as in Python, and the middle of long values is
    left out. Its attributes keep what was given.

    Attributes:
        place: where the error is, outermost first: such as the path of a file and an entry in it.
        advice: what to do, in words; empty where the line has none of its own.
    """

    place: tuple[str, ...] = ()
    advice: str = ""

    def __init__(self, line: str = "") -> None:
        super().__init__(printable_line(line))

    def within(self: _E, place: object) -> _E:
        """Return this error, its line preceded by where it was found, such as the path of a file."""
        moved = copy.copy(self)
        moved.place = (str(place), *self.place)
        moved.args = (printable_line(f"{place}: {self}"),)
        return moved

    def of_file(self: _E, path: object, name: str) -> _E:
        """Return this error within a file; the name is in it once.

        Args:
            path: of the file.
            name: of its content, at which the line may begin, as in "reach, position": left out there.
        """
        moved = self.within(path)
        if (line := str(self)).startswith(f"{name}, "):
            moved.args = (printable_line(f"{path}, {line[len(name) + 2 :]}"),)
        return moved

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args, self.__dict__)


def _restore(kind: type[_E], args: tuple[Any, ...], attributes: dict[str, Any]) -> _E:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class UnknownName(BamError):
    """A name that does not exist. The line lists those that do, and the closest of them.

    Attributes:
        kind: what is named, such as "friction model".
        name: what was given.
        valid: the names that exist, sorted.
        closest: of them, where the name may be a slip of it; None where none is close.
    """

    def __init__(
        self,
        kind: str,
        name: object,
        valid: Iterable[str],
        *,
        advice: str = "",
        otherwise: str = "choose one of these",
    ) -> None:
        """Compose the line.

        Args:
            kind: what is named.
            name: what was given.
            valid: the names that exist.
            advice: what to do besides; may be empty.
            otherwise: what to do where no name is close.
        """
        self.kind, self.name, self.valid = kind, str(name), tuple(sorted(valid))
        self.closest = close_name(self.name, self.valid)
        cure = otherwise if self.closest is None else f"did you mean {self.closest!r}?"
        self.advice = f"{cure}; {advice}" if advice else cure
        super().__init__(f"{kind} {self.name!r}: unknown (valid: {', '.join(self.valid)}); {self.advice}")


class WrongValue(BamError):
    """A value that is not what the place can take; its subclasses name the fault.

    Attributes:
        thing: what has the value, such as "motor resistance".
        value: what was given.
        expected: what the place takes, in words.
    """

    def __init__(
        self, thing: str, value: object, expected: str, *, printed: str = "", advice: str = CORRECT_IT
    ) -> None:
        """Compose the line.

        Args:
            thing: what has the value.
            value: what was given.
            expected: what the place takes, in words.
            printed: the value as the line prints it, such as "7 V"; default: text in quotes, else as it is.
            advice: what to do.
        """
        self.thing, self.value, self.expected, self.advice = thing, value, expected, advice
        shown = printed or (repr(value) if isinstance(value, str) else str(value))
        shown = _shortened(shown, _LONGEST_VALUE)
        super().__init__(f"{thing}: is {shown} (expected {expected}); {advice}")


class OutOfRange(WrongValue):
    """A number outside its limits, or not finite."""


class WrongType(WrongValue):
    """A value of another type: text where a number belongs, a list where a section does."""


class WrongShape(WrongValue):
    """An array of another shape, or rows and lists whose counts do not go together."""


class Missing(BamError):
    """Something that is required is not there: a field, a parameter, an argument.

    Attributes:
        thing: what is missing, such as "motor.resistance".
        expected: what belongs there, in words.
    """

    def __init__(self, thing: str, expected: str, *, advice: str = "add it") -> None:
        """Compose the line.

        Args:
            thing: what is missing.
            expected: what belongs there, in words.
            advice: what to do.
        """
        self.thing, self.expected, self.advice = thing, expected, advice
        super().__init__(f"{thing}: is missing (expected {expected}); {advice}")


class Conflict(BamError):
    """Things that are right by themselves and do not go together.

    Attributes:
        thing: one of them.
        problem: what it does not go with, in words.
    """

    def __init__(
        self, thing: str, problem: str, *, expected: str = "", advice: str = "leave one out"
    ) -> None:
        """Compose the line.

        Args:
            thing: one of them.
            problem: what it does not go with, in words.
            expected: what would go, in words; may be empty.
            advice: what to do.
        """
        self.thing, self.problem, self.advice = thing, problem, advice
        super().__init__(f"{thing}: {problem}{f' (expected {expected})' if expected else ''}; {advice}")


class Unsupported(Conflict):
    """Something that is right by itself and that this part of the program cannot do.

    Attributes:
        thing: what it is about.
        problem: why not, in words.
    """


class BadData(Conflict):
    """Recordings, logs or measurements that cannot be used as they are, or that are too few.

    Attributes:
        thing: which data.
        problem: what is wrong with them, in words.
    """


class FileError(BamError):
    """Something is wrong with a file or directory; its subclasses name it.

    Attributes:
        path: of the file or directory.
        problem: in words.
    """

    def __init__(
        self, path: str | os.PathLike[str], problem: str, *, expected: str = "", advice: str
    ) -> None:
        """Compose the line.

        Args:
            path: of the file or directory.
            problem: in words.
            expected: what was expected of it, in words; may be empty.
            advice: what to do.
        """
        self.path, self.problem, self.advice = os.fspath(path), problem, advice
        super().__init__(f"{self.path}: {problem}{f' (expected {expected})' if expected else ''}; {advice}")


class Unreadable(FileError):
    """A file that is not there or may not be read."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        reason: OSError | str,
        *,
        expected: str = "",
        advice: str = "check path and permissions",
    ) -> None:
        """Compose the line.

        Args:
            path: of the file.
            reason: the message of the system, or what is wrong, in words.
            expected: in words; may be empty.
            advice: what to do.
        """
        problem = f"cannot be read ({_system_message(reason)})" if isinstance(reason, OSError) else reason
        super().__init__(path, problem, expected=expected, advice=advice)


class Malformed(FileError):
    """A file whose content is not of the format that was expected."""

    def __init__(
        self, path: str | os.PathLike[str], problem: str, *, expected: str = "", advice: str = CORRECT_IT
    ) -> None:
        """Compose the line.

        Args:
            path: of the file.
            problem: what its content is not, and where, in words.
            expected: the format, in words; may be empty.
            advice: what to do.
        """
        super().__init__(path, problem, expected=expected, advice=advice)


class NotWritable(FileError):
    """An output that cannot be written, or that would replace something else."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        reason: OSError | str,
        *,
        expected: str = "",
        advice: str = "choose another place",
    ) -> None:
        """Compose the line.

        Args:
            path: of the output.
            reason: the message of the system, or what is in the way, in words.
            expected: in words; may be empty.
            advice: what to do.
        """
        problem = f"cannot be written ({_system_message(reason)})" if isinstance(reason, OSError) else reason
        super().__init__(path, problem, expected=expected, advice=advice)


class MissingSoftware(BamError):
    """A package, program or library that is not installed, or that the system does not let us use.

    Attributes:
        purpose: what needs it.
        software: its name.
    """

    def __init__(self, purpose: str, software: str, *, problem: str, advice: str) -> None:
        """Compose the line.

        Args:
            purpose: what needs it.
            software: its name.
            problem: in words.
            advice: how to get it.
        """
        self.purpose, self.software, self.advice = purpose, software, advice
        super().__init__(f"{purpose}: {problem}; {advice}")


class Unavailable(BamError):
    """A device, interface, node or server that is not there or does not answer.

    Attributes:
        thing: such as "interface eth0".
        problem: in words.
    """

    def __init__(self, thing: str, problem: str, *, expected: str = "", advice: str) -> None:
        """Compose the line.

        Args:
            thing: such as "interface eth0".
            problem: in words.
            expected: in words; may be empty.
            advice: what to do.
        """
        self.thing, self.problem, self.advice = thing, problem, advice
        super().__init__(f"{thing}: {problem}{f' (expected {expected})' if expected else ''}; {advice}")


class Terminated(KeyboardInterrupt):
    """SIGTERM, where a command ends on it as on Ctrl-C; the exit status differs."""


def close_name(name: str, valid: Iterable[str]) -> str | None:
    """Return the valid name that a name may be a slip of, whatever its case; None where none is close."""
    folded = {candidate.casefold(): candidate for candidate in valid}
    close = difflib.get_close_matches(name.casefold(), list(folded), n=1, cutoff=_CLOSE)
    return folded[close[0]] if close else None


def printable_line(text: str) -> str:
    """Return a text as one line that prints.

    Characters that do not print, such as line breaks and the escape sequences of terminals, are written as
    in Python; of long words, texts in quotes, and lines, the middle is left out.
    """
    text = _shortened(text, _LONGEST_TEXT)
    if not text.isprintable():
        text = "".join(
            character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
            for character in text
        )
    text = _LONG_VALUE.sub(lambda match: _shortened(match[0], _LONGEST_VALUE), text)
    return _shortened(text, _LONGEST_LINE)


def _shortened(text: str, longest: int) -> str:
    """Return a text with its middle left out where it is longer than so many characters."""
    if len(text) <= longest:
        return text
    half = (longest - len("...")) // 2
    return f"{text[:half]}...{text[-half:]}"


def _system_message(reason: OSError) -> str:
    return reason.strerror or str(reason)
