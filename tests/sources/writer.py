"""A harness9 at work: another process that holds a database in WAL mode and commits to it.

    python writer.py DATABASE      then one line on stdin per wish: add, checkpoint, crash, close

Each wish is answered with `done` on stdout.
"""

from __future__ import annotations

import os
import sqlite3
import sys


def main() -> None:
    db = sqlite3.connect(sys.argv[1], isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA wal_autocheckpoint = 0")
    print("ready", flush=True)
    for wish in map(str.strip, sys.stdin):
        if wish == "add":
            db.execute(
                "INSERT INTO messages (session_id, role, content, created_at) "
                "SELECT id, 'user', 'added', 1 FROM sessions LIMIT 1"
            )
        elif wish == "checkpoint":
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        elif wish == "crash":
            os._exit(1)
        elif wish == "close":
            db.close()
        elif wish == "race":
            print("done", flush=True)
            for number in range(400):
                db.execute("BEGIN")
                # Two rows that only ever exist together: a torn read would see one of them.
                for _ in range(2):
                    db.execute(
                        "INSERT INTO messages (session_id, role, content, created_at) "
                        "SELECT id, 'user', ?, 1 FROM sessions LIMIT 1",
                        (f"pair {number} " + "x" * 3000,),
                    )
                db.execute("COMMIT")
                if number % 7 == 0:
                    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        print("done", flush=True)


main()
