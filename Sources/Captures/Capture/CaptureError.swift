import HaloSystem

/// Why a capture can't be read or written.
package struct CaptureError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Why it failed. The texts are the system's or the format's description.
  package enum Reason: Hashable, Sendable {
    case cannotOpen(String)
    case cannotRead(String)
    case cannotCreate(String)
    /// The file has data, and is not to be replaced.
    case hasData
    case cannotWrite(String)
    /// Not a regular file, where the file must be read twice.
    case notARegularFile
    /// The file has no bytes.
    case empty
    /// The file has no known format.
    case unknownFormat
    /// The file ends within the header of the format.
    case truncatedHeader(String)
    /// An unsupported version of the format.
    case unsupportedVersion(String, Int)
    /// A btsnoop file with packets of another kind.
    case unsupportedDatalink(BTSnoop.Datalink)
    /// All packets of the file have a link type other than Bluetooth.
    case unsupportedLinkType(CaptureLinkType)
    /// The capture can be read, but not replayed: the direction of this packet (by number) is unknown.
    case noDirection(Int)
    /// The capture can be read, but there is nothing to replay: no HCI packet of this adapter; `others` lists the
    /// adapters that have some.
    case noPackets(of: UInt16?, others: [UInt16])
    /// The capture can be read, but not replayed: a sniffer has received its packets on the air.
    case notOfHost
    /// The capture can be read, but there is nothing to replay at the level of ATT: no ATT PDU and no advertisement.
    case noAttributeTraffic(of: UInt16?)
    /// The capture has more ATT traffic, up to this packet, than a replay holds in memory.
    case tooMuchTraffic(packet: Int)
    /// A record with an implausible length, in bytes.
    case recordTooLarge(Int)
    /// The bytes are compressed with this program, and come from a pipe or from a file that is followed.
    case compressed(CompressionFormat)
    /// The library that reads compressed files is not installed.
    case noArchiveLibrary(CompressionFormat)
    /// A library that reads compressed data is installed, and can't be loaded.
    case cannotLoad(LibraryError)
    /// The library's description of the fault of a compressed file.
    case cannotDecompress(String)
    /// The same, where the data before the damage were read.
    case decompressedInPart(String)
    /// A compressed file has more bytes, relative to its size, than captures have.
    case growsTooMuch(limit: Int)
    /// An archive has no capture.
    case holdsNoCapture(CompressionFormat)
    /// A copy of the decompressed data cannot be made; the error number.
    case cannotCopy(Int32)
    /// The caller of ``CaptureSource`` has cancelled it.
    case cancelled
    /// A file that is followed got shorter, or another file took its place.
    case replaced(FileChange)
    /// A record with inconsistent fields; the description.
    case damagedRecord(String)
  }

  /// Why it failed.
  package var reason: Reason
  /// The file offset of the damaged record, if any.
  package var offset: Int?
  /// The path of the file, if known.
  package var path: String?
  /// The number of bytes left out because of damage, where the bytes behind them were read; zero if they were not.
  package var leftOut = 0
  /// How many more places of the file are damaged.
  package var otherPlaces = 0

  package init(_ reason: Reason, offset: Int? = nil, path: String? = nil) {
    self.reason = reason
    self.offset = offset
    self.path = path
  }

  /// The reason where the data before the damage of a compressed file were read.
  var partial: Reason {
    if case .cannotDecompress(let why) = reason { .decompressedInPart(why) } else { reason }
  }

  package var description: String {
    let file = path.map { $0 == "-" ? "standard input: " : "\($0): " } ?? ""
    let place = offset.map { " (record at byte \($0))" } ?? ""
    return file + what + (isDamagedRecord && leftOut == 0 ? "; the file is damaged from here on" : "") + place
      + rest
  }

  /// Whether the records behind the damaged one may be whole.
  var isDamagedRecord: Bool {
    switch reason {
    case .recordTooLarge, .damagedRecord: true
    default: false
    }
  }

  /// The treatment of the damage.
  private var rest: String {
    guard leftOut > 0 else { return "" }
    let others =
      otherPlaces == 0
      ? "" : otherPlaces == 1 ? "; so is another place" : "; so are \(otherPlaces) more places"
    return "; the file is damaged there, \(leftOut) bytes are left out, and what follows is read" + others
  }

  private var what: String {
    switch reason {
    case .cannotOpen(let cause): "cannot open: \(cause)"
    case .cannotRead(let cause): "cannot read: \(cause)"
    case .cannotCreate(let cause): "cannot make the recording: \(cause)"
    case .hasData: "cannot make the recording: \(FileError.Reason.hasData)"
    case .cannotWrite(let cause): "cannot write the recording: \(cause)"
    case .notARegularFile: "not a regular file; this reads it twice, so copy it to a file first"
    case .empty: "the file is empty, so it is no capture"
    case .unknownFormat:
      "not a btsnoop, pcap, pcapng or PacketLogger capture"
    case .truncatedHeader(let format): "the file ends within the \(format) header"
    case .unsupportedVersion(let format, let version):
      "\(format) version \(version) is unknown; the file is damaged, or newer than this program"
    case .unsupportedDatalink(let datalink):
      "btsnoop datalink \(datalink) can't be read; 1001 (H1), 1002 (H4) and 2001 (Linux monitor) can"
    case .unsupportedLinkType(let type) where type.isUSB:
      "a USB capture (link type \(type)) in which no device is sent HCI commands or sends events: capture the bus of the "
        + "adapter, from before it is used, or the adapter itself, with halo-raw record or btmon -w"
    case .unsupportedLinkType(let type) where type.isAir:
      "no record has a packet of the air: those of link type \(type) are messages of the sniffer, or of another protocol"
    case .unsupportedLinkType(let type):
      "link type \(type) has no Bluetooth that is read; HCI is, with 187, 201 and 254, USB with 189, 220 and 249, and the air "
        + "with 192, 251, 256 and 272"
    case .noDirection(let number):
      "can't be replayed: the file does not tell which way packet \(number) went, as pcap with link type 187 does not; "
        + "btsnoop and pcap with link type 201 or 254 do"
    case .noPackets(let adapter, let others):
      "can't be replayed: it holds no HCI packet" + (adapter.map { " of hci\($0)" } ?? "")
        + (others.isEmpty ? "" : ", only those of " + others.map { "hci\($0)" }.joined(separator: ", "))
    case .notOfHost:
      "can't be replayed: a sniffer has received it on the air, and a replay needs the packets between a host and its "
        + "controller (HCI): a capture of btmon, of a phone's log or of --record"
    case .noAttributeTraffic(let adapter):
      "can't be replayed: it holds no ATT traffic of an LE connection"
        + (adapter.map { " of hci\($0)" } ?? "")
        + ", and no advertisements"
    case .tooMuchTraffic(let number):
      "can't be replayed as a whole: it has more ATT traffic than fits, up to packet \(number); cut it into parts, "
        + "for example with editcap"
    case .recordTooLarge(let length):
      "a record claims \(length) bytes, and no packet is that long"
    case .compressed(let format): "what arrives is compressed with \(format.rawValue)"
    case .noArchiveLibrary(let format):
      "the file is compressed with \(format.rawValue), and libarchive, which reads that, is not installed"
    case .cannotDecompress(let why): "can't be decompressed: \(why)"
    case .decompressedInPart(let why): "is read up to where it can't be decompressed: \(why)"
    case .growsTooMuch(let limit):
      "has more than \(limit >> 20) MiB when it is decompressed, which no capture of its size has"
    case .holdsNoCapture(let format): "this \(format.rawValue) file has no Bluetooth capture in it"
    case .cannotLoad(let error): "\(error)"
    case .cannotCopy(let number):
      "the decompressed capture can't be written to a temporary file: \(SystemError.text(number))"
    case .cancelled: "reading was cancelled"
    case .replaced(.shrunk(let before, let now)): "the file shrank from \(before) to \(now) bytes"
    case .replaced(.otherFile): "another file took its place"
    case .damagedRecord(let what): what
    }
  }
}

