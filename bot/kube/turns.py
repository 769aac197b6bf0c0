"""Keeps the event loop free while many questions are worked out at once.

Reads that many questions share end for all of them in the same turn of the loop, and everything that follows would run
in one stretch, acknowledgements waiting behind it.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

MANY = 10_000
"""What looks at more objects than these may take longer than others can wait.

Less than that is done sooner in the loop: a thread and the loop that take the interpreter from each other every few
milliseconds use twice the CPU, when a hundred people ask about a wide cluster.
"""


class Turns:
    """Lets one piece of work in at a time, each in a turn of its own."""

    def __init__(self) -> None:
        """Begin with nobody waiting."""
        self._lock = asyncio.Lock()

    async def take(self, work: Callable[[], T], objects: int = 0) -> T:
        """Do the work and give its result; beside the event loop when it looks at many `objects`.

        Raises what the work raises. Whatever the work changes must be changed by nothing else. A thread cannot be stopped:
        who is cancelled meanwhile waits for its end, so that nobody meets half of what it does.
        """
        async with self._lock:
            await asyncio.sleep(0)
            if objects > MANY:
                working = asyncio.ensure_future(asyncio.to_thread(work))
                try:
                    return await asyncio.shield(working)
                except asyncio.CancelledError:
                    await asyncio.wait([working])
                    raise
            return work()
