/// Reads a capture of any format record by record, with a fixed amount of memory. Files that ``CaptureSource`` has put
/// together, such as the logs of a bug report, are read as one.
///
///     var reader = try CaptureReader(path: "session.btsnoop")
///     while try reader.advance() == .record {
///       print(reader.info, reader.bytes.byteCount)  // a view, valid until the next advance
///     }
///
/// All records before a damaged one are returned before the error is thrown; of several files, those of the others too.
@usableFromInline package struct CaptureReader: ~Copyable {
  /// The result of ``advance()``.
  @usableFromInline package enum Progress: Hashable, Sendable {
    /// ``info`` and ``bytes`` describe the next record.
    case record
    /// No more data is available now. Only if the file is followed.
    case needsMore
    /// The end of the file.
    case end
  }

  /// For messages: the path of the file that is read now, followed by the name in an archive; "-" for standard input.
  package var path: String { file.part.name }
  /// The format of the file; nil only if it is followed and still too short to identify.
  package var format: CaptureFormat? { reader.format }
  /// The current record; see ``advance()``.
  package private(set) var info = CaptureRecordInfo(
    number: 0, microseconds: nil, content: .hci(nil), originalLength: 0)
  /// The number of bytes of incomplete records at the end of the files. Valid after ``advance()`` has returned
  /// ``Progress/end``.
  package private(set) var truncatedBytes = 0

  private var file: CaptureFile
  /// The files after this one.
  private var others: ArraySlice<CapturePart>
  /// Why a file could not be read to its end; thrown after the others.
  private var damage: CaptureError?
  private let isFollowing: Bool
  private let waits: Bool
  private let skipsDamage: Bool
  private var reader: FormatReader
  private var range = 0..<0
  private var linkHeaderLength = 0
  /// The drop counter of the record before.
  private var drops: UInt32 = 0
  private var failure: CaptureError?
  /// The adapters of a capture of USB.
  private var usb: USBAdapters?
  /// Stands for ``range`` where the packet was put together of several records.
  private static let joined = -1..<0

  /// Opens a file and reads its header.
  ///
  /// - Parameters:
  ///   - path: the file; "-" is standard input
  ///   - follow: whether the file is still being written. If so, reading never waits: ``advance()`` returns
  ///     ``Progress/needsMore``, and the caller decides when to call it again (``descriptor``).
  ///   - isReadAgain: whether the caller opens the file more than once, which requires a regular file
  /// - Throws: ``CaptureError`` if it can't be opened or is not a capture
  package init(path: String, follow: Bool = false, isReadAgain: Bool = false) throws(CaptureError) {
    let source = try CaptureSource([path], follow: follow)
    if isReadAgain, !source.parts.allSatisfy(\.isRegular) { throw CaptureError(.notARegularFile, path: path) }
    try self.init(source, follow: follow)
  }

  /// Reads files that are open. A source can be read several times, one after the other, if its files are regular ones.
  ///
  /// - Parameters:
  ///   - source: the files
  ///   - follow: whether the last file is still being written; see ``init(path:follow:isReadAgain:)``
  ///   - waits: whether to wait for the data of a pipe, instead of returning ``Progress/needsMore``
  ///   - skipsDamage: whether to go on behind a damaged record, and to throw the error at the end
  /// - Throws: ``CaptureError`` if the first file is not a capture
  package init(
    _ source: CaptureSource, follow: Bool = false, waits: Bool = true, skipsDamage: Bool = false
  ) throws(CaptureError) {
    try self.init(
      source.parts, source.damage, isFollowing: follow, waits: waits, skipsDamage: skipsDamage && !follow)
  }

  /// Reads one part.
  init(_ part: CapturePart) throws(CaptureError) {
    try self.init([part], nil, isFollowing: false, waits: true, skipsDamage: false)
  }

  private init(
    _ parts: [CapturePart], _ damage: CaptureError?, isFollowing: Bool, waits: Bool, skipsDamage: Bool
  ) throws(CaptureError) {
    var others = parts[...]
    guard let first = others.popFirst() else { throw CaptureError(.empty) }
    var file = CaptureFile(first)
    let returns = isFollowing && others.isEmpty || !waits && !first.isRegular
    let reader = try Self.identify(&file, isFollowing: returns, isLast: others.isEmpty)
    self.init(
      file, reader, others, damage, isFollowing: isFollowing, waits: waits, skipsDamage: skipsDamage)
  }

  /// - Returns: nil if more has to arrive first; or for an empty file before others, such as a log that was just begun anew
  private static func identify(
    _ file: inout CaptureFile, isFollowing: Bool, isLast: Bool
  ) throws(CaptureError) -> FormatReader? {
    do throws(CaptureError) {
      return try file.identify(follow: isFollowing)
    } catch {
      guard error.reason == .empty, !isLast else { throw error }
      return nil
    }
  }

  private init(
    _ file: consuming CaptureFile, _ reader: FormatReader?, _ others: ArraySlice<CapturePart>,
    _ damage: CaptureError?, isFollowing: Bool, waits: Bool, skipsDamage: Bool
  ) {
    self.file = file
    self.reader = reader ?? .unidentified
    self.others = others
    self.damage = damage
    self.isFollowing = isFollowing
    self.waits = waits
    self.skipsDamage = skipsDamage
  }

  /// The descriptor being read. Watch it for more data of a pipe. A regular file is always readable, and has to be
  /// polled.
  package var descriptor: Int32 { file.part.descriptor }
  /// Whether this is a regular file, which may grow after its end was reached.
  package var isRegularFile: Bool { file.part.isRegular }

  /// The bytes of the current record, in the reader's buffer.
  package var bytes: RawSpan {
    @_lifetime(borrow self)
    get {
      if range.lowerBound < 0, let usb { return _overrideLifetime(usb.joined.span.bytes, borrowing: self) }
      return _overrideLifetime(file.span(range), borrowing: self)
    }
  }

  /// The header of the current record's link type, which precedes ``bytes``: the sniffer's data about a packet of the air.
  /// Empty for others.
  package var linkHeader: RawSpan {
    @_lifetime(borrow self)
    get {
      // A packet that was put together has no place in the buffer, and none of these.
      let end = max(0, range.lowerBound)
      return _overrideLifetime(file.span(end - linkHeaderLength..<end), borrowing: self)
    }
  }

  /// Advances to the next record. An incomplete last record is omitted and counted in ``truncatedBytes``.
  ///
  /// - Throws: ``CaptureError`` with the offset where the file is damaged; every later call throws it again
  package mutating func advance() throws(CaptureError) -> Progress {
    if let failure { throw failure }
    do throws(CaptureError) {
      return try readRecord()
    } catch {
      failure = error
      throw error
    }
  }

  /// The next record with a copy of its bytes; nil if ``advance()`` finds none.
  package mutating func next() throws(CaptureError) -> CaptureRecord? {
    guard try advance() == .record else { return nil }
    return CaptureRecord(info: info, bytes: Array(bytes))
  }

  private mutating func readRecord() throws(CaptureError) -> Progress {
    range = 0..<0
    linkHeaderLength = 0
    while true {
      do throws(CaptureError) {
        let progress = try readRecordOfFile()
        guard progress == .end else { return progress }
        truncatedBytes += file.truncatedCount
      } catch {
        if skipsDamage, error.isDamagedRecord, file.part.isRegular {
          let leftOut = try skipToNextRecord()
          note(error, leftOut: leftOut)
          if leftOut > 0 { continue }
        } else if error.reason != .empty || others.isEmpty {
          damage = damage ?? error
        }
      }
      // Each iteration goes on to another file, so the loop terminates.
      guard let next = others.popFirst() else {
        guard let damage else { return .end }
        throw damage
      }
      file = CaptureFile(next)
      reader = .unidentified
      usb = nil
      drops = 0
    }
  }

  /// Keeps the first error; the number of later ones is said with it.
  private mutating func note(_ error: CaptureError, leftOut: Int) {
    guard damage == nil else {
      damage?.otherPlaces += 1
      return
    }
    damage = error
    damage?.leftOut = leftOut
  }

  /// Goes to the next place of the file where records seem to begin.
  ///
  /// - Returns: the number of bytes that are left out; zero if there is no such place
  private mutating func skipToNextRecord() throws(CaptureError) -> Int {
    let start = file.offset
    // The damaged record begins here.
    file.skip(1)
    var isWhole = false
    while true {
      // Each iteration reads bytes or skips some, so the loop terminates at the end of the file.
      if !isWhole, file.count < 2 * RecordSearch.reach {
        isWhole = try file.fill(follow: false) != .more
        continue
      }
      let search = RecordSearch(reader, near: info.microseconds, isWhole: isWhole)
      let (offset, isFound) = search.nextRecord(in: file.unread)
      file.skip(offset)
      if isFound { return file.offset - start }
      if isWhole { return 0 }
    }
  }

  /// Whether to return at once if the file has no more data now.
  private var returnsWithoutData: Bool { isFollowing && others.isEmpty || !waits && !file.part.isRegular }

  private mutating func readRecordOfFile() throws(CaptureError) -> Progress {
    if case .unidentified = reader {
      guard let found = try file.identify(follow: returnsWithoutData) else { return .needsMore }
      reader = found
    }
    while true {
      // Each iteration returns a record, skips bytes or reads some, so the loop terminates at the end of the file.
      let step: CaptureStep
      do throws(CaptureError) {
        step = try reader.step(RawSpan(_unsafeBytes: file.unreadBytes))
      } catch {
        throw CaptureError(error.reason, offset: file.offset, path: file.part.name)
      }
      switch step {
      case .record(let found):
        let offset = file.offset
        range = file.take(found)
        note(found, info.number + 1, at: offset, adapter: found.adapter)
        // The counter of a file that was written in several runs begins again.
        if found.drops > drops { info.drops = Int(found.drops - drops) }
        drops = found.drops
        return .record
      case .usb(let found, let linkType, let order):
        if try readTransfer(found, linkType, order) { return .record }
      case .skip(let length):
        file.skip(length)
      case .countOnly(let length):
        file.skip(length)
        info.number += 1
      case .header:
        // Files were put together: another one begins here.
        if let next = try FormatReader.identify(file.unread, isWhole: false) {
          reader = next.reader
          file.skip(next.headerLength)
        } else if try file.fill(follow: returnsWithoutData) == .end {
          return .end
        }
      case .needsMore:
        switch try file.fill(follow: returnsWithoutData) {
        case .more: break
        case .nothing: return .needsMore
        case .end: return .end
        }
      }
    }
  }

  private mutating func note(_ found: FoundRecord, _ number: Int, at offset: Int, adapter: UInt16?) {
    linkHeaderLength = found.linkHeaderLength
    info = CaptureRecordInfo(
      number: number, fileOffset: offset, microseconds: found.microseconds, adapter: adapter,
      content: found.content, originalLength: found.originalLength + (found.typeByte == nil ? 0 : 1))
  }

  /// Reads a record of a USB capture.
  ///
  /// - Returns: whether it completes a packet, or is of another device; else it only counts
  private mutating func readTransfer(
    _ found: FoundRecord, _ linkType: CaptureLinkType, _ order: ByteOrder
  ) throws(CaptureError) -> Bool {
    var adapters = usb.take() ?? USBAdapters()
    defer { usb = adapters }
    var found = found
    let offset = file.offset
    let what: USBAdapters.Found
    do throws(CaptureError) {
      let bytes = file.unread.extracting(found.start..<found.start + found.length)
      what = adapters.read(try USBRecord(bytes, linkType, order), bytes)
    } catch {
      throw CaptureError(error.reason, offset: offset, path: file.part.name)
    }
    let number = info.number + 1
    switch what {
    case .nothing:
      file.skip(found.recordLength)
      info.number = number
      return false
    case .foreign: range = file.take(found)
    case .packet(let type, let place, let length):
      found.start += place.lowerBound
      found.length = place.count
      found.originalLength = length
      found.setPacket(type, adapters.direction)
      range = file.take(found)
    case .joined(let type, let length):
      found.originalLength = length
      found.setPacket(type, adapters.direction)
      file.skip(found.recordLength)
      range = Self.joined
    }
    note(found, number, at: offset, adapter: found.typeByte == nil ? nil : adapters.index)
    if adapters.hasLost { info.drops = 1 }
    return true
  }
}
