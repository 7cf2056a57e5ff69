extension RingClient {
  /// The sport sessions that the ring has stored, with their courses, in the order of time.
  ///
  /// - Parameter progress: called with the bytes that are there and those that an answer has
  package func storedSports(progress: ((Int, Int) -> Void)? = nil) async throws(RingError) -> [StoredSport] {
    var sports: [StoredSport] = []
    for session in try await stored(.sport, CommandTable.sportRecords, SinceTime(), progress: progress) {
      guard let contents = session.contents,
        let start = contents.numbers[.start].flatMap({ UInt32(exactly: $0) })
      else {
        leaveOut(.sport, "it has no start", session.encoded())
        continue
      }
      let request = SportCourseRequest { ($0.sport, $0.start) = (contents.sport, start) }
      let course = try await course(request, progress: progress)
      if let reason = course.oddity { leaveOut(.sport, reason, session.encoded() + course.bytes) }
      var stored = StoredSport(contents, start: start)
      stored.bytes = session.encoded()
      stored.heartRates = course.rates
      if !stored.heartRates.isEmpty { stored.sampleSeconds = course.interval }
      sports.append(stored)
    }
    return sports.inOrder(of: \.time)
  }

  /// A session without a course, or a ring that does not answer this, has no rates.
  private func course(
    _ request: SportCourseRequest, progress: ((Int, Int) -> Void)?
  ) async throws(RingError) -> SportCourse {
    var course = SportCourse()
    do throws(RingError) {
      try await exchange(
        .bulk(CommandTable.sportCourse.id, payload: request.payload),
        bulkReplies: [CommandTable.sportCourse.replyID, CommandTable.sportPackets.id],
        silence: RingClient.bulkSilence, progress: progress
      ) {
        guard case .bulk(let frame) = $0 else { return .notMine }
        return course.receive(frame)
      }
    } catch .notAnswered {
      // The samples that arrived are used.
    } catch .damaged {
      // Only the course is: the session itself was read.
    }
    return course
  }
}

/// The frames of a course, put together.
struct SportCourse {
  private var header: SportCourseHeader?
  private var packets: [UInt16: [UInt8]] = [:]
  private var count = 0
  private var failure: BulkContentsError?

  /// A ring that sends more is not listened to any longer.
  private static let largest = 1 << 20

  mutating func receive(_ frame: BulkFrame) -> RingExchange.Acceptance {
    do throws(BulkContentsError) {
      if frame.id == CommandTable.sportCourse.replyID {
        let header = try SportCourseHeader(payload: frame.payload)
        self.header = header
        return header.packets == 0 || header.columns.isEmpty ? .done : .more
      }
      guard let header else { return .nothingNew }
      let packet = try SportCoursePacket(payload: frame.payload)
      guard packets.updateValue(packet.samples, forKey: packet.packet) == nil else { return .nothingNew }
      count += packet.samples.count
      return packet.packet >= header.packets || count > Self.largest ? .done : .more
    } catch {
      failure = error
      return .done
    }
  }

  /// In the order of the packets.
  var bytes: [UInt8] { packets.sorted { $0.key < $1.key }.flatMap(\.value) }

  /// From one sample to the next, in seconds; nil if there are none.
  var interval: Int? { packets.isEmpty ? nil : header.map { Int($0.interval) } }

  /// The heart rates, in beats per minute; 0 for none.
  var rates: [Int] {
    guard let columns = header?.order, let place = columns.firstIndex(where: { $0.key == .rate }) else {
      return []
    }
    let widths = columns.map { Int($0.width) }
    let width = widths.reduce(0, +)
    let offset = widths[..<place].reduce(0, +)
    guard widths[place] > 0 else { return [] }
    let bytes = bytes
    return stride(from: 0, to: bytes.count - width + 1, by: width).map { Int(bytes[$0 + offset]) }
  }

  /// Why a part is left out; nil if none is.
  var oddity: String? {
    if let failure { return "its course can't be read: \(failure)" }
    guard let header, packets.count < Int(header.packets), !header.columns.isEmpty else { return nil }
    return "of its course, \(Int(header.packets) - packets.count) of \(header.packets) packets are missing"
  }
}

extension StoredSport {
  /// Without its course.
  fileprivate init(_ session: SportRecord.Contents, start: UInt32) {
    self.init(time: RingTime(seconds: Int(start)), sport: session.sport)
    seconds = session.numbers[.duration]
    meters = session.numbers[.distance]
    calories = session.numbers[.energy]
    averageRate = session.numbers[.averageRate]
    minimumRate = session.numbers[.minimumRate]
    maximumRate = session.numbers[.maximumRate]
    steps = session.numbers[.steps]
  }
}
