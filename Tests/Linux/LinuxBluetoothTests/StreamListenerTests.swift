import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloSystem
@testable import HaloLinuxBluetooth

/// Listening and connecting on stream sockets, and their addresses.
@BluetoothActor
@Suite(.onTheLoop) struct StreamListenerTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  private var path: String { "\(folder.path)/controller" }

  private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  private func expectInUse() {
    #expect(throws: StackError.cannotOpen("unix:\(path)", SystemError.text(EADDRINUSE))) {
      try StreamListener.unix(path: path, timers: testTimers) { _ in }
    }
  }

  /// Its file is made, and removed with it. Another file is not replaced.
  @Test func aUnixSocketHasAFile() async throws {
    let listener = try StreamListener.unix(path: path, timers: testTimers) { _ in }
    #expect(exists(path) && listener.port == 0 && listener.target == "unix:\(path)")
    listener.close()
    listener.close()
    #expect(!exists(path))
    folder.write("controller", "mine")
    expectInUse()
    #expect(folder.text(of: "controller") == "mine")
    folder.remove()
  }

  /// A program that was killed leaves its socket; a program that runs keeps it.
  @Test func onlyAUnixSocketWithoutAListenerIsReplaced() async throws {
    let first = try StreamListener.unix(path: path, timers: testTimers) { _ in }
    expectInUse()
    let kept = folder.path + "/kept"
    #expect(rename(path, kept) == 0)
    // The file of another program, at the path of the first one.
    let second = try StreamListener.unix(path: path, timers: testTimers) { _ in }
    first.close()
    #expect(exists(path))
    second.close()
    #expect(!exists(path) && rename(kept, path) == 0)
    let third = try StreamListener.unix(path: path, timers: testTimers) { _ in }
    third.close()
    #expect(!exists(path))
    folder.remove()
  }

  @Test func closedListenerAcceptsNoConnection() async throws {
    let listener = try StreamListener.unix(path: path, timers: testTimers) { _ in Issue.record("accepted") }
    listener.close()
    await #expect(throws: StackError.cannotOpen("unix:\(path)", SystemError.text(ENOENT))) {
      _ = try await HCIStreamTransport.unix(path: path)
    }
    folder.remove()
  }

  /// A port that was in use a moment ago can be used again; small packets are sent at once.
  @Test func aPortIsChosenAndUsed() async throws {
    var accepted: [HCIStreamTransport] = []
    let listener = try await StreamListener.tcp(
      host: "127.0.0.1", port: 0, accept: HCIStreamTransport.ofHosts { accepted.append($0) })
    #expect(listener.port > 0 && listener.target == "tcp:127.0.0.1:0")
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(listener.descriptor, SOL_SOCKET, SO_REUSEADDR, &value, &length)
    #expect(value == 1)
    let client = try await HCIStreamTransport.tcp(host: "127.0.0.1", port: listener.port)
    #expect(client.name == "tcp:127.0.0.1:\(listener.port)")
    for _ in 0..<1000 where accepted.isEmpty { await settle() }
    let server = try #require(accepted.first)
    for transport in [client, server] {
      value = 0
      getsockopt(transport.descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &value, &length)
      #expect(value == 1)
    }
    // What the host may send, and not what a controller may.
    var packets: [String] = []
    server.onPacket = { packet, _ in packets.append(Hex.string(Array(packet))) }
    server.start()
    client.start()
    client.send(hex("04ff00 01030c00").span.bytes)
    for _ in 0..<1000 where packets.isEmpty { await settle() }
    #expect(packets == ["01030c00"] && server.skippedBytes == 3)
    for transport in [client, server] { transport.close() }
    listener.close()
    folder.remove()
  }

  @Test func explainsConnectionRefused() async throws {
    let listener = try await StreamListener.tcp(host: "127.0.0.1", port: 0) { _ in }
    let port = listener.port
    listener.close()
    let reason = "\(SystemError.text(ECONNREFUSED)); is its server running there?"
    await #expect(throws: StackError.cannotOpen("tcp:127.0.0.1:\(port)", reason)) {
      _ = try await HCIStreamTransport.tcp(host: "127.0.0.1", port: port)
    }
    folder.remove()
  }

  /// sun_path has 108 bytes, the last of which is zero.
  @Test func aPathHas107BytesAtMost() throws {
    _ = try SocketAddress(unix: String(repeating: "a", count: 107))
    for path in [String(repeating: "a", count: 108), "", "a\0b"] {
      #expect(throws: StackError.self) { try SocketAddress(unix: path) }
    }
    let long = String(repeating: "a", count: 108)
    #expect(
      throws: StackError.cannotOpen("unix:\(long)", "the path is longer than a socket's may be (107 bytes)")
    ) {
      try StreamListener.unix(path: long) { _ in }
    }
    folder.remove()
  }

  @Test func addressesAreTheKernels() throws {
    let unix = try SocketAddress(unix: "/tmp/x")
    #expect(unix.family == AF_UNIX)
    let text = unix.withPointer { pointer, length in
      #expect(
        length == socklen_t(MemoryLayout<sockaddr_un>.size)
          && pointer.pointee.sa_family == sa_family_t(AF_UNIX))
      return UnsafeRawBufferPointer(start: pointer, count: Int(length)).dropFirst(2).prefix { $0 != 0 }
        .map { Character(UnicodeScalar($0)) }
    }
    #expect(String(text) == "/tmp/x")
    let found = try SocketAddress.resolve(host: "127.0.0.1", port: 0x1234, isForListening: false, target: "t")
    #expect(found.count == 1 && found[0].family == AF_INET)
    let bytes = found[0].withPointer { pointer, length in
      Array(UnsafeRawBufferPointer(start: pointer, count: Int(length)))
    }
    #expect(bytes.prefix(8) == hex("0200 1234 7f000001")[...])
    let six = try SocketAddress.resolve(host: "::1", port: 1, isForListening: true, target: "t")
    #expect(six.count == 1 && six[0].family == AF_INET6)
    folder.remove()
  }

  /// What the other side does not read waits, up to a mebibyte.
  @Test(arguments: [false, true]) func aMebibyteWaits(_ isTooMuch: Bool) async throws {
    let pair = try SocketPair()
    let transport = HCIStreamTransport(descriptor: pair.ours, timers: testTimers)
    var reasons: [String] = []
    transport.onClose = { reasons.append($0) }
    transport.start()
    FaultPlan.add([.error(EAGAIN)], to: .send, on: pair.ours)
    let packet = [UInt8](repeating: 2, count: 4096)
    for _ in 0..<256 { transport.send(packet.span.bytes) }
    if isTooMuch { transport.send([UInt8(2)].span.bytes) }
    var count = 0
    for _ in 0..<200 {
      await settle()
      while true {
        let bytes = pair.read()
        if bytes.isEmpty { break }
        count += bytes.count
      }
    }
    #expect(reasons == (isTooMuch ? ["the other side does not read"] : []))
    if !isTooMuch { #expect(count == 1 << 20) }
    pair.finish()
    transport.close()
    folder.remove()
  }

  /// 64 KiB are read at once.
  @Test(arguments: [(65_536, 1), (65_537, 2)]) func muchIsReadAtOnce(_ size: Int, _ reads: Int) async throws {
    let pair = try SocketPair()
    let transport = HCIStreamTransport(descriptor: pair.ours, timers: testTimers)
    transport.onPacket = { _, _ in }
    FaultPlan.add(Array(repeating: nil, count: 50), to: .read, on: pair.ours)
    pair.write([UInt8](repeating: 0xFF, count: size))
    transport.start()
    for _ in 0..<20 { await settle() }
    #expect(FaultPlan.removeAll(on: pair.ours) == 50 - reads)
    #expect(transport.skippedBytes == size)
    transport.close()
    folder.remove()
  }
}
