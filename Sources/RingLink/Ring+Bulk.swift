import BluetoothCore
import EventLoop
import GATTClient

/// The second pair of characteristics, through which long answers come (ring reference, 3 and 6).
extension Ring {
  /// How long a ring may take to answer a bulk request, and between two pieces of an answer.
  static let bulkSilence = Duration.seconds(5)
  /// How long a frame that may follow an answer is waited for.
  static let companionTime = Duration.seconds(1)

  /// Asks for something that comes in a bulk frame. If it is damaged on the way, it is asked for once more.
  ///
  /// - Parameter progress: called with the bytes that are there and those that the answer has
  /// - Throws: `.noBulkService`, `.notAnswered`, `.damaged`, `.malformedBulk`
  public func bulk<Contents>(
    _ query: BulkQuery<Contents>, _ request: Contents.Request, progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> Contents {
    let frames = try await bulkFrames(
      .bulk(query.id, payload: request.payload), answeredBy: query.replyID, progress: progress)
    guard let frame = frames[query.replyID] else { throw .cancelled }
    return try readable(frame)
  }

  /// The bulk frames that answer a request.
  ///
  /// - Parameter companion: an id that rings send uninvited before or after the answer; it is waited for a moment
  func bulkFrames(
    _ message: RingMessage, answeredBy reply: BulkID, with companion: BulkID? = nil,
    progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> [BulkID: BulkFrame] {
    try await openBulk()
    let wanted = Set([reply, companion].compactMap { $0 })
    for attempt in 1... {
      var frames: [BulkID: BulkFrame] = [:]
      do throws(RingError) {
        try await exchange(message, bulkReplies: wanted, silence: Ring.bulkSilence, progress: progress) {
          guard case .bulk(let frame) = $0 else { return .notMine }
          let isNew = frames.updateValue(frame, forKey: frame.id) == nil
          if frames.count == wanted.count { return .done }
          return isNew && frame.id == reply ? .moreWithin(Ring.companionTime) : .nothingNew
        }
        return frames
      } catch .damaged where attempt < 2 {
        continue
      } catch .notAnswered where frames[reply] != nil {
        return frames
      }
    }
    throw .cancelled
  }

  /// What a bulk frame carries.
  func readable<Contents: BulkContents>(_ frame: BulkFrame) throws(RingError) -> Contents {
    do throws(BulkContentsError) {
      return try Contents(payload: frame.payload)
    } catch {
      throw .malformedBulk(frame.id, error)
    }
  }

  /// Finds the bulk service and switches its notifications on; once a link.
  func openBulk() async throws(RingError) {
    guard bulkWrite == nil else { return }
    do throws(GATTError) {
      if let service = try await client.firstService(RingGATT.bulkService) {
        let all = try await client.discoverCharacteristics(of: service)
        if let write = all.first(where: { $0.uuid == RingGATT.bulkWrite }),
          let notify = all.first(where: { $0.uuid == RingGATT.bulkNotify })
        {
          let dispatcher = self.dispatcher
          _ = try await client.subscribe(to: notify) { dispatcher.receiveBulk($0, at: $1) }
          bulkNotify = notify
          bulkWrite = write
        }
      }
    } catch {
      throw RingError(error)
    }
    guard bulkWrite != nil else { throw .noBulkService }
  }

  func sendBulk(_ id: BulkID, payload: [UInt8]) {
    guard let bulkWrite else { return }
    var writer = ByteWriter(capacity: BulkFrame.headerLength + payload.count)
    do throws(BulkFrameError) {
      try BulkFrame.write(id, payload: payload, into: &writer)
    } catch {
      return dispatcher.close(.dangerous(error.description))
    }
    if bulkWrite.properties.contains(.writeWithoutResponse) {
      client.postWithoutResponse(writer.bytes, to: bulkWrite.valueHandle, within: Ring.roomDeadline) {
        [dispatcher] in
        if case .failure(let error) = $0 { dispatcher.close(RingError(error)) }
      }
    } else {
      client.post(writer.bytes, to: bulkWrite.valueHandle) { [dispatcher] in dispatcher.close(RingError($0)) }
    }
  }
}
