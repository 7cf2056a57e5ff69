import Foundation
internal import HaloRaw
internal import HaloSystemCalls

// What stands in for key-value observing, which Foundation on Linux has not: `observe(\.state)` of a peripheral and of a
// manager, with Apple's names.

public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// The change has the new value; here it always has.
  public static let new = Self(rawValue: 0x01)
  /// The change has the old value; here it always has.
  public static let old = Self(rawValue: 0x02)
  /// The handler is called with the value at once, too.
  public static let initial = Self(rawValue: 0x04)
  /// Has no effect.
  public static let prior = Self(rawValue: 0x08)
}

/// A change of an observed value.
public struct NSKeyValueObservedChange<Value> {
  public let newValue: Value?
  /// Nil for the value at the beginning.
  public let oldValue: Value?
  /// Always false: a handler is called after a change.
  public var isPrior: Bool { false }
}

/// Observes until it is invalidated or released.
public final class NSKeyValueObservation: NSObject, @unchecked Sendable {
  private let end: Guarded<(() -> Void)?>

  fileprivate init(end: @escaping () -> Void) {
    self.end = Guarded(end)
  }

  deinit {
    invalidate()
  }

  /// The handler is not called any more.
  public func invalidate() { end.withLock { $0.take() }?() }
}

/// Who observes one value.
final class Observers<Value: Sendable & Equatable>: @unchecked Sendable {
  typealias Handler = (NSKeyValueObservedChange<Value>) -> Void

  private let handlers = Guarded<[(id: Int, handler: Handler)]>([])
  private let nextID = Guarded(0)

  /// - Parameter initial: what the handler is called with at once, if it wants to
  func add(
    _ options: NSKeyValueObservingOptions, _ initial: Value, _ handler: @escaping Handler
  ) -> NSKeyValueObservation {
    if options.contains(.initial) { handler(NSKeyValueObservedChange(newValue: initial, oldValue: nil)) }
    let id = nextID.withLock { id in
      defer { id += 1 }
      return id
    }
    handlers.withLock { $0.append((id, handler)) }
    return NSKeyValueObservation { [weak self] in self?.handlers.withLock { $0.removeAll { $0.id == id } } }
  }

  /// Calls the handlers, on this thread, if the value has changed.
  func report(from old: Value, to new: Value) {
    guard old != new else { return }
    for (_, handler) in handlers.withLock({ $0 }) {
      handler(NSKeyValueObservedChange(newValue: new, oldValue: old))
    }
  }
}

extension CBPeripheral {
  /// Calls a handler for each change of ``state``: on the manager's queue, or in the program's own call that changes it.
  ///
  /// - Parameters:
  ///   - keyPath: `\.state`
  ///   - options: `initial` for a call at once
  ///   - changeHandler: gets the new value and the old one
  /// - Returns: what ends it when it is released
  public func observe(
    _ keyPath: KeyPath<CBPeripheral, CBPeripheralState>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (CBPeripheral, NSKeyValueObservedChange<CBPeripheralState>) -> Void
  ) -> NSKeyValueObservation {
    stateObservers.add(options, state) { [unowned self] in changeHandler(self, $0) }
  }
}

extension CBManager {
  /// Calls a handler for each change of ``state``, on the manager's queue, before `centralManagerDidUpdateState`.
  ///
  /// - Parameters:
  ///   - keyPath: `\.state`
  ///   - options: `initial` for a call at once
  ///   - changeHandler: gets the new value and the old one
  /// - Returns: what ends it when it is released
  public func observe(
    _ keyPath: KeyPath<CBManager, CBManagerState>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (CBManager, NSKeyValueObservedChange<CBManagerState>) -> Void
  ) -> NSKeyValueObservation {
    stateObservers.add(options, state) { [unowned self] in changeHandler(self, $0) }
  }
}
