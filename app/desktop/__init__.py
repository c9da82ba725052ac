"""The program around the pages: a server on this machine, and a window that shows it."""
