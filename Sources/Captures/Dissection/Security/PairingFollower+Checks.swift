import HCI
import HaloBluetoothCore
import HaloSecurityManager

// Phase 2: what of it can be computed from the packets alone (Core Specification Vol 3, Part H, 2.3.5).

extension PairingFollower {
  /// What a check has found out; nil if nothing could be computed.
  private static func note(_ what: String, isRight: Bool?, _ addition: String = "") -> [SecurityNote] {
    guard let isRight else { return [] }
    return [
      isRight
        ? SecurityNote(.check, "the \(what) is right\(addition)")
        : SecurityNote(.fault, "the \(what) is wrong")
    ]
  }

  mutating func take(confirm value: [UInt8], isInitiator: Bool) -> [SecurityNote] {
    let other = side(!isInitiator).confirm
    change(isInitiator) { $0.confirm = value }
    guard value == other else { return [] }
    return [SecurityNote(.attack, "the confirm value of the other side, sent back (CVE-2020-26558)")]
  }

  // MARK: Secure Connections

  mutating func take(
    _ key: PairingPublicKey, isInitiator: Bool, _ context: Context
  ) -> [SecurityNote] {
    change(isInitiator) { $0.publicKey = key }
    var notes: [SecurityNote] = []
    let point = P256PublicKey(x: key.x.reversed(), y: key.y.reversed())
    if key.x == side(!isInitiator).publicKey?.x, !point.isDebugKey {
      notes.append(SecurityNote(.attack, "the public key of the other side, sent back (CVE-2020-26558)"))
    } else if let beginning, !point.isDebugKey,
      let earlier = context.knowledge.addPublicKey(key.x, pairing: beginning)
    {
      notes.append(
        SecurityNote(
          .weakness, "the same public key as in the pairing at packet \(earlier): it never changes"))
    }
    if point.isDebugKey {
      notes.append(
        SecurityNote(.weakness, "the debug key, whose private key is public: everybody can compute the keys"))
    } else if let library = context.knowledge.functions?.library {
      do throws(CryptographyError) {
        _ = try library.sharedSecret(.debug, with: point)
      } catch {
        if error == .invalidPublicKey {
          notes.append(SecurityNote(.attack, "no point of the curve: invalid curve (CVE-2018-5383)"))
        }
      }
    }
    computeSecret(context)
    return notes
  }

  /// Computes the shared secret if one side has the debug key.
  private mutating func computeSecret(_ context: Context) {
    guard let library = context.knowledge.functions?.library else { return }
    let points = [initiator, responder].compactMap(\.publicKey).map {
      P256PublicKey(x: $0.x.reversed(), y: $0.y.reversed())
    }
    guard points.count == 2, points.contains(where: \.isDebugKey) else { return }
    guard let other = points.first(where: { !$0.isDebugKey }) else { return sharedSecret = Self.debugSecret }
    sharedSecret = try? library.sharedSecret(.debug, with: other).reversed()
  }

  /// The secret of two debug keys, least significant byte first: libraries compute none of a key with itself.
  private static let debugSecret: [UInt8] = [
    0x2D, 0xAB, 0x00, 0x48, 0xCB, 0xB3, 0x7B, 0xDA, 0x55, 0x7B, 0x8B, 0x72, 0xA8, 0x57, 0x87, 0xC3,
    0x87, 0x27, 0x99, 0x32, 0xFC, 0x79, 0x5F, 0xAE, 0x7C, 0x1C, 0xF9, 0x49, 0xE6, 0xD7, 0xAA, 0x70,
  ]

  /// A random value is there: the confirm value of its side can be checked.
  mutating func revealed(isInitiator: Bool, _ context: Context) -> [SecurityNote] {
    guard let method, let functions = context.knowledge.functions, let u = side(isInitiator).publicKey?.x,
      let v = side(!isInitiator).publicKey?.x
    else { return [] }
    let (random, confirm) = (side(isInitiator).random, side(isInitiator).confirm)
    switch method {
    case .outOfBand: return []
    case .passkeyEntry: return revealedBit(isInitiator: isInitiator, functions, u, v, context)
    case .justWorks, .numericComparison:
      // The responder alone has confirmed its value.
      guard !isInitiator, !confirm.isEmpty, let expected = try? functions.f4(u, v, random, 0) else {
        return []
      }
      var notes = Self.note("confirm value", isRight: expected == confirm)
      if method == .numericComparison, let number = try? functions.g2(v, u, initiator.random, random) {
        notes.append(SecurityNote(.progress, "both users have to see \(Passkey.text(number))"))
      }
      return notes
    }
  }

  /// Each of twenty rounds confirms a bit of the passkey, which both values show afterwards to everybody.
  private mutating func revealedBit(
    isInitiator: Bool, _ functions: SecurityFunctions, _ u: [UInt8], _ v: [UInt8], _ context: Context
  ) -> [SecurityNote] {
    if isInitiator { round += 1 }
    let (random, confirm) = (side(isInitiator).random, side(isInitiator).confirm)
    guard (1...PairingSecrets.rounds).contains(round), !confirm.isEmpty else { return [] }
    let bit = (UInt8(0)...1).first { (try? functions.f4(u, v, random, 0x80 | $0)) == confirm }
    let place = "round \(round) of \(PairingSecrets.rounds)"
    guard let bit else { return [SecurityNote(.fault, "\(place): the confirm value is wrong")] }
    if isInitiator {
      let before = round == 1 ? 0 : passkey ?? 0
      passkey = before | UInt32(bit) << UInt32(round - 1)
      return [SecurityNote(.check, "\(place): the confirm value is right")]
    }
    guard let passkey, passkey >> UInt32(round - 1) & 1 == UInt32(bit) else {
      return [SecurityNote(.fault, "\(place): the two sides have different passkeys")]
    }
    var notes = [SecurityNote(.check, "\(place): the confirm value is right")]
    if round == PairingSecrets.rounds, let beginning {
      notes.append(
        SecurityNote(
          .progress,
          "the passkey was \(Passkey.text(passkey)): everybody can tell now, so it must not be used again"))
      notes += reuse(of: passkey, beginning, context)
    }
    return notes
  }

