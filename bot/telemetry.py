"""Logs, metrics and the audit line: the one place that sets them up and names them."""

import logging
import sys
from collections.abc import Mapping
from typing import Any, Literal

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

REGISTRY = CollectorRegistry()

QUESTIONS = Counter(
    "whypending_questions",
    "Questions, by how they came in and what became of them.",
    ["entry", "result"],
    registry=REGISTRY,
)
ANSWERS = Counter(
    "whypending_answers", "Answers, by where they went and the form Slack took.", ["place", "form"], registry=REGISTRY
)
HEADLINES = Counter(
    "whypending_headlines", "Answers by their headline.", ["rule", "outlook", "complete"], registry=REGISTRY
)
DIAGNOSIS_SECONDS = Histogram(
    "whypending_diagnosis_seconds", "Reading the cluster and working out the answer.",
    buckets=(0.1, 0.25, 0.5, 1, 2, 4, 8, 16), registry=REGISTRY,
)  # fmt: skip
DELIVERY_SECONDS = Histogram(
    "whypending_delivery_seconds", "From the question to the answer's place in Slack.",
    buckets=(0.25, 0.5, 1, 2, 4, 8, 16, 32, 64), registry=REGISTRY,
)  # fmt: skip
REPEATED = Counter("whypending_repeated_deliveries", "Deliveries that Slack sent again.", ["entry"], registry=REGISTRY)
SLACK_ERRORS = Counter(
    "whypending_slack_errors", "Calls that Slack refused or did not answer.", ["method", "error"], registry=REGISTRY
)
WORKING = Gauge("whypending_questions_in_progress", "Questions that are worked on or wait for it.", registry=REGISTRY)
PENDING = Gauge(
    "whypending_pending_workloads",
    "Pending workloads at the last digest, by the digest, the rule and the ClusterQueue.",
    ["digest", "rule", "queue"],
    registry=REGISTRY,
)
DIGEST_TIME = Gauge(
    "whypending_digest_timestamp_seconds", "When the last digest was made.", ["digest"], registry=REGISTRY
)
DIGEST_COMPLETE = Gauge(
    "whypending_digest_complete", "Whether everything was read at the last digest.", ["digest"], registry=REGISTRY
)
FAULTS = Counter("whypending_faults", "What broke inside: a rule, a listener.", ["where"], registry=REGISTRY)
STORE_ERRORS = Counter(
    "whypending_store_errors",
    "What the store could not do; the bot goes on without memory.",
    ["what"],
    registry=REGISTRY,
)
WATCHES = Gauge("whypending_watches", "Watches that this process looks after.", registry=REGISTRY)
WATCH_READS = Counter(
    "whypending_watch_reads", "Reads for watches: one list of Workloads, or a full answer.", ["kind"], registry=REGISTRY
)
TOLD = Counter("whypending_watch_told", "What watches told.", ["change"], registry=REGISTRY)


_TRACES = structlog.processors.ExceptionRenderer(structlog.tracebacks.ExceptionDictTransformer(show_locals=False))
"""Without the values of variables: they hold tokens, and names that not everybody may see."""


_told: dict[str, set[tuple[str, str]]] = {}
"""By digest, the rules and queues that its gauge has."""


def told_of_digest(name: str, at: float, complete: bool, counts: Mapping[str, Mapping[str, int]]) -> None:  # noqa: FBT001
    """Take over what the last digest of this name counted, by rule and queue; what it no longer counts goes away."""
    now = {(rule, queue) for rule, queues in counts.items() for queue in queues}
    for rule, queue in _told.get(name, set()) - now:
        PENDING.remove(name, rule, queue)
    _told[name] = now
    for rule, queues in counts.items():
        for queue, count in queues.items():
            PENDING.labels(digest=name, rule=rule, queue=queue).set(count)
    DIGEST_TIME.labels(digest=name).set(at)
    DIGEST_COMPLETE.labels(digest=name).set(complete)


def metrics() -> tuple[bytes, str]:
    """Give the metrics in the text format, and its content type."""
    return generate_latest(REGISTRY), CONTENT_TYPE_LATEST


def set_up(level: str = "info", form: Literal["auto", "json", "console"] = "auto") -> None:
    """Set up logging for the process; what libraries log goes the same way.

    Args:
        level: the least severe level that is logged.
        form: "json" one object a line, "console" for people, "auto" by whether standard error is a terminal.
    """
    if form == "auto":
        form = "console" if sys.stderr.isatty() else "json"
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        structlog.processors.StackInfoRenderer(),
    ]
    last: list[Any] = (
        [_TRACES, structlog.processors.JSONRenderer()]
        if form == "json"
        else [
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)
        ]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last]
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    # These two look at their own logger's level to decide whether to write out every body.
    for name in ("whypending.bolt", "slack_sdk", "slack_bolt", "aiohttp.access"):
        logging.getLogger(name).setLevel(max(logging.INFO, root.level))
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def log(name: str) -> structlog.stdlib.BoundLogger:
    """Give a logger."""
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(f"whypending.{name}")
    return logger


def audit(event: str, **fields: object) -> None:
    """Write one audit line: who asked what, where, and what kind of answer it was; never names from the answer."""
    log("audit").info(event, **fields)
