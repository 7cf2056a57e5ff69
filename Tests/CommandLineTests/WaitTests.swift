import Glibc
import Testing

/// Each place in Sources that waits, with what ends the wait. A new one has to be listed here, and so to be thought
/// about: nothing waits without a deadline, or without a reason to have none.
@Suite struct WaitTests {
  private enum End {
    /// It ends by a time, whatever the other side does.
    case deadline(String)
    /// It has no time of its own; this ends it.
    case ended(by: String)
  }

  private static let waits: [String: (count: Int, end: End)] = [
    "BluetoothCore/Time/Callbacks.swift": (
      4, .ended(by: "cancellation; within(_:_:) and sleep(for:) by their time")
    ),
    "EventLoop/OffTheLoop.swift": (1, .ended(by: "cancellation, or the caller's deadline")),
    "Central/Central.swift": (1, .deadline("ConnectionRequest.deadline")),
    "GATTClient/GATTClient.swift": (4, .deadline("30 s of ATT; disconnection() by the link's end")),
    "GATTClient/GATTClient+WritesWithoutResponse.swift": (
      1, .ended(by: "the end of the link, or cancellation")
    ),
    "Central/HCIAdapter.swift": (2, .deadline("HostController.commandDeadline for each command")),
    "LinuxBluetooth/Adapter/KernelAdapter.swift": (
      4, .deadline("HostController.commandDeadline; closeDeadline")
    ),
    "LinuxBluetooth/Management/ControllerFeatures.swift": (1, .deadline("HostController.commandDeadline")),
    "LinuxBluetooth/Adapter/AdapterHelper.swift": (
      1, .deadline("20 s; what the helper does goes on after that")
    ),
    "LinuxBluetooth/Management/Management.swift": (
      1, .deadline("ManagementQueue's deadline for each command")
    ),
    "LinuxBluetooth/Adapter/UserChannelTransport.swift": (1, .deadline("2 s of KernelCall.close")),
    "LinuxBluetooth/Streams/StreamSockets.swift": (1, .deadline("10 s, or the caller's")),
    "RingLink/Device/ActionsAndEvents.swift": (
      2,
      .deadline("the time for a ring to leave; events end with the link or by cancellation: they may be rare")
    ),
    "RingLink/Measuring/Ring+Measurements.swift": (1, .deadline("MeasurementSession's times")),
    "RingLink/Measuring/Sport.swift": (2, .deadline("the silence after which a session has ended")),
    "RingLink/Ring/Exchanges.swift": (1, .deadline("RingExchange.silence")),
    "RingLink/Ring/Ring+RawStream.swift": (
      2, .deadline("firstSampleDeadline; 2 s for what is to be written")
    ),
    "RingLink/Ring/RingFinder.swift": (1, .deadline("the search's deadline")),
    "halo-raw/Adapters/Interruption.swift": (2, .ended(by: "a signal, or the work that it cancels")),
    "halo-raw/Commands/SampleStream.swift": (1, .deadline("silence: 5 s, or three usual intervals")),
    "halo-raw/Commands/ValueCommands.swift": (
      1, .ended(by: "a signal, --duration, --count, or the link's end")
    ),
    "halo-raw/Decode/Decoding.swift": (1, .ended(by: "a signal, or data in a pipe")),
    "halo-raw/Output/Console.swift": (1, .ended(by: "a signal, then a second; a reader may take its time")),
  ]

  private static let marks = ["withCheckedContinuation", "awaitCallback", "for await "]

  @Test func eachWaitIsListed() throws {
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Sources"
    var found: [String: Int] = [:]
    for path in files(below: root) where path.hasSuffix(".swift") {
      let text = try #require(contents(of: path))
      let count = text.split(separator: "\n").count { line in
        let code = line.drop { $0 == " " }
        return !code.hasPrefix("//") && !code.contains("func ") && Self.marks.contains { code.contains($0) }
      }
      if count > 0 { found[String(path.dropFirst(root.count + 1))] = count }
    }
    for (path, count) in found {
      #expect(Self.waits[path]?.count == count, "\(path) waits \(count) times; list what ends each")
    }
    for path in Self.waits.keys { #expect(found[path] != nil, "\(path) waits no more") }
  }

  private func files(below folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var all: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard !name.hasPrefix(".") else { continue }
      let path = "\(folder)/\(name)"
      if entry.pointee.d_type == UInt8(DT_DIR) { all += files(below: path) } else { all.append(path) }
    }
    return all
  }

  private func contents(of path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1 << 18)
    let count = read(descriptor, &bytes, bytes.count)
    return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}
