import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import HaloLinuxBluetooth
import HaloRecording
import HaloSimulation

/// How to open an adapter.
@BluetoothActor
package struct AdapterOpenOptions {
  /// Whether `user:hciN` may take an adapter that is up. Its links end; it is brought up again when it is closed.
  package var forcesTakeover = false
  /// Private folders, of which the first that this user can write gets a record of the adapter that is taken. If the
  /// process is killed, the next one that opens an adapter with these folders brings it up again.
  package var recordFolders: [String] = []
  /// The address in the place of the controller's, for a radio that this program drives: a random static one.
  package var randomAddress: BluetoothAddress?
  /// How links are secured; nil if they are not. A replay has none: a pairing has new random values each time.
  package var security: SecurityHost?
  /// Makes the tap that observes the traffic, once the adapter is open; nil for none. In a replay at the level of HCI it
  /// gets the recording, at the level of ATT the offset from the timers to the recorded time of day, in microseconds.
  package var makeTap: ((Timers, ReplayTransport?, _ wallOffset: Int64?) throws -> TrafficTap?)?
  /// Called when the sockets are open, before any file is created: the time to drop privileges. An adapter that the
  /// kernel drives still needs CAP_NET_RAW.
  package var onOpened: (_ needsRawSocket: Bool) throws -> Void = { _ in }
  /// Called with consequences for others: links that end, an adapter that is restored.
  package var onNote: (String) -> Void = { _ in }
  /// Changes the options of the virtual ring, which runs in this time.
  package var prepareRing: (VirtualRingOptions, Timers) -> VirtualRingOptions = { options, _ in options }
  /// The attributes of a device that was used before, for captures that begin after discovery; nil if unknown.
  package var knownAttributes: (BluetoothAddress) -> [ServerAttribute]? = { _ in nil }

  package init() {}

  /// Makes an adapter of a transport, with its tap.
  fileprivate func attach(
    _ transport: any HCITransport, _ replay: ReplayTransport? = nil
  ) async throws -> OpenedAdapter {
    do {
      try onOpened(false)
      let tap = try makeTap?(transport.timers, replay, nil)
      let adapter = HCIAdapter(
        tap.map { TappedTransport(transport, $0) } ?? transport,
        randomAddress: randomAddress ?? replay?.host.randomAddress, prefersRandomAddress: randomAddress != nil
      )
      if replay == nil { adapter.security = security }
      if let recorded = replay?.host.privateAddresses, !recorded.isEmpty {
        var addresses = recorded.makeIterator()
        adapter.makePrivateAddress = { _ in addresses.next() }
      }
      return OpenedAdapter(adapter: adapter, replay: replay, tap: tap)
    } catch {
      // Give back an adapter that was taken.
      transport.close()
      await transport.finishClosing()
      throw error
    }
  }
}

/// An adapter that was opened by its specification. Give it to a `Central`.
@BluetoothActor
package struct OpenedAdapter {
  package let adapter: any Adapter
  /// The recording that takes the controller's place; nil if there is none.
  package fileprivate(set) var replay: ReplayTransport?
  /// The recording that takes the peripheral's place; nil if there is none.
  package fileprivate(set) var replayAdapter: ReplayAdapter?
  /// Observes the traffic; nil if no tap was made.
  package fileprivate(set) var tap: TrafficTap?
  /// The source of the tap for an adapter that the kernel drives.
  fileprivate var monitor: MonitorTap?
  /// Whether no other device can hear it: its medium has nothing but a virtual ring.
  fileprivate(set) var isAlone = false
  /// Ends a virtual time.
  fileprivate var endTime: OneShot<Void>?

  fileprivate init(
    adapter: any Adapter, replay: ReplayTransport? = nil, replayAdapter: ReplayAdapter? = nil,
    tap: TrafficTap? = nil, monitor: MonitorTap? = nil
  ) {
    self.adapter = adapter
    self.replay = replay
    self.replayAdapter = replayAdapter
    self.tap = tap
    self.monitor = monitor
  }

  /// An adapter that a program has made.
  package init(_ adapter: any Adapter) {
    self.init(adapter: adapter)
  }

  /// Ends the tap, when the adapter is closed. The writer's thread may still write the last packets: ``end(within:)`` waits
  /// for them, too.
  ///
  /// - Returns: the number of packets that the tap lacks, as they arrived faster than they were read
  package func finish() -> Int {
    monitor?.close()
    endTime?()
    return monitor?.droppedPackets ?? 0
  }
}

