import HaloBluetoothCore
import HaloCapture
import TestSupport
import Testing

/// The bytes of an integer.
func integer(_ value: some FixedWidthInteger, big: Bool) -> [UInt8] {
  withUnsafeBytes(of: big ? value.bigEndian : value.littleEndian) { Array($0) }
}

/// 2024-01-01 00:00:00 UTC.
let newYear: Int64 = 1_704_067_200_000_000

/// The fields of a pcap file in one byte order and unit of time, put down byte by byte.
struct PCAPBytes {
  var big = false
  var nanoseconds = false

  func header(linkType: UInt32, version: UInt16 = 2) -> [UInt8] {
    integer(UInt32(nanoseconds ? 0xA1B2_3C4D : 0xA1B2_C3D4), big: big) + integer(version, big: big)
      + integer(UInt16(4), big: big) + [UInt8](repeating: 0, count: 8) + integer(UInt32(65_535), big: big)
      + integer(linkType, big: big)
  }

  func record(
    _ bytes: [UInt8], seconds: UInt32 = 1_704_067_200, fraction: UInt32 = 0, original: UInt32? = nil,
    included: UInt32? = nil
  ) -> [UInt8] {
    integer(seconds, big: big) + integer(fraction, big: big)
      + integer(included ?? UInt32(bytes.count), big: big)
      + integer(original ?? UInt32(bytes.count), big: big) + bytes
  }
}

/// The blocks of a pcapng file in one byte order.
struct PCAPNGBytes {
  var big = false

  func block(_ type: UInt32, _ body: [UInt8], length: UInt32? = nil) -> [UInt8] {
    let padded = body + [UInt8](repeating: 0, count: (4 - body.count % 4) % 4)
    let length = integer(length ?? UInt32(padded.count + 12), big: big)
    return integer(type, big: big) + length + padded + length
  }

