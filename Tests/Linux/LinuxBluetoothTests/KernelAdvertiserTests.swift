import HCI
import HaloBluetoothCore
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// Advertising by the kernel's management, whose side the test plays. Numbers are those of BlueZ, doc/mgmt-api.txt.
@Suite struct KernelAdvertiserTests {
  private final class Kernel {
    var packets: [String] = []
    var refusals: [StackError?] = []
    var notes: [String] = []
    var lastCommands: [String] = []
    var stops = 0
    /// The numbers that other programs of this package have.
    var inUse: Set<UInt8> = [5, 4, 3]
  }

  private let timers = Timers()
  private let kernel = Kernel()
  private let queue: ManagementQueue
  private let advertiser: KernelAdvertiser
  private let thermometer: Advertising

  // The commands as they are sent: opcode, adapter, length.
  private static let features = "3d0000000000"
  private static let parameters =
    "540000001200" + "02" + "01400000" + "00000000" + "a0000000" + "f0000000" + "00"
  private static let data = "550000000d00" + "02" + "0703" + "020106" + "03031a18" + "020954"
  private static let legacy =
    "3e0000001500" + "02" + "01000000" + "00000000" + "0703" + "020106" + "03031a18" + "020954"
  private static let removal = "3f0000000100" + "02"

  init() throws {
    thermometer = try Advertising(
      AdvertisingData([
        .flags([.generalDiscoverable, .brEDRNotSupported]),
        .serviceUUIDs([BluetoothUUID(0x181A)], width: .two, isComplete: true),
      ]), scanResponse: AdvertisingData([.localName(Array("T".utf8), isComplete: true)]))
    let kernel = self.kernel
    queue = ManagementQueue(timers: timers) { kernel.packets.append(Hex.string(Array($0))) }
    advertiser = KernelAdvertiser(queue, AdapterIndex(rawValue: 0), timers: timers) { index, number in
      kernel.inUse.contains(number) ? nil : AdvertisingNumber(number, of: index, holding: nil)
    }
    advertiser.onResult = { kernel.refusals.append($0) }
    advertiser.onNote = { kernel.notes.append($0) }
    advertiser.onLastCommand = { packet in
      var writer = ByteWriter()
      packet?.write(into: &writer)
      kernel.lastCommands.append(Hex.string(writer.bytes))
    }
  }

  private func taken() -> [String] {
    defer { kernel.packets = [] }
    return kernel.packets
  }

  /// Answers the last command with success.
  private func answer(_ opcode: String, _ parameters: String = "") {
    let bytes = opcode + "00" + parameters
    queue.receive(hex("01000000" + Hex.string([UInt8(bytes.count / 2), 0]) + bytes).span.bytes)
  }

  private func refuse(_ opcode: String, _ status: String = "0d") {
    queue.receive(hex("020000000300" + opcode + status).span.bytes)
  }

  /// Says which advertisements there are, of five.
  private func answerFeatures(_ instances: String = "") {
    answer("3d00", "ffffffff" + "1f1f" + "05" + Hex.string([UInt8(instances.count / 2)]) + instances)
  }

  /// Advertises, as the last of those that are free.
  private func start() throws {
    try advertiser.setDesired(thermometer)
    #expect(taken() == [Self.features])
    answerFeatures("01")
    #expect(taken() == [Self.parameters])
    answer("5400", "02" + "00" + "1f1f")
    #expect(taken() == [Self.data])
    answer("5500", "02")
    #expect(taken() == [])
  }

  /// The Flags are its own, as the kernel's lack BR/EDR Not Supported on adapters of both kinds, and nothing follows the data
  /// (coredevices/PebbleOS 1439, bluez/bluez 2269).
  @Test func anAdvertisementHasItsIntervalAndItsFlags() throws {
    try start()
    #expect(kernel.refusals == [nil] && kernel.notes == [])
  }

  /// Another program has sent Set Advertising (0x0029), on an adapter without sets: the kernel takes the advertisement, and sends
  /// the other one.
  @Test func reportsOverriddenAdvertising() throws {
    advertiser.setOverridden(true)
    try start()
    let refusal = StackError("advertise", .advertisingOverridden)
    #expect(kernel.refusals == [refusal])
    advertiser.setOverridden(false)
    #expect(kernel.refusals == [refusal, nil])
    advertiser.setOverridden(true)
    advertiser.setOverridden(true)
    #expect(kernel.refusals == [refusal, nil, refusal])
    // It says nothing of what is not wanted.
    try advertiser.setDesired(nil)
    answer("3f00", "02")
    advertiser.setOverridden(false)
    #expect(kernel.refusals.count == 3)
  }

