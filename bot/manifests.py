"""The CronJobs of configured digests, as Kubernetes manifests."""

from collections.abc import Iterable
from typing import Any

import yaml

from bot import __version__
from bot.settings import Digest

STORE = "/var/lib/whypending"

_HEAD = "# Written by `whypending digest --manifests` from the configuration's digests.\n"


def cron_jobs(digests: Iterable[Digest]) -> str:
    """Give a CronJob for each digest, as YAML documents."""
    documents = [cron_job(digest) for digest in digests]
    return _HEAD + yaml.safe_dump_all(documents, sort_keys=False, width=120)


def cron_job(digest: Digest) -> dict[str, Any]:
    """Give the CronJob of one digest: it runs at its time in its time zone, never twice at once, and a retry posts once."""
    labels = {"app.kubernetes.io/name": "whypending", "app.kubernetes.io/component": "digest"}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": f"whypending-{digest.name}", "namespace": "whypending", "labels": labels},
        "spec": {
            "schedule": digest.schedule,
            "timeZone": digest.time_zone,
            "concurrencyPolicy": "Forbid",
            "startingDeadlineSeconds": 1800,
            "successfulJobsHistoryLimit": 1,
            "failedJobsHistoryLimit": 3,
            "jobTemplate": {
                "metadata": {"labels": {**labels}},
                "spec": {
                    "backoffLimit": 3,
                    "activeDeadlineSeconds": 900,
                    # wrong use does not get better by itself
                    "podFailurePolicy": {
                        "rules": [
                            {
                                "action": "FailJob",
                                "onExitCodes": {"containerName": "digest", "operator": "In", "values": [2]},
                            }
                        ]
                    },
                    "template": {"metadata": {"labels": {**labels}}, "spec": _pod(digest)},
                },
            },
        },
    }


def _pod(digest: Digest) -> dict[str, Any]:
    return {
        "serviceAccountName": "whypending",
        "enableServiceLinks": False,
        "restartPolicy": "Never",
        "securityContext": {
            "runAsNonRoot": True, "runAsUser": 65532, "runAsGroup": 65532, "fsGroup": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [
            {
                "name": "digest",
                "image": f"whypending:{__version__}",
                # a retry is of the same Job, whose name holds the scheduled moment
                "args": ["digest", digest.name, "--run", "$(RUN)", "--exit-zero"],
                "env": [
                    {"name": "RUN", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['batch.kubernetes.io/job-name']"}}},
                    {"name": "WHYPENDING_CONFIG", "value": "/etc/whypending/config.yaml"},
                    {"name": "WHYPENDING_SLACK_BOT_TOKEN_FILE", "value": "/var/run/secrets/slack/bot-token"},
                    {"name": "WHYPENDING_STORE_PATH", "value": f"{STORE}/digests.sqlite3"},
                ],
                "resources": {"requests": {"cpu": "100m", "memory": "192Mi"}, "limits": {"memory": "512Mi"}},
                "securityContext": {
                    "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
                },
                "volumeMounts": [
                    {"name": "config", "mountPath": "/etc/whypending", "readOnly": True},
                    {"name": "slack", "mountPath": "/var/run/secrets/slack", "readOnly": True},
                    {"name": "store", "mountPath": STORE},
                    {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - a path in the container
                ],
            }
        ],
        "volumes": [
            {"name": "config", "configMap": {"name": "whypending"}},
            {"name": "slack", "secret": {"secretName": "whypending-slack", "defaultMode": 0o440}},
            {"name": "store", "persistentVolumeClaim": {"claimName": "whypending-digests"}},
            {"name": "tmp", "emptyDir": {"sizeLimit": "64Mi"}},
        ],
    }  # fmt: skip
