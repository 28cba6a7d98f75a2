"""`make golden`: shows what changed in the steps, and accepts it if it is told to."""

import os
import sys

from lakehouse_assets_tests.golden import accept, accepted_pages, difference, present_pages


def main() -> int:
    present = present_pages()
    changes = difference(accepted_pages(), present)
    if not changes:
        print("every step is as it was accepted")
        return 0
    print(changes)
    if os.environ.get("ACCEPT") != "1":
        if not sys.stdin.isatty():
            print("not accepted: look at the difference, then run `make golden ACCEPT=1`", file=sys.stderr)
            return 1
        if input("Accept? [y/N] ").strip().lower() != "y":
            print("not accepted", file=sys.stderr)
            return 1
    accept(present)
    print("accepted")
    return 0


if __name__ == "__main__":
    sys.exit(main())
