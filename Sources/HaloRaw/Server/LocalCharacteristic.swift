import ATT
import HaloGATT
import HaloBluetoothCore
import HaloSystem

/// A characteristic that a program offers to other devices: see `Radio.serve`.
///
/// Its value is stored here, or a closure of the program answers each read and takes each write. A closure returns the answer,
/// or throws an `ATTErrorCode`, which the client gets. Any other error is Unlikely Error for the client, and so are an answer
/// of more than 512 bytes and a closure that has not returned after 25 seconds. When the client's link ends, the task of the
/// closure is cancelled.
///
/// The writes of a client are taken one after the other, as it has sent them. One that is not done after 25 seconds holds the
/// next up no longer; when 1024 wait, others are refused.
///
/// The closures run on the actor on which they were written.
@BluetoothActor
public final class LocalCharacteristic<Value: GATTValue> {
  /// Answers a read of a client.
  public typealias Read = @isolated(any) @Sendable (_ client: Connection) async throws -> Value
  /// Takes a value that a client has written. The client gets its answer when this returns.
  public typealias Write =
    @isolated(any) @Sendable (_ value: Value, _ client: Connection) async throws -> Void

  /// Its type. The service is that of the ``LocalService`` which has it.
  public nonisolated let id: CharacteristicID<Value>
  /// The uses permitted to clients.
  public nonisolated let properties: CharacteristicProperties

  private nonisolated let read: Read?
  private nonisolated let write: Write?
  private nonisolated let security: SecurityLevel
  private nonisolated let descriptors: [LocalDescriptor]
  /// The value before it is served, unless closures have it.
  @exclusivity(unchecked) private var stored: [UInt8]
  @exclusivity(unchecked) private var place: (server: Server, handle: AttributeHandle)?
  private var counts = Feeds<Int>()

  /// A value that clients read, and that ``notify(_:to:keepsOnlyNewest:)`` changes and sends.
  ///
  /// - Parameters:
  ///   - id: its type
  ///   - value: its first value
  ///   - properties: the uses permitted to clients: with `.write`, they change it
  ///   - security: the security that a link needs to use it
  ///   - descriptors: further descriptors
  public nonisolated convenience init(
    _ id: CharacteristicID<Value>, _ value: Value, properties: CharacteristicProperties = [.read, .notify],
    security: SecurityLevel = .none, descriptors: [LocalDescriptor] = []
  ) {
    self.init(id, value.encoded, properties, security, descriptors, read: nil, write: nil)
  }

  /// A value that the program makes for each read.
  ///
  /// - Parameters:
  ///   - id: its type
  ///   - properties: the uses permitted to clients
  ///   - security: the security that a link needs to use it
  ///   - descriptors: further descriptors
  ///   - read: answers a read
  public nonisolated convenience init(
    _ id: CharacteristicID<Value>, properties: CharacteristicProperties = [.read, .notify],
    security: SecurityLevel = .none, descriptors: [LocalDescriptor] = [],
    @_inheritActorContext read: @escaping Read
  ) {
    self.init(id, [], properties, security, descriptors, read: read, write: nil)
  }

  /// A value that the program makes and takes.
  ///
  /// - Parameters:
  ///   - id: its type
  ///   - properties: the uses permitted to clients
  ///   - security: the security that a link needs to use it
  ///   - descriptors: further descriptors
  ///   - read: answers a read
  ///   - write: takes written values
  public nonisolated convenience init(
    _ id: CharacteristicID<Value>, properties: CharacteristicProperties = [.read, .write, .notify],
    security: SecurityLevel = .none, descriptors: [LocalDescriptor] = [],
    @_inheritActorContext read: @escaping Read, @_inheritActorContext write: @escaping Write
  ) {
    self.init(id, [], properties, security, descriptors, read: read, write: write)
  }

  /// A value that the program takes.
  ///
  /// - Parameters:
  ///   - id: its type
  ///   - properties: the uses permitted to clients
  ///   - security: the security that a link needs to use it
  ///   - descriptors: further descriptors
  ///   - write: takes written values
  public nonisolated convenience init(
    _ id: CharacteristicID<Value>, properties: CharacteristicProperties = [.write, .writeWithoutResponse],
    security: SecurityLevel = .none, descriptors: [LocalDescriptor] = [],
    @_inheritActorContext write: @escaping Write
  ) {
    self.init(id, [], properties, security, descriptors, read: nil, write: write)
  }

