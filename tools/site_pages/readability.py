# SPDX-License-Identifier: Apache-2.0
"""`python -m site_pages.readability TABLE [SOURCES]`: how readable the prose of all pages is, measured.

TABLE is written; SOURCES is the folder that the site is built from. Status 1 if a page misses a limit.

Sentences of paragraphs and of list items count, as markdown-it parses them; an item of a list is a
paragraph. Headings, tables, code blocks, directives, pictures and targets of links do not count. Inline
code, or a list of it, is one word of one syllable. Bold words at the beginning of a paragraph belong to its
first sentence.

Reading ease is that of Flesch (1948), 206.835 - 1.015 words/sentence - 84.6 syllables/word. Syllables are
groups of vowels, less a silent e at the end: an estimate, sufficient to compare pages.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]

MOST_WORDS = 20
"""Words of a sentence, mean over a page. Guides to plain language recommend 15 to 20; pages aim at 15."""

MOST_WORDS_OF_ONE = 40
"""Words of the longest sentence of a page. A longer one makes several statements."""

MOST_SENTENCES = 4
"""Sentences of a paragraph, which has one subject."""

LEAST_EASE = 50.0
"""Reading ease of a page. Plain English has 60 to 70; the field's long terms lower it by about 10."""

LEAST_PROSE = 30
"""Words of a page from which a mean length and a reading ease are asked of it."""

_CODE = "Code"  # stands for inline code: one word, one syllable; a sentence may begin with it
_NAMES = re.compile(r"Code(?:, Code)+")  # a list of names
_NO_PROSE = re.compile(r"^:{3,}.*$|^:[a-z-]+:.*$|^\$\$[\s\S]*?\$\$", re.MULTILINE)
_END = re.compile(r"(?<=[.!?])[)\"']*\s+(?=[\"'(]?[A-Z0-9])")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|al|(?<!\d )(?<!°)[A-Z])\.$")
_WORD = re.compile(r"[A-Za-z0-9À-ÿ\u0370-\u03ff][\w'.,%°/-]*")
_VOWELS = re.compile(r"[aeiouy]+")


@dataclass(frozen=True)
class Readability:
    """The prose of a page, and its counts.

    Attributes:
        page: path from the root of the repository.
        paragraphs: the sentences of each paragraph.
    """

    page: str
    paragraphs: tuple[tuple[str, ...], ...]

    @property
    def lengths(self) -> list[list[int]]:
        """Words of each sentence, by paragraph."""
        return [[len(words_of(sentence)) for sentence in paragraph] for paragraph in self.paragraphs]

    @property
    def words(self) -> int:
        """Words of the page."""
        return sum(map(sum, self.lengths))

    @property
    def mean(self) -> float:
        """Words of a sentence, mean."""
        return self.words / max(1, sum(map(len, self.paragraphs)))

    @property
    def most_words(self) -> int:
        """Words of the longest sentence."""
        return max(map(max, self.lengths), default=0)

    @property
    def most_sentences(self) -> int:
        """Sentences of the fullest paragraph."""
        return max(map(len, self.paragraphs), default=0)

    @property
    def ease(self) -> float:
        """Flesch's reading ease; NaN without words."""
        if not self.words:
            return math.nan
        words = (
            word for paragraph in self.paragraphs for sentence in paragraph for word in words_of(sentence)
        )
        return 206.835 - 1.015 * self.mean - 84.6 * sum(map(syllables, words)) / self.words

    def misses(self) -> list[str]:
        """Return what is beyond a limit, a line for each."""
        lines = []
        for paragraph in self.paragraphs:
            if len(paragraph) > MOST_SENTENCES:
                limit = f"{len(paragraph)} sentences (at most {MOST_SENTENCES})"
                lines.append(f"a paragraph of {limit}: {paragraph[0][:60]} ...")
            for sentence in paragraph:
                if len(words_of(sentence)) > MOST_WORDS_OF_ONE:
                    limit = f"{len(words_of(sentence))} words (at most {MOST_WORDS_OF_ONE})"
                    lines.append(f"a sentence of {limit}: {sentence}")
        if self.words >= LEAST_PROSE:
            if self.mean > MOST_WORDS:
                lines.append(f"{self.mean:.1f} words per sentence (at most {MOST_WORDS})")
            if self.ease < LEAST_EASE:
                lines.append(f"reading ease {self.ease:.0f} (at least {LEAST_EASE:.0f})")
        return [f"{self.page}: {line}" for line in lines]


