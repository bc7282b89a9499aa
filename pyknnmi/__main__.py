"""``python -m pyknnmi`` is the command line."""

from pyknnmi.cli import main

main()
