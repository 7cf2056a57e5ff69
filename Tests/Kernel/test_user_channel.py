"""An adapter that is taken is given back as it was.

The kernel's flag for `up` is set, too, while a program has the user channel: it is looked at when that has ended.
"""

import os
import signal

import pytest
from conftest import NOBODY, sudo
from program import NO_ADAPTER

JSON = ("--format", "jsonl")
STREAM = ("stream", "--ppg", *JSON)


@pytest.fixture
def adapter(ring):
    """Of a ring; it is up."""
    return ring.kernel_adapter


def start(halo, adapter, *options):
    """A stream that has begun."""
    process = halo.start(*STREAM, *options, adapter=f"user:{adapter.name}")
    assert '"ppg"' in process.stdout.readline()
    return process


@pytest.mark.verdict
def test_an_adapter_that_is_up_is_not_taken(halo, adapter):
    result = halo.run(*STREAM, "--count", 1, adapter=f"user:{adapter.name}")
    result.failed(NO_ADAPTER, saying="--take")
    assert adapter.is_up


@pytest.mark.verdict
def test_it_is_taken_and_given_back(halo, adapter):
    result = halo.run(*STREAM, "--count", 200, "--take", adapter=f"user:{adapter.name}").succeeded()
    assert len(result.records()) == 200
    adapter.wait_until(True)


def test_an_adapter_that_was_down_stays_down(halo, adapter):
    adapter.down()
    halo.run("battery", "--take", adapter=f"user:{adapter.name}").succeeded()
    assert not adapter.is_up


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal(halo, adapter, ring, number):
    process = start(halo, adapter, "--take")
    process.send_signal(number)
    halo.wait(process)
    adapter.wait_until(True)
    ring.wait_for("disconnected", reason=0x13)


@pytest.mark.verdict
def test_a_crash_is_made_good_by_the_next_start(halo, adapter):
    process = start(halo, adapter, "--take")
    process.kill()
    process.communicate()
    assert not adapter.is_up, "nobody could have"
    result = halo.run("battery", "--take", adapter=f"user:{adapter.name}").succeeded()
    assert f"{adapter.name} is up again" in result.err
    adapter.wait_until(True)


def check_user(process, user):
    assert os.stat(f"/proc/{process.pid}").st_uid == user


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_one_that_has_given_root_up(halo, adapter, ring, number):
    with sudo(halo):
        process = start(halo, adapter, "--take")
    check_user(process, NOBODY)
    process.send_signal(number)
    halo.wait(process)
    adapter.wait_until(True)
    ring.wait_for("disconnected", reason=0x13)
    # It leaves nothing for the next start to do.
    adapter.down()
    result = halo.run("battery", adapter=f"user:{adapter.name}").succeeded()
    assert "is up again" not in result.err
    assert not adapter.is_up


def test_a_crash_of_one_that_has_given_root_up(halo, adapter):
    with sudo(halo):
        process = start(halo, adapter, "--take")
        check_user(process, NOBODY)
        process.kill()
        process.communicate()
        assert not adapter.is_up
        result = halo.run("battery", "--take", adapter=f"user:{adapter.name}").succeeded()
    assert f"{adapter.name} is up again" in result.err
    adapter.wait_until(True)


def test_a_second_one_is_told_who_has_it(halo, adapter):
    process = start(halo, adapter, "--take")
    result = halo.run("battery", "--take", adapter=f"user:{adapter.name}")
    result.failed(NO_ADAPTER, saying=adapter.name)
    process.send_signal(signal.SIGINT)
    halo.wait(process).succeeded()
    adapter.wait_until(True)
