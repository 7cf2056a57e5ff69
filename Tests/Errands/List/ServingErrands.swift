import HaloRaw

/// What a person offers to other devices, and ends.
let servingErrands: [String: Errand] = [
  "serve": { await $0.serve(ServedLines($0)) },
  "serve three": { await $0.serve(ServedCounts(100, clients: 3, $0)) },
  "serve many": { await $0.serve(ServedCounts(5000, clients: 1, $0)) },
  "both roles": { await $0.serve(ReadsClients($0)) },
  "a served peripheral": { await $0.serve(CallsClient($0)) },
]

extension User {
  fileprivate func serve(_ events: any ServedEvents) async {
    await interrupted { [self] in try await door.serve(events) }
  }
}

/// Shows what clients do.
private final class ServedLines: ServedEvents {
  let user: User

  init(_ user: User) { self.user = user }
}

/// Counts, when enough clients have subscribed.
private final class ServedCounts: ServedEvents {
  let user: User
  private let count: Int
  private let clients: Int
  /// What sends; nil before it is advertised, and when all have subscribed: it has this object for its events.
  private var server: (any Served)?

  init(_ count: Int, clients: Int, _ user: User) {
    (self.count, self.clients, self.user) = (count, clients, user)
  }

  func began(_ server: any Served) {
    self.server = server
    user.say("begun")
  }

  func subscribed(_ count: Int) {
    guard count == clients, let server else { return }
    self.server = nil
    _ = started { [self] in
      for number in 0..<self.count { try await server.send([UInt8](twoBytes(number))) }
      user.say("sent")
    }
  }
}

/// Reads the battery of each client, on the link that the client has made.
private final class ReadsClients: ServedEvents {
  let user: User

  init(_ user: User) { self.user = user }

  func met(_ client: String) {
    _ = started { [self] in
      do {
        let device = try await user.door.connect(.address(client))
        user.say("battery", try await device.read(.battery))
        await device.disconnect()
      } catch let error as DoorError {
        user.say("error", error.word)
      }
    }
  }
}

/// Connects to a client that advertises, reads its battery, and ends the link when the client has written the served value on
/// it.
private final class CallsClient: ServedEvents {
  let user: User
  private let (writes, writer) = AsyncStream.makeStream(of: [UInt8].self)

  init(_ user: User) { self.user = user }

  func began(_ server: any Served) {
    user.say("begun")
    _ = started { [self] in
      do {
        let device = try await user.door.connect(.address("F0:F1:F2:F3:F4:00"))
        user.say("battery", try await device.read(.battery))
        for await bytes in writes {
          user.say("written", bytes)
          break
        }
        await device.disconnect()
      } catch let error as DoorError {
        user.say("error", error.word)
      }
    }
  }

  func written(_ bytes: [UInt8]) { writer.yield(bytes) }
}
