import ATT
import HaloBluetoothCore

/// The use of the attributes of devices: writes with their answers, and reads.
struct AttributeTally: Sendable {
  /// An attribute of a device.
  private struct ReadAttribute: Hashable {
    var device: DeviceKey
    var handle: AttributeHandle
  }

  private var values = AttributeValues()
  private var writes = WriteTally()
  /// The last value of each attribute that was read.
  private var reads = BoundedTable<ReadAttribute, [UInt8]>()

  /// The number of writes to attributes that there was no room for.
  var overflow: Int { writes.overflow }

  /// Adds the values in a packet.
  ///
  /// - Parameters:
  ///   - packet: with an ATT PDU; or an event, which may be about a link
  ///   - device: at the other end of the link; nil for an event
  mutating func add(_ packet: DissectedPacket, of device: DeviceKey?) {
    values.take(packet)
    for value in values.found {
      guard let device else { continue }
      switch value.operation {
      case .writeRequest, .writeCommand, .signedWriteCommand, .prepareWriteRequest:
        guard let handle = value.handle else { continue }
        writes.add(
          value, packet,
          at: .init(
            device: device, isLocal: value.isLocal == true, handle: handle, operation: value.operation))
      case .handleValueNotification, .handleValueIndication:
        if let write = value.answers { writes.addAnswer(value, to: write) }
      default:
        guard let handle = value.handle, value.offset == 0, value.isLocal != true else { continue }
        noteRead(value, of: handle, device)
      }
    }
  }

  private mutating func noteRead(_ value: AttributeValue, of handle: AttributeHandle, _ device: DeviceKey) {
    guard let index = reads.index(of: ReadAttribute(device: device, handle: handle), default: []) else {
      return
    }
    reads[at: index] = Array(value.bytes.prefix(BytePattern.capacity))
  }

  /// Adds the known attributes of a device.
  func describe(_ device: inout UsedDevice) {
    device.writes = writes.forms(of: device.key, isLocal: false)
    device.writesToHost = writes.forms(of: device.key, isLocal: true)
    for read in reads.entries where read.key.device == device.key {
      device.reads[read.key.handle] = read.value
    }
  }
}
