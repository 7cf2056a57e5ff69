import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloSystem
@testable import HaloLinuxBluetooth

/// What opens a way to a controller, with each system call failing: the error names the way and the reason, and no
/// descriptor is left open.
@BluetoothActor
@Suite(.onTheLoop) struct SocketFaultTests {
  private nonisolated static let codes = [EMFILE, ENFILE, EACCES, ENOBUFS, ENODEV, ENETDOWN, EIO]

  private func path(_ name: String = #function) -> String {
    "/tmp/halo-\(getpid())-\(name.prefix { $0 != "(" })-\(UInt32.random(in: 0 ... .max))"
  }

  /// The error of `work`, in which the first of these calls fails.
  private func failure(
    _ call: SystemCall, _ code: Int32, _ work: () async throws -> Void
  ) async throws -> StackError? {
    let script = FaultScript([call], fails: code)
    var error: StackError?
    do {
      try await FaultPlan.during(script) { try await work() }
    } catch let failure as StackError {
      error = failure
    }
    #expect(script.isUsedUp)
    #expect(script.openCount == 0, "\(call) \(code) leaks")
    return error
  }

  @Test(arguments: [SystemCall.socket, .connect], codes) func reportsUnixSocketFailure(
    _ call: SystemCall, _ code: Int32
  ) async throws {
    let path = path()
    let listener = try StreamListener.unix(path: path) { _ in }
    let error = try await failure(call, code) { _ = try await HCIStreamTransport.unix(path: path) }
    #expect(error == StackError.cannotOpen("unix:\(path)", SystemError.text(code)))
    // The next try works.
    try await HCIStreamTransport.unix(path: path).close()
    listener.close()
  }

  @Test(arguments: [SystemCall.socket, .connect], codes) func reportsTCPSocketFailure(
    _ call: SystemCall, _ code: Int32
  ) async throws {
    let listener = try await StreamListener.tcp(host: "127.0.0.1", port: 0) { _ in }
    let port = listener.port
    let error = try await failure(call, code) {
      _ = try await HCIStreamTransport.tcp(host: "127.0.0.1", port: port)
    }
    #expect(error?.operation == "cannot open tcp:127.0.0.1:\(port)")
    #expect(error?.reason.hasPrefix(SystemError.text(code)) == true)
    listener.close()
  }

  /// A connect that a signal interrupts goes on in the background.
  @Test func aConnectThatIsInterruptedIsWaitedFor() async throws {
    let listener = try await StreamListener.tcp(host: "127.0.0.1", port: 0) { _ in }
    let script = FaultScript([.socket], [.error(EINTR), .error(EINTR)])
    try await FaultPlan.during(script) {
      try await HCIStreamTransport.tcp(host: "127.0.0.1", port: listener.port).close()
    }
    #expect(script.isUsedUp)
    listener.close()
  }

  @Test(arguments: codes) func reportsSerialLineOpenFailure(_ code: Int32) async throws {
    let error = try await failure(.open, code) { _ = try HCIStreamTransport.serial(path: "/dev/null") }
    #expect(error?.operation == "cannot open serial:/dev/null@115200")
    #expect(error?.reason.hasPrefix(SystemError("", errno: code).reason) == true)
    #expect(code != EACCES || error?.reason.contains("dialout") == true)
  }

  @Test(arguments: [SystemCall.socket, .bind, .listen], codes) func reportsListenerFailure(
    _ call: SystemCall, _ code: Int32
  ) async throws {
    let path = path()
    let error = try await failure(call, code) { _ = try StreamListener.unix(path: path) { _ in } }
    #expect(error == StackError.cannotOpen("unix:\(path)", SystemError.text(code)))
    unlink(path)
  }

  /// A program that connects while no descriptor is left is accepted later, and the loop does not spin until then.
  @Test(arguments: [EMFILE, ENFILE, ENOBUFS, ENOMEM])
  func retriesAcceptWhenOutOfDescriptors(_ code: Int32) async throws {
    let path = path()
    var accepted: [HCIStreamTransport] = []
    let listener = try StreamListener.unix(
      path: path, timers: testTimers,
      accept: HCIStreamTransport.ofHosts(timers: testTimers) { accepted.append($0) })
    FaultPlan.add(Array(repeating: .error(code), count: 3), to: .accept, on: listener.descriptor)
    let start = testTimers.now
    let client = try await HCIStreamTransport.unix(path: path)
    while accepted.isEmpty, testTimers.now - start < .seconds(10) {
      await testTimers.sleep(for: .milliseconds(10))
    }
    #expect(accepted.count == 1)
    #expect(testTimers.now - start >= .milliseconds(600), "one look after each pause")
    client.close()
    for transport in accepted { transport.close() }
    listener.close()
  }
}
