import ATT
import HaloBluetoothCore

/// The value of an attribute, or a part of it, that a packet carries.
package struct AttributeValue: Hashable, Sendable {
  /// What carries it: a request or a command with a value, a response, a notification or an indication.
  package var operation: ATTOpcode
  /// Nil if the capture does not have the request that a response answers, and for the values of several attributes in
  /// one (`ATTOpcode.readMultipleResponse`).
  package var handle: AttributeHandle?
  /// Whether the server that has the attribute is the host's; nil if the direction of the packet is unknown.
  package var isLocal: Bool?
  /// Where the bytes are in the value: greater than 0 for a part that is read or written after another one. Nil if the
  /// capture does not have the request with it.
  package var offset: Int?
  /// The type of the attribute: the UUID of a characteristic or of a descriptor; nil if the capture does not tell.
  package var uuid: BluetoothUUID?
  /// The name of the attribute, or its UUID: `Client Characteristic Configuration of Battery Level`.
  package var name: String?
  /// In the byte order of the wire.
  package var bytes: [UInt8]
  /// Whether the capture has only the beginning of the packet.
  package var isCut: Bool
  /// What the value says: that of a characteristic of the SIG, or a frame of a ring; nil if it is not known.
  package var words: String?
  /// The number of the packet that it answers: of a response, that of its request; of a notification or an indication,
  /// that of a write (see `WriteHistory`). Nil if it is not known, and for what a client sends.
  package var answers: Int?
}
