import HaloBluetoothCore
import L2CAP

extension PSM {
  /// The Attribute Protocol on BR/EDR.
  static let att = PSM(rawValue: 0x001F)
}

/// A channel that was opened with signalling commands. Each end has its own channel identifier.
final class Channel {
  let psm: PSM
  let isCreditBased: Bool
  /// Whether an earlier channel of the link has the same PSM: for AVDTP, this one carries media.
  let isSecond: Bool
  /// Whether frames have a control field (Core Specification Vol 3, Part A, 3.3).
  var isRetransmitting = false
  /// The ATT bearers, if it is a channel of EATT.
  var bearers = ATTBearers()

  fileprivate var sent = Flow()
  fileprivate var received = Flow()

  /// One direction of a credit-based channel.
  fileprivate struct Flow {
    /// Frames that the sender may send; nil if the capture does not show it.
    var credits: Int?
    /// The unit that is being sent: its bytes, its length, and the number of its frames.
    var partial: [UInt8] = []
    var length = 0
    var frames = 0
  }

  init(_ psm: PSM, isCreditBased: Bool, isSecond: Bool) {
    self.psm = psm
    self.isCreditBased = isCreditBased
    self.isSecond = isSecond
  }
}

/// The dynamic channels of a link (Core Specification Vol 3, Part A, 4). Bounded: beyond its capacity, channels are not
/// followed.
struct ChannelTable {
  static let capacity = 64
  /// The most bytes of incomplete units on a link.
  static let partialCapacity = 65_536

  private struct Key: Hashable {
    var channel: UInt16
    var isSent: Bool
  }

  private struct Request {
    var identifier: UInt8
    var isSent: Bool
    var psm: PSM
    var sources: [UInt16]
    /// Nil for a channel of BR/EDR.
    var credits: UInt16?
  }

  /// By the identifier in the frames, and their direction.
  private var channels: [Key: Channel] = [:]
  private var requests: [Request] = []
  private var partialBytes = 0

  /// - Parameter isSent: whether the frame is sent by the host: it carries the identifier that the peer has chosen
  subscript(channel: ChannelID, isSent: Bool) -> Channel? {
    channels.isEmpty ? nil : channels[Key(channel: channel.rawValue, isSent: isSent)]
  }

  /// The ATT requests without a response.
  var open: [Int] {
    channels.isEmpty ? [] : channels.filter { $0.key.isSent }.flatMap { $0.value.bearers.open }
  }

  // MARK: Signalling

  /// Follows the commands of a frame.
  mutating func follow(_ source: RawSpan, _ range: Range<Int>, isSent: Bool) {
    for command in SignalingLayer.commands(in: source, range) {
      var reader = ByteReader(source.extracting(command.range))
      do throws(DecodeError) {
        try follow(command.code, &reader, isSent)
      } catch {
        // A damaged command opens nothing.
      }
    }
  }

  private mutating func follow(
    _ code: SignalingPacket.Code, _ reader: inout ByteReader, _ isSent: Bool
  ) throws(DecodeError) {
    let identifier = try SignalingHeader(parsing: &reader).identifier
    switch code {
    case .connectionRequest:
      let psm = try ExtensiblePSM(parsing: &reader).psm
      add(Request(identifier: identifier, isSent: isSent, psm: psm, sources: [try reader.readUInt16()]))
    case .connectionResponse:
      let (destination, source) = (try reader.readUInt16(), try reader.readUInt16())
      let result = try reader.readUInt16()
      // 1 is pending: another response follows.
      guard result != 1, let request = take(identifier, !isSent), result == 0, request.sources == [source]
      else {
        return
      }
      open(request, [destination], credits: nil)
    case .leCreditBasedConnectionRequest:
      let psm = PSM(rawValue: try reader.readUInt16())
      let source = try reader.readUInt16()
      try reader.skip(4)
      let credits = try reader.readUInt16()
      add(Request(identifier: identifier, isSent: isSent, psm: psm, sources: [source], credits: credits))
    case .leCreditBasedConnectionResponse:
      let destination = try reader.readUInt16()
      try reader.skip(4)
      let credits = try reader.readUInt16()
      guard let request = take(identifier, !isSent), try reader.readUInt16() == 0 else { return }
      open(request, [destination], credits: credits)
    case .creditBasedConnectionRequest:
      let psm = PSM(rawValue: try reader.readUInt16())
      try reader.skip(4)
      let credits = try reader.readUInt16()
      add(
        Request(
          identifier: identifier, isSent: isSent, psm: psm, sources: try Self.list(&reader), credits: credits)
      )
    case .creditBasedConnectionResponse:
      try reader.skip(4)
      let credits = try reader.readUInt16()
      try reader.skip(2)
      guard let request = take(identifier, !isSent) else { return }
      // A channel that is refused has the identifier 0.
      open(request, try Self.list(&reader), credits: credits)
    case .flowControlCredit:
      // The identifier is that of the side that sends the command.
      let channel = try reader.readUInt16()
      let credits = Int(try reader.readUInt16())
      guard let open = channels[Key(channel: channel, isSent: !isSent)] else { return }
      if isSent { open.received.credits? += credits } else { open.sent.credits? += credits }
    case .configurationRequest: try configure(&reader, isSent)
    case .disconnectionResponse:
      let (destination, source) = (try reader.readUInt16(), try reader.readUInt16())
      close(destination, isSent: !isSent)
      close(source, isSent: isSent)
    default: break
    }
  }

