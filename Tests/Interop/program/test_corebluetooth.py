"""What programs rely on, against peripherals over H4."""

import pytest

pytest.register_assert_rewrite("corebluetooth_points")

from corebluetooth_points import Points, check, neighbourhood  # noqa: E402, F401


@pytest.fixture(scope="module")
def around(tmp_path_factory):
    with neighbourhood("tcp-server:127.0.0.1:0", tmp_path_factory.mktemp("around") / "events.jsonl") as around:
        around.adapter = f"tcp:127.0.0.1:{around.where}"
        yield around


@pytest.mark.verdict
class TestPoints(Points):
    pass
