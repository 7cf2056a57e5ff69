import HCI
import HaloBluetoothCore

/// What is not valid in an event that reports a failure (Core Specification Vol 4, Part E, 4.5).
extension HCILayer {
  /// The name of the field for all parameters that are not valid.
  static let invalidName: StaticString = "other parameters"

  /// Puts one field in the place of the parameters that are not valid, as the status is an error.
  ///
  /// - Parameter first: the index of the first parameter
  func hideInvalid(_ packet: RawSpan, _ commands: HCICommandCatalog, from first: Int, in list: FieldList) {
    guard let end = validEnd(commands), end < packet.byteCount,
      let index = (first..<list.count).first(where: { list.entries[$0].range.lowerBound >= end })
    else { return }
    list.truncate(to: index)
    list.add(Self.invalidName, range: end..<packet.byteCount, reference: "Vol 4, Part E, 4.5") {
      $0.write("not valid after a failure")
    }
  }

  /// Where the valid bytes of the packet end; nil if all are valid.
  private func validEnd(_ commands: HCICommandCatalog) -> Int? {
    guard type == .event, let event, let status, status != .success else { return nil }
    switch event {
    case .commandStatus, .vendorSpecific: return nil
    // Behind the header and the credits, the opcode, the status.
    case .commandComplete: return opcode.flatMap { commands[$0]?.validAfterFailure }.map { 7 + $0 }
    case .leMeta: return subevent.flatMap { HCIEventInfo[$0]?.validAfterFailure }.map { 4 + $0 }
    default: return HCIEventInfo[event]?.validAfterFailure.map { 3 + $0 }
    }
  }
}
