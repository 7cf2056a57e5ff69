"""Peers that misbehave on ATT. Bumble's server answers, unless the behaviour that was asked for has another answer to a PDU.
"""

from bumble.att import ATT_CID

ERROR, MTU_REQUEST, MTU_RESPONSE = 0x01, 0x02, 0x03
FIND_BY_VALUE, FIND_BY_VALUE_RESPONSE = 0x06, 0x07
READ_BY_TYPE, READ_BY_TYPE_RESPONSE = 0x08, 0x09
READ_BY_GROUP, READ_BY_GROUP_RESPONSE = 0x10, 0x11
READ, READ_RESPONSE = 0x0A, 0x0B
NOTIFICATION, INDICATION = 0x1B, 0x1D
REQUESTS = {0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x16, 0x18}
FLOOD = 700


class Peer:
    """One connection. A behaviour sees each request, and says True if Bumble is not to answer it."""

    def __init__(self, device, connection, spawn):
        self.device, self.connection, self.spawn, self.requests = device, connection, spawn, 0

    def send(self, pdu):
        self.device.host.send_l2cap_pdu(self.connection.handle, ATT_CID, bytes(pdu))

    def leave(self):
        self.spawn(self.connection.disconnect())


def silent(peer, pdu):
    """Answers nothing at all."""
    return True


def other_opcodes(peer, pdu):
    """Answers with what was not asked for."""
    peer.send([READ_RESPONSE if pdu[0] != READ else READ_BY_TYPE_RESPONSE, 1, 2, 3])
    return pdu[0] != MTU_REQUEST


def cut(peer, pdu):
    """Answers of one byte."""
    peer.send([pdu[0] + 1])
    return True


def false_lengths(peer, pdu):
    """Lists whose entries have no length, or a larger one than there is."""
    if pdu[0] in (READ_BY_GROUP, READ_BY_TYPE):
        peer.send([pdu[0] + 1, 0 if peer.requests % 2 else 200, 1, 0, 2, 0])
    elif pdu[0] == FIND_BY_VALUE:
        peer.send([FIND_BY_VALUE_RESPONSE, 1, 0, 0xFF])
    else:
        return False
    return True


def standstill(peer, pdu):
    """Discovery that does not come forward: the same attributes, whatever the range."""
    if pdu[0] == READ_BY_GROUP:
        peer.send([READ_BY_GROUP_RESPONSE, 6, 1, 0, 1, 0, 0x0A, 0x18])
    elif pdu[0] == FIND_BY_VALUE:
        peer.send([FIND_BY_VALUE_RESPONSE, 1, 0, 1, 0])
    elif pdu[0] == READ_BY_TYPE:
        peer.send([READ_BY_TYPE_RESPONSE, 7, 1, 0, 2, 1, 0, 0x29, 0x2A])
    else:
        return False
    return True


def unasked(peer, pdu):
    """Each answer three times, and some that nothing has asked for."""
    for _ in range(3):
        peer.send([READ_RESPONSE, 0xFF])
        peer.send([ERROR, READ, 1, 0, 0x0A])
    return False


def notifications(peer, pdu):
    """A flood of values of attributes that were never discovered, with the first request."""
    if peer.requests == 1:
        for number in range(FLOOD):
            peer.send([NOTIFICATION, number % 256, number // 256, 1, 2, 3])
    return False


def requests(peer, pdu):
    """A flood of requests, with the first of ours."""
    if peer.requests == 1:
        for _ in range(FLOOD):
            peer.send([READ_BY_GROUP, 1, 0, 0xFF, 0xFF, 0x00, 0x28])
    return False


def changes(peer, pdu):
    """Service Changed again and again, for all handles and for ranges that are none."""
    if peer.requests <= 20:
        for start, end in ((1, 0xFFFF), (0xFFFF, 1), (0, 0)):
            peer.send([INDICATION, 3, 0, *start.to_bytes(2, "little"), *end.to_bytes(2, "little")])
    return False


def no_mtu(peer, pdu):
    """An MTU of 0, which is below the least."""
    if pdu[0] == MTU_REQUEST:
        peer.send([MTU_RESPONSE, 0, 0])
    return pdu[0] == MTU_REQUEST


def huge_mtu(peer, pdu):
    """An MTU of 65535, and then a PDU that is longer than any may be."""
    if pdu[0] == MTU_REQUEST:
        peer.send([MTU_RESPONSE, 0xFF, 0xFF])
        peer.send([NOTIFICATION, 1, 0, *bytes(700)])
    return pdu[0] == MTU_REQUEST


def leaves(count):
    def behaviour(peer, pdu):
        if peer.requests == count:
            peer.leave()
        return peer.requests >= count
    behaviour.__doc__ = f"Ends the link in place of answer {count}."
    return behaviour


BEHAVIOURS = {
    function.__name__: function for function in (
        silent, other_opcodes, cut, false_lengths, standstill, unasked, notifications, requests, changes, no_mtu,
        huge_mtu)
} | {f"leaves {count}": leaves(count) for count in (1, 2, 5)}


def misbehave(name, device, connection, spawn):
    """From now on, requests on the connection are answered by a behaviour. `spawn` runs what it starts."""
    behaviour = BEHAVIOURS[name]
    peer = Peer(device, connection, spawn)

    def on_pdu(handle, pdu):
        if pdu[0] in REQUESTS:
            peer.requests += 1
            if behaviour(peer, pdu):
                return
        device.on_gatt_pdu(handle, pdu)

    device.l2cap_channel_manager.register_fixed_channel(ATT_CID, on_pdu)
