import ATT
import CAllocationCounter
import GATTServer
import HaloBluetoothCore
import HaloEventLoop

extension HotPathCheck {
  /// The other way: a value of a program that becomes a notification.
  ///
  /// - Returns: whether nothing was allocated
  @BluetoothActor
  static func measureServer() -> Bool {
    let database = AttributeDatabase()
    database.addService(0x180D)
    let handle = database.addCharacteristic(0x2A37, .notify)
    let timers = EpollLoop.shared.timers
    var sent = 0
    let bearer = ATTBearer(timers: timers) { pdu in sent += pdu.byteCount }
    let server = ServerBearer(database, on: bearer, timers: timers)
    let subscription = ATTWriteRequest(handle.next ?? 0, value: [1, 0]).bytes
    bearer.receive(subscription.span.bytes, at: timers.now)
    let value: [UInt8] = [0, 60]
    for _ in 0..<warmUp { server.notify(value, of: handle) }
    let before = (allocation_count(), sent)
    for _ in 0..<notifications { server.notify(value, of: handle) }
    let allocations = allocation_count() - before.0
    let isSent = sent - before.1 == notifications * (value.count + 3)
    print("value to a PDU: \(allocations) allocations for \(notifications) notifications")
    return allocations == 0 && isSent
  }
}