  private nonisolated init(
    _ id: CharacteristicID<Value>, _ stored: [UInt8], _ properties: CharacteristicProperties,
    _ security: SecurityLevel, _ descriptors: [LocalDescriptor], read: Read?, write: Write?
  ) {
    (self.id, self.stored, self.properties) = (id, stored, properties)
    (self.security, self.descriptors) = (security, descriptors)
    (self.read, self.write) = (read, write)
  }

  // MARK: Sending

  /// Sends a value to the clients that have subscribed, and returns when their links have taken it: a program that sends faster
  /// than a link is slowed down. A client that takes nothing for a second, as it confirms no indication, holds the others up no
  /// longer: it misses values until it takes some again. A stored value is this one from now on.
  ///
  /// - **Cancelled**: `.cancelled`; each client has got it, or will not get it.
  /// - **A link is lost**: its client is skipped.
  /// - **Misuse**: no client has subscribed: returns at once. A characteristic that is not served: `.closed`. More than 512
  ///   bytes: `.invalidValue`. More bytes than a client's MTU less 3: it gets as many as fit.
  ///
  /// - Parameters:
  ///   - value: the value
  ///   - client: the only client to send to; nil for all
  ///   - isNewestOnly: whether a value that still waits is not sent, as this one is newer; this call never waits then
  /// - Returns: the fate of the value for each client that has subscribed
  @discardableResult
  public nonisolated func notify(
    _ value: Value, to client: Connection? = nil, keepsOnlyNewest isNewestOnly: Bool = false
  ) async throws -> Deliveries {
    let bytes = value.encoded
    let outcome: Outcome
    if let direct = try pushDirectly(bytes, of: self, to: client, keepsOnlyNewest: isNewestOnly) {
      outcome = direct
    } else {
      // A program on the loop's thread that never waits for anything lets it read meanwhile.
      await EpollLoop.shared.yield()
      outcome = try await push(bytes, to: client, keepsOnlyNewest: isNewestOnly)
    }
    guard !outcome.full.isEmpty else { return outcome.deliveries }
    return try await push(bytes, after: outcome, keepsOnlyNewest: isNewestOnly)
  }

  func push(_ bytes: [UInt8], to client: Connection?, keepsOnlyNewest: Bool) throws(BluetoothError) -> Outcome
  {
    guard let (server, handle) = place else {
      throw BluetoothError(.closed, "\(id) is not served; notify within the body of serve")
    }
    try Self.checkLength(of: bytes)
    if read == nil, write == nil { try? server.database.setValue(bytes, of: handle) }
    return server.push(bytes, of: handle, to: client, keepsOnlyNewest: keepsOnlyNewest)
  }

  private nonisolated static func checkLength(of bytes: [UInt8]) throws(BluetoothError) {
    do throws(StackError) {
      try AttributeDatabase.checkLength(of: bytes)
    } catch {
      throw BluetoothError(error)
    }
  }

  /// Sends a value to the clients that had no room, as soon as they have some.
  private func push(
    _ bytes: [UInt8], after first: Outcome, keepsOnlyNewest: Bool
  ) async throws(BluetoothError) -> Deliveries {
    guard let server = place?.server else { return first.deliveries }
    return try await server.push(bytes.count, after: first) { client in
      guard let place, place.server === server else { return .notSubscribed }
      return client.server.push(bytes, of: place.handle, replacesWaiting: keepsOnlyNewest)
    }
  }

  /// The number of clients that have subscribed: first the current one, then one after each change. A program that only
  /// measures for subscribers iterates over it.
  ///
  /// - **Cancelled**: the iteration ends.
  /// - **The server ends**: the iteration ends.
  /// - **Misuse**: a characteristic that is not served has no elements.
  public nonisolated var subscriberCounts: Values<Int> {
    Values(keepingNewest: 256) { feed throws(BluetoothError) in
      guard let (server, handle) = self.place else {
        feed.finish()
        return {}
      }
      feed.send(server.subscriberCount(of: handle))
      let id = self.counts.add(feed)
      return { self.counts.remove(id) }
    }
  }
}

