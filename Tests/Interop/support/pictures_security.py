"""Pictures of pairing: what is sent in each phase of captures/bumble-pairing.btsnoop, and how the model is chosen."""

from built import ROOT
from pictures_packets import decoded
from sequence import Sequence
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
    "Pairing Public Key": ["both compute the same secret, each with its own private key"],
    "Pairing Random": ["both show six digits, and their users compare them"],
    "Pairing DHKey Check": ["both have the same LTK: no key was sent"],
    "LE Enable Encryption": [
        "on the air: LL_ENC_REQ, LL_ENC_RSP, then", "LL_START_ENC_REQ, LL_START_ENC_RSP, LL_START_ENC_RSP"],
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
    picture = Sequence(
        "Pairing with LE Secure Connections: a read is refused, the devices pair, the read succeeds", "Pairing",
        "captures/bumble-pairing.btsnoop; seconds on the left", {"central": 290, "thermometer": 660})
    picture.columns["controller"] = picture.columns["central"] + 200
    phase, shown = None, steps()
    for index, (time, name, is_sent, text) in enumerate(shown):
        if name in PHASES and PHASES[name][0] != phase:
            phase, colour = PHASES[name]
            picture.part(phase)
        # Commands and events are between the central's host and its controller.
        ends = ("central", "controller" if name in ("LE Enable Encryption", "Encryption Change") else "thermometer")
        picture.arrow(*(ends if is_sent else reversed(ends)), text, colour, time=time)
        if name not in (one[1] for one in shown[index + 1:]):
            for line in WORK.get(name, ()):
                picture.note(line, "central", "thermometer")
    del picture.columns["controller"]
    return picture


# The association model by what both devices have sent (Vol 3, Part H, 2.3.5.1): a question, and the answer that leads to a
# model; the other answer leads to the next question, and after the last one to Just Works.
QUESTIONS = [
    (["Has a device received out-of-band data", "of the other? (legacy pairing: have both?)"], "yes", "Out of Band"),
    (["Has at least one of them asked for", "MITM protection?"], "no", "Just Works"),
    (["LE Secure Connections, and can both", "show a number and take a yes or a no?"], "yes", "Numeric Comparison"),
    (["Has one a keyboard, and the other", "a keyboard or a display?"], "yes", "Passkey Entry"),
]
# What each model proves.
PROOF = {
    "Just Works": "does not prove who is at the other end", "Numeric Comparison": "the users compare six digits",
    "Passkey Entry": "a user types six digits", "Out of Band": "as safe as the other way is"}


def association() -> Picture:
    picture = Picture(
        760, "The association model as a decision: out-of-band data, MITM protection, and the IO capabilities of both")
    picture.heading("Which association model?", "Both devices decide by the Pairing Request and the Pairing Response.")
    left, width, y = 40, 300, 48

    def model(x: float, y: float, width: float, name: str) -> None:
        picture.box(x, y, width, 48, "yellow" if name == "Just Works" else "green")
        picture.text(x + width / 2, y + 20, name, "strong", anchor="middle")
        picture.text(x + width / 2, y + 37, PROOF[name], "small", anchor="middle")

    for question, answer, name in QUESTIONS:
        picture.box(left, y, width, 48, "purple", round=10)
        for line, text in enumerate(question):
            picture.text(left + width / 2, y + 20 + 17 * line, text, anchor="middle")
        picture.line(left + width, y + 24, 460, y + 24, end=True)
        picture.text((left + width + 460) / 2, y + 18, answer, "small", "dim", anchor="middle")
        model(462, y, 270, name)
        picture.line(left + width / 2, y + 48, left + width / 2, y + 84, end=True)
        picture.text(left + width / 2 + 8, y + 70, "no" if answer == "yes" else "yes", "small", "dim")
        y += 86
    model(left, y, width, "Just Works")
    return picture
