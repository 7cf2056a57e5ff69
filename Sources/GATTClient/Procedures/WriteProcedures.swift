import ATT
import HaloBluetoothCore

/// Write Characteristic Value (Core Specification Vol 3, Part G, 4.9.3).
package struct WriteValue: GATTProcedure {
  private let handle: AttributeHandle
  private let value: [UInt8]

  package init(_ handle: AttributeHandle, _ value: [UInt8]) {
    self.handle = handle
    self.value = value
  }

  package mutating func start() -> GATTStep<Void> { .request(ATTWriteRequest(handle, value: value)) }

  package mutating func next(_ result: Result<any ATTPDU, ATTError>) -> GATTStep<Void> {
    if case .success(is ATTWriteResponse) = result { return .done(()) }
    return .failed(result)
  }
}

/// Write Long Characteristic Values and Reliable Writes (4.9.4, 4.9.5): parts are queued with Prepare Write and
/// executed together. The server echoes each part; if an echo differs, or a part is refused, the queue is cancelled
/// before the failure is reported, since the next Execute Write would write its contents.
package struct QueuedWrite: GATTProcedure {
  private var parts: [ATTPreparedWrite]
  private var sent = 0
  private var failure: GATTError?
  private var isExecuting = false

  /// Parts of one value or of several, in order; a part that does not fit into the MTU is cut into several.
  package init(_ writes: [(handle: AttributeHandle, value: [UInt8])], mtu: Int) {
    let room = max(1, mtu - 5)
    parts = writes.flatMap { write in
      // An empty value is written by an empty part.
      stride(from: 0, to: max(1, write.value.count), by: room).map { offset in
        ATTPreparedWrite(
          handle: write.handle, offset: UInt16(truncatingIfNeeded: offset),
          value: Array(write.value[min(offset, write.value.count)..<min(offset + room, write.value.count)]))
      }
    }
  }

  package mutating func start() -> GATTStep<Void> {
    guard sent < parts.count else {
      isExecuting = true
      return .request(ATTExecuteWriteRequest(.write))
    }
    return .request(ATTPrepareWriteRequest(parts[sent]))
  }

  package mutating func next(_ result: Result<any ATTPDU, ATTError>) -> GATTStep<Void> {
    if let failure { return .failed(failure) }
    switch result {
    case .success(let response as ATTPrepareWriteResponse) where !isExecuting:
      let echo = response.part
      guard echo == parts[sent] else {
        return cancel(
          because: .misbehaved(
            "the echo of a prepared write differs (\(echo.value.count) bytes at \(echo.handle), offset \(echo.offset))"
          ))
      }
      sent += 1
      return start()
    case .success(is ATTExecuteWriteResponse) where isExecuting: return .done(())
    case .failure(.closed), .failure(.timedOut): return .failed(result)
    // A malformed response leaves the part in the queue, too.
    case .failure(let error) where !isExecuting: return cancel(because: .att(error))
    default: return .failed(result)
    }
  }

  /// The next Execute Write would write the contents of the queue.
  package mutating func abandon() -> (any ATTPDU)? {
    isExecuting || failure != nil ? nil : ATTExecuteWriteRequest(.cancel)
  }

  private mutating func cancel(because reason: GATTError) -> GATTStep<Void> {
    failure = reason
    return .request(ATTExecuteWriteRequest(.cancel))
  }
}
