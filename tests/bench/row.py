"""One measured number beside its bar, and how the table is printed."""

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """What was measured, in `unit`, and the most that it may be; `bar` None: the figure is told, nothing is asked of it."""

    what: str
    measured: float
    bar: float | None = None
    unit: str = "×"
    note: str = ""

    @property
    def met(self) -> bool:
        """Whether the bar is held."""
        return self.bar is None or self.measured <= self.bar

    def line(self) -> str:
        """Give one line of the table."""
        bar = f"≤ {self.bar:g} {self.unit}".strip() if self.bar is not None else ""
        mark = "" if self.bar is None else "met" if self.met else "MISSED"
        figure = f"{self.measured:.2f}" if self.measured < 10 else f"{self.measured:,.0f}"
        return f"{self.what:<74} {figure + ' ' + self.unit:>12}  {bar:<9} {mark:<6} {self.note}".rstrip()


def head() -> str:
    """Give the table's first line."""
    return f"{'What':<74} {'measured':>12}  {'bar':<9}"


def middle(values: Iterable[float]) -> float:
    """Give the median."""
    return statistics.median(values)


def cpu(work: Callable[[], object], times: int = 5) -> float:
    """Give the CPU seconds that this process spends on some work: the least of several runs."""
    spent = []
    for _ in range(times):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return min(spent)
