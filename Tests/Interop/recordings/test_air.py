"""Captures of the air: the same as tshark sees, for all that sniffers write, and what people have met with them."""

import json
from dataclasses import replace

import air_check
import air_frames as air
import air_session as session
import pytest
from air_frames import LINK_LAYER, NORDIC, PPI, WITH_HEADER, Connection, Packet
from program import BAD_DATA

KINDS = {"link-layer": LINK_LAYER, "header": WITH_HEADER, "nordic": NORDIC, "ppi": PPI}
WRITERS = {"pcap": air.pcap, "pcapng": air.pcapng}


def decode(halo, path, *options):
    return halo.run("decode", path, "--format", "jsonl", *options).succeeded().records()


def ll(records):
    return [one["ll"] for one in records]


@pytest.mark.verdict
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", WRITERS)
def test_tshark_sees_the_same(kind, form, tmp_path):
    path = WRITERS[form](tmp_path / f"session.{form}", KINDS[kind], session.session())
    found = [difference[:4] for difference in air_check.differences(path)]
    assert not found


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_headers_of_the_nrf_sniffer(version, halo, tmp_path):
    path = air.pcap(tmp_path / "nordic.pcap", NORDIC, session.session(), version=version)
    # tshark reads the marker of version 0 since 4.6 (the-tcpdump-group/tcpdump-htdocs issue 47).
    assert version == 0 or not [difference[:4] for difference in air_check.differences(path)]
    newest = air.pcap(tmp_path / "newest.pcap", NORDIC, session.session())
    without = [{key: value for key, value in one.items() if key != "name"} for one in ll(decode(halo, newest))]
    assert [{key: value for key, value in one.items() if key != "name"} for one in ll(decode(halo, path))] == without


@pytest.mark.parametrize("version", [0, 2])
def test_headers_that_no_sniffer_has_filled_in(version, halo, tmp_path):
    """Packet ID 0, as in 25 of the 30 SweynTooth captures and in the files of apferscher/ble-learning."""
    path = air.pcap(tmp_path / "made.pcap", NORDIC, session.session(), version=version, is_of_sniffer=False)
    if version == 2:
        assert not [difference[:4] for difference in air_check.differences(path)]
    records = decode(halo, path)
    names = [one.get("name") for one in ll(records)]
    # Its channel is not known, so it is no AUX_CONNECT_REQ.
    assert names[0] == "ADV_IND" and names[19] == "CONNECT_IND" and not [one for one in ll(records) if "channel" in one]
    assert [one["att"]["value"] for one in records if one.get("att", {}).get("opcode") == 0x1B][:2] == ["0040", "0041"]


def test_a_file_of_messages_says_so(halo, tmp_path):
    """And not that link type 272 can't be read, and that it can."""
    path = air.pcap(tmp_path / "messages.pcap", NORDIC, session.advertisements()[:1])
    data = bytearray(path.read_bytes())
    data[24 + 16 + 6] = 0x0E
    path.write_bytes(data)
    result = halo.run("decode", path).failed(BAD_DATA, saying="are messages of the sniffer, or of another protocol")
    assert "HCI is, with" not in result.err


@pytest.mark.parametrize("kind", KINDS)
def test_all_pdus_have_their_names_and_fields(kind, halo, tmp_path):
    packets = session.session()
    records = decode(halo, air.pcap(tmp_path / "session.pcap", KINDS[kind], packets))
    assert not [one for one in records if "problem" in one["ll"] and "wrong CRC" not in one["ll"]["problem"]]
    names = [one.get("name") for one in ll(records)]
    assert names[:7] == [
        "ADV_IND", "SCAN_REQ", "SCAN_RSP", "ADV_DIRECT_IND", "ADV_NONCONN_IND", "ADV_SCAN_IND", "ADV_IND"]
    if kind != "link-layer":
        # Alone, an extended advertising PDU does not tell on which channel it was sent.
        assert names[7:19] == [
            "ADV_EXT_IND", "AUX_ADV_IND", "AUX_CHAIN_IND", "AUX_SYNC_IND", "ADV_EXT_IND", "AUX_ADV_IND", "AUX_SCAN_REQ",
            "AUX_SCAN_RSP", "ADV_EXT_IND", "AUX_ADV_IND", "AUX_CONNECT_REQ", "AUX_CONNECT_RSP"]
    assert names[19] == "CONNECT_IND"
    fields = air_check.fields(ll(records)[19])
    assert fields["connection interval"] == "30 ms" and fields["supervision timeout"] == "720 ms"
    assert fields["hop and SCA"] == "hop 7, SCA 31 to 50 ppm" and fields["CRC init"] == "0xa1b2c3"
    assert fields["channel map"] == "29 channels: 0 to 15, 24 to 36"
    extended = air_check.fields(ll(records)[8])
    assert extended["AdvA"] == session.RING and extended["ADI"] == "DID 0x0234, SID 5"
    assert extended["AuxPtr"].startswith("channel 20, after 600 us, LE 1M")
    assert extended["TxPower"] == "8 dBm" and extended["periodic event counter"] == 7
    controls = {one["opcode"]: one for one in ll(records) if "opcode" in one}
    for opcode in session.CONTROL:
        listed = {field["name"] for field in controls[opcode]["fields"]}
        assert controls[opcode]["name"].startswith("LL_") and not listed & {"damaged", "parameters", "more bytes than known"}
    assert air_check.fields(controls[0x02])["error code"].startswith("Remote User Terminated Connection")


