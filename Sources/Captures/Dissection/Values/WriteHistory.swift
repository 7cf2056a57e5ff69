import ATT
import HaloBluetoothCore
import HaloCapture
import HaloGATT
import RingLink

/// The last writes of a client on a link, for the notifications that answer them.
///
/// A capture does not show which notification answers which write. One answers:
///
/// - the last write that begins with the same byte, up to 60 s after it or after the value before that answers it.
///   Where frames of a ring are recognised, it is the command or the kind of bulk frame that has to be the same;
/// - else the last write, up to 2 s after it, if no value answers it yet, or if one of the same characteristic did
///   within the last half second: an answer in several values. This does not apply to frames of a ring, and not after a
///   subscription, which makes a server send values, too.
///
/// Only writes in the same service count, where the services are known. The write of a Client Characteristic Configuration is a
/// subscription. A replay uses the same signs, but sees the later packets, too.
struct WriteHistory {
  /// The writes that are kept, of which no two are to the same attribute and begin in the same way.
  static let capacity = 64
  /// The longest time from a value to the next one of the same answer, in microseconds.
  static let pause: Int64 = 500_000

  /// How a value begins.
  private enum Beginning: Equatable {
    case byte(UInt8)
    case command(RingCommand)
    case bulk(BulkID)
  }

  private struct Write {
    var packet: Int
    var time: Int64
    var handle: AttributeHandle?
    var service: BluetoothUUID?
    /// Nil for a subscription, and for an empty value.
    var beginning: Beginning?
    var isSubscription = false
    /// The characteristic whose values answer it, and the time of the last one.
    var answer: (handle: AttributeHandle?, time: Int64)?

    func concerns(_ service: BluetoothUUID?) -> Bool {
      service == nil || self.service == nil || service == self.service
    }
  }

  private var writes: [Write] = []
  /// The time of the last packet that has one.
  private var time: Int64 = 0

  /// Notes a write.
  mutating func write(_ value: AttributeValue, _ packet: DissectedPacket) {
    // The parts of a long value are one write.
    guard value.offset == 0 else { return }
    let attribute = packet.gatt?.attribute
    var write = Write(
      packet: packet.info.number, time: now(packet), handle: value.handle, service: attribute?.service)
    write.isSubscription = attribute?.uuid == GATTUUID.clientCharacteristicConfiguration
    if !write.isSubscription { write.beginning = Self.beginning(value, packet) }
    writes.removeAll { $0.handle == write.handle && $0.beginning == write.beginning }
    if writes.count >= Self.capacity { writes.removeFirst() }
    writes.append(write)
  }

  /// The number of the packet with the write that a value answers; nil if it is not known.
  mutating func cause(of value: AttributeValue, _ packet: DissectedPacket) -> Int? {
    let time = now(packet)
    let service = packet.gatt?.attribute?.service
    let beginning = Self.beginning(value, packet)
    let echoed = writes.lastIndex { write in
      beginning != nil && write.beginning == beginning && write.concerns(service)
    }
    if let echoed, time &- (writes[echoed].answer?.time ?? writes[echoed].time) <= AnswerTime.echo {
      writes[echoed].answer = (value.handle, time)
      return writes[echoed].packet
    }
    guard packet.ring == nil, let last = writes.lastIndex(where: { $0.concerns(service) }),
      !writes[last].isSubscription, time &- writes[last].time <= AnswerTime.other
    else { return nil }
    if let answer = writes[last].answer, answer.handle != value.handle || time &- answer.time > Self.pause {
      return nil
    }
    writes[last].answer = (value.handle, time)
    return writes[last].packet
  }

  private mutating func now(_ packet: DissectedPacket) -> Int64 {
    time = packet.info.microseconds ?? time
    return time
  }

  private static func beginning(_ value: AttributeValue, _ packet: DissectedPacket) -> Beginning? {
    switch packet.ring?.content {
    case .frame(let meaning)?: .command(meaning.refusal?.command ?? meaning.frame.command)
    case .bulk(let frame)?: .bulk(frame.id)
    case .part(let id, _, _)?: .bulk(id)
    case .damaged?: nil
    case nil: value.bytes.first.map(Beginning.byte)
    }
  }
}
