import HCI
import HaloBluetoothCore
import TestSupport
import Testing

private let ring = BluetoothAddress(0xC011_2233_A1B2, .random)
private let connectable: AdvertisingReport.EventType = [.legacy, .connectable, .scannable]
private let response: AdvertisingReport.EventType = [.legacy, .scannable, .scanResponse]

private func report(
  _ address: BluetoothAddress = ring, _ type: AdvertisingReport.EventType = connectable,
  status: AdvertisingReport.DataStatus = .complete, rssi: Int8? = -60, sid: UInt8? = nil, data: [UInt8]
) -> AdvertisingReport {
  AdvertisingReport(
    address: address, eventType: type, dataStatus: status, rssi: rssi, advertisingSID: sid, data: data)
}

/// `#expect` cannot call what changes a value; so the collector stands in a class.
private final class Scanner {
  private var collector: AdvertisementCollector

  init(capacity: Int = 1024) {
    collector = AdvertisementCollector(capacity: capacity)
  }

  var count: Int { collector.count }
  subscript(address: BluetoothAddress) -> Advertisement? { collector[PeerIdentity(address)] }

  @discardableResult
  func receive(_ report: AdvertisingReport, at instant: Instant) -> Advertisement? {
    collector.receive(report, at: instant)
  }
}

private func seconds(_ count: Int64) -> Instant { Instant(nanoseconds: count * 1_000_000_000) }

@Suite struct AdvertisementCollectorTests {
  @Test func aReportIsHandedOnAtOnceAndTheScanResponseMerged() throws {
    let collector = Scanner()
    let first = try #require(collector.receive(report(data: hex("020106 03080102")), at: seconds(1)))
    #expect(first.changedFields == [.device, .advertisingData])
    #expect(first.isConnectable)
    #expect(first.scanResponse == nil)

    let second = try #require(
      collector.receive(
        report(ring, response, rssi: nil, data: hex("0509523032 41 03030a18")), at: seconds(2)))
    #expect(second.changedFields == .scanResponse)
    #expect(second.isConnectable)
    #expect(second.localName == "R02A")
    #expect(second.flags == ADFlags(rawValue: 6))
    #expect(second.serviceUUIDs == [uuid("180A")])
    #expect(second.rssi == nil && second.lastRSSI == -60)
    #expect(second.reportCount == 2)
    #expect(second.firstSeen == seconds(1))
    #expect(second.lastSeen == seconds(2))

