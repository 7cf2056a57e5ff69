import BluetoothCore
import HCI
import TestSupport
import Testing

/// Reads an event with its H4 type byte.
func event(_ packet: [UInt8]) throws(DecodeError) -> HCIEvent {
  try packet.withReader { reader throws(DecodeError) in
    try reader.skip(1)
    return try HCIEvent(parsing: &reader)
  }
}

@Suite struct EventTests {
  @Test func disconnection() throws {
    let read = try event(hex("04050400400016"))
    #expect(
      read
        == .disconnectionComplete(
          DisconnectionComplete(
            status: .success, handle: ConnectionHandle(rawValue: 64), reason: .connectionTerminatedByLocalHost)))
  }
}
