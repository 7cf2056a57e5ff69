import Glibc
import HaloBluetoothCore
import HaloCapture
import HaloSystem
import TestSupport
import Testing

/// Captures whose files can't be opened, made, read or written: an error that names the file, the reason and what to do.
@Suite struct FileFaultTests {
  private static let codes = [EMFILE, ENFILE, EACCES, EIO, ENOSPC, ENODEV]

  private func failure(_ work: () throws -> Void) throws -> CaptureError? {
    do {
      try work()
      return nil
    } catch let error as CaptureError {
      return error
    }
  }

  @Test(arguments: codes) func reportsCaptureOpenFailure(_ code: Int32) throws {
    let file = TemporaryFile(hex("6274736e6f6f7000 00000001 000003ea"))
    let script = FaultScript([.open], fails: code)
    let error = try failure { try FaultPlan.during(script) { _ = try CaptureReader(path: file.path) } }
    #expect(error == CaptureError(.cannotOpen(SystemError.text(code)), path: file.path))
    #expect(script.isUsedUp && script.openCount == 0)
  }

  /// What was read before is given before the error.
  @Test(arguments: [EIO, ENODEV]) func deliversRecordsBeforeReadFailure(_ code: Int32) throws {
    let record = "00000004 00000004 00000002 00000000 00e2eb8a1f50a000 01030c00"
    let header = "6274736e6f6f7000 00000001 000003ea"
    let file = TemporaryFile(hex(header + record + record))
    // The first read looks whether the file is compressed.
    let script = FaultScript([.read], [.limit(100), .limit(16 + 28 + 5), .error(EINTR), .error(code)])
    var first: [UInt8]?
    let error = try failure {
      try FaultPlan.during(script) {
        var reader = try CaptureReader(path: file.path)
        first = try reader.next()?.bytes
        _ = try reader.next()
      }
    }
    #expect(first == hex("01030c00"))
    #expect(error?.reason == .cannotRead(SystemError.text(code)))
    #expect(error?.path == file.path)
    #expect(script.isUsedUp && script.openCount == 0)
  }

  @Test(arguments: codes, [1, 2]) func reportsRecordingCreationFailure(_ code: Int32, _ number: Int) throws {
    let file = TemporaryFile()
    let script = FaultScript([.open], number: number, fails: code)
    let error = try failure { _ = try FaultPlan.during(script) { try CaptureWriter(path: file.path) } }
    #expect(error == CaptureError(.cannotCreate(SystemError.text(code)), path: file.path))
    #expect(script.isUsedUp && script.openCount == 0)
  }

  @Test(arguments: [EIO, ENOSPC, EROFS]) func keepsContentsWhenTruncationFails(_ code: Int32)
    throws
  {
    let file = TemporaryFile([1, 2, 3])
    let script = FaultScript([.truncate], fails: code)
    let error = try failure { _ = try FaultPlan.during(script) { try CaptureWriter(path: file.path) } }
    #expect(error == CaptureError(.cannotCreate(SystemError.text(code)), path: file.path))
    #expect(file.bytes == [1, 2, 3])
    #expect(script.openCount == 0)
  }
}
