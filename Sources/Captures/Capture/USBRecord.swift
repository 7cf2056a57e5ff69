extension CaptureLinkType {
  /// USB transfers of Linux (usbmon), with the first 48 bytes of their header.
  package static let usbLinux = CaptureLinkType(rawValue: 189)
  /// USB transfers of Linux (usbmon), with all 64 bytes of their header.
  package static let usbLinuxMapped = CaptureLinkType(rawValue: 220)
  /// USB transfers of Windows (USBPcap).
  package static let usbPcap = CaptureLinkType(rawValue: 249)

  /// Whether the records are USB transfers, of which those of a Bluetooth adapter are HCI packets.
  package var isUSB: Bool { self == .usbLinux || self == .usbLinuxMapped || self == .usbPcap }
}

/// A record of a USB capture: the submission or the completion of a transfer, without its data.
///
/// The header of Linux is in the byte order of the file (the kernel's `Documentation/usb/usbmon.rst`):
///
///     id 8, type 1, transfer 1, endpoint 1, device 1, bus 2, setup flag 1, data flag 1, time 8 + 4, status 4,
///     length 4, captured length 4, setup packet 8; with 64 bytes also interval, frame, flags and descriptors, 4 each
///
/// The header of USBPcap is little-endian (desowin.org/usbpcap/captureformat.html):
///
///     header length 2, id 8, status 4, function 2, info 1, bus 2, device 2, endpoint 1, transfer 1, data length 4;
///     of a control transfer also its stage 1, and the setup packet before the data of the first stage
struct USBRecord {
  /// As both headers number them.
  enum Transfer: UInt8 {
    case isochronous, interrupt, control, bulk
  }

  var bus: UInt16
  var device: UInt16
  /// With the direction in the highest bit: 1 for data to the host.
  var endpoint: UInt8
  var transfer: Transfer?
  /// Whether the transfer has ended; else it begins.
  var isCompletion: Bool
  var hasFailed = false
  /// Where the setup packet of a control transfer is: request type 1, request 1, value 2, index 2, length 2.
  var setup: Int?
  /// Where the data are, as far as the record has them.
  var data: Range<Int>
  /// The number of bytes that were transferred, or are to be.
  var length: Int

  var isIn: Bool { endpoint & 0x80 != 0 }

  /// - Parameters:
  ///   - bytes: the record
  ///   - order: the byte order of the file
  /// - Throws: ``CaptureError`` if the record is shorter than its header
  init(_ bytes: RawSpan, _ linkType: CaptureLinkType, _ order: ByteOrder) throws(CaptureError) {
    let found =
      linkType == .usbPcap
      ? Self.readUSBPcap(bytes) : Self.readLinux(bytes, order, headerLength: linkType == .usbLinux ? 48 : 64)
    guard let found else {
      throw CaptureError(
        .damagedRecord("a packet of \(bytes.byteCount) bytes is too short for its link type's header"))
    }
    self = found
  }

  private init(bus: UInt16, device: UInt16, endpoint: UInt8, transfer: UInt8, isCompletion: Bool) {
    self.bus = bus
    self.device = device
    self.endpoint = endpoint
    self.transfer = Transfer(rawValue: transfer)
    self.isCompletion = isCompletion
    data = 0..<0
    length = 0
  }

  private static func readLinux(_ bytes: RawSpan, _ order: ByteOrder, headerLength: Int) -> USBRecord? {
    guard bytes.byteCount >= headerLength, let type = bytes.byte(at: 8), let transfer = bytes.byte(at: 9),
      let endpoint = bytes.byte(at: 10), let device = bytes.byte(at: 11),
      let bus = bytes.uint16(at: 12, order),
      let status = bytes.integer(at: 28, as: Int32.self, order), let length = bytes.uint32(at: 32, order),
      let captured = bytes.uint32(at: 36, order)
    else { return nil }
    var record = USBRecord(
      bus: bus, device: UInt16(device), endpoint: endpoint, transfer: transfer,
      isCompletion: type != UInt8(ascii: "S"))
    record.hasFailed = type == UInt8(ascii: "E") || record.isCompletion && status != 0
    if record.transfer == .control, bytes.byte(at: 14) == 0 { record.setup = 40 }
    // Data that the kernel could not get have another flag, and no bytes.
    let isThere = bytes.byte(at: 15) == 0
    record.data =
      headerLength..<headerLength + (isThere ? min(Int(captured), bytes.byteCount - headerLength) : 0)
    record.length = isThere ? max(Int(length), record.data.count) : 0
    return record
  }

  private static func readUSBPcap(_ bytes: RawSpan) -> USBRecord? {
    guard let headerLength = bytes.uint16(at: 0, .little).map(Int.init), headerLength >= 27,
      bytes.byteCount >= headerLength, let status = bytes.uint32(at: 10, .little),
      let info = bytes.byte(at: 16),
      let bus = bytes.uint16(at: 17, .little), let device = bytes.uint16(at: 19, .little),
      let endpoint = bytes.byte(at: 21), let transfer = bytes.byte(at: 22),
      let length = bytes.uint32(at: 23, .little).map(Int.init)
    else { return nil }
    var record = USBRecord(
      bus: bus, device: device, endpoint: endpoint, transfer: transfer, isCompletion: info & 1 == 1)
    record.hasFailed = record.isCompletion && status != 0
    record.data = headerLength..<headerLength + min(length, bytes.byteCount - headerLength)
    record.length = length
    // The first stage of a control transfer begins with the setup packet.
    if record.transfer == .control, headerLength >= 28, bytes.byte(at: 27) == 0, !record.isCompletion {
      guard record.data.count >= 8 else { return record }
      record.setup = headerLength
      record.data = headerLength + 8..<record.data.upperBound
      record.length -= 8
      // The direction of the endpoint is that of the data.
    }
    return record
  }
}
