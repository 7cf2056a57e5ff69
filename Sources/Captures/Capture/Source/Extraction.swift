import Glibc
import HaloSystem

/// Takes the captures out of a compressed file or an archive: logs of a phone's bug report, of an iPhone's sysdiagnose, or any
/// other. Each becomes a copy on the disk, so that an archive of any size needs little memory.
struct Extraction {
  /// The limit of decompressed data: this factor of the file, and ``smallest``. Captures need a tenth of it.
  private static let largestRatio = 200
  private static let smallest = 64 << 20
  private static let mostEntries = 200_000
  private static let chunkSize = 1 << 18

  private let file: CapturePart
  private let format: CompressionFormat
  private let isCancelled: @Sendable () -> Bool
  private let limit: Int
  private var total = 0
  /// Why the last capture is not complete, or others are missing: the file is damaged.
  private(set) var damage: CaptureError?

  /// - Parameters:
  ///   - file: a regular file
  ///   - format: how it is compressed
  ///   - isCancelled: asked between steps of milliseconds
  init(_ file: CapturePart, _ format: CompressionFormat, isCancelled: @escaping @Sendable () -> Bool) {
    self.file = file
    self.format = format
    self.isCancelled = isCancelled
    var status = stat()
    let size = SystemCall.status(file.descriptor, &status) == 0 ? Int(status.st_size) : 0
    // A sparse file can have any size.
    limit = min(size, Int.max / (2 * Self.largestRatio)) * Self.largestRatio + Self.smallest
  }

  /// The captures of the file, in the order in which they began.
  ///
  /// - Throws: `CaptureError` if it can't be read, or has none
  mutating func captures() throws(CaptureError) -> [CapturePart] {
    do throws(CaptureError) {
      var parts: [CapturePart] = []
      do throws(CaptureError) {
        parts = try read(file)
      } catch {
        guard case .cannotDecompress = error.reason else { throw error }
        damage = error
      }
      if let found = damage {
        let decompression = PartialDecompression(file, limit: limit, isCancelled: isCancelled)
        if let copy = try decompression.copy(format) {
          total = 0
          parts = try read(CapturePart(copy, name: file.name, path: file.path))
        }
        guard !parts.isEmpty else { throw found }
        damage = CaptureError(found.partial, path: file.path)
      }
      guard !parts.isEmpty else { throw CaptureError(.holdsNoCapture(format)) }
      return Self.ordered(parts)
    } catch {
      throw CaptureError(error.reason, path: file.path)
    }
  }

  /// Reads an archive or the compressed data of a file.
  private mutating func read(_ file: CapturePart) throws(CaptureError) -> [CapturePart] {
    var parts: [CapturePart] = []
    // The text of a bug report is large, and its packets are cut: it is read if there is nothing else.
    for wanted in [Wanted.files, .texts] where parts.isEmpty {
      parts = try read(file, wanted)
    }
    return parts
  }

  private enum Wanted {
    case files, texts
  }

