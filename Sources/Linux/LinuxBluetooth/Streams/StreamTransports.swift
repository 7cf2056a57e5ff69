import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem

extension HCIStreamTransport {
  /// Connects to a controller over TCP: see `StreamSocket.tcp(host:port:deadline:)`.
  package static func tcp(
    host: String, port: UInt16, deadline: Duration = .seconds(10)
  ) async throws(StackError) -> HCIStreamTransport {
    let opener: Opener = { time throws(StackError) in
      try await StreamSocket.tcp(host: host, port: port, deadline: time)
    }
    return HCIStreamTransport("tcp:\(host):\(port)", try await opener(deadline), opener: opener)
  }

  /// Connects to a controller over a Unix domain socket: see `StreamSocket.unix(path:deadline:)`.
  package static func unix(
    path: String, deadline: Duration = .seconds(10)
  ) async throws(StackError) -> HCIStreamTransport {
    let opener: Opener = { time throws(StackError) in
      try await StreamSocket.unix(path: path, deadline: time)
    }
    return HCIStreamTransport("unix:\(path)", try await opener(deadline), opener: opener)
  }

  /// The handler of a `StreamListener` that offers a controller to hosts.
  ///
  /// - Parameters:
  ///   - timers: the clock of the transports
  ///   - accept: called with the transport to each host, which has not been started
  package static func ofHosts(
    timers: Timers = EpollLoop.shared.timers, _ accept: @escaping (HCIStreamTransport) -> Void
  ) -> (Int32) -> Void {
    { accept(HCIStreamTransport(descriptor: $0, accepting: H4Framer.fromHost, timers: timers)) }
  }

  /// The speed of most controllers on a UART after power-on.
  package nonisolated static let defaultBaudRate = 115_200

  /// Opens a controller on a serial line: 8 bits, no parity, RTS/CTS flow control (Core Specification Vol 4,
  /// Part A, 3).
  ///
  /// - Parameters:
  ///   - path: the device file: /dev/ttyAMA0
  ///   - baud: a speed that the kernel supports
  package static func serial(
    path: String, baud: Int = defaultBaudRate
  ) throws(StackError) -> HCIStreamTransport {
    HCIStreamTransport("serial:\(path)", try open(path, baud)) { _ throws(StackError) in
      try open(path, baud)
    }
  }

  private static func open(_ path: String, _ baud: Int) throws(StackError) -> Int32 {
    let target = "serial:\(path)@\(baud)"
    guard let speed = speeds[baud] else {
      let known = speeds.keys.sorted().map(String.init).joined(separator: ", ")
      throw StackError.cannotOpen(target, "\(baud) baud is not a speed of serial lines; known are \(known)")
    }
    let descriptor = SystemCall.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw StackError.cannotOpen(
        target,
        errno == EACCES
          ? "permission denied; add yourself to the group that owns it (dialout)" : SystemError.text(errno))
    }
    var settings = termios()
    guard tcgetattr(descriptor, &settings) == 0 else {
      Glibc.close(descriptor)
      throw StackError.cannotOpen(target, "not a serial line")
    }
    cfmakeraw(&settings)
    settings.c_cflag &= ~tcflag_t(CSTOPB | PARENB)
    settings.c_cflag |= tcflag_t(CLOCAL | CREAD) | tcflag_t(CRTSCTS)
    cfsetispeed(&settings, speed)
    cfsetospeed(&settings, speed)
    guard tcsetattr(descriptor, TCSANOW, &settings) == 0 else {
      let reason = SystemError.last("tcsetattr").description
      Glibc.close(descriptor)
      throw StackError.cannotOpen(target, reason)
    }
    tcflush(descriptor, TCIOFLUSH)
    return descriptor
  }

  private static let speeds: [Int: speed_t] = [
    9600: speed_t(B9600), 19200: speed_t(B19200), 38400: speed_t(B38400), 57600: speed_t(B57600),
    115_200: speed_t(B115200), 230_400: speed_t(B230400), 460_800: speed_t(B460800),
    500_000: speed_t(B500000), 921_600: speed_t(B921600), 1_000_000: speed_t(B1000000),
    1_500_000: speed_t(B1500000), 2_000_000: speed_t(B2000000), 3_000_000: speed_t(B3000000),
    4_000_000: speed_t(B4000000),
  ]
}
