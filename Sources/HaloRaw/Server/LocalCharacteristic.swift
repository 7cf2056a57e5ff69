import ATT
import GATTServer
import HaloBluetoothCore
import HaloGATT

/// A characteristic that a program offers to other devices: see ``Radio/serve(_:as:maximumConnections:_:)``.
///
/// Its value is stored here, or a closure of the program answers each read and takes each write. A closure returns the answer,
/// or throws an `ATTErrorCode`, which the client gets. Any other error is Unlikely Error for the client, and so is a closure
/// that has not returned after 25 seconds. When the client's link ends, the task of the closure is cancelled.
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
  /// What clients may do with it.
  public nonisolated let properties: CharacteristicProperties

  private nonisolated let read: Read?
  private nonisolated let write: Write?
  /// The value, unless closures have it.
  private var stored: [UInt8]
  private var place: (server: Server, handle: AttributeHandle)?
  private var counts = Feeds<Int>()

  /// A value that clients read, and that ``notify(_:to:keepsOnlyNewest:)`` changes and sends.
  ///
  /// - Parameters:
  ///   - id: its type
  ///   - value: its first value
  ///   - properties: what clients may do with it: with `.write`, they change it
  public nonisolated init(
    _ id: CharacteristicID<Value>, _ value: Value, properties: CharacteristicProperties = [.read, .notify]
  ) {
    (self.id, self.properties) = (id, properties)
    (read, write) = (nil, nil)
    stored = value.encoded
  }

  /// A value that the program makes for each read.
  ///
  /// - Parameters:
  ///   - id: its type
  ///   - properties: what clients may do with it
  ///   - read: answers a read
  public nonisolated init(
    _ id: CharacteristicID<Value>, properties: CharacteristicProperties = [.read, .notify],
    @_inheritActorContext read: @escaping Read
  ) {
    (self.id, self.properties) = (id, properties)
    (self.read, write) = (read, nil)
    stored = []
  }

  /// A value that the program makes and takes.
  ///
  /// - Parameters:
  ///   - id: its type
  ///   - properties: what clients may do with it
  ///   - read: answers a read
  ///   - write: takes what is written
  public nonisolated init(
    _ id: CharacteristicID<Value>, properties: CharacteristicProperties = [.read, .write, .notify],
    @_inheritActorContext read: @escaping Read, @_inheritActorContext write: @escaping Write
  ) {
    (self.id, self.properties) = (id, properties)
    (self.read, self.write) = (read, write)
    stored = []
  }

  /// A value that the program takes.
  ///
  /// - Parameters:
  ///   - id: its type
  ///   - properties: what clients may do with it
  ///   - write: takes what is written
  public nonisolated init(
    _ id: CharacteristicID<Value>, properties: CharacteristicProperties = [.write, .writeWithoutResponse],
    @_inheritActorContext write: @escaping Write
  ) {
    (self.id, self.properties) = (id, properties)
    (read, self.write) = (nil, write)
    stored = []
  }

  // MARK: Sending

  /// Sends a value to the clients that have subscribed, and returns when their links have taken it: a program that sends faster
  /// than a link is slowed down. A stored value is this one from now on.
  ///
  /// - **Cancelled**: `.cancelled`; each client has got it, or will not get it.
  /// - **A link is lost**: its client is skipped.
  /// - **Misuse**: nobody has subscribed: returns at once. A characteristic that is not served: `.closed`. More bytes than a
  ///   client's MTU less 3: it gets what fits.
  ///
  /// - Parameters:
  ///   - value: the value
  ///   - client: the only client that is meant; nil for all
  ///   - isNewestOnly: whether a value that still waits is not sent, as this one is newer; this call never waits then
  public func notify(
    _ value: Value, to client: Connection? = nil, keepsOnlyNewest isNewestOnly: Bool = false
  ) async throws {
    guard let (server, handle) = place else {
      throw BluetoothError(.closed, "\(id) is not served; notify within the body of serve")
    }
    let bytes = value.encoded
    if read == nil, write == nil {
      stored = bytes
      server.database.setValue(bytes, of: handle)
    }
    let push = { (client: ServedClient) in client.push(bytes, of: handle, keepsOnlyNewest: isNewestOnly) }
    // All at once, and then those that have no room.
    for client in server.clients(of: client) where push(client) == .full {
      repeat {
        try await client.untilReady()
      } while push(client) == .full
    }
  }

  /// How many clients have subscribed: first as it is, then after each change. A program that only measures while somebody
  /// listens iterates over it.
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
    let handle = server.database.addCharacteristic(
      id.uuid, properties, value: stored, read: readHandler(server), write: writeHandler(server))
    guard handle.isValid else { throw BluetoothError(.invalidValue, "there are too many attributes") }
    place = (server, handle)
    server.whenConfigured(handle) { [weak self] count in self?.counts.send(count) }
  }

  func remove(from server: Server) {
    guard place?.server === server else { return }
    place = nil
    counts.finish()
  }

  private func readHandler(_ server: Server) -> AttributeDatabase.ReadHandler? {
    guard let read else { return nil }
    return { [weak server] client, reply in
      server?.answer(client) { connection in
        do {
          return .success(try await read(connection).encoded)
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
    return { [weak server] bytes, client, reply in
      let value: Value
      do throws(DecodeError) {
        value = try Value(parsing: bytes.span.bytes)
      } catch {
        return reply(ATTErrorCode(refusing: error))
      }
      server?.answer(client) { connection in
        do {
          try await write(value, connection)
          return nil
        } catch {
          return ATTErrorCode(answering: error)
        }
      } then: { (refusal: ATTErrorCode?) in
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
}

extension ATTErrorCode {
  /// What a client gets for an error of a closure.
  fileprivate init(answering error: any Error) {
    self = error as? ATTErrorCode ?? (error as? BluetoothError)?.attCode ?? .unlikelyError
  }

  /// What a client gets for a value that is none.
  fileprivate init(refusing error: DecodeError) {
    self =
      switch error.reason {
      case .truncated, .trailing: .invalidAttributeValueLength
      case .invalid: .valueNotAllowed
      }
  }
}
