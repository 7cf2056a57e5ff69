"""captures/air-battery.pcap: a session as a sniffer sees it. It follows the rules of the link layer, and has what its HCI recording has.

People who open such a capture for the first time ask why most packets are empty (the exercises of academy.nordicsemi.com), what
CRCInit is (virtualabs/btlejack 30), where the interval and the hop stand (btlejack 46), why a connection cannot be followed
without its request (JiaoXianjun/BTLE 13, nccgroup/Sniffle 81), what wrong CRCs tell (Sniffle 53, analogdevicesinc/msdk 1508), and
how far apart the three advertisements of an event are (Sniffle 65). The recording answers each of these.
"""

import json
from itertools import groupby, pairwise

import air_check
import air_frames
import air_recording as made
import pytest
from program import ROOT

HCI = ROOT / "captures/virtual-battery.btsnoop"
AIR = ROOT / "captures/air-battery.pcap"


@pytest.fixture(scope="module")
def packets():
    return made.session(made.recording(HCI))


@pytest.fixture(scope="module")
def connection(packets):
    return [one for one in packets if one.sender]


@pytest.mark.verdict
def test_the_file_is_what_the_generator_makes(packets, tmp_path):
    assert AIR.read_bytes() == air_frames.pcap(tmp_path / "air.pcap", air_frames.WITH_HEADER, packets).read_bytes()


@pytest.mark.verdict
def test_tshark_sees_the_same():
    assert not list(air_check.differences(AIR))
    rows = air_check.tshark(AIR)
    assert [number for number, row in enumerate(rows, 1) if row["bad_crc"]] == [35]


def values(halo, path):
    """The ATT PDUs of each direction, in their order."""
    records = [json.loads(line) for line in halo.run("decode", path, "--format", "jsonl").succeeded().out.splitlines()]
    return {
        direction: [(one["att"], one.get("gatt")) for one in records if "att" in one and one["direction"] == direction]
        for direction in ("sent", "received")}


def test_both_recordings_have_the_same_att_pdus(halo):
    of_hci, of_air = values(halo, HCI), values(halo, AIR)
    for direction in of_hci:
        assert [att["opcode"] for att, _ in of_air[direction]] == [att["opcode"] for att, _ in of_hci[direction]]
        assert [att.get("value") for att, _ in of_air[direction]] == [att.get("value") for att, _ in of_hci[direction]]


def test_the_access_address_follows_its_rules():
    """Vol 6, Part B, 2.1.2."""
    bits = [made.ACCESS_ADDRESS >> index & 1 for index in range(32)]
    assert max(len(list(run)) for _, run in groupby(bits)) <= 6
    assert (made.ACCESS_ADDRESS ^ air_frames.ADVERTISING).bit_count() > 1
    assert len(set(made.ACCESS_ADDRESS.to_bytes(4, "little"))) > 1
    assert sum(one != next for one, next in pairwise(bits)) <= 24
    assert sum(one != next for one, next in pairwise(bits[26:])) >= 2


def test_each_connection_event_is_on_the_next_channel(connection):
    channels = {one.event: one.channel for one in connection}
    assert all(one.channel == channels[one.event] for one in connection)
    # 9 more each time, modulo 37; 18, 17, 16 and 23 are not in the map, and are replaced by number 18, 17, 16 and 23 of its 29.
    assert [channels[event] for event in range(19)] == [
        9, 26, 27, 36, 8, 25, 26, 35, 7, 24, 25, 34, 6, 15, 24, 33, 5, 14, 31]


def test_the_times_are_those_of_a_radio(packets, connection):
    request = next(one for one in packets if one.pdu[0] & 15 == 5)
    window = request.time + made.duration(request.pdu) + 1250 + 1250 * int.from_bytes(request.pdu[22:24], "little")
    assert window <= connection[0].time <= window + 1250 * request.pdu[21]
    for event, members in groupby(connection, lambda one: one.event):
        members = list(members)
        assert members[0].time == connection[0].time + 15_000 * event and members[0].sender == "central"
        for before, after in pairwise(members):
            assert after.time == before.time + made.duration(before.pdu) + 150 and after.sender != before.sender


def test_a_pdu_is_sent_until_it_is_acknowledged(connection):
    """4.5.9, from what a sniffer sees: the next PDU of a side has another SN exactly if the other has acknowledged."""
    for side in ("central", "peripheral"):
        acknowledged, last = False, None
        for one in connection:
            if one.sender != side:
                acknowledged = last is not None and not one.bad_crc and (one.pdu[0] >> 2 & 1) != (last[0] >> 3 & 1)
                continue
            if last is not None:
                assert ((one.pdu[0] ^ last[0]) >> 3 & 1 == 1) == acknowledged
                assert acknowledged or one.pdu[1:] == last[1:]
            last = one.pdu
    assert sum(one.bad_crc for one in connection) == 1


@pytest.mark.parametrize("name", ["virtual-stream", "virtual-events", "virtual-measure"])
def test_other_sessions_end_as_well(name, tmp_path):
    path = air_frames.pcap(
        tmp_path / "air.pcap", air_frames.WITH_HEADER, made.session(made.recording(ROOT / f"captures/{name}.btsnoop")))
    assert not list(air_check.differences(path))


def test_a_connection_request_of_the_field(halo, tmp_path):
    """The bytes of virtualabs/btlejack 46, with what that sniffer said of them."""
    pdu = bytes.fromhex(
        "05 22 00 8a c2 eb 27 b8 bb c4 dc eb 27 b8 62 7c 65 50 3c a5 c0 03 02 00 0c 00 00 00 c8 00 ff ff ff ff 1f 0c")
    path = air_frames.pcap(tmp_path / "request.pcap", air_frames.WITH_HEADER, [air_frames.Packet(pdu)])
    record = json.loads(halo.run("decode", path, "--format", "jsonl").succeeded().out)
    fields = air_check.fields(record["ll"])
    assert (fields["InitA"], fields["AdvA"]) == ("B8:27:EB:C2:8A:00", "B8:27:EB:DC:C4:BB")
    assert (fields["access address"], fields["CRC init"]) == ("0x50657c62", "0xc0a53c")
    assert (fields["connection interval"], fields["supervision timeout"]) == ("15 ms", "2000 ms")
    assert fields["hop and SCA"].startswith("hop 12,") and fields["channel map"] == "37 channels: 0 to 36"
