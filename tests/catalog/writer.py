"""An agent's database in WAL mode, held open by another process that commits what it is told.

    python writer.py DATABASE      then a line of JSON per transaction: [[sql, args], …]

Each line is answered with `done` on stdout, once it is committed.
"""

from __future__ import annotations

import json
import sqlite3
import sys


def main() -> None:
    db = sqlite3.connect(sys.argv[1], isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    print("ready", flush=True)
    for line in sys.stdin:
        statements = json.loads(line)
        if statements == "checkpoint":
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        else:
            db.execute("BEGIN")
            for sql, values in statements:
                db.execute(sql, values)
            db.execute("COMMIT")
        print("done", flush=True)


main()
