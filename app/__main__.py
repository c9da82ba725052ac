"""`python -m app` is `anchorline`."""

import sys

from app.cli import main

sys.exit(main())
