import TestSupport
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
      5, .ended(by: "cancellation; within(_:_:) and sleep(for:) by their time")
    ),
    "Linux/System/EventLoop/OffTheLoop.swift": (1, .ended(by: "cancellation, or the caller's deadline")),
    "Linux/System/EventLoop/Sockets/StreamSocket.swift": (1, .deadline("10 s, or the caller's")),
    "Linux/System/Files/InputPieces.swift": (1, .ended(by: "the end of the input, or cancellation")),
    "GAP/AdvertisingStatus.swift": (1, .deadline("the caller's, or the end of the advertisement")),
    "GAP/Central.swift": (1, .deadline("ConnectionRequest.deadline")),
    "GAP/Central+Finding.swift": (1, .deadline("the caller's")),
    "GAP/GATTLink.swift": (2, .ended(by: "the end of the link, or cancellation")),
    "GATT/GATTClient/GATTClient.swift": (2, .deadline("30 s of ATT")),
    "GAP/GATTLink+Properties.swift": (
      4, .deadline("EventWaiters.deadline, HostController.commandDeadline")
    ),
    "GATT/GATTClient/GATTClient+WritesWithoutResponse.swift": (
      1, .ended(by: "the end of the link, or cancellation")
    ),
    "GATT/GATTClient/GATTClient+Discovery.swift": (6, .deadline("30 s of ATT for each request")),
    "GATT/GATTClient/GATTClient+ServiceChanged.swift": (1, .deadline("30 s of ATT")),
    "GATT/GATTClient/GATTClient+Subscriptions.swift": (2, .deadline("30 s of ATT for each request")),
    "GATT/GATTClient/GATTClient+Values.swift": (2, .deadline("30 s of ATT for each request")),
    "HaloRaw/OpenedAdapter+Recording.swift": (1, .deadline("the caller's, 10 s unless it says so")),
    "HaloRaw/Values.swift": (1, .ended(by: "an element, the end of the work, or cancellation")),
    "HaloRaw/Connection.swift": (1, .deadline("30 s of ATT for each request")),
    "HaloRaw/Link/ConnectionCore.swift": (1, .ended(by: "the next link, its maker's end, or cancellation")),
    "HaloRaw/Server/Server.swift": (1, .ended(by: "room on the link, its end, or cancellation")),
    "HaloRaw/Ring/SharedSource.swift": (1, .deadline("that of the start of the sensor")),
    "Program/Commands/Connect/DeviceSession.swift": (
      1, .ended(by: "a line, a value, the end of the link, or an interruption")
    ),
    "Program/Commands/Ring/Measuring.swift": (1, .deadline("the next measurement")),
    "Devices/ManagedAdapter.swift": (1, .deadline("the caller's")),
    "Devices/SharedLinks.swift": (
      2, .deadline("ConnectionRequest.deadline; a device that is waited for may come at any time")
    ),
    "GAP/HCIAdapter.swift": (
      2, .deadline("HostController.commandDeadline for each command; stoppingDeadline")
    ),
    "GAP/RawPeripheral.swift": (1, .ended(by: "the end of the link, after a few seconds")),
    "GAP/HCILink.swift": (1, .deadline("HostController.commandDeadline")),
    "Linux/LinuxBluetooth/Adapter/KernelAdapter.swift": (
      4, .deadline("HostController.commandDeadline; closeDeadline")
    ),
    "Linux/LinuxBluetooth/Management/Controllers.swift": (
      1, .deadline("HostController.commandDeadline")
    ),
    "Linux/LinuxBluetooth/Adapter/AdapterHelper.swift": (
      1, .deadline("20 s; what the helper does goes on after that")
    ),
    "Linux/LinuxBluetooth/Management/Management.swift": (
      1, .deadline("ManagementQueue's deadline for each command")
    ),
    "Linux/LinuxBluetooth/Adapter/UserChannelTransport.swift": (1, .deadline("2 s of KernelCall.close")),
    "RingLink/Device/ActionsAndEvents.swift": (
      2,
      .deadline("the time for a ring to leave; events end with the link or by cancellation: they may be rare")
    ),
    "RingLink/Measuring/RingClient+Measurements.swift": (1, .deadline("MeasurementSession's times")),
    "RingLink/Measuring/RingClient+Sport.swift": (
      2, .deadline("the silence after which a session has ended")
    ),
    "RingLink/Ring/Exchanges.swift": (1, .deadline("RingExchange.silence")),
    "RingLink/Ring/RingClient+CountedStream.swift": (
      1, .deadline("the deadline of the first sample; RingExchange.usualSilence for the stop")
    ),
    "RingLink/Ring/RingClient+RawStream.swift": (
      2, .deadline("firstSampleDeadline; 2 s for what is to be written")
    ),
    "RingLink/Ring/RingFinder.swift": (1, .deadline("the search's deadline")),
    "Program/Commands/Session/Session+Devices.swift": (1, .deadline("ConnectionRequest.deadline")),
    "Program/Commands/Session/Session.swift": (1, .ended(by: "the loss of the adapter, or an interruption")),
    "Program/Commands/Strap/StrapSource.swift": (
      2, .ended(by: "a subscriber, the end of the link to the ring, or a signal; 5 s without a sample")
    ),
    "Program/CommandLine/Process/Interruption.swift": (
      2, .ended(by: "a signal, or the work that it cancels")
    ),
    "Program/Commands/Stream/SampleStream.swift": (1, .deadline("silence: 5 s, or three usual intervals")),
    "Program/Commands/Peripheral/ValueCommands.swift": (
      1, .ended(by: "a signal, --duration, --count, or the link's end")
    ),
    "Program/Views/CaptureView/CaptureCopy.swift": (1, .ended(by: "a signal, or the disk")),
    "Program/Commands/Session/NumberedList.swift": (1, .deadline("60 s for a choice")),
    "Program/CommandLine/Console/Console.swift": (
      1, .ended(by: "a signal, then a second; a reader may take its time")
    ),
  ]

  /// The `async` functions that other modules call, without those of the program: their number by file, and
  /// what ends them if nothing cancels their task.
  private static let functions: [String: (count: Int, End)] = [
    "Apple/AccessorySetupKit/AsyncForms.swift": (
      4, .ended(by: "the end of the picker: a choice, 30 s without a match; the others at once")
    ),
    "BluetoothCore/Time/Callbacks.swift": (
      5, .ended(by: "the operation that they wait for; within(_:_:) and sleep(for:) by their time")
    ),
    "SecurityManager/SimulatedBonds.swift": (1, .deadline("none is needed: it does not wait")),
    "Storage/Files/Bonds/UserBonds.swift": (1, .deadline("10 s for each bond that is written")),
    "GAP/Adapter.swift": (1, .deadline("none is needed: it throws")),
    "GAP/AdvertisingStatus.swift": (1, .deadline("the caller's, or the end of the advertisement")),
    "GAP/Central+Finding.swift": (2, .deadline("the caller's; untilHeard has none")),
    "Devices/SharedLinks.swift": (
      2, .deadline("ConnectionRequest.deadline; a device that is waited for may come at any time")
    ),
    "GAP/Central.swift": (4, .deadline("that of each command, of the request, or the caller's")),
    "GAP/HCIAdapter.swift": (
      6, .deadline("HostController.commandDeadline for each command, or the caller's")
    ),
    "Linux/System/EventLoop/EpollLoop.swift": (
      2, .ended(by: "the end of the work, which is the caller's; one turn")
    ),
    "Linux/System/EventLoop/OffTheLoop.swift": (1, .deadline("the caller's, or the work ends in any case")),
    "Linux/System/EventLoop/Sockets/StreamListener.swift": (
      1, .deadline("10 s for the name, or the caller's")
    ),
    "Linux/System/EventLoop/Sockets/StreamSocket.swift": (
      2, .deadline("the caller's, name look-up included")
    ),
    "Linux/System/Files/InputPieces.swift": (2, .ended(by: "the end of the input, or cancellation")),
    "GATT/GATTClient/GATTClient+Discovery.swift": (7, .deadline("30 s of ATT for each request")),
    "GAP/GATTLink+Properties.swift": (
      5, .deadline("EventWaiters.deadline, HostController.commandDeadline")
    ),
    "GATT/GATTClient/GATTClient+Subscriptions.swift": (2, .deadline("30 s of ATT for each request")),
    "GATT/GATTClient/GATTClient+Values.swift": (4, .deadline("30 s of ATT for each request")),
    "GATT/GATTClient/GATTClient+WritesWithoutResponse.swift": (1, .deadline("the caller's")),
    "GAP/GATTLink.swift": (2, .ended(by: "the end of the link")),
    "GAP/RecoverySteps.swift": (1, .deadline("the caller's")),
    "GAP/Peripheral.swift": (2, .ended(by: "the end of each link, after a few seconds; the caller's limit")),
    "GATT/GATTClient/GATTClient.swift": (4, .deadline("30 s of ATT")),
    "HCI/Host/HCITransport.swift": (4, .deadline("those of the transport below; the others do nothing")),
    "Linux/LinuxBluetooth/Adapter/KernelAdapter.swift": (
      7, .deadline("HostController.commandDeadline for each command, closeDeadline, or the caller's")
    ),
    "HaloRaw/OpenedAdapter+Recording.swift": (
      2, .deadline("those of opening the adapter; the caller's for the end, 10 s unless it says so")
    ),
    "HaloRaw/ProgramExit.swift": (1, .ended(by: "the end of the program's work")),
    "HaloRaw/OpenedAdapter.swift": (
      1, .deadline("AdapterHelper.deadline for each step, 10 s for a stream, ManagementQueue's")
    ),
    "HaloRaw/Values.swift": (2, .ended(by: "an element, the end of the work, or cancellation")),
    "HaloRaw/Radio.swift": (6, .deadline("the caller's; that of Central.stop(); withRadio by its body")),
    "HaloRaw/Connection.swift": (
      10, .deadline("30 s of ATT for each request; withValues by its body")
    ),
    "HaloRaw/Link/PairingOptions.swift": (
      1, .deadline("30 s without an answer while pairing, 45 s of encryption")
    ),
    "HaloRaw/Connection+Descriptors.swift": (3, .deadline("30 s of ATT for each request")),
    "HaloRaw/RadioClock.swift": (3, .deadline("the caller's; withTimeout when its body has ended")),
    "HaloRaw/Radio+Adapters.swift": (1, .deadline("that of the kernel's management")),
    "HaloRaw/ReplayedPeripheral+Radio.swift": (1, .deadline("none is needed: it ends with the recording")),
    "HaloRaw/Ring/Ring.swift": (6, .deadline("those of the requests of RingClient")),
    "HaloRaw/Server/Radio+Serving.swift": (
      1, .deadline("that of its body; a few seconds for the end of each link")
    ),
    "HaloRaw/Server/Radio+Beacon.swift": (1, .deadline("that of its body")),
    "HaloRaw/Server/LocalCharacteristic.swift": (1, .ended(by: "room on the link, its end, or cancellation")),
    "HaloRaw/Ring/Ring+Settings.swift": (2, .deadline("those of the requests of RingClient")),
    "Devices/ManagedLink.swift": (4, .deadline("ReconnectPolicy.Budget, and that of the caller's requests")),
    "Devices/ManagedAdapter.swift": (
      3, .deadline("the caller's; HostController.commandDeadline for each command; closingTime")
    ),
    "Linux/LinuxBluetooth/Adapter/TakenAdapter.swift": (1, .deadline("restoreDeadline")),
    "Linux/LinuxBluetooth/Adapter/UserChannelTransport.swift": (
      2, .deadline("AdapterHelper.deadline for each step, 2 s of KernelCall.close")
    ),
    "Linux/LinuxBluetooth/Management/Controllers.swift": (
      3, .deadline("ManagementQueue's, HostController.commandDeadline for each command")
    ),
    "Linux/LinuxBluetooth/Management/Management.swift": (1, .deadline("ManagementQueue's")),
    "Linux/LinuxBluetooth/Streams/HCIStreamTransport.swift": (1, .deadline("the caller's")),
    "Linux/LinuxBluetooth/Streams/StreamTransports.swift": (
      2, .deadline("10 s, or the caller's, name look-up included")
    ),
    "Captures/Recording/ATT/ReplayAdapter.swift": (2, .deadline("none is needed: they return at once")),
    "RingLink/Device/ActionsAndEvents.swift": (
      3, .deadline("RingExchange.silence, the time for a ring to leave; listen by the link's end")
    ),
    "RingLink/Device/Clock.swift": (2, .deadline("RingExchange.silence for each request")),
    "RingLink/Device/Device.swift": (3, .deadline("RingExchange.silence, 30 s of ATT")),
    "RingLink/History/ActivityLog.swift": (2, .deadline("RingExchange.silence")),
    "RingLink/History/DayLogs.swift": (3, .deadline("RingExchange.silence")),
    "RingLink/History/RingClient+History.swift": (2, .deadline("RingExchange.silence for each request")),
    "RingLink/History/RingClient+StoredSport.swift": (1, .deadline("bulkSilence for each request")),
    "RingLink/History/SleepLog.swift": (1, .deadline("5 s for each of three requests")),
    "RingLink/History/TemperatureLogs.swift": (3, .deadline("RingExchange.silence")),
    "RingLink/History/VitalLogs.swift": (5, .deadline("RingExchange.silence, bulkSilence")),
    "RingLink/Measuring/RingClient+Measurements.swift": (
      4, .deadline("MeasurementProcedure's; next() by the end of the measurement")
    ),
    "RingLink/Measuring/RingClient+Sport.swift": (
      3, .ended(by: "silence of a request, ten seconds without data, or the link's end")
    ),
    "RingLink/Ring/Exchanges.swift": (5, .deadline("RingExchange.silence")),
    "RingLink/Ring/LongAnswers.swift": (2, .deadline("RingExchange.silence after each frame")),
    "RingLink/Ring/RingClient.swift": (2, .deadline("30 s of ATT for each request")),
    "RingLink/Ring/RingClient+CountedStream.swift": (
      2, .deadline("the deadline of the first sample; RingExchange.usualSilence for the stop")
    ),
    "RingLink/Ring/RingClient+RawStream.swift": (
      4, .deadline("firstSampleDeadline, 30 s of ATT, 2 s for what is to be written")
    ),
    "RingLink/Ring/RingFinder.swift": (2, .deadline("the caller's")),
    "RingLink/Settings/RingClient+Settings.swift": (7, .deadline("RingExchange.silence for each request")),
    "GAP/RawPeripheral.swift": (1, .ended(by: "the end of the link, after a few seconds")),
    "Simulation/VirtualRing/RingOnAdapter.swift": (1, .ended(by: "the end of the link, after a few seconds")),
    "Captures/Recording/ATT/ReplayedDevice.swift": (
      1, .ended(by: "the end of the link, after a few seconds")
    ),
  ]

  /// The functions that a cancelled task does not end, or that have no deadline: what their documentation says.
  private static let exceptions = [
    ("GAP/Adapter.swift", "func close(", "Cancelling the task does not cancel this, as"),
    ("GAP/Central+Finding.swift", "package func untilHeard(", "no deadline, as"),
    ("Devices/SharedLinks.swift", "package func untilReachable(", "no deadline, as"),
    ("GAP/Central.swift", "package func stop(", "Cancelling the task does not cancel this, as"),
    (
      "GAP/GATTLink.swift", "package func disconnect(", "Cancelling the task does not cancel this, as"
    ),
    ("GAP/GATTLink.swift", "package func disconnection(", "no deadline, as"),
    ("GAP/Peripheral.swift", "package func stop(", "Cancelling the task does not cancel this, as"),
    ("GAP/RawPeripheral.swift", "package func stop(", "Cancelling the task does not cancel this, as"),
    ("HCI/Host/HCITransport.swift", "func finishClosing(", "Cancelling the task does not end the wait, as"),
    (
      "RingLink/Ring/RingClient+CountedStream.swift", "func stopCountedStream(",
      "Cancelling the task does not cancel this, as"
    ),
    (
      "RingLink/Ring/RingClient+RawStream.swift", "func stopRawStream(",
      "Cancelling the task does not cancel this, as"
    ),
    ("RingLink/Device/ActionsAndEvents.swift", "package func listen(", "no deadline, as"),
    ("RingLink/Measuring/RingClient+Sport.swift", "package func exercise(", "no deadline, but"),
  ]

  private static let root =
    "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/Sources"

  private static let marks = ["withCheckedContinuation", "awaitCallback", "for await "]

  @Test func eachWaitIsListed() throws {
    var found: [String: Int] = [:]
    for path in Disk.swiftFiles(below: Self.root) {
      let text = try #require(Disk.text(of: path))
      let count = text.split(separator: "\n").count { line in
        let code = line.drop { $0 == " " }
        return !code.hasPrefix("//") && !code.contains("func ") && Self.marks.contains { code.contains($0) }
      }
      if count > 0 { found[String(path.dropFirst(Self.root.count + 1))] = count }
    }
    for (path, count) in found {
      #expect(Self.waits[path]?.count == count, "\(path) waits \(count) times; list what ends each")
    }
    for path in Self.waits.keys { #expect(found[path] != nil, "\(path) waits no more") }
  }

  @Test func eachAsyncFunctionForOtherModulesIsListed() throws {
    var found: [String: Int] = [:]
    for path in Disk.swiftFiles(below: Self.root) {
      let lines = try #require(Disk.text(of: path)).split(separator: "\n").map { $0.drop { $0 == " " } }
      let code = lines.filter { !$0.hasPrefix("//") }.joined(separator: "\n")
      // What stands behind the name of each function, up to its body.
      let functions = code.split(separator: "func ", omittingEmptySubsequences: false)
      let count = zip(functions, functions.dropFirst()).count { before, after in
        let line = before.split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
        return (line.contains("public") || line.contains("package")) && isAsync(after.prefix { $0 != "{" })
      }
      let name = String(path.dropFirst(Self.root.count + 1))
      if count > 0, !name.hasPrefix("Program/") { found[name] = count }
    }
    for (path, count) in found {
      #expect(
        Self.functions[path]?.count == count,
        "\(path) has \(count) async functions for other modules; list what ends each")
    }
    for path in Self.functions.keys { #expect(found[path] != nil, "\(path) has none") }
  }

  /// Whether `async` stands behind the parameters, which may have it, too.
  private func isAsync(_ signature: Substring) -> Bool {
    var depth = 0
    let end = signature.firstIndex { character in
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      return character == ")" && depth == 0
    }
    // It may stand on a line of its own.
    return end.map { signature[$0...].split(whereSeparator: \.isWhitespace).contains("async") } ?? false
  }

  @Test(arguments: exceptions) func documentsFunctionsWithoutCancellationOrDeadline(
    path: String, function: String, reason: String
  ) throws {
    let text = try #require(Disk.text(of: "\(Self.root)/\(path)"))
    let before = try #require(text.split(separator: function).first, "\(function) is not in \(path)")
    let comment = before.split(separator: "\n").reversed().dropFirst()
      .map { $0.drop { $0 == " " } }.prefix { $0.hasPrefix("///") }
    let documentation = comment.reversed().map { $0.dropFirst(4) }.joined(separator: " ")
    #expect(documentation.contains(reason), "\(documentation)")
  }
}
