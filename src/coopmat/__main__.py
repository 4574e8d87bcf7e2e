"""``python -m coopmat`` is the command ``coopmat``."""

from coopmat.command_line.main import main

main()
