"""Rings that want a bond, on another stack: what is reported of the R09 and the R11 (foureight84/PulseLoopAndroid, pull requests
15, 27 and 32), of devices that let only paired hosts subscribe, and of bonds that one side has lost (mynewt-nimble 319, bleak 758).
"""

import json

import pytest
from program import CONNECTION_LOST, PROTOCOL

JSON = ("--format", "jsonl")


@pytest.mark.verdict
def test_a_ring_that_stays_with_paired_hosts_only(halo, ring_with, state):
    ring = ring_with("--bond", "to-stay", "--rate", 50)
    refused = halo.run("stream", "--ppg", "--retry-for", 0, *JSON, adapter=ring.adapter)
    assert refused.code == CONNECTION_LOST, refused
    assert refused.err.count("add --bond") == 1
    stream = ("stream", "--ppg", "--count", 150, *JSON)  # three times as long as it stays with others
    halo.run(*stream, "--bond", adapter=ring.adapter).succeeded()
    # From now on, no option is needed, and the option makes no second bond.
    halo.run(*stream, adapter=ring.adapter).succeeded()
    halo.run(*stream, "--bond", adapter=ring.adapter).succeeded()
    assert len(ring.events("paired")) == 1
    [bond] = halo.run("bonds", *JSON).succeeded().records()


@pytest.mark.verdict
def test_a_ring_that_lets_only_paired_hosts_subscribe(halo, ring_with, state):
    ring = ring_with("--bond", "to-subscribe")
    refused = halo.run("battery", "--wait", "5s", adapter=ring.adapter)
    refused.failed(PROTOCOL, saying="pair with it")
    assert halo.run("battery", "--bond", *JSON, adapter=ring.adapter).succeeded().records()
    assert halo.run("battery", *JSON, adapter=ring.adapter).succeeded().records()
    assert len(ring.events("paired")) == 1


def test_a_known_ring_has_its_name_in_the_bond(halo, ring_with, state):
    """Also if the run that pairs has not heard it advertise: docs/bond.md forgets it by that name."""
    ring = ring_with("--bond", "to-subscribe")
    halo.run("info", "--bond", adapter=ring.adapter).succeeded()
    halo.run("bonds", "forget", ring.name).succeeded()
    assert halo.run("bonds", *JSON).succeeded().records() == []


def test_a_ring_that_forgets_its_bond(halo, ring_with, state):
    ring = ring_with("--bond", "to-subscribe", "--forgets")
    halo.run("battery", "--bond", adapter=ring.adapter).succeeded()
    for options in [(), ("--bond",)]:
        halo.run("battery", "--wait", "5s", *options, adapter=ring.adapter).failed(PROTOCOL, saying="bonds forget")
    [bond] = halo.run("bonds", *JSON).succeeded().records()
    halo.run("bonds", "forget", bond["address"]).succeeded()
    halo.run("battery", "--bond", adapter=ring.adapter).succeeded()
    assert len(ring.events("paired")) == 2


def test_a_stream_goes_on_encrypted_after_the_link_was_lost(halo, ring_with, state):
    ring = ring_with("--bond", "to-stay", "--rate", 50, "--disconnect-after", 60)
    result = halo.run("stream", "--ppg", "--bond", "--count", 100, *JSON, adapter=ring.adapter).succeeded()
    assert sum(record["kind"] == "ppg" for record in result.records()) == 100
    assert len(ring.events("paired")) == 1 and len(ring.events("encryption")) == 2


def test_a_ring_that_pairs_with_nobody(halo, state):
    """The option is wrong for it, and the error says so."""
    halo.run("battery", "--bond", adapter="virtual:fast").failed(PROTOCOL, saying="not supported")
