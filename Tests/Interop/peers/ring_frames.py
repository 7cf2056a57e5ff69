"""The ring's 16-byte frames, and the UUIDs that the interop tests share."""

COMMAND_SERVICE = "6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E"
COMMAND_RX = "6E400002-B5A3-F393-E0A9-E50E24DCCA9E"
COMMAND_TX = "6E400003-B5A3-F393-E0A9-E50E24DCCA9E"
BULK_SERVICE = "DE5BF728-D711-4E47-AF26-65E3012A5DC7"
BULK_WRITE = "DE5BF72A-D711-4E47-AF26-65E3012A5DC7"
BULK_NOTIFY = "DE5BF729-D711-4E47-AF26-65E3012A5DC7"

BATTERY = 0x03
POWER = 0x08
MEASURE_START, MEASURE_STOP = 0x69, 0x6A
HEART_RATE, SPO2 = 1, 3  # what is measured
GREEN_STREAM, RED_STREAM = 13, 14
END_CONTINUOUS = b"\x06\x04"
RAW_SENSOR = 0xA1
RAW_STOP_MODE, RAW_START, RAW_STOP = 0x02, 0x04, 0x05  # sub-commands to the ring
RAW_SPO2, RAW_PPG, RAW_ACCELERATION, RAW_REFUSED = 0x01, 0x02, 0x03, 0xFF  # from the ring
ERROR_FLAG, NOT_SUPPORTED = 0x80, 0xEE


def frame(command: int, payload: bytes = b"") -> bytes:
    """Pads the payload to 14 bytes and appends the checksum."""
    if len(payload) > 14:
        raise ValueError(f"{len(payload)} bytes of payload do not fit into a frame")
    body = bytes([command]) + payload.ljust(14, b"\0")
    return body + bytes([checksum(body)])


def checksum(body: bytes) -> int:
    return sum(body) % 256


def is_valid(value: bytes) -> bool:
    return len(value) == 16 and value[15] == checksum(value[:15])
