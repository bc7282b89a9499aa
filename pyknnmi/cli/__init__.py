"""The command line."""

from __future__ import annotations

import click

from pyknnmi.cli.common import CommandGroup

__all__ = ["main"]

# Each section's commands: name, module of `pyknnmi.cli`, and what `--help` says, which must not import the module.
_SECTIONS = {
    "Learn": (
        ("learn", "learn", "Learn the Markov network of DATA."),
        ("test", "learn", "Test whether two columns are independent."),
        ("calibrate", "calibrate", "See how often a test errs on data made like DATA."),
        ("demo", "learn", "Learn a known network, and compare."),
        ("simulate", "simulate", "Write data whose true graph is known."),
    ),
    "Look": (
        ("audit", "audit", "Show what a table looks like, and which spec suits it."),
        ("plot", "look", "Draw a result."),
        ("report", "look", "Write a result as one HTML file."),
        ("store", "store", "Look into files that keep answers."),
    ),
    "Components": (
        ("components", "components", "List the components that a spec may name."),
        ("describe", "components", "Show what a component does, and its parameters."),
        ("explain", "components", "Show what a spec will run, stage by stage."),
        ("plugins", "plugins", "List the plugins; check one, or start one."),
    ),
    "Shell": (("completion", "completion", "Print what makes a shell complete commands."),),
}


@click.group(cls=CommandGroup, sections=_SECTIONS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pyknnmi")
def main() -> None:
    """Learn which variables depend on which, without assuming a distribution."""