extension AdapterSpecification {
  /// Opens the adapter.
  ///
  /// - Throws: `StackError`, `CaptureError`, and the errors of the closures of `opening`
  @BluetoothActor
  package func open(_ opening: AdapterOpenOptions = AdapterOpenOptions()) async throws -> OpenedAdapter {
    switch self {
    case .kernel(let wanted):
      if opening.security?.usesPrivateAddresses == true {
        throw StackError.kernelOwnsAddress(wanted.map { "\($0)" } ?? "hci0")
      }
      await Self.restoreAdapters(opening)
      let adapter = KernelAdapter(try await Self.adapter(wanted))
      adapter.security = opening.security
      try await adapter.open()
      do {
        let monitor = opening.makeTap == nil ? nil : try MonitorTap(.packets(of: adapter.index))
        try opening.onOpened(true)
        let tap = try opening.makeTap?(adapter.timers, nil, nil)
        if let tap { try monitor?.start(tap) }
        return OpenedAdapter(adapter: adapter, tap: tap, monitor: monitor)
      } catch {
        await adapter.close()
        throw error
      }
    case .user(let index):
      await Self.restoreAdapters(opening)
      return try await opening.attach(
        UserChannelTransport(
          index, force: opening.forcesTakeover, recordedIn: opening.recordFolders, onWarning: opening.onNote))
    case .virtual(let options, let isFast):
      let time = isFast ? EpollLoop.shared.makeVirtualTime() : nil
      let timers = time?.timers ?? EpollLoop.shared.timers
      var opened = try await opening.attach(
        VirtualTransport(opening.prepareRing(options, timers), timers: timers))
      opened.isAlone = true
      opened.endTime = time.map { time in OneShot { EpollLoop.shared.end(time) } }
      return opened
    case .air(let name, let address, let isFast):
      let (transport, leave) = try SharedMedium.named(name, isFast: isFast).makeTransport(address)
      var opening = opening
      if let address, address.kind == .random { opening.randomAddress = address }
      do {
        var opened = try await opening.attach(transport)
        opened.endTime = leave
        return opened
      } catch {
        leave()
        throw error
      }
    case .tcp(let host, let port):
      return try await opening.attach(HCIStreamTransport.tcp(host: host, port: port))
    case .unix(let path): return try await opening.attach(HCIStreamTransport.unix(path: path))
    case .serial(let path, let baud):
      return try await opening.attach(HCIStreamTransport.serial(path: path, baud: baud))
    case .replay(let path, let options):
      return try await Self.open(path, options, opening)
    }
  }

  @BluetoothActor
  private static func open(
    _ path: String, _ options: ReplayOptions, _ opening: AdapterOpenOptions
  ) async throws -> OpenedAdapter {
    let time = EpollLoop.shared.makeVirtualTime()
    do {
      var opened: OpenedAdapter
      switch try options.level(of: path) {
      case .hci:
        let replay = try ReplayTransport(path: path, options.transport, time: time)
        opened = try await opening.attach(replay, replay)
      case .att:
        let peripheral = try options.peripheral(of: path, known: opening.knownAttributes)
        let adapter = ReplayAdapter(peripheral, time: time)
        try opening.onOpened(false)
        adapter.tap = try opening.makeTap?(time.timers, nil, adapter.wallOffset)
        opened = OpenedAdapter(adapter: adapter, replayAdapter: adapter, tap: adapter.tap)
      }
      opened.endTime = OneShot { EpollLoop.shared.end(time) }
      return opened
    } catch {
      EpollLoop.shared.end(time)
      throw error
    }
  }

  /// The named adapter; without a name the first that is up and not taken, else the first that programs can open, else the
  /// first.
  @BluetoothActor
  private static func adapter(_ wanted: AdapterIndex?) async throws(StackError) -> AdapterIndex {
    if let wanted { return wanted }
    let all = try await Controllers.list(isDetailed: false)
    let able = all.filter { $0.obstacle == nil }
    guard let first = able.first(where: \.isUp) ?? able.first ?? all.first else {
      throw StackError("find an adapter", .noAdapters)
    }
    return first.index
  }

  /// Gives back to the kernel the adapters that a killed run had taken.
  @BluetoothActor
  private static func restoreAdapters(_ opening: AdapterOpenOptions) async {
    for index in await TakenAdapter.restoreAll(recordedIn: opening.recordFolders) {
      opening.onNote("\(index) is up again; an earlier run had taken it, and was killed")
    }
  }
}
