import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem

/// The controller's end of a virtual adapter of the kernel: the host is the kernel's Bluetooth subsystem, and with it
/// every program on the machine. The adapter exists from ``start()`` until ``close()``.
///
/// The driver, hci_vhci, carries one packet with its H4 type byte in each read and each write. Packets of its vendor
/// type (0xFF) are for the driver.
@BluetoothActor
package final class VHCITransport: HCITransport {
  package var onPacket: ((RawSpan, Arrival) -> Void)?
  package var onClose: ((String) -> Void)?
  /// Called when the kernel has made the adapter, with its number: 0 for hci0.
  package var onIndex: ((Int) -> Void)?
  /// Packets that the kernel did not take since the adapter was down.
  package private(set) var refusedPackets: UInt64 = 0

  /// The path of the driver's device node.
  package nonisolated static let devicePath = "/dev/vhci"

  private static let driverPacket: UInt8 = 0xFF
  private static let createPrimary: UInt8 = 0

  package let timers: Timers
  private let descriptor: Int32
  /// More than the longest packet: an ACL packet of the kernel's own maximum, 1028 bytes.
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
  private var watch: EpollLoop.Watch?
  private var isOpen = true

  /// Opens the driver, which as a rule only root may.
  package convenience init(path: String = devicePath) throws(SystemError) {
    self.init(
      descriptor: try retryingInterrupts("open \(path)") { SystemCall.open(path, O_RDWR | O_NONBLOCK) })
  }

  /// - Parameters:
  ///   - descriptor: keeps packets apart, and does not block; it is closed with the transport
  ///   - timers: the clock of the transport
  package init(descriptor: Int32, timers: Timers = EpollLoop.shared.timers) {
    self.timers = timers
    self.descriptor = descriptor
  }

  isolated deinit {
    close()
    buffer.deallocate()
  }

  package func start() {
    guard isOpen, watch == nil else { return }
    do throws(SystemError) {
      watch = try EpollLoop.shared.watch(descriptor, for: .readable) { [weak self] _ in self?.receive() }
      // The driver creates an adapter on its own if none is requested within a second.
      let request = [Self.driverPacket, Self.createPrimary]
      try retryingInterrupts("write") { write(descriptor, request, request.count) }
    } catch {
      failSoon(error.description)
    }
  }

  package func close() {
    guard isOpen else { return }
    isOpen = false
    watch.take()?.cancel()
    Glibc.close(descriptor)
  }

  package func send(_ packet: RawSpan) {
    guard watch != nil else { return }
    do throws(SystemError) {
      try packet.withUnsafeBytes { bytes throws(SystemError) in
        _ = try retryingInterrupts("write") { write(descriptor, bytes.baseAddress, bytes.count) }
      }
    } catch {
      // While the adapter is down nothing is read from it: pending packets are lost, as with a real one.
      guard error.errno == ENXIO || error.errno == EAGAIN else { return failSoon(error.description) }
      refusedPackets &+= 1
    }
  }

  private func receive() {
    let count = read(descriptor, buffer.baseAddress, buffer.count)
    let time = EpollLoop.shared.arrival(timers)
    guard count > 0 else {
      if count == 0 { return fail("the kernel has taken the adapter away") }
      if errno != EAGAIN, errno != EINTR { fail(SystemError.last("read").description) }
      return
    }
    let packet = RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    guard packet.byte(at: 0) == Self.driverPacket else {
      onPacket?(packet, Arrival(time))
      return
    }
    // The answer: type, the requested value, and the adapter's number in little-endian order. The kernel may have sent
    // its first commands before.
    if let low = packet.byte(at: 2), let high = packet.byte(at: 3) { onIndex?(Int(high) << 8 | Int(low)) }
  }

  private func fail(_ reason: String) {
    guard isOpen else { return }
    close()
    onPacket = nil
    onIndex = nil
    onClose.take()?(reason)
  }

  /// Fails from the loop: the caller of a send does not expect to lose its state during the call.
  private func failSoon(_ reason: String) {
    timers.schedule(after: .zero) { [weak self] in self?.fail(reason) }
  }
}
