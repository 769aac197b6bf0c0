"""The command line: `whypending explain | serve | demo | rules | schema | snapshot | doctor`.

Each command imports what it needs itself: `explain -f` starts without the Kubernetes client, Slack and aiohttp.
"""

import argparse
import gc
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from bot import __version__
from bot.console import NoAnswerError, WrongUseError, contents, look

if TYPE_CHECKING:
    from bot.core.diagnosis import Diagnosis
    from bot.core.facts import Thresholds
    from bot.core.reference import JobRef
    from bot.settings import Settings

NOTHING_HOLDS_IT, PENDING, WRONG_USE, NO_ANSWER, NO_SUCH_JOB = 0, 1, 2, 3, 4

_FILE_ENDINGS = (".json", ".yaml", ".yml")
_REFERENCE = "the job: NAMESPACE/NAME, NAMESPACE/KIND/NAME, or KIND/NAME with -n"
_EXAMPLES = """
examples:
  whypending explain team-a/train
  kubectl get workloads,localqueues,clusterqueues -A -o yaml | whypending explain team-a/train -f -
  whypending explain team-a/train -f cluster.json -o json
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; give its exit status. Errors are a sentence on standard error, never a traceback."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        status = run(arguments)
        sys.stdout.flush()
    except WrongUseError as error:
        return _complain(str(error), WRONG_USE)
    except NoAnswerError as error:
        return _complain(str(error), NO_ANSWER)
    except BrokenPipeError:
        # whoever read our output went away (`| head`): not an error, and nothing more can be written
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOTHING_HOLDS_IT
    except KeyboardInterrupt:
        return 130
    return status


def _complain(text: str, status: int) -> int:
    print(f"whypending: {text}", file=sys.stderr)
    return status


def commands() -> dict[str, str]:
    """Give every command with what it does in a few words."""
    found: dict[str, str] = {}

    def note(name: str, **given: Any) -> argparse.ArgumentParser:  # noqa: ANN401 - whatever argparse takes
        found[name] = str(given["help"])
        return _Parser(prog=name)

    for add in _COMMANDS:
        add(note)
    return found


EXIT_STATUS = {
    NOTHING_HOLDS_IT: "nothing holds it back: it runs or has finished",
    PENDING: "it is pending, and this is why",
    WRONG_USE: "wrong use: the job or an option cannot be read",
    NO_ANSWER: "no answer: the cluster cannot be reached or read, or nothing explains it",
    NO_SUCH_JOB: "there is no such job",
}
"""What the exit status of `explain` says."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and where to read more."""

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_USE, f"whypending: {message}; see `{self.prog} --help`\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="whypending",
        description="Tells why a Kueue job is pending: the one cause, the numbers that prove it, whose move it is.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=_epilog(),
    )
    parser.add_argument("--version", action="version", version=f"whypending {__version__}")
    subcommands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    for add in _COMMANDS:
        add(subcommands.add_parser)
    return parser


def _epilog() -> str:
    lines = ["exit status of explain:", *(f"  {status}  {text}" for status, text in EXIT_STATUS.items())]
    return "\n".join(lines) + "\n" + _EXAMPLES


_Add = Callable[..., argparse.ArgumentParser]
"""Adds a command of this name and gives its parser."""


def _add_explain(add: _Add) -> None:
    explain = add(
        "explain",
        help="why one job is pending",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=_epilog(),
    )
    explain.add_argument("reference", nargs="*", metavar="JOB", help=_REFERENCE)
    explain.add_argument(
        "-f", "--file", action="extend", nargs="+", default=[], metavar="FILE",
        help="read this instead of a cluster: what `kubectl get … -o yaml|json` or `whypending snapshot` wrote; - is stdin",
    )  # fmt: skip
    explain.add_argument("-o", "--output", choices=("text", "json"), default="text", help="text for people, or JSON v1")
    explain.add_argument(
        "--config", type=Path, default=None, metavar="FILE",
        help="the configuration file of `serve` (else WHYPENDING_CONFIG): its texts are added to the answer, its ages count",
    )  # fmt: skip
    _add_cluster_options(explain)
    explain.set_defaults(run=_explain)


