"""One control plane for the whole run, for every test marked `live`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.controlplane.plane import ControlPlane, what_is_missing


@contextmanager
def _running(
    factory: pytest.TempPathFactory, request: pytest.FixtureRequest, *, other_kinds: bool = True
) -> Iterator[ControlPlane]:
    missing = what_is_missing()
    if missing is not None:
        pytest.skip(f"no control plane here: {missing}")
    state = Path(factory.mktemp("controlplane"))
    running = ControlPlane(state)
    failed_before = request.session.testsfailed
    try:
        running.start(other_kinds=other_kinds)
        yield running
    except BaseException:
        print(running.excerpt("kueue"), running.excerpt("kube-apiserver"), sep="\n")
        raise
    finally:
        running.close()
        if request.session.testsfailed > failed_before:
            print(f"logs of the control plane: {state}")


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """A running control plane with all job kinds; skipped with a sentence where it cannot run; logs stay on failure."""
    with _running(tmp_path_factory, request) as running:
        yield running


@pytest.fixture(scope="module")
def own_plane(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """A control plane for one module alone: for tests that change certificates, restart servers or withdraw versions."""
    with _running(tmp_path_factory, request) as running:
        yield running


@pytest.fixture(scope="module")
def worker_plane(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """A second control plane, to which MultiKueue gives Jobs; it has no other job kinds."""
    with _running(tmp_path_factory, request, other_kinds=False) as running:
        yield running
