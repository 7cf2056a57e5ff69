"""Pictures of parts: host, controller and ring, and which of them a capture has; the sockets of the kernel and their users."""

from svg import Picture

# The layers of the host, with the module of each.
LAYERS = [
    ("the ring's protocol", "RingLink", "green"), ("GATT", "GATTClient", "blue"), ("ATT", "ATT", "blue"),
    ("L2CAP", "L2CAP", "yellow"), ("HCI", "HCI", "plain")]


def parts() -> Picture:
    picture = Picture(760, "Program, controller, the air and the ring, and what each kind of capture has")
    picture.heading("Host, controller and ring")
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
    picture.text(20, 306, "What a capture has", "strong")
    for level, (x1, x2, text) in enumerate((
            (362, 573, "a sniffer: the link layer, and all above it unless it is encrypted"),
            (242, 286, "btsnoop, btmon, a phone's log: HCI, and all above it"))):
        y = 324 + 44 * level
        for x in (x1, x2):
            picture.line(x, 262, x, y, dashed=True)
        picture.line(x1, y, x2, y, end=True, start=True)
        picture.text(x1, y + 18, text, "small")
    return picture


# The sockets of the kernel for Bluetooth: each with its color, who uses it, and the part of the kernel behind it.
SOCKETS = [
    ("monitor", "purple", ["btmon", "record", "--record"], "copies"),
    ("raw", "plain", ["hci0: scans", "hcitool"], "HCI"),
    ("L2CAP, CID 4", "yellow", ["hci0: links", "bluetoothd"], "L2CAP"),
    ("control", "blue", ["adapters, doctor", "bluetoothd"], "management"),
    ("logging", "plain", ["bluetoothd"], "lines of text"),
    ("user", "green", ["user:hci0"], ""),
]


def sockets() -> Picture:
    picture = Picture(760, "The sockets of the kernel for Bluetooth, the programs that use them, and what is behind each")
    picture.heading("The sockets of the kernel", "Each column is a kind of socket; the programs that use it are above it.")
    left, width, gap = 20, 106, 8
    picture.box(left - 8, 136, 5 * (width + gap) + 8, 172, round=8)
    picture.text(left + 2, 297, "the kernel's Bluetooth", "strong")
    for column, (name, colour, users, behind) in enumerate(SOCKETS):
        x = left + column * (width + gap) if behind else 640
        for row, user in enumerate(reversed(users)):
            picture.text(x + width / 2, 104 - 17 * row, user, "small", anchor="middle")
        picture.line(x + width / 2, 112, x + width / 2, 148, end=True, start=True)
        picture.labelled(x, 150, width, 28, name, colour, "strong")
        if behind:
            picture.line(x + width / 2, 178, x + width / 2, 216, dashed=True)
            picture.labelled(x, 218, width, 28, behind, "plain", "small")
    x = 640 + width / 2
    picture.line(x, 178, x, 330, "green", end=True, start=True)
    picture.text(x - 6, 250, "HCI packets", "small", "dim", anchor="end")
    picture.line(left + 2.5 * (width + gap), 308, left + 2.5 * (width + gap), 330, end=True, start=True)
    picture.labelled(left - 8, 332, 734, 28, "driver: USB, UART, SDIO", "plain")
    picture.line(380, 360, 380, 382, end=True, start=True)
    picture.labelled(330, 384, 100, 28, "controller", "purple")
    picture.text(20, 436, "While a program has the user channel, the kernel's Bluetooth does not use the adapter.", "dim")
    return picture