def _add_cluster_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-n", "--namespace", default="", metavar="NAMESPACE", help="the namespace of a job named without one"
    )
    parser.add_argument(
        "--context", default="", metavar="CONTEXT", help="the kubeconfig context (default: the current one)"
    )
    parser.add_argument(
        "--deadline", type=_seconds, default=8.0, metavar="SECONDS", help="how long reading may take (default: 8)"
    )


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 600:
        msg = f"{text!r} is no number of seconds between 0 and 600; a right one looks like 8"
        raise argparse.ArgumentTypeError(msg)
    return value


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) < 65536):
        msg = f"{text!r} is no port; a right one looks like 8080 (0 takes any that is free)"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def _add_snapshot(add: _Add) -> None:
    snapshot = add(
        "snapshot",
        help="write what one question reads to a file, for a bug report",
        description="Writes what one question reads. Container images, environment, annotations and managed fields are left out.",
    )
    snapshot.add_argument("reference", nargs="+", metavar="JOB", help=_REFERENCE)
    snapshot.add_argument(
        "-o", "--output", default="-", metavar="FILE", help="where to write it (default: standard output)"
    )
    snapshot.add_argument("--replace-names", action="store_true", help="replace the names of objects by made-up ones")
    _add_cluster_options(snapshot)
    snapshot.set_defaults(run=_snapshot)


def _add_doctor(add: _Add) -> None:
    doctor = add("doctor", help="say in words what is missing: tokens, scopes, permissions, Kueue")
    doctor.add_argument(
        "--context", default="", metavar="CONTEXT", help="the kubeconfig context (default: the current one)"
    )
    doctor.add_argument("--config", type=Path, default=None, metavar="FILE", help="the configuration file of `serve`")
    doctor.set_defaults(run=_doctor)


def _add_rules(add: _Add) -> None:
    rules = add("rules", help="all causes that can be told, or one in full")
    rules.add_argument("slug", nargs="?", default="", metavar="RULE", help="a rule, for example quota-in-use")
    rules.set_defaults(run=_rules)


def _add_schema(add: _Add) -> None:
    schema = add("schema", help="the JSON Schema of `explain -o json`")
    schema.set_defaults(run=_schema)


def _add_serve(add: _Add) -> None:
    serve = add("serve", help="run the Slack bot")
    serve.add_argument(
        "--config", type=Path, default=None, metavar="FILE", help="the configuration file (else WHYPENDING_CONFIG)"
    )
    serve.set_defaults(run=_serve)


def _add_demo(add: _Add) -> None:
    demo = add("demo", help="try the bot in a page that looks like Slack: no workspace, no cluster, no tokens")
    demo.add_argument(
        "--port", type=_port, default=8765, metavar="PORT", help="the page's port on this machine (default: 8765)"
    )
    demo.set_defaults(run=_demo)


def _add_digest(add: _Add) -> None:
    digest = add(
        "digest",
        help="everything that is pending in a cluster, by cause and queue",
        description="Without a name: looks at the kubeconfig's cluster and prints. With a configured digest's name: posts it.",
        epilog="exit status: 0 nothing is stuck, 1 something is stuck, 3 not everything could be read",
    )
    digest.add_argument("name", nargs="?", default="", metavar="NAME", help="a digest of the configuration")
    digest.add_argument("--config", type=Path, default=None, metavar="FILE", help="the configuration file of `serve`")
    digest.add_argument("--dry-run", action="store_true", help="print a configured digest instead of posting it")
    digest.add_argument(
        "--run",
        dest="run_id",
        default="",
        metavar="ID",
        help="what tells this run from others: the same one posts once",
    )
    digest.add_argument(
        "--exit-zero", action="store_true", help="end with 0 also when something is stuck or was not read"
    )
    digest.add_argument(
        "--only-changes", action="store_true", help="say nothing when nothing changed since the last one"
    )
    digest.add_argument(
        "--namespaces", nargs="+", default=[], metavar="NAMESPACE", help="only these namespaces; * for any characters"
    )
    digest.add_argument(
        "--queues", nargs="+", default=[], metavar="QUEUE", help="only these ClusterQueues; * for any characters"
    )
    digest.add_argument(
        "--minimum-age",
        type=_age,
        default=0.0,
        metavar="AGE",
        help="leave out what is younger, like 10m (default: nothing)",
    )
    digest.add_argument("--all", action="store_true", help="name every workload and every queue in the text")
    digest.add_argument("--manifests", action="store_true", help="write a CronJob for each configured digest, as YAML")
    _add_report_options(digest, "text", "json", "markdown")
    digest.set_defaults(run=_digest)


