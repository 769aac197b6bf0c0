"""`python -m tests.bench` measures everything but what is on request; with names only those: `load`, `question`, …

Every module `bench_NAME` has `rows()`, which measures and gives its rows, and ON_REQUEST when it runs for minutes.
Ends with 1 when a bar is missed.
"""

import importlib
import logging
import pkgutil
import sys
import time

import structlog

from tests import bench
from tests.bench.row import head


def names() -> list[str]:
    """Give the names of all benches."""
    found = [module.name for module in pkgutil.iter_modules(bench.__path__)]
    return sorted(name.removeprefix("bench_") for name in found if name.startswith("bench_"))


def main(asked: list[str]) -> int:
    """Run the benches that were asked for and print their rows as they come."""
    unknown = set(asked) - set(names())
    if unknown:
        print(f"no bench {', '.join(sorted(unknown))}; there are: {', '.join(names())}", file=sys.stderr)
        return 2
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    print(head())
    missed = 0
    for name in asked or names():
        module = importlib.import_module(f"tests.bench.bench_{name}")
        if not asked and getattr(module, "ON_REQUEST", False):
            continue
        began = time.monotonic()
        for row in module.rows():
            missed += not row.met
            print(row.line(), flush=True)
        print(f"{'':<74} ({name}: {time.monotonic() - began:.0f} s)", file=sys.stderr, flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
