import HCI
import HaloBluetoothCore
import TestSupport
import Testing

/// An event packet with its H4 type byte, and what it says.
struct EventVector: Sendable, CustomTestStringConvertible {
  let name: String
  let packet: [UInt8]
  let event: HCIEvent

  init(_ name: String, _ packet: String, _ event: HCIEvent) {
    self.name = name
    self.packet = hex(packet)
    self.event = event
  }

  var testDescription: String { name }
}

/// A command packet with its H4 type byte, and its opcode.
struct CommandVector: Sendable, CustomTestStringConvertible {
  let name: String
  let packet: [UInt8]
  let opcode: HCIOpcode

  init(_ name: String, _ packet: String, _ opcode: HCIOpcode) {
    self.name = name
    self.packet = hex(packet)
    self.opcode = opcode
  }

  var testDescription: String { name }
}

/// An ACL packet with its H4 type byte, and its header.
struct ACLVector: Sendable, CustomTestStringConvertible {
  let name: String
  let packet: [UInt8]
  let header: ACLHeader

  init(_ name: String, _ packet: String, _ header: ACLHeader) {
    self.name = name
    self.packet = hex(packet)
    self.header = header
  }

  var testDescription: String { name }
}

/// Advertising data, and what is in it.
struct AdvertisingVector: Sendable, CustomTestStringConvertible {
  let name: String
  let bytes: [UInt8]
  let structures: [ADStructure]

  init(_ name: String, _ bytes: String, _ structures: [ADStructure]) {
    self.name = name
    self.bytes = hex(bytes)
    self.structures = structures
  }

  var testDescription: String { name }
}

// Short forms for the tables.

func handle(_ number: UInt16) -> ConnectionHandle { ConnectionHandle(rawValue: number) }
func error(_ number: UInt8) -> HCIErrorCode { HCIErrorCode(rawValue: number) }
func opcode(_ number: UInt16) -> HCIOpcode { HCIOpcode(rawValue: number) }
func interval(_ steps: UInt16) -> ConnectionInterval { ConnectionInterval(rawValue: steps) }
func timeout(_ steps: UInt16) -> SupervisionTimeout { SupervisionTimeout(rawValue: steps) }
func type(_ number: UInt8) -> ADType { ADType(rawValue: number) }
