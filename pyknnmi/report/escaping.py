"""Text as HTML has it."""

from __future__ import annotations

import html

from pyknnmi.errors import printable

__all__ = ["escape"]


def escape(text: str) -> str:
    """Return text for HTML: what has a meaning there, and what `printable` makes visible, stands as escapes."""
    return html.escape(printable(text))
