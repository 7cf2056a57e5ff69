"""A picture of the parts: who talks to whom, and which of them a capture sees."""

from svg import Picture

# The layers of the host, with the module of each.
LAYERS = [
    ("the ring's protocol", "RingLink", "green"), ("GATT", "GATTClient", "blue"), ("ATT", "ATT", "blue"),
    ("L2CAP", "L2CAP", "yellow"), ("HCI", "HCI", "plain")]


def parts() -> Picture:
    picture = Picture(760, "Who talks to whom: program, controller, the air and the ring, and what each kind of capture sees")
    picture.heading("Who talks to whom")
    for x, title in ((20, "a computer"), (560, "a ring")):
        picture.box(x, 44, 180 if x == 560 else 354, 236, round=8)
        picture.text(x + 12, 64, title, "strong")
    picture.text(36, 88, "host: this program, and the module of each layer", "small", "dim")
    for row, (layer, module, colour) in enumerate(LAYERS):
        y = 96 + 34 * row
        picture.box(32, y, 210, 28, colour)
        picture.text(40, y + 18.5, layer)
        picture.text(234, y + 18.5, module, "small", "mono", "dim", anchor="end")
    picture.labelled(286, 232, 76, 28, "controller", "purple")
    picture.line(242, 246, 284, 246, end=True, start=True)
    picture.labelled(575, 96, 150, 28, "measurements", "green")
    picture.labelled(575, 130, 150, 62, "host: GATT server", "blue")
    picture.labelled(575, 232, 80, 28, "controller", "purple")
    picture.line(615, 192, 615, 230, end=True, start=True)
    picture.line(362, 246, 573, 246, "purple", dashed=True, end=True, start=True)
    picture.text(460, 238, "the air, 2.4 GHz", "small", "dim", anchor="middle")
    picture.text(20, 306, "What a capture sees", "strong")
    for level, (x1, x2, text) in enumerate((
            (362, 573, "a sniffer: the link layer, and all above it unless it is encrypted"),
            (242, 286, "btsnoop, btmon, a phone's log: HCI, and all above it"))):
        y = 324 + 44 * level
        for x in (x1, x2):
            picture.line(x, 262, x, y, dashed=True)
        picture.line(x1, y, x2, y, end=True, start=True)
        picture.text(x1, y + 18, text, "small")
    return picture