  private mutating func read(_ file: CapturePart, _ wanted: Wanted) throws(CaptureError) -> [CapturePart] {
    file.rewind()
    var archive = try ArchiveReader.open(file.descriptor, format)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkSize, alignment: 16)
    defer { buffer.deallocate() }
    var parts: [CapturePart] = []
    var entries = 0
    do throws(CaptureError) {
      while try archive.advance() {
        entries += 1
        guard entries <= Self.mostEntries else {
          throw CaptureError(.cannotDecompress("it has more than \(Self.mostEntries) entries"))
        }
        guard archive.isFile else { continue }
        if let part = try take(archive, wanted, buffer) { parts.append(part) }
      }
    } catch {
      // An archive that was not transferred to its end may have whole captures before.
      guard case .cannotDecompress = error.reason, !parts.isEmpty else { throw error }
      damage = error
    }
    return parts
  }

  /// Reads one entry.
  ///
  /// - Returns: nil if it is no capture
  private mutating func take(
    _ archive: borrowing ArchiveReader, _ wanted: Wanted, _ buffer: UnsafeMutableRawBufferPointer
  ) throws(CaptureError) -> CapturePart? {
    let name = archive.name
    var count = try fill(archive, buffer)
    let beginning = UnsafeRawBufferPointer(rebasing: buffer[..<count])
    let kind = EntryKind(Array(beginning.prefix(512)), name: name)
    switch (kind, wanted) {
    case (.capture, .files):
      var copy = try TemporaryCopy()
      do throws(CaptureError) {
        while count > 0 {
          try copy.write(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: buffer[..<count])))
          count = try fill(archive, buffer)
        }
      } catch {
        guard case .cannotDecompress = error.reason, copy.count > 0 else { throw error }
        damage = error
      }
      return CapturePart(copy, name: label(name), path: file.path)
    case (.summary, .texts), (.text, .texts):
      var text = BTSnoozText()
      var bytes: [UInt8] = []
      while count > 0 {
        let chunk = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        if kind == .text { text.read(chunk) } else { bytes.append(contentsOf: chunk) }
        guard bytes.count <= BTSnooz.mostBytes else { return nil }
        count = try fill(archive, buffer)
      }
      guard let summary = kind == .text ? text.bytes : bytes else { return nil }
      return try Self.part(ofSummary: summary, name: label(name), path: file.path)
    default:
      // The entries of a zip have their places; others have to be read.
      while count > 0, !archive.canSkip { count = try fill(archive, buffer) }
      return nil
    }
  }

  /// A btsnooz summary as a capture.
  static func part(ofSummary bytes: [UInt8], name: String, path: String) throws(CaptureError) -> CapturePart {
    let found: [UInt8]?
    do throws(LibraryError) {
      found = try BTSnooz.btsnoop(from: bytes)
    } catch {
      throw CaptureError(.cannotLoad(error), path: path)
    }
    guard let converted = found else {
      throw CaptureError(.damagedRecord("the btsnooz summary of the bug report is damaged"), path: path)
    }
    var copy = try TemporaryCopy()
    try copy.write(converted.span.bytes)
    return CapturePart(copy, name: name, path: path, isSummary: true)
  }

  private func label(_ name: String?) -> String { name.map { "\(file.name) (\($0))" } ?? file.name }

  /// Reads the next bytes of an entry, as many as there is room for.
  ///
  /// - Returns: zero at the end of the entry
  private mutating func fill(
    _ archive: borrowing ArchiveReader, _ buffer: UnsafeMutableRawBufferPointer
  ) throws(CaptureError) -> Int {
    var count = 0
    while count < buffer.count {
      if isCancelled() { throw CaptureError(.cancelled) }
      let more: Int
      do throws(CaptureError) {
        more = try archive.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
      } catch {
        // The next call throws again, after these data have been used.
        guard count > 0 else { throw error }
        break
      }
      guard more > 0 else { break }
      count += more
      total += more
      guard total <= limit else { throw CaptureError(.growsTooMuch(limit: limit)) }
    }
    return count
  }

  /// In the order of their first packets. A summary of Android is left out if there is a log: it is a part of it, with cut
  /// packets. So are captures without packets.
  private static func ordered(_ parts: [CapturePart]) -> [CapturePart] {
    var times: [(part: CapturePart, first: Int64?)] = []
    for part in parts {
      guard var reader = try? CaptureReader(part), (try? reader.advance()) == .record else { continue }
      times.append((part, reader.info.microseconds))
    }
    for part in parts { part.rewind() }
    let logs = times.filter { !$0.part.isSummary }
    let chosen = logs.isEmpty ? times : logs
    guard !chosen.isEmpty else { return [parts[0]] }
    return chosen.sorted { ($0.first ?? .min) < ($1.first ?? .min) }.map(\.part)
  }
}

/// The kind of a file in an archive.
enum EntryKind {
  case capture
  /// Android's summary of recent packets, as a file.
  case summary
  /// A text that may have such a summary.
  case text
  case other

  /// - Parameters:
  ///   - beginning: the first bytes
  ///   - name: its path in the archive; nil for a file that is compressed alone
  init(_ beginning: [UInt8], name: String?) {
    let span = beginning.span.bytes
    let name = name?.lowercased()
    if FormatReader.hasMagic(span) {
      self = .capture
    } else if name.map({ $0.hasSuffix(".pklg") }) ?? true, FormatReader.isWithoutMagic(span) {
      self = .capture
    } else if BTSnooz.isBeginning(beginning) {
      self = .summary
    } else {
      self = name.map { $0.hasSuffix(".txt") } ?? true && Self.isText(beginning) ? .text : .other
    }
  }

  /// Whether a file of Android has the packets of the other logs, cut (`btsnooz_hci.log`).
  static func isSummary(_ name: String) -> Bool {
    name.lowercased().split(separator: "/").last.map { "/\($0)" }?.hasPrefix("/btsnooz") ?? false
  }

  /// Whether bytes may be the beginning of a text, in UTF-16 too.
  static func isText(_ bytes: [UInt8]) -> Bool {
    guard !bytes.isEmpty else { return false }
    let isWide = bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
    return bytes.allSatisfy { byte in
      byte >= 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D || byte == 0x1B || isWide && byte == 0
    }
  }
}
