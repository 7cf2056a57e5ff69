import HaloBluetoothCore

/// Something that takes untrusted bytes. It must return from any: a trap, a leak or a loop is a finding.
package struct FuzzTarget: Sendable {
  package let name: String
  /// How many bytes an input may have; more would only be slower.
  package let largestInput: Int
  /// Takes one input. Blocks until it is done.
  package let run: @Sendable ([UInt8]) -> Void

  package init(_ name: String, largestInput: Int = 4096, run: @escaping @Sendable ([UInt8]) -> Void) {
    self.name = name
    self.largestInput = largestInput
    self.run = run
  }

  package static let all: [FuzzTarget] =
    decoders + servers + [
      json, bluetoothd, capture, dissector, store, pulse, web, client, replay, commandLine, securityManager,
    ]

  package static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// Hands out an input bit by bit; behind its end come zeros.
struct FuzzInput {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) {
    rest = bytes[...]
  }

  var isEmpty: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// The next `count` bytes, or what is left.
  mutating func bytes(_ count: Int) -> [UInt8] {
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// A piece as long as its first byte says.
  mutating func piece() -> [UInt8] { bytes(Int(byte())) }
}
