import ATT
import HCI
import HaloBluetoothCore
import HaloSystem
import L2CAP

/// A device on the air of a ``Radio``. It answers as a good server would, unless the test says otherwise.
@BluetoothActor
final class Peer {
  /// What a peer does with a request.
  enum Reaction {
    /// What a good server does.
    case honest
    case silent
    /// These PDUs, one after the other, whatever they are.
    case pdus([[UInt8]])

    static func send(_ pdus: any ATTPDU...) -> Reaction { .pdus(pdus.map(\.bytes)) }
    static func hex(_ text: String...) -> Reaction { .pdus(text.map { Hex.bytes($0) ?? [] }) }
  }

  let address: BluetoothAddress
  weak var radio: Radio?
  var handle: UInt16?
  var server = Server()
  /// Whether it can be connected to.
  var isThere = true
  var react: (any ATTPDU) -> Reaction = { _ in .honest }
  /// Called with each PDU that is no request.
  var onOther: ((any ATTPDU) -> Void)?
  /// Called with each write without response.
  var onCommand: ((AttributeHandle, [UInt8]) -> Void)?
  /// Called when a link is there.
  var onConnected: (() -> Void)?
  /// The last requests that came, and how many there were.
  private(set) var requests: [any ATTPDU] = []
  private(set) var requestCount = 0
  /// Writes without response: how many, and their sum as a check of order.
  private(set) var commandCount = 0
  private(set) var commandBytes = 0
  private(set) var commandsInOrder = true
  /// Frames of other channels than ATT.
  private(set) var otherFrames: [(channel: ChannelID, payload: [UInt8])] = []
  private(set) var otherFrameCount = 0
  private(set) var confirmations = 0
  private(set) var connections = 0
  private var recombiner = Recombiner()

  init(_ number: UInt64 = 1, kind: BluetoothAddress.Kind = .random) {
    address = BluetoothAddress(0xC000_0000_0000 + number, kind)
  }

  func connected(_ handle: UInt16) {
    self.handle = handle
    connections += 1
    recombiner = Recombiner()
    server.restart()
    onConnected?()
  }

  // MARK: What comes

  func receive(_ data: [UInt8], isStart: Bool) {
    recombiner.receive(data.span.bytes, isStart: isStart) { channel, payload in
      guard channel == .attribute, let pdu = try? ATTReader.read(payload) else {
        otherFrameCount += 1
        otherFrames = otherFrames.suffix(63) + [(channel, Array(payload))]
        return
      }
      receive(pdu)
    }
  }

  private func receive(_ pdu: any ATTPDU) {
    switch pdu.opcode.kind {
    case .request:
      requestCount += 1
      requests = requests.suffix(255) + [pdu]
      switch react(pdu) {
      case .honest: send(server.answer(pdu))
      case .silent: break
      case .pdus(let pdus): for bytes in pdus { send(bytes) }
      }
    case .confirmation: confirmations += 1
    case .command:
      if let command = pdu as? ATTWriteCommand {
        let value = command.value
        onCommand?(command.handle, value)
        if value.count >= 4 {
          let number = value[0..<4].reversed().reduce(0) { $0 << 8 | Int($1) }
          commandsInOrder = commandsInOrder && number == commandCount
        }
        commandCount += 1
        commandBytes += value.count
      }
    default: onOther?(pdu)
    }
  }

  // MARK: What goes

  func send(_ pdu: any ATTPDU, after delay: Duration = .zero) { send(pdu.bytes, after: delay) }

  func send(_ pdu: [UInt8], after delay: Duration = .zero) { sendFrame(.attribute, pdu, after: delay) }

  func notify(_ handle: AttributeHandle, _ value: [UInt8], after delay: Duration = .zero) {
    send(ATTHandleValueNotification(handle, value: value), after: delay)
  }

  /// A whole L2CAP frame in one ACL packet.
  func sendFrame(_ channel: ChannelID, _ payload: [UInt8], after delay: Duration = .zero) {
    var writer = ByteWriter()
    BasicHeader.writeFrame(payload.span.bytes, on: channel, into: &writer)
    sendData(writer.bytes, after: delay)
  }

  /// ACL data as it is.
  func sendData(_ data: [UInt8], isStart: Bool = true, after delay: Duration = .zero) {
    guard let handle else { return }
    radio?.deliverData(handle, data, isStart: isStart, after: delay)
  }
}