@pytest.mark.parametrize("kind", KINDS)
def test_att_and_gatt_are_followed(kind, halo, tmp_path):
    """Recombined, with names and requests, on both of their sides; also without a direction in the file."""
    records = decode(halo, air.pcap(tmp_path / "session.pcap", KINDS[kind], session.session()))
    services = next(one for one in records if one.get("att", {}).get("opcode") == 0x11)
    assert services["l2cap"]["fragments"] == 3 and services["direction"] == "received"
    assert services["gatt"]["procedure"] == "Discover All Primary Services"
    values = [one for one in records if one.get("att", {}).get("opcode") == 0x1B]
    assert values[0]["gatt"]["attribute"] == "Heart Rate Measurement"
    # Each once, however often it was sent: 0x40 to 0x43, 0x55, 0x56, and one of the third connection.
    assert [one["att"]["value"] for one in values] == ["0040", "0041", "0042", "0043", "0055", "0056", "0042"]
    assert sum(one["ll"].get("retransmission", False) for one in records) >= 4
    # Addresses of PDUs on a connection (nccgroup/Sniffle issue 15).
    assert {one["ll"]["central"] for one in values[:6]} == {session.PHONE}
    assert {one["ll"]["peripheral"] for one in values[:6]} == {session.RING}
    assert "peripheral" not in values[6]["ll"] and values[6]["ll"]["access_address"] == session.UNKNOWN
    assert {one["ll"].get("derived_direction", False) for one in values} == {kind in ("link-layer", "ppi")}


@pytest.mark.parametrize("kind", KINDS)
def test_encryption_is_said(kind, halo, tmp_path):
    """Not shown as malformed L2CAP (virtualabs/btlejack issue 75), and only until it is paused."""
    path = air.pcap(tmp_path / "session.pcap", KINDS[kind], session.session())
    records = decode(halo, path)
    secret = [one for one in records if one["ll"].get("encrypted")]
    assert len(secret) == 6 and not [one for one in secret if "l2cap" in one or "opcode" in one["ll"]]
    lines = halo.run("decode", path, "--filter", f"packet={secret[2]['frame']}").succeeded().out
    assert "encrypted, 17 bytes" in lines and session.PHONE in lines
    after = [one for one in records if one["frame"] > secret[-1]["frame"] and "att" in one]
    assert [one["att"]["opcode"] for one in after[:2]] == [0x0A, 0x0B]


def test_encryption_whose_start_was_missed(halo, tmp_path):
    link = Connection(session.CONNECTION, session.CRC_INIT, start=0)
    session.encrypted(link)
    packets = [one for one in link.packets if one.pdu[2:] != b"\x05"]
    records = decode(halo, air.pcap(tmp_path / "missed.pcap", WITH_HEADER, packets))
    assert sum(one["ll"].get("encrypted", False) for one in records) == 4
    assert not [one for one in records if "l2cap" in one]


