"""`python -m grader`: see `grader.cli`."""

from __future__ import annotations

import sys

from . import quick_start

if sys.argv[1:2] == ["autograde"]:
    quick_start.start_judges()  # they import while this process does

from .cli import main

sys.exit(main())