  func option(_ code: UInt16, _ value: [UInt8]) -> [UInt8] {
    integer(code, big: big) + integer(UInt16(value.count), big: big) + value
      + [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
  }

  func section(major: UInt16 = 1) -> [UInt8] {
    block(
      0x0A0D_0D0A,
      integer(UInt32(0x1A2B_3C4D), big: big) + integer(major, big: big) + integer(UInt16(0), big: big)
        + [UInt8](repeating: 0xFF, count: 8))
  }

  func interface(_ linkType: UInt16, snapLength: UInt32 = 0, options: [UInt8] = []) -> [UInt8] {
    block(1, integer(linkType, big: big) + [0, 0] + integer(snapLength, big: big) + options)
  }

  func packet(
    _ bytes: [UInt8], interface: UInt32 = 0, time: UInt64 = UInt64(newYear), original: UInt32? = nil,
    included: UInt32? = nil, options: [UInt8] = [], type: UInt32 = 6
  ) -> [UInt8] {
    let number =
      type == 2 ? integer(UInt16(interface), big: big) + [0xFF, 0xFF] : integer(interface, big: big)
    let padding = [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    return block(
      type,
      number + integer(UInt32(time >> 32), big: big) + integer(UInt32(truncatingIfNeeded: time), big: big)
        + integer(included ?? UInt32(bytes.count), big: big)
        + integer(original ?? UInt32(bytes.count), big: big) + bytes + padding + options)
  }

  func simplePacket(_ bytes: [UInt8], original: UInt32? = nil) -> [UInt8] {
    block(3, integer(original ?? UInt32(bytes.count), big: big) + bytes)
  }
}

/// USB transfers of a device, with the header of a link type.
struct USBBytes {
  var linkType = 189
  var big = false
  var bus: UInt16 = 1
  var device: UInt8 = 9

  /// An HCI command.
  func command(_ digits: String) -> [UInt8] {
    let bytes = hex(digits)
    let setup: [UInt8] = [0x20, 0, 0, 0, 0, 0, UInt8(bytes.count), 0]
    return transfer(2, 0, bytes, setup: setup)
  }

  /// - Parameters:
  ///   - kind: 0 isochronous, 1 interrupt, 2 control, 3 bulk
  ///   - isEnd: whether the transfer ends with it
  func transfer(
    _ kind: UInt8, _ endpoint: UInt8, isEnd: Bool = false, _ data: [UInt8], setup: [UInt8]? = nil
  ) -> [UInt8] {
    if linkType == 249 {
      let content = (setup ?? []) + data
      let stage: [UInt8] = kind == 2 ? [isEnd ? 3 : 0] : []
      return [UInt8(27 + stage.count), 0] + [UInt8](repeating: 7, count: 8) + [
        0, 0, 0, 0, 9, 0, isEnd ? 1 : 0,
      ]
        + integer(bus, big: false) + [device, 0, endpoint, kind] + integer(UInt32(content.count), big: false)
        + stage + content
    }
    let head = [UInt8](repeating: 7, count: 8) + [isEnd ? 0x43 : 0x53, kind, endpoint, device]
    let flags: [UInt8] = [setup == nil ? 0x2D : 0, 0]
    let time = [UInt8](repeating: 0, count: 12) + integer(Int32(isEnd ? 0 : -115), big: big)
    let lengths = integer(UInt32(data.count), big: big) + integer(UInt32(data.count), big: big)
    let rest = linkType == 220 ? [UInt8](repeating: 0, count: 16) : []
    return head + integer(bus, big: big) + flags + time + lengths + (setup ?? [UInt8](repeating: 0, count: 8))
      + rest + data
  }
}

/// A btsnoop file.
func btsnoop(_ datalink: UInt32, _ records: [UInt8]..., version: UInt32 = 1) -> [UInt8] {
  hex("6274736e6f6f7000") + integer(version, big: true) + integer(datalink, big: true) + records.joined()
}

/// A record of one; the time is microseconds since 1970.
func btsnoopRecord(
  _ bytes: [UInt8], flags: UInt32, time: Int64 = newYear, original: UInt32? = nil, included: UInt32? = nil
) -> [UInt8] {
  integer(original ?? UInt32(bytes.count), big: true) + integer(included ?? UInt32(bytes.count), big: true)
    + integer(flags, big: true) + [0, 0, 0, 0] + integer(time &+ 0x00DC_DDB3_0F2F_8000, big: true) + bytes
}

/// A record of a PacketLogger file; a type of nil leaves it out.
func packetLoggerRecord(
  _ type: UInt8?, _ bytes: [UInt8], big: Bool, seconds: UInt32 = 1_704_067_200, microseconds: UInt32 = 0
) -> [UInt8] {
  let body = (type.map { [$0] } ?? []) + bytes
  return integer(UInt32(8 + body.count), big: big) + integer(seconds, big: big)
    + integer(microseconds, big: big) + body
}

/// A btsnooz summary, of version 2 as a rule, whose zlib stream is stored, not compressed (RFC 1951, 3.2.4).
func btsnoozSummary(_ records: String, version: UInt8 = 2) -> [UInt8] {
  let body = hex(records)
  var low: UInt32 = 1
  var high: UInt32 = 0
  for byte in body {
    low = (low + UInt32(byte)) % 65521
    high = (high + low) % 65521
  }
  return [version] + integer(Int64(newYear), big: false) + hex("7801 01")
    + integer(UInt16(body.count), big: false)
    + integer(~UInt16(body.count), big: false) + body + integer(high << 16 | low, big: true)
}

/// All that can be read of a file, and what stopped it.
struct Reading {
  var format: CaptureFormat?
  var records: [CaptureRecord] = []
  var truncated = 0
  var error: CaptureError?

  init(_ bytes: [UInt8]) {
    self.init(path: TemporaryFile(bytes))
  }

  init(path file: TemporaryFile) {
    self.init(path: file.path)
  }

  init(path: String) {
    do throws(CaptureError) {
      var reader = try CaptureReader(path: path)
      format = reader.format
      while true {
        do throws(CaptureError) {
          guard let record = try reader.next() else { break }
          records.append(record)
        } catch {
          self.error = error
          break
        }
      }
      truncated = reader.truncatedBytes
    } catch {
      self.error = error
    }
  }

  /// What was read, a line each: number, time, adapter, what it is, bytes.
  var lines: [String] {
    records.map { record in
      let time = record.info.microseconds.map { "\($0 - newYear)" } ?? "-"
      let adapter = record.info.adapter.map { "hci\($0)" } ?? "-"
      let content =
        switch record.info.content {
        case .hci(.hostToController): "sent"
        case .hci(.controllerToHost): "received"
        case .hci(nil): "either"
        case .monitor(let opcode): "monitor \(opcode.rawValue)"
        case .packetLogger(let type): "note \(type.map { "\($0.rawValue)" } ?? "-")"
        case .air(let reception): "air \(reception.source)"
        case .foreign(let type): "link type \(type)"
        }
      let cut = record.isCut ? " of \(record.info.originalLength)" : ""
      return "\(record.info.number) \(time) \(adapter) \(content) \(Hex.string(record.bytes))\(cut)"
    }
  }
}
