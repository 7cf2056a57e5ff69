"""What programs rely on, on adapters of the kernel, in both ways: through the kernel, and without it."""

import pytest
from adapters import KernelAdapter

pytest.register_assert_rewrite("corebluetooth_points")

from corebluetooth_points import Points, check, neighbourhood  # noqa: E402, F401


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    with neighbourhood("vhci", tmp_path_factory.mktemp("around") / "events.jsonl") as around:
        yield around


@pytest.fixture(scope="module", params=["", "user:"], ids=["hci0", "user:hci0"])
def around(room, request):
    adapter = KernelAdapter(room.where)
    adapter.down() if request.param else adapter.up()
    room.adapter = request.param + room.where
    return room


class TestPoints(Points):
    @pytest.mark.parametrize("behaviour", ["silent", "cut"])
    def test_a_stranger_that_misbehaves_is_survived(self, around, check, behaviour):
        """All that it can do is in test_hostile.py."""
        super().test_a_stranger_that_misbehaves_is_survived(around, check, behaviour)

    def test_the_first_state_of_an_adapter_that_is_missing_is_unsupported(self, around, check):
        missing = around.adapter.replace(around.where, "hci99")
        assert check.run("state", adapter=missing) == ["state: unsupported", "late: state: unsupported"]

    def test_the_first_state_comes_while_the_adapter_cannot_be_used(self, around, check):
        """Down for the kernel's way, up for the other one, which needs it down."""
        adapter, needs_up = KernelAdapter(around.where), not around.adapter.startswith("user:")
        adapter.down() if needs_up else adapter.up()
        try:
            program = check.start("state", "poweredOn")
            bad = program.until("late: state: ")[0]
            assert bad == ("state: poweredOff" if needs_up else "state: resetting")
        finally:
            adapter.up() if needs_up else adapter.down()
        lines = check.finish(program)
        assert sorted(lines) == sorted([bad, f"late: {bad}", "state: poweredOn", "late: state: poweredOn"])

    def test_the_first_state_without_a_capability_is_unauthorized(self, around, check):
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
        expected = ["state: unauthorized", "late: state: unauthorized"]
        assert check.run("state", before=nobody) == expected