extension LocalCharacteristic: ServedCharacteristic {
  func add(to server: Server) throws(BluetoothError) {
    guard place == nil else { throw BluetoothError(.invalidValue, "\(id) is served already") }
    if let uuid = descriptors.first(where: { OfferedServices.ownDescriptors.contains($0.uuid) })?.uuid {
      throw BluetoothError(.invalidValue, "the server itself adds the descriptor \(uuid) where it is needed")
    }
    try Self.checkLength(of: stored)
    for descriptor in descriptors { try Self.checkLength(of: descriptor.value) }
    let requirement = SecurityRequirement(security)
    let handle = server.database.addCharacteristic(
      id.uuid, properties, value: stored, security: requirement, read: readHandler(server),
      write: writeHandler(server))
    guard handle.isValid else { throw OfferedServices.tooManyAttributes }
    for descriptor in descriptors {
      let handle = server.database.addDescriptor(descriptor.uuid, value: descriptor.value)
      guard handle.isValid else { throw OfferedServices.tooManyAttributes }
    }
    place = (server, handle)
    server.whenConfigured(handle) { [self] count in counts.send(count) }
  }

  func remove(from server: Server) {
    guard let place, place.server === server else { return }
    stored = server.database.value(of: place.handle) ?? []
    self.place = nil
    server.whenConfigured(place.handle, nil)
    counts.finish()
  }

  private func readHandler(_ server: Server) -> AttributeDatabase.ReadHandler? {
    guard let read else { return nil }
    return { [unowned server] client, reply in
      server.answer(client) { connection in
        do {
          let bytes = try await read(connection).encoded
          try Self.checkLength(of: bytes)
          return .success(bytes)
        } catch {
          return .failure(ATTErrorCode(answering: error))
        }
      } then: { (result: Result<[UInt8], ATTErrorCode>) in
        reply(result)
      }
    }
  }

  private func writeHandler(_ server: Server) -> AttributeDatabase.WriteHandler? {
    guard let write else { return nil }
    return { [unowned server] bytes, client, reply in
      let value: Value
      do throws(DecodeError) {
        value = try Value(parsing: bytes.span.bytes)
      } catch {
        return reply(ATTErrorCode(refusing: error))
      }
      server.takeWrite(of: client) { connection in
        do {
          try await write(value, connection)
          return nil
        } catch {
          return ATTErrorCode(answering: error)
        }
      } then: { refusal in
        reply(refusal)
      }
    }
  }
}

/// A characteristic of any type, as a server has it.
@BluetoothActor
protocol ServedCharacteristic: AnyObject, Sendable {
  func add(to server: Server) throws(BluetoothError)
  /// Does nothing if another server has it.
  func remove(from server: Server)
  /// Sends a value to all clients that have room for it.
  func push(_ bytes: [UInt8], to client: Connection?, keepsOnlyNewest: Bool) throws(BluetoothError) -> Outcome
}

/// Sends a value at once on the loop's thread. It is a function outside of the generic type, where its closure would be
/// allocated at each call.
///
/// - Returns: nil on other threads, and where that was done often since the loop has read
private func pushDirectly(
  _ bytes: [UInt8], of characteristic: any ServedCharacteristic, to client: Connection?, keepsOnlyNewest: Bool
) throws(BluetoothError) -> Outcome? {
  try EpollLoop.shared.performDirectly(with: (characteristic, bytes, client, keepsOnlyNewest)) {
    (call) throws(BluetoothError) in
    try call.0.push(call.1, to: call.2, keepsOnlyNewest: call.3)
  }
}

extension ATTErrorCode {
  /// The ATT error for an error of a closure.
  fileprivate init(answering error: any Error) {
    self = error as? ATTErrorCode ?? (error as? BluetoothError)?.attCode ?? .unlikelyError
  }

  /// The ATT error for an invalid value.
  fileprivate init(refusing error: DecodeError) {
    self =
      switch error.reason {
      case .truncated, .trailing: .invalidAttributeValueLength
      case .invalid: .valueNotAllowed
      }
  }
}
