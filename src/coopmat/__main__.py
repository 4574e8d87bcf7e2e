"""``python -m coopmat`` is the command ``coopmat``."""

from coopmat.cli import main

main()