  @Test func removesUnwantedAdvertisement() throws {
    try start()
    #expect(kernel.lastCommands == [Self.removal])
    try advertiser.setDesired(nil)
    #expect(taken() == [Self.removal])
    answer("3f00", "02")
    #expect(kernel.lastCommands == [Self.removal, ""])
    try advertiser.setDesired(thermometer)
    #expect(taken() == [Self.features])
    // It keeps its number. What the kernel has under it is a rest.
    answerFeatures("0102")
    #expect(taken() == [Self.removal])
  }

  @Test func removesAdvertisementCancelledDuringCommand() throws {
    try advertiser.setDesired(thermometer)
    try advertiser.setDesired(nil)
    #expect(taken() == [Self.features])
    answerFeatures("01")
    answer("5400", "02" + "00" + "1f1f")
    answer("5500", "02")
    #expect(taken() == [Self.parameters, Self.data, Self.removal])
    answer("3f00", "02")
    #expect(taken() == [])
  }

  /// Kernels before 5.11 do not know the command; others have refused it, or its data (raspberrypi/linux 7473).
  @Test(arguments: [("01", false), ("0c", false), ("0d", false), ("0d", true)])
  func aKernelThatTakesNoIntervalChoosesOne(_ status: String, _ refusesData: Bool) throws {
    try advertiser.setDesired(thermometer)
    answerFeatures("01")
    if refusesData {
      answer("5400", "02" + "00" + "1f1f")
      refuse("5500", status)
      #expect(taken().last == Self.removal)
      refuse("3f00")
    } else {
      refuse("5400", status)
    }
    #expect(taken().last == Self.legacy)
    answer("3e00", "02")
    #expect(kernel.notes.count == 1 && kernel.notes[0].hasPrefix("the advertising interval is the kernel's"))
    #expect(kernel.refusals == [nil])
    // It is not asked twice.
    try advertiser.setDesired(nil)
    answer("3f00", "02")
    try advertiser.setDesired(thermometer)
    answerFeatures("01")
    #expect(taken().last == Self.legacy)
  }

  @Test func extendedPDUsHaveAFlag() throws {
    let data = AdvertisingData([
      .manufacturerData(CompanyIdentifier(rawValue: 0xFFFF), Array(repeating: 7, count: 40))
    ])
    try advertiser.setDesired(try Advertising(data, kind: .nonConnectable, phys: .le2M))
    answerFeatures("01")
    #expect(taken().last?.hasPrefix("540000001200" + "02" + "00410000") == true)
  }

