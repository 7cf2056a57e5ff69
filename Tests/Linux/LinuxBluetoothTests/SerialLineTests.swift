import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// A controller on a serial line: a pseudo-terminal stands for it, pty(7), whose other end shows how the line is set up.
@BluetoothActor
@Suite(.onTheLoop) struct SerialLineTests {
  private let controller: Int32
  private let path: String

  init() throws {
    controller = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
    var number: UInt32 = 0
    var isLocked: Int32 = 0
    // TIOCGPTN and TIOCSPTLCK, ioctl_tty(2).
    try #require(
      ioctl(controller, 0x8004_5430, &number) == 0 && ioctl(controller, 0x4004_5431, &isLocked) == 0)
    path = "/dev/pts/\(number)"
  }

  private var settings: termios {
    var settings = termios()
    tcgetattr(controller, &settings)
    return settings
  }

  private func read() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = Glibc.read(controller, &buffer, buffer.count)
    return Array(buffer.prefix(max(0, count)))
  }

  /// Waits until there is something to read: a thread of the kernel carries bytes from one end to the other.
  private func waitForBytes(at descriptor: Int32) async {
    await offTheLoop {
      var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = Glibc.poll(&poll, 1, 30_000)
    }
  }

  /// Every speed of termios(3) from 9600 on that controllers use.
  private nonisolated static let speeds: [(baud: Int, speed: Int32)] = [
    (9600, B9600), (19200, B19200), (38400, B38400), (57600, B57600), (115_200, B115200), (230_400, B230400),
    (460_800, B460800), (500_000, B500000), (921_600, B921600), (1_000_000, B1000000), (1_500_000, B1500000),
    (2_000_000, B2000000), (3_000_000, B3000000), (4_000_000, B4000000),
  ]

  @Test(arguments: speeds) func aLineHasItsSpeed(_ baud: Int, _ speed: Int32) throws {
    let line = try HCIStreamTransport.serial(path: path, baud: baud)
    var settings = self.settings
    #expect(cfgetospeed(&settings) == speed_t(speed) && cfgetispeed(&settings) == speed_t(speed))
    #expect(line.name == "serial:\(path)")
    line.close()
    close(controller)
  }

  /// 8 bits, one stop bit, no parity, flow control by RTS and CTS, and bytes as they are.
  @Test func aLineIsRaw() throws {
    var before = settings
    before.c_cflag |= tcflag_t(CSTOPB)
    before.c_cflag &= ~tcflag_t(CRTSCTS | UInt32(CLOCAL))
    before.c_lflag |= tcflag_t(ICANON | ECHO)
    tcsetattr(controller, TCSANOW, &before)
    let line = try HCIStreamTransport.serial(path: path)
    let after = settings
    #expect(
      after.c_cflag & tcflag_t(CSTOPB | PARENB) == 0 && after.c_cflag & tcflag_t(CSIZE) == tcflag_t(CS8))
    #expect(after.c_cflag & tcflag_t(CLOCAL) != 0 && after.c_cflag & tcflag_t(CREAD) != 0)
    #expect(after.c_cflag & tcflag_t(CRTSCTS) != 0)
    #expect(
      after.c_lflag & tcflag_t(ICANON | ECHO | ISIG | IEXTEN) == 0 && after.c_oflag & tcflag_t(OPOST) == 0)
    #expect(after.c_iflag & tcflag_t(IXON | ICRNL | ISTRIP) == 0)
    line.close()
    close(controller)
  }

  /// What waited on the line is not a controller's answer; what comes afterwards is.
  @Test func packetsGoBothWays() async throws {
    let other = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK)
    var raw = settings
    cfmakeraw(&raw)
    tcsetattr(controller, TCSANOW, &raw)
    let stale = hex("040e0401030c00")
    #expect(write(controller, stale, stale.count) == stale.count)
    await waitForBytes(at: other)
    let line = try HCIStreamTransport.serial(path: path)
    var packets: [String] = []
    line.onPacket = { packet, _ in packets.append(Hex.string(Array(packet))) }
    let answer = hex("040e0401011000")
    #expect(write(controller, answer, answer.count) == answer.count)
    await waitForBytes(at: other)
    line.start()
    for _ in 0..<100 where packets.isEmpty { await settle() }
    #expect(packets == ["040e0401011000"])
    line.send(hex("01030c00").span.bytes)
    await waitForBytes(at: controller)
    #expect(read() == hex("01030c00"))
    line.close()
    close(other)
    close(controller)
  }

  @Test func otherSpeedsAndFilesAreRefused() throws {
    let known =
      "9600, 19200, 38400, 57600, 115200, 230400, 460800, 500000, 921600, 1000000, 1500000, 2000000, 3000000, 4000000"
    #expect(
      throws: StackError.cannotOpen(
        "serial:\(path)@9601", "9601 baud is not a speed of serial lines; known are \(known)")
    ) { try HCIStreamTransport.serial(path: path, baud: 9601) }
    #expect(throws: StackError.cannotOpen("serial:/dev/null@115200", "not a serial line")) {
      try HCIStreamTransport.serial(path: "/dev/null")
    }
    #expect(HCIStreamTransport.defaultBaudRate == 115_200)
    close(controller)
  }
}
