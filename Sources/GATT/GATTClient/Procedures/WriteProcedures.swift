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

  package mutating func next(_ result: Result<any ATTPDU, StackError>) -> GATTStep<Void> {
    if case .success(is ATTWriteResponse) = result { return .done(()) }
    return .failed(result)
  }
}

/// Write Long Characteristic Values and Reliable Writes (4.9.4, 4.9.5): parts are queued with Prepare Write and
/// executed together. The server echoes each part; if an echo differs, or a part is refused, the queue is cancelled
/// before the failure is reported, since the next Execute Write would write its contents.
package struct QueuedWrite: GATTProcedure {
  package static var precedesCommands: Bool { true }

  /// The parts that are left to send, in order; the first begins where the server has stopped.
  private var rest: [ATTPreparedWrite]
  private var part: ATTPreparedWrite?
  private let mtu: () -> Int
  private var failure: StackError?
  private var isExecuting = false

  /// - Parameters:
  ///   - writes: one value or several, in order; each is cut into parts that fit into the MTU
  ///   - mtu: the ATT_MTU of the link, in bytes; evaluated for each part, as the peer may exchange a smaller one
  package init(_ writes: [(handle: AttributeHandle, value: [UInt8])], mtu: @autoclosure @escaping () -> Int) {
    rest = writes.map { ATTPreparedWrite(handle: $0.handle, offset: 0, value: $0.value) }
    self.mtu = mtu
  }

  package mutating func start() -> GATTStep<Void> {
    guard let next = rest.first else {
      isExecuting = true
      return .request(ATTExecuteWriteRequest(.write))
    }
    // An empty value is written by an empty part.
    let value = Array(next.value.prefix(max(1, mtu() - 5)))
    let part = ATTPreparedWrite(handle: next.handle, offset: next.offset, value: value)
    self.part = part
    return .request(ATTPrepareWriteRequest(part))
  }

  /// The server has taken the part.
  private mutating func advance(over part: ATTPreparedWrite) {
    rest[0].value.removeFirst(part.value.count)
    rest[0].offset += UInt16(truncatingIfNeeded: part.value.count)
    if rest[0].value.isEmpty { rest.removeFirst() }
  }

  package mutating func next(_ result: Result<any ATTPDU, StackError>) -> GATTStep<Void> {
    if let failure { return .failed(failure) }
    switch result {
    case .success(let response as ATTPrepareWriteResponse) where !isExecuting:
      let echo = response.part
      guard let part, echo == part else {
        return cancel(
          because: .misbehaved(
            "the echo of a prepared write differs (\(echo.value.count) bytes at \(echo.handle), offset \(echo.offset))"
          ))
      }
      advance(over: part)
      return start()
    case .success(is ATTExecuteWriteResponse) where isExecuting: return .done(())
    case .failure(let error) where error.code == .closed || error.code == .timedOut: return .failed(result)
    // A malformed response leaves the part in the queue, too.
    case .failure(let error) where !isExecuting: return cancel(because: error)
    default: return .failed(result)
    }
  }

  /// The next Execute Write would write the contents of the queue.
  package mutating func abandon() -> (any ATTPDU)? {
    isExecuting || failure != nil ? nil : ATTExecuteWriteRequest(.cancel)
  }

  private mutating func cancel(because reason: StackError) -> GATTStep<Void> {
    failure = reason
    return .request(ATTExecuteWriteRequest(.cancel))
  }
}
