import HaloBluetoothCore
import TestLoop
import TestSupport
import Testing
import HaloSimulation

/// The errands of Tests/Errands by the door HaloRaw, with devices on virtual radios, in virtual time.
@BluetoothActor
@Suite(.onTheLoop) struct ErrandTests {
  private let run = ErrandRun()
  private var journal: Journal { run.journal }

  /// Two devices, of which the first has a habit.
  private func devices(_ habit: Lamp.Habit, keepsPast: Bool) async throws -> [AnyObject] {
    let addresses = [0xD25C_0A1E_6001, 0xD25C_0A1E_6002].map { BluetoothAddress($0, .random) }
    let other = try Lamp(run.medium, journal, "Other", addresses[1], 0x180F)
    try await other.start()
    if habit == .deaf {
      let deaf = DeafDevice(addresses[0], Lamp.data("Lamp", 0xA000))
      run.medium.add(deaf)
      return [deaf, other]
    }
    let lamp = try Lamp(run.medium, journal, "Lamp", addresses[0], 0xA000, habit, keepsPast: keepsPast)
    try await lamp.start()
    return [lamp, other]
  }

  private func check(
    _ name: String, _ expected: ExpectedErrand?, on controller: Controller = .bluetooth5,
    keepsPast: Bool = true
  ) async throws {
    let expected = try #require(expected)
    let devices = try await devices(expected.habit, keepsPast: keepsPast)
    let isReady: (() -> Bool)? = expected.sign.map { sign in { journal.events.contains(where: sign) } }
    let lines = try await run.lines(
      of: expected.does ?? name, expected.argument, on: controller.options, interruptedWhen: isReady)
    #expect(lines == expected.lines)
    await run.until { journal.allHasEnded }
    #expect(journal.allHasEnded, "\(journal.events.filter { $0.device == nil })")
    #expect(journal.count("refused") == expected.refusals)
    // A request about handles that are no more may have been sent before the indication has arrived.
    #expect(journal.seen(by: "Lamp").filter { $0 != "read FEFE" } == expected.lamp)
    #expect(journal.seen(by: "Other") == expected.other)
    withExtendedLifetime(devices) {}
  }

  @Test(arguments: expectedErrands.keys.sorted(), Controller.allCases)
  func anErrandAtADevice(_ name: String, on controller: Controller) async throws {
    try await check(name, expectedErrands[name], on: controller)
  }

  @Test(arguments: expectedInterruptions.keys.sorted(), Controller.allCases)
  func interruptedErrandsEndWithinSeconds(_ name: String, on controller: Controller) async throws {
    try await check(name, expectedInterruptions[name], on: controller)
  }

  /// Devices differ in what they answer to a request about handles that are no more.
  @Test(
    arguments: expectedErrands.filter { $0.value.does == "services change" }.keys.sorted() + [
      "two users of a change"
    ])
  func toleratesInvalidHandleErrorsAfterServiceChange(_ name: String) async throws {
    try await check(name, expectedErrands[name], keepsPast: false)
  }
}

/// The two tables of errands: this one, and that of the tests against Bumble.
struct ErrandTableTests {
  private static let python =
    "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    + "/Interop/support/errand_list.py"

  @Test func eachErrandOfTheOtherTableIsInThisOne() throws {
    let text = try #require(Disk.text(of: Self.python))
    let names = Set(text.matches(of: /\n    "([^"]+)": Errand\(/).map { String($0.output.1) })
    let known = Set(expectedErrands.keys).union(expectedInterruptions.keys).union(ServingErrandTests.names)
    #expect(names.count > 30 && names.subtracting(known) == [])
    // The other table has no errand of that name.
    #expect(known.subtracting(names) == ["read"])
  }
}
