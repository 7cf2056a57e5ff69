import ATT

/// A program that has the values of attributes, and that reads and writes reach as clients send them: with their offsets.
///
/// Other handlers (``AttributeDatabase/ReadHandler``, ``AttributeDatabase/WriteHandler``) have to do with whole values only.
/// One object may have the values of many attributes: the parts of an Execute Write that are meant for it come as one, in the
/// order in which the client has sent them.
package final class LongValueHandler {
  /// Answers a read: `reply` is called once, now or within ``ServerBearer/answerLimit``, with the value from the offset on, of
  /// which the client gets as much as fits, or with the reason why it can't be read. Further calls do nothing.
  package typealias Read = (
    _ handle: AttributeHandle, _ offset: Int, _ client: ServerBearer,
    _ reply: @escaping (Result<[UInt8], ATTErrorCode>) -> Void
  ) -> Void
  /// Takes one write, or all parts of an Execute Write: `reply` is called once, now or within
  /// ``ServerBearer/answerLimit``, with nil or the reason why nothing of it is written. It is nil for a command, which has no
  /// answer. No part ends behind the capacity of its attribute; nothing else is checked.
  package typealias Write = (
    _ parts: [ATTPreparedWrite], _ client: ServerBearer, _ reply: ((ATTErrorCode?) -> Void)?
  ) -> Void

  let read: Read
  let write: Write

  package init(read: @escaping Read, write: @escaping Write) {
    self.read = read
    self.write = write
  }
}

extension AttributeDatabase {
  /// Lets a program have the value of an attribute, in place of the stored value and of other handlers.
  package func setHandler(of handle: AttributeHandle, _ handler: LongValueHandler) {
    change(handle) { $0.parts = handler }
  }

  /// Changes the permissions of an attribute, whatever the properties of its characteristic promise.
  ///
  /// - Parameters:
  ///   - handle: the attribute
  ///   - access: the ways in which it may be used
  ///   - readSecurity: the security requirements for reading
  ///   - writeSecurity: the security requirements for writing
  package func setPermissions(
    of handle: AttributeHandle, _ access: ServerAttribute.Access, readSecurity: SecurityRequirement = .none,
    writeSecurity: SecurityRequirement = .none
  ) {
    change(handle) { entry in
      entry.attribute.access = access
      entry.attribute.readSecurity = readSecurity
      entry.attribute.writeSecurity = writeSecurity
    }
  }
}