@pytest.mark.parametrize("has_mic", [False, True])
def test_what_the_sniffer_has_decrypted_is_read(has_mic, halo, tmp_path):
    """With its MIC or without (mikeryan/crackle pull request 51); the CRC is that of the encrypted PDU."""
    link = Connection(session.CONNECTION, session.CRC_INIT, start=0)
    session.start_encryption(link)
    mic = b"\x11\x22\x33\x44" if has_mic else b""

    def plain(pdu):
        return pdu[0], pdu[1] + mic

    link.exchange((3, b"\x06" + mic), (3, b"\x06" + mic), decrypted=True)
    link.exchange(plain(session.att("0a0300")), plain(session.att("0b42454546")), decrypted=True)
    whole = air.l2cap(session.ATT, bytes.fromhex("1b0c00") + b"0123456789")
    link.exchange((1, b""), plain((2, whole[:8])), decrypted=True)
    link.exchange((1, b""), plain((1, whole[8:])), decrypted=True)
    packets = [
        replace(one, crc_init=0x123456) if one.decrypted else one
        for one in [session.request(air.connection_data(session.CONNECTION, session.CRC_INIT)), *link.packets]]
    for kind in (NORDIC, WITH_HEADER):
        records = decode(halo, air.pcap(tmp_path / "plain.pcap", kind, packets))
        att = [one["att"] for one in records if "att" in one]
        if not has_mic:
            assert att[2]["value"] == b"0123456789".hex()
        assert [one["opcode"] for one in att[:2]] == [0x0A, 0x0B] and att[1]["value"] == "42454546"
        starts = [one["ll"] for one in records if one["ll"].get("opcode") == 6]
        assert len(starts) == 2 and not [one for one in records if "problem" in one["ll"]]


def copy_of_crackle(packets):
    """Decrypted in the file: each PDU is shorter by its MIC, and has the CRC of the encrypted one behind it."""
    for one in packets:
        if not one.decrypted or one.pdu[1] == 0:
            yield one
        else:
            encrypted = bytes([one.pdu[0], one.pdu[1] + 4]) + bytes(byte ^ 0x5A for byte in one.pdu[2:]) + bytes(4)
            yield replace(one, decrypted=False, crc=air.crc(encrypted, one.crc_init))


@pytest.mark.parametrize("kind", [LINK_LAYER, PPI])
def test_a_copy_that_crackle_has_decrypted_is_read(kind, halo, tmp_path):
    """Its expected outputs (mikeryan/crackle, tests 01 to 05) were 'encrypted', or packets with a wrong CRC."""
    link = Connection(session.CONNECTION, session.CRC_INIT, start=0)
    session.start_encryption(link)
    link.exchange((3, b"\x06"), (3, b"\x06"), decrypted=True)
    link.exchange(session.att("0a0300"), session.att("0b42454546"), decrypted=True)
    whole = air.l2cap(session.ATT, bytes.fromhex("1b0c00") + b"0123456789")
    link.exchange((1, b""), (2, whole[:8]), decrypted=True)
    link.exchange((1, b""), (1, whole[8:]), decrypted=True)
    # What could not be decrypted stays, and so does what was received wrongly.
    link.exchange((2, bytes(range(0xA0, 0xB1))), (1, b""))
    link.exchange((2, b"\x31\x41\x59\x26\x53\x58"), (1, b""), bad_crc=True)
    link.exchange((3, b"\x02\x13"), (1, b""), decrypted=True)
    packets = [session.request(air.connection_data(session.CONNECTION, session.CRC_INIT)), *copy_of_crackle(link.packets)]
    records = decode(halo, air.pcap(tmp_path / "copy.pcap", kind, packets))
    att = [one["att"] for one in records if "att" in one]
    assert [one["opcode"] for one in att] == [0x0A, 0x0B, 0x1B] and att[2]["value"] == b"0123456789".hex()
    controls = [one["ll"]["name"] for one in records if one["ll"].get("kind") == "control"]
    assert controls[-3:] == ["LL_START_ENC_RSP", "LL_START_ENC_RSP", "LL_TERMINATE_IND"]
    assert [one["ll"]["length"] for one in records if one["ll"].get("encrypted")] == [17]
    assert sum(one["ll"]["crc"] == "wrong" for one in records) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_plaintext_amid_encryption_is_read(kind, halo, tmp_path):
    """An attacker's, as in two SweynTooth captures of a Telink chip; what follows is encrypted nevertheless."""
    link = Connection(session.CONNECTION, session.CRC_INIT, start=0)
    link.exchange((3, b"\x03" + bytes(range(22))), (1, b""))
    link.exchange((2, air.l2cap(session.SMP, b"\x0c" + bytes(64))[:27]), (3, b"\x04" + bytes(range(12))))
    link.exchange((2, air.l2cap(session.SMP, b"\x05\x08")), (3, b"\x05"))
    link.exchange((2, air.l2cap(session.SMP, b"\x03" + bytes(range(16)))), (2, bytes(range(0xA0, 0xB1))))
    link.exchange((2, bytes(range(0xB0, 0xC1))), (2, bytes(range(0xC0, 0xD1))))
    link.exchange((3, bytes(range(0xD0, 0xD9))), (3, b"\x08" + bytes(8)))
    # With the LLID of the middle of a frame; and encryption is asked for anew.
    link.exchange((1, air.l2cap(session.ATT, b"\x0a\x03\x00")), (1, b""))
    link.exchange((3, b"\x03" + bytes(range(22))), (1, b""))
    link.exchange((1, b""), (3, b"\x0d\x06"))
    link.exchange(session.att("0a0500"), (1, b""))
    packets = [session.request(air.connection_data(session.CONNECTION, session.CRC_INIT)), *link.packets]
    records = decode(halo, air.pcap(tmp_path / "attack.pcap", KINDS[kind], packets))
    assert [one["smp"]["code"] for one in records if "smp" in one] == [5, 3]
    assert sum(one["ll"].get("encrypted", False) for one in records) == 5
    assert [one["ll"].get("name") for one in records if one["ll"]["kind"] == "control"][-2:] == ["LL_ENC_REQ", "LL_REJECT_IND"]
    assert records[-2]["att"]["handle"] == 5


