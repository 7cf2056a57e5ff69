import HaloCapture

/// Replaces addresses and names by made-up ones of the same length, and keys by zeros, wherever they occur in packets: in the
/// fields for them, and anywhere else by their bytes.
package struct Redaction {
  private let data: PersonalData
  private let finder = PersonalFinder()
  /// Names by their first bytes, the longest first.
  private var names: [UInt32: [[UInt8]]] = [:]
  /// Keys in both byte orders, by their first bytes.
  private var keys: [UInt32: [[UInt8]]] = [:]

  /// - Parameter data: the results of a first reading of the whole capture
  package init(_ data: PersonalData) {
    self.data = data
    for name in data.names.keys where name.count >= PersonalData.shortestFoundName {
      names[Self.beginning(of: name, at: 0), default: []].append(name)
    }
    for (beginning, list) in names { names[beginning] = list.sorted { $0.count > $1.count } }
    for key in data.keys {
      for form in [key, key.reversed()] { keys[Self.beginning(of: form, at: 0), default: []].append(form) }
    }
  }

  /// Whether a record may be in the copy: texts of programs, and their messages to the kernel, have addresses and keys in
  /// undocumented forms.
  package static func keeps(_ content: CaptureContent) -> Bool {
    switch content {
    case .hci, .air: true
    case .monitor(let opcode):
      [.newIndex, .deleteIndex, .openIndex, .closeIndex, .indexInfo].contains(opcode)
    default: false
    }
  }

  /// The bytes that stand for ``DissectedPacket/source`` in the copy, as many as there.
  package func redacted(_ packet: DissectedPacket) -> [UInt8] {
    var bytes = packet.source
    if packet.hci?.isOpaque(bytes) == true {
      for index in min(packet.hci?.type.headerLength ?? 0, bytes.count)..<bytes.count { bytes[index] = 0 }
      return bytes
    }
    if let unreadable = packet.air?.unreadable(in: packet.bytes) {
      for index in unreadable { bytes[index] = 0 }
      // Zeros are LL_CONNECTION_UPDATE_IND; 0xFF is no opcode.
      if packet.air?.kind == .control, let first = unreadable.first { bytes[first] = 0xFF }
      return bytes
    }
    for field in finder.found(in: packet) where field.range.upperBound <= bytes.count {
      switch field.kind {
      case .key: for index in field.range { bytes[index] = 0 }
      case .name:
        let name = Array(bytes[field.range].prefix { $0 != 0 })
        if let other = data.names[name] {
          bytes.replaceSubrange(field.range.lowerBound..<field.range.lowerBound + name.count, with: other)
        }
      case .address: break
      }
    }
    // The rest of a packet of the air is numbers of the link layer.
    replaceFound(in: &bytes, at: packet.reassembled == nil ? packet.air?.place(in: bytes) : nil)
    return bytes
  }

  private static func beginning(of bytes: [UInt8], at index: Int) -> UInt32 {
    UInt32(bytes[index]) << 24 | UInt32(bytes[index + 1]) << 16 | UInt32(bytes[index + 2]) << 8
      | UInt32(bytes[index + 3])
  }

  /// Replaces known keys, names and addresses wherever they are.
  ///
  /// - Parameter range: the bytes that are searched; all if nil
  func replaceFound(in bytes: inout [UInt8], at range: Range<Int>? = nil) {
    guard let range, range != bytes.indices else { return replaceFound(in: &bytes) }
    var part = Array(bytes[range])
    replaceFound(in: &part)
    bytes.replaceSubrange(range, with: part)
  }

  private func replaceFound(in bytes: inout [UInt8]) {
    guard bytes.count >= 6 else { return }
    var index = 0
    while index + 4 <= bytes.count {
      let beginning = Self.beginning(of: bytes, at: index)
      if let key = keys[beginning]?.first(where: { bytes[index...].starts(with: $0) }) {
        for place in index..<index + key.count { bytes[place] = 0 }
        index += key.count
      } else if let name = names[beginning]?.first(where: { bytes[index...].starts(with: $0) }),
        let other = data.names[name]
      {
        bytes.replaceSubrange(index..<index + name.count, with: other)
        index += name.count
      } else if let length = replaceAddress(at: index, in: &bytes) {
        index += length
      } else {
        index += 1
      }
    }
  }

  /// Replaces an address in one of the forms in which devices send theirs.
  ///
  /// - Returns: the number of bytes of the address; nil if there is none
  private func replaceAddress(at index: Int, in bytes: inout [UInt8]) -> Int? {
    for form in AddressForm.allCases where bytes.count - index >= form.length {
      guard let address = form.address(in: bytes, at: index), let other = data.substitute(for: address) else {
        continue
      }
      form.write(other, to: &bytes, at: index)
      return form.length
    }
    return nil
  }
}

extension AirLayer {
  /// The payload, as far as the capture has it.
  func place(in bytes: [UInt8]) -> Range<Int> {
    (payloadStart..<max(payloadStart, end)).clamped(to: 0..<bytes.count)
  }

  /// Content that can't be searched, and may hold an address or a key: encrypted content, as the key may be known or guessed;
  /// content that was received wrongly; and content without a description.
  fileprivate func unreadable(in bytes: [UInt8]) -> Range<Int>? {
    let isDescribed =
      kind != .advertising || advertisingType?.fields(AdvertisingHeader(rawValue: header)) != nil
    if isReadable, isDescribed, kind != .isochronous { return nil }
    let last = kind == .unknown || end > bytes.count ? bytes.count : end
    return min(payloadStart, last)..<last
  }
}

extension HCILayer {
  /// Whether the parameters are known to the controller's manufacturer only: they may be addresses, keys or memory. A note of
  /// this package is none of these.
  fileprivate func isOpaque(_ packet: [UInt8]) -> Bool {
    switch type {
    case .command, .event:
      guard CaptureNote.text(of: packet) == nil else { return false }
      return event == .vendorSpecific || opcode?.isVendorSpecific == true
    case .acl, .synchronous, .isochronous: return false
    default: return true
    }
  }
}
