"""The quotas that a ClusterQueue or a Cohort has: those of its spec, or the effective ones where something sets them."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from bot.core import decode
from bot.core import objects as o
from bot.core.cohorts import Key, Limits
from bot.core.quantity import Quantity, amount
from bot.core.snapshot import Unknown

_DEEPEST = 100
"""How many nested Cohorts are followed."""


def root_of(cohort: str, parents: Mapping[str, str]) -> str | None:
    """Give the root above a Cohort, None when it is in or below a ring. Raises Unknown for a chain without an end in sight."""
    seen = {cohort}
    while above := parents.get(cohort, ""):
        if above in seen:
            return None
        if len(seen) > _DEEPEST:
            reason = f"cohorts {cohort}: more than {_DEEPEST} of them are nested"
            raise Unknown(reason)
        seen.add(above)
        cohort = above
    return cohort


def quotas(item: o.ClusterQueue | o.Cohort) -> dict[Key, Limits]:
    """Give the quotas of a ClusterQueue or Cohort: the effective ones where they are set, else those of the spec.

    Raises Unknown when effective quotas are set in a form that is not known: the spec is not the quota then.
    """
    where = f"{'ClusterQueue' if isinstance(item, o.ClusterQueue) else 'Cohort'} {item.name}"
    groups, whole = _effective(item, where)
    if whole:
        return _limits(groups, where)
    found = _limits(item.spec.resource_groups, where)
    for key, limits in _limits(groups, where).items():
        old = found.get(key, Limits())
        found[key] = Limits(limits.nominal, old.borrowing, old.lending)
    return found


def _limits(groups: Iterable[o.ResourceGroup], where: str) -> dict[Key, Limits]:
    try:
        return {
            (flavor.name, part.name): _limit(part.name, part.nominal_quota, part.borrowing_limit, part.lending_limit)
            for group in groups
            for flavor in group.flavors
            for part in flavor.resources
        }
    except ValueError as error:
        reason = f"{where}: {error}"
        raise Unknown(reason) from error


@lru_cache(maxsize=4096)
def _limit(resource: str, nominal: Quantity, borrowing: Quantity | None, lending: Quantity | None) -> Limits:
    """One entry of quotas; a big cohort has thousands of them, and most are alike. Raises ValueError."""
    return Limits(
        amount(resource, nominal),
        None if borrowing is None else amount(resource, borrowing),
        None if lending is None else amount(resource, lending),
    )


def effective(item: o.ClusterQueue | o.Cohort) -> Any:  # noqa: ANN401 - alpha, its form is still changing
    """Give what Kueue counts instead of `spec.resourceGroups`, as written; nothing where the spec counts."""
    return item.status.effective_quota or item.status.effective_quotas


def manager(item: o.ClusterQueue | o.Cohort) -> tuple[str, str] | None:
    """Give (kind, name) of what sets the effective quota; None where the spec counts or nothing says who does."""
    data = effective(item)
    by = data.get("managerRef") if isinstance(data, dict) else None
    kind, name = (by.get("kind"), by.get("name")) if isinstance(by, dict) else (None, None)
    return (kind, name) if isinstance(kind, str) and isinstance(name, str) else None


def _effective(item: o.ClusterQueue | o.Cohort, where: str) -> tuple[tuple[o.ResourceGroup, ...], bool]:
    """Read the effective quota: its resource groups, and whether they stand for the whole spec, their limits included.

    A list of resource groups does (KEP-12382); a bare list of flavors only has the nominal quotas.
    """
    data = effective(item)
    if not data:
        return (), False
    groups = data.get("resourceGroups", data.get("flavors")) if isinstance(data, dict) else data
    unreadable = Unknown(f"{where}: status.effectiveQuota is set in a form that is not known")
    if not isinstance(groups, list | tuple) or not all(isinstance(entry, dict) for entry in groups):
        raise unreadable
    whole = bool(groups) and all("flavors" in entry for entry in groups)
    read = decode.convert(
        {"spec": {"resourceGroups": list(groups) if whole else [{"flavors": list(groups)}]}}, "ClusterQueue"
    )
    if read.odd or not isinstance(read.object, o.ClusterQueue):
        raise unreadable
    found = read.object.spec.resource_groups
    flavors = [flavor for group in found for flavor in group.flavors]
    written = [entry for group in groups for entry in (group["flavors"] if whole else (group,))]
    named_all = all(flavor.name and all(resource.name for resource in flavor.resources) for flavor in flavors)
    if not named_all or not all(_has_quotas(entry) for entry in written):
        raise unreadable
    return found, whole


def _has_quotas(flavor: dict[str, Any]) -> bool:
    """Whether a flavor states a nominal quota for each of its resources."""
    resources = flavor.get("resources")
    return isinstance(resources, list) and all("nominalQuota" in entry for entry in resources)


def nominal(queue: o.ClusterQueue | None, flavor: str, resource: str) -> int | None:
    """Give what a ClusterQueue has itself, None where it was not read or says it in a form that is not known."""
    if queue is None:
        return None
    try:
        return quotas(queue).get((flavor, resource), Limits()).nominal
    except Unknown:
        return None