def test_a_wrong_mic_is_no_content(halo, tmp_path):
    link = Connection(session.CONNECTION, session.CRC_INIT, start=0)
    link.exchange(session.att("0a0300"), session.att("0b42"), encrypted=True)
    path = air.pcap(tmp_path / "wrong.pcap", NORDIC, link.packets)
    assert [(one["ll"]["encrypted"], "att" in one) for one in decode(halo, path)] == [(True, False)] * 2
    assert "MIC wrong" in halo.run("decode", path, "-v").succeeded().out


def test_the_sniffers_direction_counts(halo, tmp_path):
    """Not what the times suggest (homewsn/bsniffhub pull request 1)."""
    link = Connection(session.CONNECTION, session.CRC_INIT, start=0)
    for _ in range(3):
        link.exchange()
    late = [replace(one, time=200_000 * number) for number, one in enumerate(link.packets)]
    for kind in (NORDIC, WITH_HEADER):
        records = decode(halo, air.pcap(tmp_path / "late.pcap", kind, late))
        assert [one["direction"] for one in records] == ["sent", "received"] * 3
        assert not [one for one in records if one["ll"].get("derived_direction")]


def test_packets_with_a_wrong_crc_are_shown_and_counted(halo, tmp_path):
    """They say when the channel was in use (nccgroup/Sniffle issue 53); they make no devices and no connections."""
    packets = session.session()
    stray = Packet(air.data(2, air.l2cap(4, b"\x0a\x03\x00")), 0x11223344, bad_crc=True, sender="central", channel=4)
    path = air.pcap(tmp_path / "session.pcap", WITH_HEADER, [*packets, stray])
    records = decode(halo, path)
    wrong = [one for one in records if one["ll"]["crc"] == "wrong"]
    assert len(wrong) == 3 and {one["ll"]["problem"] for one in wrong} == {"wrong CRC"}
    assert not [one for one in wrong if "att" in one]
    assert {one["ll"]["channel"] for one in records[:6]} == {37, 38, 39}
    lines = halo.run("decode", path, "--filter", f"packet={wrong[0]['frame']}").succeeded().out
    assert "wrong CRC" in lines and "C0:11:22:33:A1:B3" not in lines
    summary = halo.run("decode", path, "--summary").succeeded().out
    assert "C0:11:22:33:A1:B3" not in summary and "0x11223344" not in summary
    assert "3 packets with a wrong CRC" in summary


@pytest.mark.parametrize("kind", KINDS)
def test_a_short_request_opens_no_connection(kind, halo, tmp_path):
    """A CONNECT_REQ whose length does not fit (greatscottgadgets/ubertooth issue 234) is damage."""
    whole = session.request(air.connection_data(session.CONNECTION, session.CRC_INIT))
    for length in range(len(whole.pdu) - 2):
        short = replace(whole, pdu=bytes([whole.pdu[0], length]) + whole.pdu[2 : 2 + length])
        record = decode(halo, air.pcap(tmp_path / "short.pcap", KINDS[kind], [short]))[0]
        assert record["ll"]["name"] == "CONNECT_IND"
        assert "damaged" in [field["name"] for field in record["ll"].get("fields", [])] or length == 0
    out = halo.run("decode", tmp_path / "short.pcap", "--summary").succeeded().out
    assert session.PHONE not in out