/// Compressed files that are recognized by their first bytes.
package enum CompressionFormat: String, Hashable, Sendable, CaseIterable {
  case gzip, zstd, xz, bzip2, lz4, zip

  private var magic: [UInt8] {
    switch self {
    case .gzip: [0x1F, 0x8B]
    case .zstd: [0x28, 0xB5, 0x2F, 0xFD]
    case .xz: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]
    case .bzip2: Array("BZh".utf8)
    case .lz4: [0x04, 0x22, 0x4D, 0x18]
    case .zip: Array("PK\u{3}\u{4}".utf8)
    }
  }

  /// The program that writes a file of this format, decompressed, to standard output.
  package var reader: String {
    switch self {
    case .gzip: "zcat"
    case .zstd: "zstdcat"
    case .xz: "xzcat"
    case .bzip2: "bzcat"
    case .lz4: "lz4cat"
    case .zip: "unzip -p"
    }
  }

  /// The format of a file with this beginning; nil if it is none of them.
  init?(_ bytes: RawSpan) {
    let found = Self.allCases.first { format in
      format.magic.indices.allSatisfy { bytes.byte(at: $0) == format.magic[$0] }
    }
    guard let found else { return nil }
    self = found
  }
}

/// A change of a file that is followed.
package enum FileChange: Hashable, Sendable {
  /// It has fewer bytes than were read.
  case shrunk(from: Int, to: Int)
  /// Its path leads to another file.
  case otherFile
}