def _add_queue(add: _Add) -> None:
    queue = add(
        "queue",
        help="who waits on a ClusterQueue and on what, who holds it, and which one change would admit most",
        epilog="exit status: as of digest; 4 there is no such ClusterQueue",
    )
    queue.add_argument("queue", metavar="CLUSTERQUEUE", help="the ClusterQueue's name")
    _add_report_options(queue, "text", "json")
    queue.set_defaults(run=_queue)


def _add_report_options(parser: argparse.ArgumentParser, *forms: str) -> None:
    parser.add_argument(
        "-f", "--file", action="extend", nargs="+", default=[], metavar="FILE",
        help="read this instead of a cluster: what `kubectl get … -o yaml|json` wrote; - is stdin",
    )  # fmt: skip
    parser.add_argument("-o", "--output", choices=forms, default="text", help="the form")
    parser.add_argument(
        "--context", default="", metavar="CONTEXT", help="the kubeconfig context (default: the current one)"
    )
    parser.add_argument(
        "--picture", type=Path, default=None, metavar="FILE", help="write a picture of the queues, too (PNG)"
    )


def _age(text: str) -> float:
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    number, unit = (text[:-1], units[text[-1]]) if text[-1:] in units else (text, 1)
    if not (number.isascii() and number.isdigit()):
        msg = f"{text!r} is no age; a right one looks like 90s, 10m, 2h or 1d"
        raise argparse.ArgumentTypeError(msg)
    return float(number) * unit


_COMMANDS: tuple[Callable[[_Add], None], ...] = (
    _add_explain,
    _add_digest,
    _add_queue,
    _add_snapshot,
    _add_doctor,
    _add_rules,
    _add_schema,
    _add_serve,
    _add_demo,
)

# --- the commands ---


def _explain(arguments: argparse.Namespace) -> int:
    gc.disable()  # one answer and out: collecting costs more than it frees
    words, files = _files_apart(arguments.reference, arguments.file)
    if not words:
        msg = "no job was named; a right one looks like team-a/train"
        raise WrongUseError(msg)
    ref = _reference(words, arguments.namespace)
    site = _settings(arguments.config)
    ages = _ages(site)
    answer = _from_files(ref, files, ages) if files else _from_cluster(ref, arguments, ages)
    if arguments.output == "json":
        from bot.render import json_v1

        print(json_v1.dump(answer))
    else:
        from bot.render import terminal

        width, colour = look(sys.stdout)
        sys.stdout.write(terminal.render(answer, width, colour=colour, site=_added(site, answer)))
    return _status(answer)


def _settings(config: Path | None) -> "Settings | None":
    """Give the site's configuration, if one is named: its texts are added to the answer, and its ages count."""
    if config is None and not os.environ.get("WHYPENDING_CONFIG"):
        return None
    from bot import settings

    try:
        return settings.load(config)
    except settings.ConfigurationError as error:
        raise WrongUseError(str(error)) from error


def _ages(site: "Settings | None") -> "Thresholds | None":
    if site is None:
        return None
    from bot.core.facts import Thresholds

    return Thresholds(young=site.young_seconds, long=site.long_seconds)


def _added(site: "Settings | None", answer: "Diagnosis") -> list[str]:
    if site is None:
        return []
    from bot.render.site import lines

    return lines(site.site_texts.of(answer.headline.rule))


def _files_apart(words: Sequence[str], files: Sequence[str]) -> tuple[list[str], list[str]]:
    """Tell the job from the files: `-f FILE… JOB` gives everything to the option. What is no file is the job then."""
    if words or not files:
        return list(words), list(files)
    job = [word for word in files if word != "-" and not Path(word).exists() and not word.endswith(_FILE_ENDINGS)]
    return job, [word for word in files if word not in job]


