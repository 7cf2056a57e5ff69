import HaloBluetoothCore

/// Makes a private address, of which this is the identity. Returns nil if that fails.
package typealias PrivateAddressMaker = (BluetoothAddress) -> BluetoothAddress?

/// The address with which this side scans, connects and advertises.
///
/// The controller reports links and the end of commands in their order: a link has the address that was on the air when its
/// event came.
final class OwnAddress {
  /// The one that stays.
  let identity: BluetoothAddress
  fileprivate(set) var onAir: BluetoothAddress

  /// The devices that the controller resolves.
  weak var resolvingList: ResolvingList?

  init(_ controller: ControllerInformation) {
    identity = controller.address
    onAir = controller.privateAddress ?? controller.address
  }

  var type: OwnAddressType { onAir.kind == .random ? .random : .public }

  /// The same to connect to a peer. The controller makes the private address for one that it resolves, which may call this side
  /// at another one (7.8.12).
  func type(to peer: BluetoothAddress) -> OwnAddressType {
    onAir != identity && resolvingList?.resolves(peer) == true ? .resolvableOrRandom : type
  }

  /// The same to call a peer: the controller makes the addresses of both ends for one that it resolves (7.8.5).
  func type(calling peer: BluetoothAddress) -> OwnAddressType {
    guard resolvingList?.contains(peer) == true else { return type }
    return type == .random ? .resolvableOrRandom : .resolvableOrPublic
  }
}

/// Changes the private address of this side (Core Specification Vol 3, Part C, 10.7): when its use begins, and each quarter of
/// an hour. Links keep the address with which they were made.
///
/// A controller refuses another address while it scans, advertises or creates a link, so these stop for it. These cases from
/// public reports are handled here:
/// - an address that is set while something else still uses it, is refused, and is not set again (bluez/bluetooth-next 601,
///   zephyrproject-rtos/zephyr 9728);
/// - a scan that is active when the time is over (zephyrproject-rtos/zephyr 21714);
/// - an address that stays over the end of a link (zephyrproject-rtos/zephyr 18150).
final class AddressRotation {
  /// The recommended time (Vol 3, Part C, appendix A, T_GAP(private_addr_int)).
  static let period = Duration.seconds(900)

  /// Called when the controller has refused another address: it keeps the one that it has, and is asked again.
  var onRefusal: ((StackError) -> Void)?
  /// Whether the address is on the air, or about to be.
  var isInUse: () -> Bool = { false }

  private let own: OwnAddress
  private let quiet: QuietCommands
  private let timers: Timers
  private let make: PrivateAddressMaker
  private var isChanging = false
  private var pause = RetryPause()
  private var timer: Timers.Token?

  init(_ own: OwnAddress, _ quiet: QuietCommands, timers: Timers, make: @escaping PrivateAddressMaker) {
    (self.own, self.quiet, self.timers, self.make) = (own, quiet, timers, make)
    renewLater(after: Self.period)
  }

  deinit {
    timers.cancel(timer)
  }

  /// Another address from now on. While a link is created, it stays until that has ended.
  func renew() {
    guard !isChanging, let address = make(own.identity) else { return }
    isChanging = true
    timers.cancel(timer.take())
    quiet.run([LESetRandomAddress { $0.address = address }]) { [weak self] result in
      guard let self else { return }
      isChanging = false
      switch result {
      case .success:
        own.onAir = address
        pause.end()
        renewLater(after: Self.period)
      case .failure(let error):
        if pause.refusals == 0 { onRefusal?(error) }
        renewLater(after: pause.refused())
      }
    }
  }

  /// Without use, there is nothing to do: the next use begins with another one.
  private func renewLater(after time: Duration) {
    timer = timers.schedule(after: time) { [weak self] in
      guard let self else { return }
      timer = nil
      if isInUse() { renew() }
    }
  }
}
