import RingLink
import Testing

@testable import HaloViews
@testable import HaloCommandLine
@testable import HaloCommands

@Suite struct RingArgumentTests {
  private func invocation(_ line: String) throws -> Invocation {
    let words = line.split(separator: " ").map(String.init)
    return try Invocation(parsing: Array(words.dropFirst()), for: Commands.named(words[0]))
  }

  @Test(arguments: ["R02_A1B2", "my-ring", "ring: kitchen", "C0-FFEE"])
  func namesOfRingsAreTaken(_ name: String) throws {
    #expect(try invocation("battery").ring(name) == .name(name))
  }

  @Test func addressesAreTaken() throws {
    #expect(try invocation("battery").ring("30:35:38:41:be:ef") == .address(0x3035_3841_BEEF, nil))
    #expect(try invocation("battery").ring("30:35:38:41:BE:EF/random") == .address(0x3035_3841_BEEF, .random))
  }

  @Test(arguments: [
    ("stream ppg", "did you mean --ppg?"), ("stream --ppg Accel", "did you mean --accel?"),
    ("battery C0:11:22:33:44", "is not an address: it has six pairs of digits, such as C0:11:22:33:44:55"),
    ("battery C0:11:22:33:44:55:66", "is not an address"), ("battery verbose", "did you mean --verbose?"),
  ])
  func mistakesAreReported(_ line: String, _ message: String) throws {
    let invocation = try invocation(line)
    let error = #expect(throws: Failure.self) { _ = try invocation.ring() }
    #expect(error?.code == .usage && error?.message.contains(message) == true)
  }

  @Test func anEmptyNameIsReported() throws {
    #expect(throws: Failure.self) { _ = try invocation("battery").ring("") }
  }
}
