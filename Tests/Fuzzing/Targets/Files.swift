import Glibc
import HaloBluetoothCore
import HaloCapture
import HaloDissection
import HaloSecurityManager
import HaloStorage
import HaloRingStore
import RingLink

/// A file that is only in memory, for what reads a path.
final class MemoryFile {
  let path: String
  private let descriptor: Int32

  init(_ bytes: [UInt8]) {
    var template = Array("/dev/shm/halo-fuzz-XXXXXX".utf8CString)
    descriptor = mkstemp(&template)
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    bytes.withUnsafeBytes { _ = write(descriptor, $0.baseAddress, $0.count) }
  }

  deinit {
    close(descriptor)
    for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
  }
}

extension FuzzTarget {
  /// Captures of all formats.
  static let capture = FuzzTarget("capture", largestInput: 1 << 16) { bytes in
    let file = MemoryFile(bytes)
    guard let source = try? CaptureSource([file.path]), var reader = try? CaptureReader(source)
    else { return }
    // The copy of an archive's capture can be longer than the archive.
    if source.isExtracted {
      while (try? reader.advance()) == .record {}
      return
    }
    var offset = -1
    while (try? reader.advance()) == .record {
      precondition(reader.info.fileOffset > offset, "it goes forward")
      offset = reader.info.fileOffset
      precondition(reader.bytes.byteCount <= bytes.count)
    }
    precondition(reader.truncatedBytes <= bytes.count)
  }

  /// JSON. A value that is read is the same after it is written and read again.
  static let json = FuzzTarget("json") { bytes in
    guard let value = try? JSONValue(parsing: bytes) else { return }
    guard let again = try? JSONValue(parsing: value.text.utf8) else {
      fatalError("what was written is not read")
    }
    precondition(again == value)
    guard let bond = try? Bond(value) else { return }
    precondition((try? Bond(bond.json)) == bond, "a bond that is read can be stored")
  }

  /// What bluetoothd has stored about a device.
  static let bluetoothd = FuzzTarget("bluetoothd") { bytes in
    let address = BluetoothAddress(0xC000_0000_0001, .random)
    guard var bond = Bond(bluetoothd: bytes, peer: address, own: address) else { return }
    bond.name = nil
    precondition((try? Bond(bond.json)) == bond, "a bond that is imported can be stored")
  }

  /// Captures, taken apart to the last field.
  static let dissector = FuzzTarget("dissector", largestInput: 1 << 14) { bytes in
    let file = MemoryFile(bytes)
    guard var reader = try? CaptureReader(path: file.path) else { return }
    let dissector = Dissector()
    var summary = CaptureSummary()
    var records: [CaptureRecord] = []
    while let record = try? reader.next() {
      records.append(record)
      let packet = dissector.dissect(record.bytes.span.bytes, record.info)
      _ = packet.summary
      for layer in packet.layers {
        _ = packet.summary(of: layer)
        let count = packet.bytes(of: layer).count
        for field in packet.fields(of: layer) {
          precondition(field.range.lowerBound >= 0 && field.range.upperBound <= count)
        }
      }
      summary.add(packet)
    }
    copy(records)
  }

  /// A copy without what is personal, and the table of the values.
  private static func copy(_ records: [CaptureRecord]) {
    let finder = PersonalFinder()
    var personal = PersonalData()
    var dissector = Dissector()
    for record in records {
      finder.learn(dissector.dissect(record.bytes.span.bytes, record.info), into: &personal)
    }
    dissector = Dissector()
    var values = AttributeValues()
    var queue = RecordQueue(Redaction(personal))
    var copies: [CaptureRecord] = []
    for record in records {
      let packet = dissector.dissect(record.bytes.span.bytes, record.info)
      values.take(packet, dissector)
      queue.add(packet, isSelected: true)
      while let copy = queue.next() { copies.append(copy) }
    }
    queue.finish()
    while let copy = queue.next() { copies.append(copy) }
    precondition(copies.map(\.info) == records.map(\.info))
    precondition(copies.map(\.bytes.count) == records.map(\.bytes.count))
  }

  /// A file that is taken for a store.
  static let store = FuzzTarget("store", largestInput: 1 << 16) { bytes in
    let file = MemoryFile(bytes)
    guard let store = try? RingStore(path: file.path), let rings = try? store.rings() else { return }
    for ring in rings.prefix(4) {
      for kind in HistoryKind.allCases { _ = try? store.records(kind, of: ring.id) }
    }
  }
}
