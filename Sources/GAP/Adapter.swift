import HCI
import HaloBluetoothCore

/// A radio that can scan and connect, and perhaps advertise. Callers see no difference between its implementations.
@BluetoothActor
package protocol Adapter: AnyObject {
  /// The time of this radio: that of its reports and of its links.
  var timers: Timers { get }
  /// Called for each advertising report.
  var onReport: ((AdvertisingReport, Instant) -> Void)? { get set }
  /// Called when the radio refuses to scan, which it is asked again for, or scans on fewer PHYs than desired; and with nil
  /// when it scans as desired nevertheless.
  var onScanRefusal: ((StackError?) -> Void)? { get set }
  /// Called with each link that a central has made. PDUs may follow at once, so the link's closures are set in here. Without
  /// this closure, such links are ended.
  var onAccepted: ((any ATTLink) -> Void)? { get set }
  /// Called once when the radio has become unusable; its links have been reported as lost by then.
  var onFailure: ((StackError) -> Void)? { get set }
  /// Why it is unusable; nil while it is not, and for a radio that can't be recovered.
  var failure: StackError? { get }

  /// How its links are secured; nil if they are not. It counts for links that are made afterwards.
  var security: SecurityHost? { get set }

  /// Whether its controller knows a device that changes its address, so that it can be connected to at the one that stays.
  func resolves(_ identity: BluetoothAddress) -> Bool

  /// Called with information for the user that is not an error.
  var onNote: ((String) -> Void)? { get set }

  /// The number of packets lost because this machine did not read them in time; nil if that cannot happen or is not
  /// known.
  var droppedPackets: Int? { get }

  /// The number of bytes from the controller that belonged to no packet, as others were lost; nil where that cannot happen.
  var skippedBytes: Int? { get }
  /// Called after such bytes, with their number, and when they were read.
  var onSkippedBytes: ((Int, Instant) -> Void)? { get set }

  /// Initializes the radio and returns a description of it. Each command has a deadline; a task that is cancelled
  /// returns at once.
  func start() async throws(StackError) -> AdapterInformation
  /// Makes the radio usable again after ``onFailure``: waits at most `time` until it is present and powered on. The
  /// desired scan continues. Cancelling the task ends the wait.
  ///
  /// - Throws: why it is still unusable; `StackError.notReady` for a radio that cannot be recovered
  func recover(within time: Duration) async throws(StackError) -> AdapterInformation
  /// Sets the desired scan; nil for none. It stays in effect while links are established.
  func setScan(_ parameters: ScanParameters?)
  /// Sets the advertisement of a set; nil for none. It stays in effect while there are links, unless ``onAccepted`` sets nil.
  ///
  /// - Throws: if this radio does not advertise for programs, or not in this way
  func setAdvertising(_ advertising: Advertising?, in set: AdvertisingSet) throws(StackError)
  /// Establishes a link.
  ///
  /// - Parameters:
  ///   - request: the peer, the link's parameters and the deadline
  ///   - completion: called exactly once. PDUs may follow at once, so the link's closures are set in here.
  /// - Returns: a closure that cancels the attempt
  func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<any ATTLink, StackError>) -> Void
  ) -> () -> Void
  /// Whether this machine has a link to a peer already, which does not advertise then.
  func hasLink(to peer: BluetoothAddress) -> Bool
  /// Releases the radio, and returns when it has stopped all activity. All links should have ended by then. Each step
  /// has a deadline. Cancelling the task does not cancel this, as a radio that is not released can't be used again.
  func close() async
}

extension Adapter {
  package var security: SecurityHost? {
    get { nil }
    set {}
  }
  package func resolves(_ identity: BluetoothAddress) -> Bool { false }
  package var onNote: ((String) -> Void)? {
    get { nil }
    set {}
  }
  package var onAccepted: ((any ATTLink) -> Void)? {
    get { nil }
    set {}
  }
  package var failure: StackError? { nil }
  package var droppedPackets: Int? { nil }
  package var skippedBytes: Int? { nil }
  package var onSkippedBytes: ((Int, Instant) -> Void)? {
    get { nil }
    set {}
  }

  package func setAdvertising(_ advertising: Advertising?, in set: AdvertisingSet) throws(StackError) {
    throw StackError("advertise", .notOffered)
  }

  /// The links of an adapter that no other program shares are known to its user.
  package func hasLink(to peer: BluetoothAddress) -> Bool { false }

  package func recover(within time: Duration) async throws(StackError) -> AdapterInformation {
    throw .notReady
  }
}

/// A description of a radio for the user.
package struct AdapterInformation: Hashable, Sendable {
  /// The address that stays, with which it scans and connects unless it ``hides``.
  package var address: BluetoothAddress
  /// Whether it has private addresses on the air.
  package var hides: Bool
  /// The version of the controller: `5.0`.
  package var version: String
  /// Whether it scans with the extended commands of Bluetooth 5.
  package var usesExtendedScan: Bool

  package init(address: BluetoothAddress, hides: Bool = false, version: String, usesExtendedScan: Bool) {
    self.address = address
    self.hides = hides
    self.version = version
    self.usesExtendedScan = usesExtendedScan
  }

  /// Where others hear it: `30:35:38:41:BE:EF`, or `private addresses of 30:35:38:41:BE:EF`.
  package var place: String { hides ? "private addresses of \(address)" : "\(address)" }
}