  private static func list(_ reader: inout ByteReader) throws(DecodeError) -> [UInt16] {
    var list: [UInt16] = []
    while reader.remaining >= 2, list.count < 5 { list.append(try reader.readUInt16()) }
    return list
  }

  /// The retransmission and flow control option of a channel (5.4).
  private mutating func configure(_ reader: inout ByteReader, _ isSent: Bool) throws(DecodeError) {
    let destination = try reader.readUInt16()
    try reader.skip(2)
    while !reader.isAtEnd {
      let (type, length) = (try reader.readUInt8(), Int(try reader.readUInt8()))
      let option = try reader.readSpan(length)
      if type & 0x7F == 4, let mode = option.byte(at: 0), mode != 0 {
        channels[Key(channel: destination, isSent: isSent)]?.isRetransmitting = true
      }
    }
  }

  private mutating func add(_ request: Request) {
    if requests.count >= Self.capacity { requests.removeFirst() }
    requests.append(request)
  }

  private mutating func take(_ identifier: UInt8, _ isSent: Bool) -> Request? {
    requests.lastIndex { $0.identifier == identifier && $0.isSent == isSent }.map { requests.remove(at: $0) }
  }

  private mutating func open(_ request: Request, _ destinations: [UInt16], credits: UInt16?) {
    for (source, destination) in zip(request.sources, destinations) where source > 0 && destination > 0 {
      guard channels.count < 2 * Self.capacity else { return }
      let channel = Channel(
        request.psm, isCreditBased: request.credits != nil,
        isSecond: channels.values.contains { $0.psm == request.psm })
      // The side that asked may send as much as the response allows, and the other one as much as the request allows.
      channel.sent.credits = (request.isSent ? credits : request.credits).map(Int.init)
      channel.received.credits = (request.isSent ? request.credits : credits).map(Int.init)
      channels[Key(channel: destination, isSent: request.isSent)] = channel
      channels[Key(channel: source, isSent: !request.isSent)] = channel
    }
  }

  private mutating func close(_ channel: UInt16, isSent: Bool) {
    guard let closed = channels.removeValue(forKey: Key(channel: channel, isSent: isSent)) else { return }
    partialBytes -= closed.sent.partial.count + closed.received.partial.count
    closed.sent.partial = []
    closed.received.partial = []
  }

  // MARK: Credit-based channels

  /// A complete unit (SDU).
  struct Unit {
    /// In the bytes of the packet, or in ``reassembled``.
    var range: Range<Int>
    /// A frame with the whole unit, if it was sent in several frames: header, length of the unit, unit.
    var reassembled: [UInt8]?
    var frames = 1
    var credits: Int?
  }

  /// Takes a frame of a credit-based channel (3.4).
  ///
  /// - Returns: the unit that it completes; nil if it is a part, or damaged
  mutating func receive(_ source: RawSpan, _ frame: L2CAPLayer, _ channel: Channel, isSent: Bool) -> Unit? {
    var flow = isSent ? channel.sent : channel.received
    defer { if isSent { channel.sent = flow } else { channel.received = flow } }
    if let credits = flow.credits { flow.credits = max(0, credits - 1) }
    let payload = frame.payload.clamped(to: 0..<source.byteCount)
    if flow.length == 0 {
      guard let low = source.byte(at: payload.lowerBound), let high = source.byte(at: payload.lowerBound + 1),
        payload.count >= 2
      else { return nil }
      let length = Int(high) << 8 | Int(low)
      let data = payload.lowerBound + 2..<payload.upperBound
      guard length > data.count else {
        return length == data.count ? Unit(range: data, credits: flow.credits) : nil
      }
      flow.length = length
    }
    guard partialBytes + payload.count <= Self.partialCapacity else {
      partialBytes -= flow.partial.count
      (flow.partial, flow.length, flow.frames) = ([], 0, 0)
      return nil
    }
    flow.partial += Array(source.extracting(payload))
    flow.frames += 1
    partialBytes += payload.count
    // The length of the unit is a part of the first frame.
    guard flow.partial.count >= flow.length + 2 else { return nil }
    defer {
      partialBytes -= flow.partial.count
      (flow.partial, flow.length, flow.frames) = ([], 0, 0)
    }
    guard flow.partial.count == flow.length + 2 else { return nil }
    var writer = ByteWriter(capacity: flow.partial.count + BasicHeader.length)
    BasicHeader.writeFrame(flow.partial.span.bytes, on: frame.channel, into: &writer)
    return Unit(
      range: BasicHeader.length + 2..<writer.count, reassembled: writer.bytes, frames: flow.frames,
      credits: flow.credits)
  }

  func credits(of channel: Channel, isSent: Bool) -> Int? {
    isSent ? channel.sent.credits : channel.received.credits
  }
}
