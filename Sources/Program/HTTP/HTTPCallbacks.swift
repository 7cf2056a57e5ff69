import Glibc
import HaloBluetoothCore
import HaloSystem

/// What has come of a request.
final class RequestState {
  var body: [UInt8] = []
  var isTooLong = false
}

/// An answer that is read piece by piece.
@BluetoothActor
final class AnswerReading {
  let stream: EventStream
  let suspend: () -> Void

  init(_ stream: EventStream, suspend: @escaping () -> Void) {
    (self.stream, self.suspend) = (stream, suspend)
  }
}

/// What libmicrohttpd calls, within its function to run.
enum HTTPCallbacks {
  static let answer: MicroHTTPD.AccessHandler = { server, connection, path, method, _, part, length, state in
    guard let server, let connection, let path, let method, let length, let state else {
      return MicroHTTPD.no
    }
    let isBeginning = state.pointee == nil
    if isBeginning { state.pointee = Unmanaged.passRetained(RequestState()).toOpaque() }
    guard !isBeginning, let known = state.pointee else { return MicroHTTPD.yes }
    let bytes = UnsafeBufferPointer(start: part, count: length.pointee)
    length.pointee = 0
    let of = UncheckedPointers(server, connection, known)
    let (target, verb) = (String(cString: path), String(cString: method))
    nonisolated(unsafe) let data = bytes
    return onTheLoop {
      Unmanaged<HTTPServer>.fromOpaque(of.server).takeUnretainedValue().take(
        of.connection, target, verb, data, Unmanaged<RequestState>.fromOpaque(of.state).takeUnretainedValue())
    }
  }

  static let connected: MicroHTTPD.ConnectionHandler = { server, connection, _, event in
    guard let server, let connection else { return }
    nonisolated(unsafe) let (own, one) = (server, connection)
    onTheLoop {
      Unmanaged<HTTPServer>.fromOpaque(own).takeUnretainedValue().note(
        one, hasBegun: event == MicroHTTPD.connectionStarted)
    }
  }

  static let completed: MicroHTTPD.CompletionHandler = { _, _, state, _ in
    guard let known = state?.pointee else { return }
    Unmanaged<RequestState>.fromOpaque(known).release()
    state?.pointee = nil
  }

  static let read: MicroHTTPD.Reader = { reading, _, buffer, size in
    guard let reading else { return MicroHTTPD.endOfStream }
    nonisolated(unsafe) let (own, room) = (reading, UnsafeMutableBufferPointer(start: buffer, count: size))
    return onTheLoop {
      let reading = Unmanaged<AnswerReading>.fromOpaque(own).takeUnretainedValue()
      switch reading.stream.read(into: room) {
      case .bytes(let count): return count
      case .end: return MicroHTTPD.endOfStream
      case .nothing:
        reading.suspend()
        return 0
      }
    }
  }

  static let release: MicroHTTPD.Release = { reading in
    guard let reading else { return }
    nonisolated(unsafe) let own = reading
    onTheLoop { Unmanaged<AnswerReading>.fromOpaque(own).takeRetainedValue().stream.close() }
  }
}

private struct UncheckedPointers: @unchecked Sendable {
  let server: UnsafeMutableRawPointer
  let connection: OpaquePointer
  let state: UnsafeMutableRawPointer

  init(_ server: UnsafeMutableRawPointer, _ connection: OpaquePointer, _ state: UnsafeMutableRawPointer) {
    (self.server, self.connection, self.state) = (server, connection, state)
  }
}

/// Does work of the loop in a function that the loop has called by way of C.
private func onTheLoop<Value>(_ work: @BluetoothActor () -> Value) -> Value {
  BluetoothActor.shared.preconditionIsolated()
  return withoutActuallyEscaping(work) { unsafeBitCast($0, to: (() -> Value).self)() }
}
