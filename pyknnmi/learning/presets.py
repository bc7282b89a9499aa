"""Specs that have a name, for those who do not want to choose."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PRESETS", "Preset"]


@dataclass(frozen=True)
class Preset:
    """A spec with a name.

    Attributes
    ----------
    name : str
        It may stand wherever a spec may, alone.
    spec : str
        What it stands for.
    summary : str
        What it is for, in a sentence.
    """

    name: str
    spec: str
    summary: str


PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            "paper",
            "iamb(rule=and)+knn-cmi(k=3,permutations=200,alpha=0.05,stop=never)",
            "The method as Leppä-aho, Räisänen, Yang and Roos (2018) print it, with all permutations.",
        ),
        Preset(
            "recommended",
            "functional-anova",
            "The fewest wrong edges over all kinds of data that were measured.",
        ),
        Preset(
            "fast",
            "nonparanormal+iamb(adjust=candidates)+fisher-z",
            "A first look at wide tables: dependence that is linear after increasing functions of each column.",
        ),
    )
}
