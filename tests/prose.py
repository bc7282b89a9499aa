"""Sentences in Markdown and in HTML, for the tests of what people read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

MOST_WORDS = 30
_FENCE = re.compile(r"^(```|:::).*?^\1$", re.MULTILINE | re.DOTALL)
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_END = re.compile(r"(?<=[.!?:;])[*)\"”]*\s+(?=[A-Z`*(\"])")
_ITEM = re.compile(r"\s*(?:[-*]|\d+\.) |#|>")
_BLOCKS = {
    "p",
    "li",
    "dd",
    "dt",
    "td",
    "th",
    "h1",
    "h2",
    "h3",
    "figcaption",
    "button",
    "label",
    "title",
    "option",
    "div",
}


def long_sentences(parts: Iterator[str]) -> list[str]:
    """Return the sentences of more than 30 words; a link is its text, a word has a letter or digit."""
    sentences = (sentence for part in parts for sentence in _END.split(part))
    return [text for text in sentences if sum(any(map(str.isalnum, word)) for word in text.split()) > MOST_WORDS]


def paragraphs(markdown: str) -> Iterator[str]:
    """Yield the paragraphs, list items and cells of a page, without its code blocks."""
    text = _LINK.sub(r"\1", _IMAGE.sub("", _FENCE.sub("", markdown)))
    for block in re.split(r"\n\s*\n", text):
        lines: list[str] = []
        for line in block.splitlines():
            if line.startswith("|"):
                yield from line.strip("|").split("|")
            elif _ITEM.match(line):
                yield " ".join(lines)
                lines = [line]
            else:
                lines.append(line.strip())
        yield " ".join(lines)


def texts(html: str) -> list[str]:
    """Return the texts of the elements of a page, each element's by itself."""
    reader = _Texts()
    reader.feed(html)
    return [" ".join(text.split()) for text in reader.found]


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found = [""]
        self._raw = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._raw = tag in {"script", "style", "pre"}
        if tag in _BLOCKS:
            self.found.append("")

    def handle_endtag(self, tag: str) -> None:
        self._raw = False
        if tag in _BLOCKS:
            self.found.append("")

    def handle_data(self, data: str) -> None:
        if not self._raw:
            self.found[-1] += data
