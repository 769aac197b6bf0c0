"""What must survive a restart: deliveries, threads, answers under way, watches, digests. SQLite by default, PostgreSQL by URL.

Nothing secret is kept: no tokens, no message texts, no cluster objects; names of jobs, queues and Slack ids alone.
How long each row is kept stands in `RETENTION`.
"""

from bot.store.store import RETENTION, Answer, DigestRun, Store, StoreError, Watch, new_id

__all__ = ["RETENTION", "Answer", "DigestRun", "Store", "StoreError", "Watch", "new_id"]
