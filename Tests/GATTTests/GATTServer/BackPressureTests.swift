import ATT
import HaloGATT
import HaloBluetoothCore
import TestSupport
import Testing

/// What waits for the link, and who learns of it.
@Suite struct BackPressureTests {
  private let dialogue = ServerDialogue { database in
    database.addService(0x180D)
    database.addCharacteristic(0x2A37, [.read, .notify, .indicate], value: [0])
    database.addCharacteristic(0x2A38, [.read, .notify], value: [0])
  }
  private var server: ServerBearer { dialogue.server }

  init() {
    _ = dialogue.ask("12 0400 0300")
    _ = dialogue.ask("12 0700 0100")
  }

  /// noble/bleno 197: a program that notified faster than the link sends filled the controller, which then took nothing any more.
  /// stoprocent/bleno 6: of five values in a row some were lost.
  @Test func valuesWaitForTheLinkAndKeepTheirOrder() {
    #expect(server.notify([1], of: 3) == .sent)
    dialogue.unlinked.hasRoom = false
    #expect((2...5).map { server.notify([$0], of: 3) } == Array(repeating: .queued, count: 4))
    #expect(dialogue.takeSent() == "1b030001")
    dialogue.unlinked.hasRoom = true
    // What waits goes first.
    #expect(server.notify([6], of: 6) == .queued)
    server.roomAvailable()
    #expect(dialogue.takeSent() == "1b030002 1b030003 1b030004 1b030005 1b060006")
    #expect(server.notify([7], of: 3) == .sent)
  }

  /// yanshouwang/bluetooth_low_energy 133: a program waited for a call that had come before it waited. It comes once, after a
  /// value was not taken.
  @Test func readyComesOnceAfterAValueWasNotTaken() {
    var readies = 0
    server.onReady = { readies += 1 }
    dialogue.unlinked.hasRoom = false
    let deliveries = (0..<18).map { server.notify([$0], of: 3) }
    #expect(deliveries == Array(repeating: .queued, count: 16) + [.full, .full])
    server.roomAvailable()
    #expect(readies == 0 && dialogue.takeSent() == "")
    dialogue.unlinked.hasRoom = true
    server.roomAvailable()
    #expect(readies == 1 && dialogue.takeSent().split(separator: " ").count == 16)
    server.roomAvailable()
    #expect(readies == 1)
  }

  /// What is sent from within the call for room comes behind what has waited.
  @Test func aValueFromWithinReadyIsTaken() {
    dialogue.unlinked.hasRoom = false
    for value in UInt8(0)..<17 { server.notify([value], of: 3) }
    var delivery: ServerBearer.Delivery?
    server.onReady = { delivery = server.notify([99], of: 3) }
    dialogue.unlinked.hasRoom = true
    server.roomAvailable()
    #expect(delivery == .sent && dialogue.takeSent().hasSuffix(" 1b03000f 1b030063"))
    // The closure holds its server.
    server.onReady = nil
  }

  /// A heart rate that is a second old is of no use to a watch.
  @Test func theLatestValueReplacesOneThatWaits() {
    dialogue.unlinked.hasRoom = false
    #expect(server.notify([1], of: 3, replacesWaiting: true) == .queued)
    #expect(server.notify([2], of: 6) == .queued)
    for value in UInt8(3)...100 { #expect(server.notify([value], of: 3, replacesWaiting: true) == .queued) }
    dialogue.unlinked.hasRoom = true
    server.roomAvailable()
    #expect(dialogue.takeSent() == "1b030064 1b060002")
  }

  @Test func longValuesAreBoundedByTheirBytes() {
    dialogue.unlinked.hasRoom = false
    let long = Array(repeating: UInt8(1), count: 512)
    #expect((0..<9).map { _ in server.notify(long, of: 3) } == Array(repeating: .queued, count: 8) + [.full])
    // A shorter one takes its place.
    #expect(server.notify([1], of: 3, replacesWaiting: true) == .queued)
    #expect(server.notify([2], of: 6) == .queued)
  }

  /// A client that unsubscribes, or leaves, gets nothing that has waited.
  @Test func discardsQueuedValuesOfUnsubscribedClient() {
    dialogue.unlinked.hasRoom = false
    server.notify([1], of: 3)
    server.notify([2], of: 6)
    _ = dialogue.ask("12 0400 0000")
    dialogue.unlinked.hasRoom = true
    server.roomAvailable()
    #expect(dialogue.takeSent() == "1b060002")
    dialogue.unlinked.hasRoom = false
    server.notify([3], of: 6)
    dialogue.unlinked.bearer.close("left")
    dialogue.unlinked.hasRoom = true
    server.roomAvailable()
    #expect(dialogue.takeSent() == "")
  }

  /// Indications wait for their confirmations, and are ready alike.
  @Test func readyComesWithAConfirmation() {
    var readies = 0
    server.onReady = { readies += 1 }
    for value in UInt8(0)..<18 { server.indicate([value], of: 3) }
    #expect(dialogue.takeSent() == "1d030000" && readies == 0)
    #expect(dialogue.ask("1e") == "1d030001" && readies == 1)
    #expect(dialogue.ask("1e") == "1d030002" && readies == 1)
  }
}