def _reference(words: Sequence[str], namespace: str) -> "JobRef":
    from bot.core import reference

    try:
        return reference.parse(" ".join(words), default_namespace=namespace)
    except reference.BadReferenceError as error:
        raise WrongUseError(str(error)) from error


def _from_files(ref: "JobRef", files: Sequence[str], ages: "Thresholds | None") -> "Diagnosis":
    from bot.core import bundle, engine
    from bot.core.disclosure import Audience, disclose

    try:
        snapshot = bundle.load(contents(files))
    except bundle.UnreadableFileError as error:
        msg = f"{error}; a right file is what `kubectl get workloads -A -o yaml` prints"
        raise WrongUseError(msg) from error
    return disclose(engine.diagnose(snapshot, ref, ages), Audience("all", ref.namespace))


def _from_cluster(ref: "JobRef", arguments: argparse.Namespace, ages: "Thresholds | None") -> "Diagnosis":
    from bot import service
    from bot.core.disclosure import Audience, disclose

    try:
        answer = service.explain_once(ref, context=arguments.context, deadline=arguments.deadline, thresholds=ages)
    except service.UnreachableError as error:
        raise NoAnswerError(str(error)) from error
    return disclose(answer, Audience("all", ref.namespace))


def _status(answer: "Diagnosis") -> int:
    if answer.headline.rule in {"job-not-found", "namespace-not-found"}:
        return NO_SUCH_JOB
    if answer.outlook == "unknown":
        return NO_ANSWER
    return NOTHING_HOLDS_IT if answer.outlook in {"running", "finished"} else PENDING


def _snapshot(arguments: argparse.Namespace) -> int:
    from bot import service

    ref = _reference(arguments.reference, arguments.namespace)
    try:
        content = service.snapshot_once(
            ref, context=arguments.context, deadline=arguments.deadline, replace_names=arguments.replace_names
        )
    except service.UnreachableError as error:
        raise NoAnswerError(str(error)) from error
    if arguments.output == "-":
        sys.stdout.buffer.write(content)
        return NOTHING_HOLDS_IT
    try:
        Path(arguments.output).write_bytes(content)
    except OSError as error:
        msg = f"cannot write {arguments.output}: {error.strerror or error}"
        raise WrongUseError(msg) from error
    return NOTHING_HOLDS_IT


def _digest(arguments: argparse.Namespace) -> int:
    from bot import digests

    return digests.command(arguments)


def _queue(arguments: argparse.Namespace) -> int:
    from bot import digests

    return digests.queue_command(arguments)


def _rules(arguments: argparse.Namespace) -> int:
    from bot.render import rules_text

    if not arguments.slug:
        print(rules_text.table())
        return NOTHING_HOLDS_IT
    try:
        print(rules_text.page(arguments.slug, min(100, max(40, look(sys.stdout)[0] or 80))))
    except rules_text.UnknownRuleError as error:
        raise WrongUseError(str(error)) from error
    return NOTHING_HOLDS_IT


def _schema(_: argparse.Namespace) -> int:
    import json

    from bot.render import json_v1

    print(json.dumps(json_v1.schema(), indent=2))
    return NOTHING_HOLDS_IT


def _doctor(arguments: argparse.Namespace) -> int:
    from bot import service

    if arguments.config is None:
        healthy, lines = service.doctor_once(context=arguments.context)
    else:
        from bot.slack import doctor

        healthy, lines = service.doctor_once(config=arguments.config, slack=doctor.examine)
    print("\n".join(lines))
    return NOTHING_HOLDS_IT if healthy else NO_ANSWER


def _serve(arguments: argparse.Namespace) -> int:
    from bot import app, settings

    try:
        return app.serve(settings.load(arguments.config))
    except settings.ConfigurationError as error:
        raise WrongUseError(str(error)) from error


def _demo(arguments: argparse.Namespace) -> int:
    from bot import demo

    return demo.run(arguments.port)
