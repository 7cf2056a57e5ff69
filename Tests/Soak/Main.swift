import Glibc
import HaloBluetoothCore
import HaloSystem

/// Thirty days of a ring that comes and goes, in virtual time: links that are lost, damaged frames, a charger, a
/// controller that resets, a clock that is set. What the ring sent and what arrived must agree to the sample, and
/// memory, descriptors and threads must be the same at the end as after the first days.
///
///     soak-check [days]
@main
enum SoakCheck {
  static func main() {
    let days = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 30
    BluetoothActor.run {
      let timers = EpollLoop.shared.makeVirtualTime().timers
      let isRight = await run(days, timers)
      let isShared = await runSharedScan(days, timers)
      exit(await runTwoRoles(days, timers) && isShared && isRight ? 0 : 1)
    }
    while true { pause() }
  }

  /// How many days the process may grow into its final size.
  private static let warmUp = 3
  /// What memory may grow by from then on. Allocators keep pages.
  private static let allowedGrowth = 2 << 20

  /// As many days of a scan on an adapter that others use.
  @BluetoothActor
  private static func runSharedScan(_ days: Int, _ timers: Timers) async -> Bool {
    let simulation = SharedScan(timers, seed: 1)
    do {
      try await simulation.run(days: days)
      print("soak-check: a shared scan, \(simulation.actions) times disturbed")
    } catch {
      print("soak-check: a shared scan, after \(simulation.actions) disturbances: \(error)")
      return false
    }
    return simulation.actions > days
  }

  /// As many days of hosts with both roles on bad radios, each with other faults.
  @BluetoothActor
  private static func runTwoRoles(_ days: Int, _ timers: Timers) async -> Bool {
    for seed in 1...6 as ClosedRange<UInt64> {
      do {
        let simulation = try await TwoRoles(timers, seed: seed)
        try await simulation.run(days: max(1, days / 6))
        print(
          "soak-check: both roles, seed \(seed): \(simulation.links) links made, \(simulation.tables) tables, "
            + "\(simulation.meetings) links taken, \(simulation.restarts) silent restarts, "
            + "\(simulation.recoveries) recoveries")
      } catch {
        print("soak-check: both roles, seed \(seed): \(error)")
        return false
      }
    }
    return true
  }

  @BluetoothActor
  private static func run(_ days: Int, _ timers: Timers) async -> Bool {
    let simulation = Simulation(timers)
    var before: Footprint?
    for day in 1...max(days, warmUp + 1) {
      do {
        try await simulation.runDay()
      } catch {
        print("soak-check: day \(day): \(error)")
        return false
      }
      if day == warmUp { before = Footprint() }
    }
    let after = Footprint()
    print("soak-check: \(days) days, \(simulation.report)")
    guard let before else { return false }
    print("soak-check: after day \(warmUp) \(before); at the end \(after)")
    return simulation.isRight && after.descriptors == before.descriptors && after.threads <= before.threads
      && after.memory <= before.memory + allowedGrowth
  }
}

/// What the process holds.
private struct Footprint: CustomStringConvertible {
  let memory = Self.number("VmRSS:", in: "/proc/self/status") * 1024
  let threads = Self.number("Threads:", in: "/proc/self/status")
  let descriptors = Self.entries("/proc/self/fd")

  var description: String { "\(memory >> 10) KiB, \(descriptors) descriptors, \(threads) threads" }

  private static func number(_ key: String, in path: String) -> Int {
    guard let file = fopen(path, "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        .split(whereSeparator: \.isWhitespace)
      if words.first == key[...], words.count > 1 { return Int(words[1]) ?? 0 }
    }
    return 0
  }

  private static func entries(_ path: String) -> Int {
    guard let directory = opendir(path) else { return 0 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
  }
}
