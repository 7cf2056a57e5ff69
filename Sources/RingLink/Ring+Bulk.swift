import BluetoothCore
import EventLoop
import GATTClient

/// The second pair of characteristics, through which long answers come (ring reference, 3 and 6).
extension Ring {
  /// How long a ring may take to answer a bulk request, and between two pieces of an answer.
  static let bulkSilence = Duration.seconds(5)

  /// Asks for something that comes in a bulk frame. If it is damaged on the way, it is asked for once more.
  ///
  /// - Parameters:
  ///   - payload: what is asked for
  ///   - progress: called with the bytes that are there and those that the answer has
  /// - Throws: `.noBulkService`, `.notAnswered`, `.damaged`, `.malformedBulk`
  public func bulk<Contents>(
    _ query: BulkQuery<Contents>, payload: [UInt8], progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> Contents {
    try await openBulk()
    for attempt in 1... {
      do throws(RingError) {
        let frame = try await bulkFrame(query.id, payload: payload, progress: progress)
        do throws(BulkContentsError) {
          return try Contents(payload: frame.payload)
        } catch {
          throw RingError.malformedBulk(query.id, error)
        }
      } catch .damaged where attempt < 2 {
        continue
      }
    }
    throw .cancelled
  }

  private func bulkFrame(
    _ id: BulkID, payload: [UInt8], progress: ((Int, Int) -> Void)?
  ) async throws(RingError) -> BulkFrame {
    var answer: BulkFrame?
    try await exchange(.bulk(id, payload: payload), silence: Ring.bulkSilence, progress: progress) {
      guard case .bulk(let frame) = $0 else { return .notMine }
      answer = frame
      return .done
    }
    guard let answer else { throw .cancelled }
    return answer
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
    do throws(GATTError) {
      if bulkWrite.properties.contains(.writeWithoutResponse) {
        try client.writeWithoutResponse(writer.bytes, to: bulkWrite)
      } else {
        client.post(writer.bytes, to: bulkWrite.valueHandle) { [dispatcher] in dispatcher.close(RingError($0))
        }
      }
    } catch {
      dispatcher.close(RingError(error))
    }
  }
}
