import BluetoothCore

extension CommandTable {
  /// Why a frame must not be sent; nil if it may.
  public static func danger(of frame: RingFrame) -> String? {
    if let danger = entries(for: .frame(frame.command)).lazy.compactMap(\.danger).first { return danger }
    if profile.isWriteReply(frame), let written = try? Profile(parsing: frame), written.isEmpty {
      return "overwrites the wearer's profile with zeros"
    }
    return nil
  }

  /// Why a bulk frame must not be sent; nil if it may.
  public static func danger(of id: BulkID) -> String? {
    entries(for: .bulk(id)).lazy.compactMap(\.danger).first
  }

  /// Why a value must not be written to a characteristic of a ring, by whatever means; nil if it may.
  ///
  /// It is judged by how it begins, so that neither a missing byte nor a wrong checksum opens a way around.
  public static func danger(ofWriting value: [UInt8]) -> String? {
    guard let first = value.first else { return nil }
    if first == BulkFrame.magic {
      guard value.count > 1 else { return "begins a bulk frame without telling what it is" }
      return danger(of: BulkID(rawValue: value[1]))
    }
    if let frame = try? RingFrame(parsing: value.span.bytes) { return danger(of: frame) }
    return danger(of: RingFrame(RingCommand(rawValue: first)))
  }
}