    let third = try #require(
      collector.receive(report(rssi: -70, data: hex("020106 03080102")), at: seconds(3)))
    #expect(third.changedFields.isEmpty)
    #expect(third.rssi == -70)
    #expect(third.localName == "R02A")

    let fourth = try #require(collector.receive(report(data: hex("020104")), at: seconds(4)))
    #expect(fourth.changedFields == .advertisingData)
    #expect(fourth.flags == ADFlags(rawValue: 4))
    #expect(collector[ring] == fourth)
  }

  @Test func aScanResponseMayComeFirst() throws {
    let collector = Scanner()
    let first = try #require(collector.receive(report(ring, response, data: hex("03093031")), at: .zero))
    #expect(first.changedFields == [.device, .scanResponse])
    #expect(first.advertisingData == nil)
    #expect(!first.isConnectable)
    #expect(first.localName == "01")
  }

  @Test func anEmptyNameHidesNoOther() throws {
    let collector = Scanner()
    let first = try #require(
      collector.receive(report(data: hex("0109 03083031")), at: .zero))
    #expect(first.localName == "01")
    let second = try #require(
      collector.receive(report(ring, response, data: hex("03093233")), at: .zero))
    #expect(second.localName == "23")
  }

  /// Beacons send several payloads in turn, of which one has the name or the identifier (kontaktio/kontakt-android-sdk#164,
  /// lab11/summon#3).
  @Test func payloadsThatAlternateAreNewOnce() throws {
    let collector = Scanner()
    let frames = ["03093031", "0303aafe", "0416aafe00", "0416aafe20", "0416aafe10"].map { hex($0) }
    for (index, frame) in frames.enumerated() {
      let device = try #require(collector.receive(report(data: frame), at: seconds(Int64(index))))
      #expect(device.changedFields.contains(.advertisingData))
    }
    for round in 1..<40 {
      for (index, frame) in frames.enumerated() {
        let time = seconds(Int64(5 * round + index))
        let device = try #require(collector.receive(report(data: frame), at: time))
        #expect(device.changedFields.isEmpty)
        #expect(device.localName == "01")
        #expect(device.advertisingData == AdvertisingData(frame))
      }
    }
    // A name that changes is the new one, and what was not sent for half a minute is new again.
    let renamed = try #require(collector.receive(report(data: hex("03093032")), at: seconds(200)))
    #expect(renamed.changedFields == .advertisingData && renamed.localName == "02")
    #expect(
      try #require(collector.receive(report(data: frames[0]), at: seconds(235))).changedFields
        == .advertisingData)
  }

  /// Each payload of a counter is new, and memory is bounded.
  @Test func aCounterIsNewEachTime() throws {
    let collector = Scanner()
    for count in 0..<100 as Range<UInt8> {
      let device = try #require(collector.receive(report(data: [2, 0xFF, count]), at: seconds(Int64(count))))
      #expect(device.changedFields.contains(.advertisingData))
      #expect(
        try #require(collector.receive(report(data: [2, 0xFF, count]), at: seconds(Int64(count))))
          .changedFields == [])
    }
  }

  /// An advertising set that is connectable is enough (nordicsemi/Android-nRF-Connect#147); a device that has become a beacon
  /// is one after ten seconds.
  @Test func oneConnectableSetIsEnough() throws {
    let collector = Scanner()
    func receive(_ type: AdvertisingReport.EventType, _ time: Int64) throws -> Advertisement {
      try #require(collector.receive(report(ring, type, data: []), at: seconds(time)))
    }
    #expect(try !receive(.legacy, 0).isConnectable)
    #expect(try receive(connectable, 1).isConnectable)
    #expect(try receive(.legacy, 2).isConnectable)
    #expect(try receive([], 11).isConnectable)
    #expect(try !receive(.legacy, 12).isConnectable)
    #expect(try receive(connectable, 13).isConnectable)
  }

  /// 127 says that there is no value; other controllers report values that do not exist (nordicsemi/Android-nRF-Connect#190,
  /// PureSwift/Bluetooth#133, dotnet-bluetooth-le#879).
  @Test(arguments: [nil, 21, 80, 126] as [Int8?])
  func ignoresInvalidRSSI(_ rssi: Int8?) throws {
    let collector = Scanner()
    #expect(try #require(collector.receive(report(rssi: 20, data: []), at: .zero)).rssi == 20)
    let device = try #require(collector.receive(report(rssi: rssi, data: []), at: .zero))
    #expect(device.rssi == nil && device.lastRSSI == 20)
  }

  /// Anonymous advertisers have no address, and are told apart by the number of their set.
  @Test func separatesAnonymousAdvertisersBySID() throws {
    let collector = Scanner()
    let anonymous = BluetoothAddress(0, .anonymous)
    let first = try #require(
      collector.receive(report(anonymous, [], sid: 1, data: hex("03093031")), at: .zero))
    let second = try #require(collector.receive(report(anonymous, [], sid: 2, data: []), at: .zero))
    #expect(second.localName == nil && first.id != second.id && !second.isConnectable)
    #expect(collector.receive(report(anonymous, [], sid: 1, data: []), at: .zero)?.localName == "01")
    #expect(collector.count == 2)
    // An address is one device, whatever its sets.
    collector.receive(report(ring, [], sid: 1, data: []), at: .zero)
    collector.receive(report(ring, [], sid: 2, data: []), at: .zero)
    #expect(collector.count == 3)
  }

  /// Data of one company may be in both payloads, and twice in one (nordicsemi/Android-Scanner-Compat-Library#86,
  /// iDevicesInc/SweetBlue#415).
  @Test func allDataOfACompanyAreKept() throws {
    let collector = Scanner()
    collector.receive(report(data: hex("04ff4c0001 04ff4c0002 0416aafe10")), at: .zero)
    let device = try #require(
      collector.receive(report(ring, response, data: hex("04ff4c0003 04ff4c0001 0416aafe20")), at: .zero))
    let company = CompanyIdentifier(rawValue: 0x4C)
    #expect(
      device.manufacturerData
        == [[1], [2], [3]].map { AdvertisingData.ManufacturerData(company: company, data: $0) })
    #expect(device.serviceData.map(\.data) == [[0x10], [0x20]])
  }

  @Test func publicAndRandomAddressesAreTwoDevices() {
    let collector = Scanner()
    collector.receive(report(ring, data: []), at: .zero)
    collector.receive(report(BluetoothAddress(ring.value, .public), data: []), at: .zero)
    #expect(collector.count == 2)
  }

  @Test func theDeviceSilentLongestIsForgotten() {
    let collector = Scanner(capacity: 3)
    for number in 1...3 {
      collector.receive(
        report(BluetoothAddress(UInt64(number), .random), data: []), at: seconds(Int64(number)))
    }
    collector.receive(report(BluetoothAddress(1, .random), data: []), at: seconds(4))
    collector.receive(report(BluetoothAddress(4, .random), data: []), at: seconds(5))
    #expect(collector.count == 3)
    #expect(collector[BluetoothAddress(2, .random)] == nil)
    #expect(collector[BluetoothAddress(1, .random)] != nil)
  }

  @Test func endlessNewAddressesDoNotFillTheMemory() {
    let collector = Scanner(capacity: 16)
    for number in 0..<1000 as Range<UInt64> {
      collector.receive(report(BluetoothAddress(number, .random), data: []), at: seconds(Int64(number)))
    }
    #expect(collector.count == 16)
  }

  @Test func piecesAreJoined() throws {
    let collector = Scanner()
    let other = BluetoothAddress(1, .random)
    #expect(
      collector.receive(report(ring, .connectable, status: .incomplete, sid: 1, data: hex("0509")), at: .zero)
        == nil)
    #expect(
      collector.receive(report(other, .connectable, status: .incomplete, sid: 1, data: [9]), at: .zero) == nil
    )
    #expect(
      collector.receive(report(ring, .connectable, status: .complete, sid: 2, data: []), at: .zero) != nil)
    #expect(
      collector.receive(report(ring, .connectable, status: .incomplete, sid: 1, data: hex("5230")), at: .zero)
        == nil)
    let joined = try #require(
      collector.receive(report(ring, .connectable, status: .complete, sid: 1, data: hex("3241")), at: .zero))
    #expect(joined.localName == "R02A")
    #expect(!joined.isTruncated)
  }

  @Test func marksTruncatedAdvertisement() throws {
    let collector = Scanner()
    collector.receive(report(ring, [], status: .incomplete, sid: 1, data: hex("0209")), at: .zero)
    let cut = try #require(
      collector.receive(report(ring, [], status: .truncated, sid: 1, data: hex("41")), at: .zero))
    #expect(cut.localName == "A")
    #expect(cut.isTruncated)
  }

  /// The end of an advertisement is lost: what comes next is not its end. The next one begins as this one did, comes later, or
  /// is a legacy one.
  @Test func doesNotJoinFragmentsAcrossALostEnd() throws {
    let collector = Scanner()
    let (start, rest) = (hex("050952"), hex("303241"))
    func piece(_ data: [UInt8], _ status: AdvertisingReport.DataStatus, _ time: Duration) -> Advertisement? {
      collector.receive(
        report(ring, .connectable, status: status, sid: 1, data: data), at: .zero + time)
    }
    #expect(piece(start, .incomplete, .zero) == nil)
    #expect(piece(start, .incomplete, .milliseconds(20)) == nil)
    #expect(try #require(piece(rest, .complete, .milliseconds(21))).localName == "R02A")

    #expect(piece(start, .incomplete, .seconds(1)) == nil)
    #expect(try #require(piece(hex("020942"), .complete, .seconds(2))).localName == "B")

    // Soon after it: whole by itself, or with the Flags with which an advertisement begins.
    for (milliseconds, next) in [(3000, "020943"), (4000, "0201060208ff"), (5000, "02010602090a")] {
      #expect(piece(start, .incomplete, .milliseconds(milliseconds)) == nil)
      let whole = try #require(piece(hex(next), .complete, .milliseconds(milliseconds + 40)))
      #expect(whole.advertisingData?.bytes == hex(next))
    }
    // The next event of an advertiser that sends every 200 ms (zephyrproject-rtos/zephyr 106374).
    #expect(piece(start, .incomplete, .seconds(6)) == nil)
    #expect(try #require(piece(rest, .complete, .milliseconds(6200))).localName != "R02A")

    let other = BluetoothAddress(7, .random)
    _ = collector.receive(report(other, [], status: .incomplete, data: start), at: .zero + .seconds(3))
    let legacy = collector.receive(
      report(other, [.legacy, .connectable], data: hex("020943")), at: .zero + .seconds(3))
    #expect(try #require(legacy).localName == "C")
  }

  @Test func piecesThatNeverEndAreCut() throws {
    let collector = Scanner()
    let name = [UInt8](hex("020941"))
    #expect(collector.receive(report(ring, [], status: .incomplete, sid: 1, data: name), at: .zero) == nil)
    let piece = Array(repeating: UInt8(0), count: 200)
    for _ in 0..<100 {
      #expect(collector.receive(report(ring, [], status: .incomplete, sid: 1, data: piece), at: .zero) == nil)
    }
    let cut = try #require(collector.receive(report(ring, [], sid: 1, data: piece), at: .zero))
    #expect(cut.localName == "A")
    #expect(cut.advertisingData?.padding.count == AdvertisementCollector.largestData - name.count)
    #expect(cut.isTruncated)
    for number in 0..<1000 as Range<UInt64> {
      let address = BluetoothAddress(number, .random)
      #expect(
        collector.receive(report(address, [], status: .incomplete, sid: 1, data: piece), at: .zero) == nil)
    }
    #expect(collector.count == 1)
  }
}
