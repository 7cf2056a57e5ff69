import HCI

extension VirtualController {
  /// The encryption of links (Core Specification Vol 6, Part B, 5.1.3).
  static let encryptionCommands: [VirtualCommand] = [
    .begin(LEEnableEncryption.self) { controller, command in
      guard let link = controller.link(command.handle) else { return .unknownConnectionIdentifier }
      return link.central === controller ? .success : .commandDisallowed
    } then: { controller, command in
      controller.afterExchange(2, on: command.handle) { _, link, _ in
        link.encrypt(with: command.longTermKey, command.random, command.encryptedDiversifier)
      }
    },
    .complete(LELongTermKeyRequestReply.self) { controller, command in
      guard let link = controller.link(command.handle), let reply = link.keyReply.take() else {
        return .failure(.commandDisallowed)
      }
      reply(command.longTermKey)
      return .success(.init(handle: command.handle))
    },
    .complete(LELongTermKeyRequestNegativeReply.self) { controller, command in
      guard let link = controller.link(command.handle), let reply = link.keyReply.take() else {
        return .failure(.commandDisallowed)
      }
      reply(nil)
      return .success(.init(handle: command.handle))
    },
  ]

  /// How long a link layer waits for an answer of the other one (Vol 6, Part B, 5.2).
  private static let responseTimeout = Duration.seconds(40)

  /// Asks the host of the peripheral for the key. A host that does not answer, or that masks the event, loses the link.
  package func keyRequested(
    _ random: UInt64, _ diversifier: UInt16, on link: SimulatedLink, reply: @escaping ([UInt8]?) -> Void
  ) {
    guard let handle = handle(of: link) else { return }
    link.keyReply = reply
    link.after(Self.responseTimeout) { link in
      if link.keyReply != nil { link.end(.responseTimeout, .responseTimeout) }
    }
    send(
      .leLongTermKeyRequest(
        LELongTermKeyRequest {
          $0.handle = handle
          $0.random = random
          $0.encryptedDiversifier = diversifier
        }))
  }

  /// The peripheral has no key.
  func encryptionRefused(on link: SimulatedLink) {
    guard let handle = handle(of: link) else { return }
    send(
      .encryptionChange(
        EncryptionChange {
          $0.status = .pinOrKeyMissing
          $0.handle = handle
        }))
  }
}
