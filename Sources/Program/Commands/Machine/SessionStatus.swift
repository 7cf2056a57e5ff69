import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import HaloStorage

/// The activity of a command with each device: for `halo-raw status`, and for a service manager.
@BluetoothActor
final class SessionStatus {
  /// The records of a device.
  struct Progress {
    /// The number of records so far.
    var records: Int
    /// When the last one was received.
    var last: Instant?
  }

  private struct Device {
    let address: BluetoothAddress
    var name: String?
    var state: String
    /// When it got into this state.
    var since: Instant
    var progress: @BluetoothActor () -> Progress = { Progress(records: 0) }
  }

  private let timers: Timers
  private var clock = RecordClock(offset: 0) { _ in 0 }
  private var devices: [Device] = []
  private var server: StatusServer?
  private var copyServer: StatusServer?
  private var copies: [(@escaping StatusServer.Reply) -> Void] = []

  init(_ timers: Timers) {
    self.timers = timers
  }

  /// - Parameters:
  ///   - state: the activity with the device, in a few words
  ///   - address: that of the device
  ///   - name: its name, if it is known
  func report(_ state: String, of address: BluetoothAddress, name: String?) {
    ServiceManager.shared.report("\(name ?? address.description): \(state)")
    let index = index(of: address)
    devices[index].name = name ?? devices[index].name
    (devices[index].state, devices[index].since) = (state, timers.current)
  }

  /// Sets where the records of a device are counted.
  func count(_ address: BluetoothAddress, by progress: @escaping @BluetoothActor () -> Progress) {
    devices[index(of: address)].progress = progress
  }

  /// The activity with a device, in a few words; nil if none was reported.
  func state(of address: BluetoothAddress) -> String? { devices.first { $0.address == address }?.state }

  /// The number of records of a device so far.
  func records(of address: BluetoothAddress) -> Int {
    devices.first { $0.address == address }?.progress().records ?? 0
  }

  private func index(of address: BluetoothAddress) -> Int {
    if let index = devices.firstIndex(where: { $0.address == address }) { return index }
    devices.append(Device(address: address, state: "connected", since: timers.current))
    return devices.count - 1
  }

  /// Begins to answer `halo-raw status`.
  ///
  /// - Parameters:
  ///   - invocation: the command
  ///   - clock: gives the time of day
  ///   - others: more members of the answer
  func serve(
    _ invocation: Invocation, _ clock: consuming RecordClock, others: @escaping () -> [String: JSONValue?]
  ) {
    self.clock = clock
    let own: [String: JSONValue?] = [
      "pid": .integer(Int(getpid())), "command": .string(invocation.commandLine),
      "version": .string(HelpPage.version), "since": .string(self.clock.text(timers.current)),
    ]
    do throws(FileError) {
      server = try StatusServer(.status) { [weak self] _, reply in
        guard let self else { return reply(.null) }
        var members = own.merging(others()) { own, _ in own }
        members["devices"] = .array(devices.map { self.members(of: $0) })
        reply(.members(members))
      }
    } catch {
      Console.error("halo-raw: halo-raw status can't show this command: \(error)")
    }
  }

  /// Copies the ring's stored records when `halo-raw sync` asks for it, as the ring has one link.
  ///
  /// - Parameter copy: begins, and replies when it is done
  func serveCopies(_ copy: @escaping (@escaping StatusServer.Reply) -> Void) {
    copies.append(copy)
    guard copyServer == nil else { return }
    // Without it, sync finds no ring.
    copyServer = try? StatusServer(.copy) { [weak self] _, reply in
      guard let self else { return reply(.null) }
      var results: [JSONValue] = []
      let count = copies.count
      for copy in copies {
        copy {
          results.append($0)
          if results.count == count { reply(.array(results)) }
        }
      }
    }
  }

  /// Answers no more.
  func stop() {
    server.take()?.stop()
    copyServer.take()?.stop()
    copies = []
  }

  private func members(of device: Device) -> JSONValue {
    let progress = device.progress()
    return .members([
      "address": .string(device.address.description), "name": device.name.map { .string($0) },
      "state": .string(device.state), "state_since": .string(clock.text(device.since)),
      "records": .integer(progress.records), "last_record": progress.last.map { .string(clock.text($0)) },
    ])
  }
}
