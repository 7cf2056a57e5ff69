import HaloBluetoothCore
import HaloCapture
import HaloStorage
import RingLink
import Testing
@testable import HaloViews

struct SessionNoteTests {
  private static func ring(name: String?, isDiscovered: Bool = true) -> KnownRing {
    var ring = KnownRing(
      name: name, peer: PeerIdentity(BluetoothAddress(0xC011_2233_A1B2, .random)), layout: nil)
    guard isDiscovered else { return ring }
    ring.firmware = "R02_3.00.06_240523"
    ring.databaseHash = String(repeating: "0f", count: 16)
    ring.handles = .init(
      write: 0xFFFF, writeProperties: 255, notify: 3, notifyProperties: 16, configuration: 4)
    return ring
  }

  @Test(arguments: [
    SessionNote.zone(-18000), .clock(ClockRecord(set: 1_763_733_600, policy: .utc, utcOffset: 0)),
    .restore("heart-rate", ["enabled": 1, "interval": 5, "low-alarm": 0]), .ring(ring(name: "R02 \"A\"")),
    .ring(ring(name: nil, isDiscovered: false)), .keepsParameters, .describesRing, .oneRing,
  ])
  func sessionNotesRoundTrip(note: SessionNote) {
    #expect(SessionNote(note.description) == note)
    #expect(note.description.utf8.count < 200)
  }

  @Test(arguments: [true, false]) func aKnownRingFitsIntoANote(hasHandles: Bool) {
    var ring = KnownRing(
      name: "R02 = \u{e9}", peer: PeerIdentity(BluetoothAddress(0xC011_2233_BEEF, .random)), layout: nil)
    if hasHandles {
      ring.firmware = "RT02R_3.11.00_250611"
      ring.databaseHash = String(repeating: "a5", count: 16)
      ring.handles = .init(
        write: 0xFFF0, writeProperties: 12, notify: 0xFFF2, notifyProperties: 16, configuration: 0xFFF3)
    }
    let text = SessionNote.ring(ring).description
    #expect(SessionNote(text) == .ring(ring))
    #expect(text.utf8.count <= CaptureNote.maximumLength - 60, "a longer name")
  }

  @Test(arguments: [
    "", "zone", "zone utc-offset=x", "zone utc-offset=90000", "clock set=-1 policy=utc utc-offset=0",
    "clock set=1 policy=mars utc-offset=0", "clock set=99999999999 policy=utc utc-offset=0", "restore", "=",
    "remark", "ring", "ring []", #"ring ["C0:11:22:33:A1:B2","public",null,null,[70000],null]"#,
    #"ring ["C0:11","public",null,null,[],null]"#, #"ring ["C0:11:22:33:A1:B2","public",null,null,[],"0f"]"#,
  ])
  func rejectsInvalidNotes(text: String) {
    #expect(SessionNote(text) == nil)
  }

  @Test func lastNoteOfAKindWins() {
    let notes = SessionNote.all(in: [
      "zone utc-offset=3600", "?", "zone utc-offset=7200", "restore spo2 enabled=1",
    ])
    #expect(notes.utcOffset == 7200)
    #expect(notes.clockRecord == nil)
    #expect(notes.savedMeasurements == SavedMeasurements(["spo2": ["enabled": 1]]))
    #expect([SessionNote]().utcOffset == 0, "an old recording is the same everywhere")
  }
}
