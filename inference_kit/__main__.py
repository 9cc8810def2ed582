"""`python -m inference_kit` is the console command."""

import sys

from .cli import main

sys.exit(main())
