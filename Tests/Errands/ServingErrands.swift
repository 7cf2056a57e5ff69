/// What a person offers to other devices. The test ends each with SIGINT.
let servingErrands: [String: Errand] = [
  "serve": { await serve($0, ServedLines()) },
  "serve three": { await serve($0, ServedCounts(100, clients: 3)) },
  "serve many": { await serve($0, ServedCounts(5000, clients: 1)) },
  "both roles": { await serve($0, ReadsClients($0)) },
  "a served peripheral": { await serve($0, CallsClient($0)) },
]

private func serve(_ door: any Door, _ events: any ServedEvents) async {
  await interrupted { try await door.serve(events) }
}

/// Prints what clients do.
private final class ServedLines: ServedEvents {}

/// Counts, when enough clients have subscribed.
private final class ServedCounts: ServedEvents {
  private let count: Int
  private let clients: Int
  private var server: (any Served)?
  private var isSending = false

  init(_ count: Int, clients: Int) { (self.count, self.clients) = (count, clients) }

  func began(_ server: any Served) {
    self.server = server
    say("begun")
  }

  func subscribed(_ count: Int) {
    guard count == clients, !isSending, let server else { return }
    isSending = true
    Task {
      for number in 0..<self.count { try await server.send([UInt8](twoBytes(number))) }
      say("sent")
    }
  }
}

/// Reads the battery of each client, on the link that the client has made.
private final class ReadsClients: ServedEvents {
  private let door: any Door

  init(_ door: any Door) { self.door = door }

  func met(_ client: String) {
    Task {
      do {
        let device = try await door.connect(to: .address(client), within: limit, isKept: false)
        say("battery", try await device.read(.battery))
        await device.disconnect()
      } catch let error as DoorError {
        say("error", error.word)
      }
    }
  }
}

/// Connects to a client that advertises, reads its battery, and ends the link when the client has written the served value on
/// it.
private final class CallsClient: ServedEvents {
  private let door: any Door
  private let writes = Calls<[UInt8]>()

  init(_ door: any Door) { self.door = door }

  func began(_ server: any Served) {
    say("begun")
    Task {
      do {
        let device = try await door.connect(to: .address("F0:F1:F2:F3:F4:00"), within: limit, isKept: false)
        say("battery", try await device.read(.battery))
        say("written", try await writes.next())
        await device.disconnect()
      } catch let error as DoorError {
        say("error", error.word)
      }
    }
  }

  func written(_ bytes: [UInt8]) { writes.send(bytes) }
}
