"""`python -m bot` is the command `whypending`."""

from bot.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
