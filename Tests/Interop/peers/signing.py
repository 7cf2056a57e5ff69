"""Signed writes for devices on Bumble, which only hands keys out: the signatures are those of the package cryptography."""

from bumble import smp
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.cmac import CMAC

SIGNED_WRITE = 0xD2
SIGNATURE = 12
KEYS = smp.KeyDistribution.ENC_KEY | smp.KeyDistribution.ID_KEY
KEYS_AND_SIGNATURES = KEYS | smp.KeyDistribution.SIGN_KEY


def signature(key: bytes, message: bytes, counter: int) -> bytes:
    """Core Specification Vol 3, Part H, 2.4.5; all of it in the order of the wire, the least significant byte first."""
    number = counter.to_bytes(4, "little")
    cmac = CMAC(AES(key[::-1]))
    cmac.update((message + number)[::-1])
    return number + cmac.finalize()[:8][::-1]


def signed_write(key: bytes, handle: int, value: bytes, counter: int) -> bytes:
    message = bytes([SIGNED_WRITE]) + handle.to_bytes(2, "little") + value
    return message + signature(key, message, counter)


def read_signed_write(key: bytes, pdu: bytes) -> dict:
    """What a server makes of one, without a look at the counters before."""
    message, counter = pdu[:-SIGNATURE], int.from_bytes(pdu[-SIGNATURE:-8], "little")
    return {
        "handle": int.from_bytes(message[1:3], "little"), "value": message[3:].hex(), "counter": counter,
        "right": pdu[-SIGNATURE:] == signature(key, message, counter)}


def give_key(key: bytes):
    """Lets Bumble hand out this key of its signatures, in place of zeros."""
    send = smp.Session.send_command

    def send_command(session, command):
        if isinstance(command, smp.SMP_Signing_Information_Command):
            command = smp.SMP_Signing_Information_Command(signature_key=key)
        send(session, command)

    smp.Session.send_command = send_command


async def peers_key(device) -> bytes | None:
    """The key of the signatures of the device that was paired with last."""
    bonds = await device.keystore.get_all()
    return bonds[-1][1].csrk and bonds[-1][1].csrk.value if bonds else None


assert signed_write(
    bytes.fromhex("505e42df9691ec72d31fcdfbeb641b61"), 0x12, b"\x13\x37", 1).hex() == "d21200133701000000f1871e933c900ff2"