  private func reuse(of passkey: UInt32, _ beginning: Int, _ context: Context) -> [SecurityNote] {
    guard let earlier = context.knowledge.addPasskey(passkey, pairing: beginning) else { return [] }
    return [
      SecurityNote(
        .attack,
        "the same passkey as in the pairing at packet \(earlier): whoever heard that one could be here")
    ]
  }

  mutating func check(_ value: [UInt8], isInitiator: Bool, _ context: Context) -> [SecurityNote] {
    guard let functions = context.knowledge.functions, let secret = sharedSecret, let method, let beginning,
      method != .outOfBand, !initiator.random.isEmpty, !responder.random.isEmpty
    else { return [] }
    let (from, to) = (side(isInitiator), side(!isInitiator))
    var number = [UInt8](repeating: 0, count: 16)
    if case .passkeyEntry = method { number = Passkey.key(passkey ?? 0) }
    let (initiators, responders) = addresses(context)
    for a in initiators {
      for b in responders {
        guard
          let keys = try? functions.f5(
            secret, initiator.random, responder.random, initiator: a, responder: b),
          let expected = try? functions.f6(
            keys.macKey, from.random, to.random, number, from.features, isInitiator ? a : b,
            isInitiator ? b : a),
          expected == value
        else { continue }
        context.knowledge.add(
          key: SecurityFunctions.shorten(keys.longTermKey, to: min(16, keySize)),
          from: "the key of the pairing at packet \(beginning) (\(Self.summary(method, true)))")
        return Self.note("DHKey Check", isRight: true)
      }
    }
    return wrong("DHKey Check", context)
  }

  // MARK: LE legacy pairing

  mutating func revealedLegacy(isInitiator: Bool, _ context: Context) -> [SecurityNote] {
    guard let functions = context.knowledge.functions, let method, method != .outOfBand, let beginning,
      !side(isInitiator).confirm.isEmpty
    else { return legacyKey(context) }
    var notes: [SecurityNote] = []
    let (initiators, responders) = addresses(context)
    if passkey == nil, context.knowledge.triesPasskeys, !hasTried, !initiators.isEmpty, !responders.isEmpty {
      hasTried = true
      passkey = findPasskey(functions, isInitiator: isInitiator, initiators, responders)
      if let passkey {
        notes.append(
          SecurityNote(
            .weakness,
            "the passkey was \(Passkey.text(passkey)): whoever receives the pairing can try them all"))
        notes += reuse(of: passkey, beginning, context)
      }
    }
    guard let passkey else { return notes }
    let isRight = isConfirmed(by: Passkey.key(passkey), functions, isInitiator, initiators, responders)
    if isRight {
      notes += Self.note("confirm value", isRight: true)
    } else {
      notes += wrong("confirm value", context)
    }
    return notes + legacyKey(context)
  }

  private func isConfirmed(
    by key: [UInt8], _ functions: SecurityFunctions, _ isInitiator: Bool, _ initiators: [BluetoothAddress],
    _ responders: [BluetoothAddress]
  ) -> Bool {
    let side = side(isInitiator)
    return initiators.contains { a in
      responders.contains { b in
        (try? functions.c1(
          key, side.random, request: initiator.pdu, response: responder.pdu, initiator: a, responder: b))
          == side.confirm
      }
    }
  }

  /// Tries all passkeys.
  private func findPasskey(
    _ functions: SecurityFunctions, isInitiator: Bool, _ initiators: [BluetoothAddress],
    _ responders: [BluetoothAddress]
  ) -> UInt32? {
    (UInt32(0)..<1_000_000).first {
      isConfirmed(by: Passkey.key($0), functions, isInitiator, initiators, responders)
    }
  }

  /// Computes the short-term key once both random values are there.
  private func legacyKey(_ context: Context) -> [SecurityNote] {
    guard let functions = context.knowledge.functions, let passkey, let origin = keyInUse,
      let key = try? functions.s1(
        Passkey.key(passkey), responder: responder.random, initiator: initiator.random)
    else { return [] }
    context.knowledge.add(key: SecurityFunctions.shorten(key, to: min(16, keySize)), from: origin)
    return [
      SecurityNote(.weakness, "the keys can be computed: whoever receives this pairing can read the link")
    ]
  }

  // MARK: Helpers

  /// A value that fits none of the addresses. A capture of HCI may lack the one that was used.
  private func wrong(_ what: String, _ context: Context) -> [SecurityNote] {
    guard !context.own.isEmpty, !context.peers.isEmpty else { return [] }
    if context.knowsAddresses { return Self.note(what, isRight: false) }
    return [SecurityNote(.fault, "the \(what) is wrong, or an address is not in the capture")]
  }
}
