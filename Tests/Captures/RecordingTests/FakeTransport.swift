import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport

/// A transport whose controller a test plays, bytes on purpose: each command is answered with success, and all else is what
/// the test sends.
@BluetoothActor
final class FakeTransport: HCITransport {
  let timers = testTimers
  var onPacket: ((RawSpan, Arrival) -> Void)?
  var onClose: ((String) -> Void)?
  private(set) var sent: [String] = []
  private(set) var isStarted = false
  private(set) var isClosed = false

  func start() { isStarted = true }
  func close() { isClosed = true }

  func send(_ packet: RawSpan) {
    sent.append(Hex.string(Array(packet)))
    guard let low = packet.byte(at: 1), let high = packet.byte(at: 2) else { return }
    timers.schedule(after: .milliseconds(1)) { [weak self] in
      self?.receive("040e0401" + Hex.string([low, high]) + "00")
    }
  }

  func receive(_ packet: String) {
    let bytes = hex(packet)
    onPacket?(bytes.span.bytes, Arrival(timers.now))
  }
}

/// A file that goes with its owner.
final class TemporaryFile {
  let path: String

  init() {
    var template = Array("/tmp/halo-replay-XXXXXX".utf8CString)
    close(mkstemp(&template))
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    unlink(path)
  }

  func shorten(by count: Int) {
    var status = stat()
    stat(path, &status)
    truncate(path, status.st_size - off_t(count))
  }
}