def test_a_header_of_another_length_than_the_packet(halo, tmp_path):
    """A decrypted file whose nRF header states the length before decryption (mikeryan/crackle issue 53)."""
    link = Connection(session.CONNECTION, session.CRC_INIT, start=0)
    link.exchange(session.att("0a0300"), session.att("0b42"), decrypted=True)
    path = air.pcap(tmp_path / "lengths.pcap", NORDIC, link.packets)
    data = bytearray(path.read_bytes())
    assert data[24 + 16 + 1] == 10 + len(link.packets[0].bytes)
    data[24 + 16 + 1] += 4
    path.write_bytes(data)
    assert [one["att"]["opcode"] for one in decode(halo, path)] == [0x0A, 0x0B]


def test_an_advertisement_that_its_header_calls_isochronous(halo, tmp_path):
    """Flags 0x0613, as some sniffers write (colonelpanichacks/oui-spy-unified-blue pull request 24)."""
    path = air.pcap(tmp_path / "flags.pcap", WITH_HEADER, session.advertisements()[:1])
    data = bytearray(path.read_bytes())
    data[24 + 16 + 8 : 24 + 16 + 10] = b"\x13\x06"
    path.write_bytes(data)
    assert decode(halo, path)[0]["ll"]["name"] == "ADV_IND"


def test_a_wrong_length_is_damage_and_a_cut_packet_is_not(halo, tmp_path):
    packets = session.session()
    for kind, header in ((LINK_LAYER, 0), (WITH_HEADER, 10), (NORDIC, 17), (PPI, 24)):
        for length in [header, header + 4, header + 6, header + 9, header + 15]:
            path = air.pcapng(tmp_path / "cut.pcapng", kind, packets, snap=length)
            records = decode(halo, path)
            assert len(records) == len(packets)
            good = [one for one, packet in zip(records, packets, strict=True) if not packet.bad_crc]
            assert not [one for one in good if "problem" in one["ll"]], length
            assert all(one["original_length"] == len(packet.bytes)
                       for one, packet in zip(records, packets, strict=True) if len(packet.bytes) > length - header)
    # An ATT opcode of a cut PDU is there.
    assert [one for one in records if one.get("att", {}).get("opcode") == 0x1B]
    for change in (-1, 1):
        one = packets[0]
        wrong = replace(one, pdu=bytes([one.pdu[0], one.pdu[1] + change]) + one.pdu[2:])
        record = decode(halo, air.pcap(tmp_path / "wrong.pcap", WITH_HEADER, [wrong]))[0]
        assert "bytes should follow the header" in record["ll"]["problem"]


def test_packets_on_le_coded(halo, tmp_path):
    """With a coding indicator behind the access address."""
    packets = [replace(one, phy=air.LE_CODED) for one in session.session()]
    for kind in (WITH_HEADER, NORDIC):
        path = air.pcap(tmp_path / "coded.pcap", kind, packets)
        assert not [difference[:4] for difference in air_check.differences(path)]
        records = decode(halo, path)
        assert {one["ll"]["phy"] for one in records} == {"LE Coded"}
        assert {one["ll"]["crc"] for one in records} == {"right", "wrong"}


def test_the_crc_is_computed(halo, tmp_path):
    """Of advertising and of connections whose beginning is there, where no sniffer says it."""
    packets = session.session()
    records = decode(halo, air.pcap(tmp_path / "session.pcap", LINK_LAYER, packets))
    for packet, one in zip(packets, ll(records), strict=True):
        expected = None if packet.address == session.UNKNOWN else "wrong" if packet.bad_crc else "right"
        assert one["crc"] == expected, packet