def measure(page: str, text: str) -> Readability:
    """Return the prose of a page.

    Args:
        page: its name.
        text: Markdown, with directives and mathematics of MyST.
    """
    paragraphs = (tuple(split_sentences(paragraph)) for paragraph in paragraphs_of(text))
    return Readability(page, tuple(paragraph for paragraph in paragraphs if paragraph))


def paragraphs_of(text: str) -> Iterator[str]:
    """Return the prose of each paragraph and list item; inline code is the word `Code`."""
    text = _NO_PROSE.sub("", text)
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    in_table = False
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type in ("table_open", "table_close"):
            in_table = token.type == "table_open"
        if token.type == "inline" and not in_table and before is not None and before.type == "paragraph_open":
            yield _NAMES.sub(_CODE, "".join(_prose(token.children or [])))


def _prose(tokens: list[Token]) -> Iterator[str]:
    has_label = any(
        token.type == "strong_open" for token in tokens[:2]
    )  # bold words that a paragraph begins with
    for i, token in enumerate(tokens):
        if token.type == "text":
            text = re.sub(r"\$[^$]+\$", _CODE, token.content)
            yield re.sub(r"[.]$", ":", text) if has_label and i < 3 else text
        elif token.type == "code_inline":
            yield _CODE
        elif token.type in ("softbreak", "hardbreak"):
            yield " "


def split_sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph that have words."""
    sentences: list[str] = []
    for piece in _END.split(" ".join(paragraph.split())):
        if sentences and _ABBREVIATION.search(sentences[-1]):
            sentences[-1] += f" {piece}"
        else:
            sentences.append(piece)
    return [sentence for sentence in sentences if words_of(sentence)]


def words_of(sentence: str) -> list[str]:
    """Return the words of a sentence; a number is one."""
    return _WORD.findall(sentence)


def syllables(word: str) -> int:
    """Return an estimate of a word's syllables: groups of vowels, less a silent e; 1 for code and numbers."""
    if word == _CODE:
        return 1
    letters = re.sub(r"(?<=[gq])ue(?=s?$)", "e", word.lower())  # torque
    count = len(_VOWELS.findall(letters))
    if re.search(r"[^aeiouyl]e[sd]?\b", letters) and not re.search(
        r"(?:[sxz]|ch|sh|[cg])es\b|[td]ed\b", letters
    ):
        count -= 1
    return max(1, count)


def pages(root: Path = ROOT, sources: Path | None = None) -> list[Readability]:
    """Return the counts of README, of each page of docs/, and of those that are made from the code.

    Args:
        root: the repository.
        sources: what the site is built from, with pages that docs/ does not have; None: without them.
    """
    docs = sorted((root / "docs").rglob("*.md"))
    files = {str(file.relative_to(root)): file for file in [root / "README.md", *docs]}
    if sources is not None:
        generated = {file.relative_to(sources): file for file in sorted(sources.rglob("*.md"))}
        files |= {
            f"site: {name}": generated[name] for name in generated if not (root / "docs" / name).exists()
        }
    return [measure(name, file.read_text(encoding="utf-8")) for name, file in files.items()]


def table(measured: list[Readability]) -> str:
    """Return a table of pages, for a terminal."""
    lines = [f"{'page':42} {'words':>6} {'words/sentence':>14} {'longest':>8} {'sentences':>10} {'ease':>5}"]
    lines += [
        f"{page.page:42} {page.words:6} {page.mean:14.1f} {page.most_words:8} {page.most_sentences:10}"
        f" {page.ease:5.0f}"
        for page in measured
    ]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write the table of all pages, and print what is beyond a limit."""
    file, *sources = map(Path, arguments)
    measured = pages(sources=sources[0] if sources else None)
    text = table(measured)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    misses = [line for page in measured for line in page.misses()]
    for line in misses:
        print(line, file=sys.stderr)
    return int(bool(misses))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
