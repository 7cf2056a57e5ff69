"""A picture of pairing, from captures/bumble-pairing.btsnoop: what is said in each phase, and who computes what."""

from built import ROOT
from pictures_packets import decoded
from svg import Picture

PAIRING = ROOT / "captures/bumble-pairing.btsnoop"
# The phases of Vol 3, Part H, 2.1, each with the PDU or command that begins it.
PHASES = {
    "Read Request": ("a value that is protected", "blue"),
    "Pairing Request": ("phase 1: what both can do", "purple"),
    "Pairing Public Key": ("phase 2: a common secret, and proof", "purple"),
    "LE Enable Encryption": ("encryption: the link layers", "green"),
    "Identity Information": ("phase 3: keys for later", "purple"),
}
# What the two devices do before they send a PDU for the last time.
WORK = {
    "Pairing Public Key": "both compute the same secret, each with its own private key",
    "Pairing Random": "both show six digits, and their users compare them",
    "Pairing DHKey Check": "both have the same LTK: no key was sent",
}
ERRORS = {0x05: "Insufficient Authentication", 0x0A: "Attribute Not Found"}


def steps() -> list[tuple[float, str, bool, str]]:
    """(seconds, name, whether the central sends it, its text) from the refused read to the one that succeeds."""
    records = decoded(PAIRING)
    found = []
    for record in records:
        hci, is_sent = record["hci"], record["direction"] == "sent"
        if "smp" in record:
            name = text = record["smp"]["name"]
        elif "att" in record and record["att"]["opcode"] in (0x0A, 0x0B) or record.get("att", {}).get("error"):
            name = record["att"]["name"]
            text = name if name != "Error Response" else f"{name}: {ERRORS[record['att']['error']]}"
        elif hci.get("name") in ("LE Enable Encryption", "Encryption Change"):
            name = text = hci["name"]
        else:
            continue
        found.append((record["time"] - records[0]["time"], name, is_sent, text))
    first = next(index for index, one in enumerate(found) if one[1] == "Read Request")
    last = next(index for index, one in enumerate(found) if one[1] == "Read Response")
    return found[first:last + 1]


def pairing() -> Picture:
    picture = Picture(760, "Pairing with LE Secure Connections: a read is refused, the devices pair, the read succeeds")
    picture.text(20, 26, "Pairing", "strong")
    picture.text(90, 26, "captures/bumble-pairing.btsnoop; seconds on the left", "dim")
    left, right = 290, 660
    for who, x in (("central", left), ("thermometer", right)):
        picture.labelled(x - 60, 42, 120, 26, who, "plain", "strong")
    y, phase, lines, shown = 92, None, [], steps()
    for index, (time, name, is_sent, text) in enumerate(shown):
        if name in PHASES and PHASES[name][0] != phase:
            phase, colour = PHASES[name]
            y += 10
            picture.text(20, y, phase, "small", "strong")
            y += 25
        x1, x2 = (left, right) if is_sent else (right, left)
        # Commands and events are between the central's host and its controller.
        if name in ("LE Enable Encryption", "Encryption Change"):
            x1, x2 = (left, left + 130) if is_sent else (left + 130, left)
            picture.text(left + 140, y + 3, text, "small")
        else:
            picture.text((x1 + x2) / 2, y - 5, text, "small", "over", anchor="middle")
        picture.text(20, y + 3, f"{time:.3f}", "small", "mono", "dim")
        picture.line(x1, y, x2, y, colour, end=True)
        y += 22
        if name in WORK and name not in (one[1] for one in shown[index + 1:]):
            lines.append((y - 4, WORK[name]))
            y += 25
        if name == "LE Enable Encryption":
            lines.append((y - 4, "on the air: LL_ENC_REQ, LL_ENC_RSP, LL_START_ENC_REQ, LL_START_ENC_RSP"))
            y += 25
    for x in (left, right):
        picture.parts.insert(0, f'<line class="line" x1="{x}" y1="68" x2="{x}" y2="{y}"/>')
    for at, text in lines:
        picture.text((left + right) / 2, at + 3, text, "small", "dim", "over", anchor="middle")
    picture.extend(y)
    return picture
