import HCI
import HaloBluetoothCore
import HaloSecurityManager
import HaloSystem
import TestSupport
import Testing

/// A transcript in one of its roles.
struct Dialogue: CustomStringConvertible {
  let transcript: Transcript
  let role: LERole
  var description: String { "\(role): \(transcript)" }

  static let all = Transcript.all.flatMap { transcript in
    transcript.roles.map { Dialogue(transcript: transcript, role: $0) }
  }
  static let complete = all.filter { $0.transcript.facts["refused"] == nil }
}

@Suite(.enabled(if: LibcryptoCryptography.shared != nil, "libcrypto is not installed"))
struct PairingTranscriptTests {
  private let library: any Cryptography

  init() throws { library = try #require(LibcryptoCryptography.shared) }

  private func run(_ dialogue: Dialogue) -> PairingRun {
    PairingRun(
      dialogue.transcript.setup(dialogue.role), passkey: dialogue.transcript.passkey ?? 0, library: library)
  }

  @Test func thereAreAllTranscripts() {
    #expect(Transcript.all.count == 25)
    #expect(Dialogue.all.count >= 33)
  }

  /// Each PDU of this side is the one of the transcript, and comes before the next one of the peer is there.
  @Test(arguments: Dialogue.complete)
  func repeatsTranscript(_ dialogue: Dialogue) throws {
    var run = self.run(dialogue)
    run.take(run.pairing.begin())
    var count = 0
    for step in dialogue.transcript.steps {
      switch step {
      case .encrypt:
        #expect(run.key?.value == dialogue.transcript.key)
        run.take(run.pairing.encryptionChanged(isOn: true))
      case .initiator(let pdu) where dialogue.role == .central,
        .responder(let pdu) where dialogue.role == .peripheral:
        #expect(run.sent.indices.contains(count) ? run.sent[count] == pdu : false)
        count += 1
      case .initiator(let pdu), .responder(let pdu): run.receive(pdu)
      }
    }
    #expect(run.sent.count == count)
    #expect(run.failures == [])
    let result = try #require(run.results.first)
    #expect(run.results.count == 1)
    #expect(result.strength.isAuthenticated == (dialogue.transcript.facts["authenticated"] != nil))
    #expect(result.strength.isSecureConnections == dialogue.transcript.isSecureConnections)
    if let shown = dialogue.transcript.facts["shown"].flatMap({ UInt32($0) }) {
      #expect(run.questions == [.compare(shown)])
    }
  }

  @Test func refusesItsOwnPublicKey() throws {
    let dialogue = try #require(Dialogue.all.first { $0.transcript.facts["refused"] != nil })
    var run = self.run(dialogue)
    run.take(run.pairing.begin())
    for pdu in dialogue.transcript.pdus(of: .peripheral) { run.receive(pdu) }
    #expect(run.failures == [.local(.dhKeyCheckFailed)])
    #expect(run.sent.last == [0x05, 0x0B])
  }

  @Test func refusesShortKeyOfTranscript() throws {
    let dialogue = try #require(Dialogue.all.first { $0.transcript.description.contains("key of 7 octets") })
    var setup = dialogue.transcript.setup(.peripheral)
    setup.minimumKeySize = 16
    setup.features.maximumKeySize = 16
    var run = PairingRun(setup, library: library)
    run.take(run.pairing.begin())
    run.receive(dialogue.transcript.pdus(of: .central)[0])
    #expect(run.sent == [[0x05, 0x06]])
  }

  // MARK: Damaged dialogues

  /// What is done to the PDUs of the peer.
  enum Damage: String, CaseIterable { case leftOut, doubled, cut, lengthened, changed, swapped, lost }

  /// No damaged dialogue gives a key or a result, and each one ends, once.
  @Test(arguments: Dialogue.all, Damage.allCases)
  func damagedDialogueGivesNoKey(_ dialogue: Dialogue, _ damage: Damage) {
    let peer = dialogue.transcript.pdus(of: dialogue.role == .central ? .peripheral : .central)
    // Keys go over the encrypted link, which nobody changes on the way; a doubled last one comes after the end.
    let handshake = peer.prefix { !(0x06...0x0A).contains($0[0]) }.count
    for index in peer.indices {
      let isKey = index >= handshake
      if isKey, damage == .changed { continue }
      if index == peer.count - 1, damage == .doubled || damage == .swapped { continue }
      for bit in damage == .changed ? Self.bits(of: peer[index], dialogue.transcript) : [0] {
        var pdus = peer
        var lastOfLink = peer.count
        switch damage {
        case .leftOut: pdus.remove(at: index)
        case .doubled: pdus.insert(peer[index], at: index)
        case .cut: pdus[index].removeLast()
        case .lengthened: pdus[index].append(0)
        case .changed: pdus[index][bit / 8] ^= 1 << UInt8(bit % 8)
        case .swapped: pdus.swapAt(index, index + 1)
        case .lost: lastOfLink = index
        }
        let run = play(dialogue, pdus.prefix(lastOfLink), loses: damage == .lost)
        #expect(run.ends == 1, "\(index)")
        #expect(run.results == [], "\(damage) \(index), bit \(bit)")
        // A doubled last one comes when the link may be encrypted already.
        if !isKey, damage != .doubled || index < handshake - 1 {
          #expect(run.encryptions == [] && run.pairing.pendingKey == nil, "\(damage) \(index), bit \(bit)")
        }
      }
    }
  }

  /// A bit of each byte, and all of short PDUs. The check of LE Secure Connections does not cover the length of the key and the
  /// keys that are distributed (2.2.8): nobody can see a change of these, but that of a key that is too short.
  private static func bits(of pdu: [UInt8], _ transcript: Transcript) -> [Int] {
    guard pdu.count < 8 else { return (0..<pdu.count).map { $0 * 8 + $0 % 8 } }
    return Array(0..<(transcript.isSecureConnections && pdu[0] <= 0x02 ? 4 : pdu.count) * 8)
  }

  /// Gives the PDUs of the peer one after the other; the link is encrypted as soon as there is a key.
  private func play(_ dialogue: Dialogue, _ pdus: ArraySlice<[UInt8]>, loses: Bool) -> PairingRun {
    var run = self.run(dialogue)
    run.take(run.pairing.begin())
    for pdu in pdus {
      if run.key != nil { run.take(run.pairing.encryptionChanged(isOn: true)) }
      run.receive(pdu)
    }
    if !loses, run.key != nil, run.ends == 0 { run.take(run.pairing.encryptionChanged(isOn: true)) }
    run.take(loses ? run.pairing.disconnected() : run.pairing.expire())
    return run
  }
}
