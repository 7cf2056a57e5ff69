import Glibc
import HaloBluetoothCore
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// The real processes of ``AdapterHelper``, which starts only where it may have its one capability, and of ``LastCommand``.
@Suite struct HelperProcessTests {
  /// Asks for something, and waits for the answer.
  ///
  /// - Returns: the number of the request, and the kernel's error
  private func answer(of channel: Int32, to request: String) throws -> (number: UInt32, error: Int32) {
    let bytes = hex(request)
    try #require(send(channel, bytes, bytes.count, 0) == bytes.count)
    var event = pollfd(fd: channel, events: Int16(POLLIN), revents: 0)
    try #require(poll(&event, 1, 20_000) == 1)
    var (number, error, descriptor) = (UInt32(0), Int32(0), Int32(-1))
    try #require(KernelFunction.receiveReply(channel, &number, &error, &descriptor) == 8)
    #expect(descriptor < 0)
    return (number, error)
  }

  /// It did what it does not know as the last thing that it knows: it brought the adapter down.
  @Test(.enabled(if: geteuid() == 0, "needs CAP_NET_ADMIN"))
  func rejectsUnknownHelperCommands() throws {
    let channel = KernelFunction.startHelper([UInt8](repeating: 0, count: 6), 4096)
    try #require(channel >= 0)
    defer { close(channel) }
    #expect(try answer(of: channel, to: "01000000 ffff 0000") == (1, EINVAL))
    #expect(try answer(of: channel, to: "02000000 ffff 0400") == (2, EINVAL))
    #expect(try answer(of: channel, to: "03000000 ffff ffff") == (3, EINVAL))
    // What it knows fails for another reason: there is no such adapter, or no Bluetooth at all.
    let known = try answer(of: channel, to: "04000000 ffff 0300")
    #expect(known.number == 4 && known.error != 0 && known.error != EINVAL)
  }

  /// What the kernel's management gets when the program has ended after these packets.
  private func lastCommand(after packets: [String]) throws -> String {
    let management = try SocketPair(keepsPackets: true)
    let channel = KernelFunction.startLastCommand(management.ours)
    try #require(channel >= 0)
    close(management.ours)
    for packet in packets {
      let bytes = hex(packet)
      #expect(send(channel, bytes, bytes.count, 0) == bytes.count)
    }
    close(channel)
    var event = pollfd(fd: management.theirs, events: Int16(POLLIN), revents: 0)
    try #require(poll(&event, 1, 20_000) == 1)
    return Hex.string(management.read())
  }

  @Test func theLastCommandIsGivenAtTheEnd() throws {
    #expect(try lastCommand(after: ["3f0000000100 05"]) == "3f000000010005")
    #expect(try lastCommand(after: ["3f0000000100 05", "3f0000000100 04"]) == "3f000000010004")
    #expect(try lastCommand(after: ["3f0000000100 05", "00"]) == "")
    #expect(try lastCommand(after: []) == "")
  }
}
