import ATT
import BluetoothCore
import GATTClient

extension RecordedAttributes {
  /// What the traffic of a connection uses an attribute for.
  typealias Uses = [AttributeHandle: CharacteristicProperties]

  /// Adds what a connection shows in discoveries and reads.
  mutating func learn(_ connection: RecordedConnection) {
    var open: ATTPDU?
    for pdu in connection.pdus {
      guard let first = pdu.bytes.first else { continue }
      let kind = ATTOpcode(rawValue: first).kind
      if !pdu.isFromServer, kind == .request {
        open = try? ATTPDU(pdu.bytes.span.bytes)
      } else if pdu.isFromServer, kind == .response, let request = open {
        open = nil
        if let response = try? ATTPDU(pdu.bytes.span.bytes) { learn(request, response) }
      }
    }
  }

  /// Adds what connections show of attributes that were not discovered: subscriptions, and characteristics that were used.
  mutating func learnUses(_ connections: [RecordedConnection]) {
    var uses: Uses = [:]
    var configured: Set<AttributeHandle> = []
    for connection in connections {
      for pdu in connection.pdus {
        guard let (handle, use) = pdu.use else { continue }
        uses[handle, default: []].formUnion(use)
        // A Client Characteristic Configuration: two bits of two bytes.
        if use == .write, pdu.bytes.count == 5, pdu.bytes[3] <= 3, pdu.bytes[4] == 0 {
          configured.insert(handle)
        }
      }
    }
    let notified = Set(uses.filter { $0.value.canNotify }.keys)
    for handle in configured.sorted() { learnConfiguration(handle, notified: notified) }
    addMissingCharacteristics(uses)
    addMissingServices()
    index()
  }
}

extension CharacteristicProperties {
  /// Whether the characteristic sends values on its own.
  var canNotify: Bool { !isDisjoint(with: [.notify, .indicate]) }
}

extension RecordedConnection.PDU {
  /// The attribute that it is about, and what is done with it; nil for a PDU of another kind.
  fileprivate var use: (AttributeHandle, CharacteristicProperties)? {
    guard let handle = leadingHandle else { return nil }
    switch (ATTOpcode(rawValue: bytes[0]), isFromServer) {
    case (.handleValueNotification, true): return (handle, .notify)
    case (.handleValueIndication, true): return (handle, .indicate)
    case (.readRequest, false), (.readBlobRequest, false): return (handle, .read)
    case (.writeRequest, false), (.prepareWriteRequest, false): return (handle, .write)
    case (.writeCommand, false): return (handle, .writeWithoutResponse)
    default: return nil
    }
  }
}
