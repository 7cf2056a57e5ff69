import Glibc
@testable import HaloMQTT
import HaloSystem
import TestSupport
import Testing

/// With a broker, Tests/Interop/files/test_mqtt.py tests it.
@Suite struct PublisherTests {
  /// A port without a listener.
  private func closedPort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    return try bindToFreePort(descriptor)
  }

  private func bindToFreePort(_ descriptor: Int32) throws -> Int {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    return try withUnsafeMutablePointer(to: &address) {
      try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        try #require(bind(descriptor, address, length) == 0)
        try #require(getsockname(descriptor, address, &length) == 0)
        return try address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
          let port = Int(UInt16(bigEndian: $0.pointee.sin_port))
          try #require(port > 0)
          return port
        }
      }
    }
  }

  /// The kernel accepts the connection; no program reads it. It is said once the time for an answer is over, in both versions
  /// of MQTT.
  @Test func reportsUnresponsiveBroker() throws {
    let library = try Mosquitto.shared.get()
    let file = try TemporaryQueue()
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    let port = try bindToFreePort(listener)
    try #require(listen(listener, 16) == 0)
    let (events, told) = (LockedValue<[Publisher.Event]>([]), Monitor())
    let address = try BrokerAddress("mqtt://127.0.0.1:\(port)/test")
    let publisher = try #require(
      Publisher(
        library, Publisher.Target(address), queue: try MessageQueue(path: file.path), answerLimit: 0.2
      ) { event in
        told.locked {
          events.withLock { $0.append(event) }
          told.signal()
        }
      })
    publisher.add(Message(topic: "test/x", text: "1"))
    let end = Monitor.time(after: 30)
    told.lock()
    while events.withLock({ $0.isEmpty }), told.wait(until: end) {}
    told.unlock()
    guard case .unreachable(let reason)? = events.withLock({ $0.first }) else {
      Issue.record("\(events.withLock { $0 })")
      return
    }
    #expect(reason.contains("accepts connections and does not answer"))
    #expect(publisher.finish(within: 1).kept == 1)
  }

  @Test func withoutABrokerAllIsKeptAndTheEndIsNotDelayed() throws {
    let library = try Mosquitto.shared.get()
    let file = try TemporaryQueue()
    let address = try BrokerAddress("mqtt://127.0.0.1:\(try closedPort())/test")
    let events = LockedValue<[Publisher.Event]>([])
    let publisher = try #require(
      Publisher(library, Publisher.Target(address), queue: try MessageQueue(path: file.path)) { event in
        events.withLock { $0.append(event) }
      })
    for number in 0..<40 { publisher.add(Message(topic: "test/x", text: "\(number)")) }
    var start = timespec()
    clock_gettime(CLOCK_MONOTONIC, &start)
    #expect(publisher.finish(within: 20) == Publisher.Remainder(kept: 40, lost: 0))
    var end = timespec()
    clock_gettime(CLOCK_MONOTONIC, &end)
    #expect(end.tv_sec - start.tv_sec < 15)
    let reported = events.withLock { $0 }
    #expect(reported.count <= 1)
    for event in reported {
      guard case .unreachable(let reason) = event else {
        Issue.record("\(event)")
        continue
      }
      #expect(reason.contains("refused"))
    }
  }
}