  @Test func rejectsAdvertisingUnsupportedByKernel() throws {
    let central = BluetoothAddress(1, .public)
    let call = try Advertising(AdvertisingData(), kind: .directed(central, isHighDuty: false))
    #expect(throws: StackError("advertise to one central", .notOffered)) {
      try advertiser.setDesired(call)
    }
    let structure = ADStructure.manufacturerData(
      CompanyIdentifier(rawValue: 0xFFFF), Array(repeating: 7, count: 150))
    let long = try Advertising(AdvertisingData([structure, structure]), kind: .nonConnectable, phys: .le1M)
    #expect(
      throws: StackError("advertise 308 bytes without Flags, which the kernel adds", .notOffered)
    ) {
      try advertiser.setDesired(long)
    }
    #expect(taken() == [])
  }

  /// The kernel puts Flags in front, and writes beyond its buffer if there is no room (bluez/bluetooth-next 269, 275).
  @Test(arguments: [24, 25]) func dataWithoutFlagsNeedRoomForThem(_ count: Int) throws {
    let data = AdvertisingData([
      .manufacturerData(CompanyIdentifier(rawValue: 0xFFFF), Array(repeating: 7, count: count))
    ])
    let beacon = try Advertising(data, kind: .nonConnectable)
    guard count > 24 else { return try advertiser.setDesired(beacon) }
    let reason = "advertise 29 bytes without Flags, which the kernel adds"
    #expect(throws: StackError(reason, .notOffered)) { try advertiser.setDesired(beacon) }
    #expect(taken() == [])
  }

  /// Nobody's advertisement is taken away (weliem/bluez_inc 8).
  @Test func allNumbersAreInUse() throws {
    try advertiser.setDesired(thermometer)
    answerFeatures("0102030405")
    #expect(taken() == [Self.features])
    #expect(
      kernel.refusals.first??.description
        == "cannot advertise: there are 5 advertisements already, the most that the adapter can have; end a program that advertises"
    )
    timers.advance(to: .zero + .milliseconds(249))
    #expect(taken() == [])
    timers.advance(to: .zero + .milliseconds(250))
    #expect(taken() == [Self.features])
    answerFeatures("01030405")
    answer("5400", "02" + "00" + "1f1f")
    answer("5500", "02")
    #expect(kernel.refusals.count == 2 && kernel.refusals[1] == nil)
  }

  @Test func aKernelThatRefusesIsAskedAgainEachTenSecondsAtMost() throws {
    try advertiser.setDesired(thermometer)
    var moments: [Double] = []
    for _ in 0..<10 {
      refuse("3d00", "03")
      let before = kernel.packets.count
      while kernel.packets.count == before, let next = timers.nextDeadline { timers.advance(to: next) }
      moments.append((timers.now - .zero).inSeconds)
    }
    let pauses = zip(moments.dropFirst(), moments).map { $0 - $1 }
    #expect(pauses == [0.5, 1, 2, 4, 8, 10, 10, 10, 10])
    try advertiser.setDesired(nil)
    #expect(timers.nextDeadline == nil || timers.nextDeadline! > timers.now + .seconds(2))
  }

  /// `btmgmt clr-adv`, and the start of bluetoothd, remove all.
  @Test func anotherProgramEndsIt() throws {
    try start()
    advertiser.removed(4)
    #expect(taken() == [] && kernel.notes == [])
    advertiser.removed(2)
    #expect(kernel.notes == ["another program has ended the advertisement; it is started again"])
    timers.advance(to: .zero + .milliseconds(250))
    #expect(taken() == [Self.features])
  }

  /// The kernel would not say that it has: see `AdvertisingNumber`.
  @Test func anotherProgramOfThisPackageHasANumber() throws {
    kernel.inUse = [5, 4]
    try advertiser.setDesired(thermometer)
    answerFeatures("03")
    #expect(taken().last == Self.parameters)
  }

  /// The kernel keeps an advertisement while the adapter is off, and knows none when it was pulled out.
  @Test(arguments: ["02", ""]) func theAdapterIsUsedAgain(_ instances: String) throws {
    try start()
    advertiser.suspend()
    advertiser.removed(2)
    #expect(taken() == [])
    advertiser.resume(AdapterIndex(rawValue: 0))
    #expect(taken() == [Self.features])
    answerFeatures(instances)
    if !instances.isEmpty {
      #expect(taken() == [Self.removal])
      answer("3f00", "02")
    }
    #expect(taken() == [Self.parameters])
  }

  @Test func ignoresReplyFromBeforeAdapterLoss() throws {
    try advertiser.setDesired(thermometer)
    advertiser.suspend()
    advertiser.resume(AdapterIndex(rawValue: 0))
    #expect(taken() == [Self.features, Self.features])
    answerFeatures("01")
    #expect(taken() == [])
    answerFeatures("01")
    #expect(taken() == [Self.parameters])
  }

  @Test func theEndWaitsForTheKernel() throws {
    try start()
    let kernel = self.kernel
    advertiser.stop { kernel.stops += 1 }
    #expect(taken() == [Self.removal] && kernel.stops == 0)
    answer("3f00", "02")
    #expect(kernel.stops == 1)
  }

  /// It would be sent again when the adapter is switched on.
  @Test func anAdvertisementOfAnAdapterThatIsOffIsRemovedAtTheEnd() throws {
    try start()
    advertiser.suspend()
    let kernel = self.kernel
    advertiser.stop { kernel.stops += 1 }
    #expect(taken() == [Self.removal] && kernel.stops == 0)
    refuse("3f00", "0f")
    #expect(kernel.stops == 1)
  }
}