def test_the_summary_of_a_connection(halo, tmp_path):
    packets = session.session()
    path = air.pcap(tmp_path / "session.pcap", NORDIC, packets)
    lines = halo.run("decode", path, "--summary", "--format", "jsonl").succeeded().records()
    links = [one for one in lines if one["kind"] == "air_connection"]
    assert [one["access_address"] for one in links] == [session.SECOND, session.CONNECTION, session.UNKNOWN]
    link, own = links[1], [one for one in packets if one.address == session.CONNECTION]
    assert (link["central"], link["peripheral"], link["peripheral_name"]) == (session.PHONE, session.RING, "R02_BEEF")
    assert link["interval"] == 0.03 and link["events"] == len({one.event for one in own})
    for side in ("central", "peripheral"):
        good = [one for one in own if one.sender == side and not one.bad_crc]
        assert link[f"{side}_packets"] == len(good)
        assert link[f"{side}_empty"] == sum(one.pdu[1] == 0 for one in good)
    assert link["peripheral_retransmissions"] == 2 and link["central_retransmissions"] == 3
    assert link["wrong_crc"] == 1 and link["encrypted"] == 6 and link["mtu"] == 247
    assert link["reason"] == "Remote User Terminated Connection (0x13)"
    assert [one["text"] for one in link["changes"]][:2] == [
        "interval 30 ms, latency 0, timeout 720 ms", "interval 50 ms, latency 0, timeout 720 ms"]
    devices = {one["address"]: one for one in lines if one["kind"] == "device"}
    assert devices[session.RING]["name"] == "R02_BEEF" and devices[session.RING]["rssi"] == -50
    assert session.OTHER in devices and "C0:11:22:33:A1:B3" not in devices
    text = halo.run("decode", path, "--summary").succeeded().out
    assert f"\n{session.RING} \"R02_BEEF\", 6 reports" in text and f"\n  0x50655bda from {session.PHONE}, " in text
    assert "\n  attributes\n" in text and "Heart Rate Measurement" in text


def test_filters_and_layers(halo, tmp_path):
    path = air.pcap(tmp_path / "session.pcap", NORDIC, session.session())
    everything = decode(halo, path)
    assert decode(halo, path, "--layer", "ll") == everything
    assert decode(halo, path, "--layer", "att") == [one for one in everything if "att" in one]
    link = [one for one in everything if one["ll"]["access_address"] == session.CONNECTION]
    assert decode(halo, path, "--filter", "link=0x50655bda") == link
    named = decode(halo, path, "--filter", "peer=r02")
    assert [one for one in named if one["ll"]["access_address"] == session.CONNECTION] == link
    about = decode(halo, path, "--filter", f"address={session.OTHER}")
    assert [one["ll"]["name"] for one in about] == ["SCAN_REQ", "ADV_NONCONN_IND", "AUX_SCAN_REQ"]


def test_lines_and_fields(halo, tmp_path):
    path = air.pcap(tmp_path / "session.pcap", NORDIC, session.session())
    lines = halo.run("decode", path).succeeded().out.splitlines()
    assert f"ADV_IND from {session.RING} (random) \"R02_BEEF\", 13 bytes, channel 37, -50 dBm" in lines[0]
    empty = next(line for line in lines if "  empty, event 0, channel 7" in line)
    assert empty.endswith(f"[0x50655bda {session.PHONE} {session.RING} R02_BEEF]") and "->" in empty
    block = halo.run("decode", path, "-v", "--filter", "packet=20..22").succeeded().out
    for text in ("RSSI", "-50 dBm", "LLID 1, NESN 0, SN 0, MD 0", "from the central", "Vol 6, Part B, 2.4", ", right"):
        assert text in block


def test_an_html_report(halo, tmp_path):
    path = air.pcap(tmp_path / "session.pcap", NORDIC, session.session())
    halo.run("decode", path, "--html", tmp_path / "report.html").succeeded()
    page = (tmp_path / "report.html").read_text()
    assert "LL_CONNECTION_UPDATE_IND" in page and f"0x50655bda from {session.PHONE}, " in page


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", [[], ["--level", "hci"], ["--level", "att"]])
def test_a_replay_is_refused(kind, level, halo, tmp_path):
    path = air.pcap(tmp_path / "session.pcap", KINDS[kind], session.session())
    halo.run("replay", *level, path, "battery").failed(
        BAD_DATA, saying="can't be replayed: a sniffer has received it on the air")


def test_other_packets_with_ppi(halo, tmp_path):
    path = air.pcap(tmp_path / "other.pcap", PPI, session.advertisements())
    data = path.read_bytes().replace(b"\x93\x00\x00\x00\x36\x75", b"\x69\x00\x00\x00\x36\x75")
    path.write_bytes(data)
    halo.run("decode", path).failed(BAD_DATA, saying="link type 192 (PPI)")


def test_records_are_json(halo, tmp_path):
    out = halo.run("decode", air.pcap(tmp_path / "a.pcap", NORDIC, session.session()), "--format", "jsonl").succeeded().out
    for line in out.splitlines():
        json.loads(line)
