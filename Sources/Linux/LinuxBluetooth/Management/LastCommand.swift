import Glibc
import HaloBluetoothCore
import HaloSystemCalls

/// A process that gives the kernel's management a last command when this process ends, whatever ends it. The kernel keeps
/// what programs have set: an advertisement of a program that was killed would go on, and use up one of the few that there
/// may be.
///
/// That process has the management's socket, and no privilege.
final class LastCommand {
  private let channel: Int32

  /// - Returns: nil if the process cannot be started
  @BluetoothActor
  init?(_ management: Management) {
    channel = KernelFunction.startLastCommand(management.descriptor)
    guard channel >= 0 else { return nil }
  }

  deinit {
    close(channel)
  }

  /// - Parameter packet: replaces the one before; nil for none
  func set(_ packet: ManagementPacket?) {
    var writer = ByteWriter()
    packet?.write(into: &writer)
    // A packet of one byte is no command.
    if packet == nil { writer.write(UInt8(0)) }
    writer.bytes.withUnsafeBytes { bytes in
      _ = SystemCall.send(channel, bytes.baseAddress, bytes.count, waits: false)
    }
  }
}
