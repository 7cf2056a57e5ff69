import Foundation
internal import HaloSystem

// A substitute for key-value observing, which Foundation on Linux lacks: `observe` of a peripheral and of a manager, with
// Apple's names.

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
  private let end: LockedValue<(() -> Void)?>

  fileprivate init(end: @escaping () -> Void) {
    self.end = LockedValue(end)
  }

  deinit {
    invalidate()
  }

  /// The handler is not called any more.
  public func invalidate() { end.withLock { $0.take() }?() }
}

/// Who observes the properties of an object.
final class Observers: @unchecked Sendable {
  /// Reads a property before a change, and returns a closure that compares it afterwards.
  private typealias Observer = () -> () -> Void

  private struct Shared {
    var observers: [(id: Int, read: Observer)] = []
    var nextID = 0
  }

  private let shared = LockedValue(Shared())

  fileprivate func add<Object: AnyObject, Value>(
    _ object: Object, _ keyPath: KeyPath<Object, Value>, _ options: NSKeyValueObservingOptions,
    _ changeHandler: @escaping (Object, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    if options.contains(.initial) {
      changeHandler(object, NSKeyValueObservedChange(newValue: object[keyPath: keyPath], oldValue: nil))
    }
    let read: Observer = { [unowned object] in
      let old = object[keyPath: keyPath]
      return {
        let new = object[keyPath: keyPath]
        guard !areSame(old, new) else { return }
        changeHandler(object, NSKeyValueObservedChange(newValue: new, oldValue: old))
      }
    }
    let id = shared.withLock { shared in
      defer { shared.nextID += 1 }
      shared.observers.append((shared.nextID, read))
      return shared.nextID
    }
    return NSKeyValueObservation { [weak self] in
      self?.shared.withLock { $0.observers.removeAll { $0.id == id } }
    }
  }

  /// Makes a change, and calls the handlers of the changed properties, on this thread.
  func changing<Result>(_ change: () -> Result) -> Result {
    let compare = shared.withLock { $0.observers }.map { $0.read() }
    let result = change()
    for report in compare { report() }
    return result
  }
}

private func areSame<Value>(_ one: Value, _ other: Value) -> Bool {
  func isEqual<Known: Equatable>(_ one: Known) -> Bool { one == other as? Known }
  if let one = one as? any Equatable { return isEqual(one) }
  // A delegate, which is nil or an object.
  return (one as? any NSObjectProtocol) === (other as? any NSObjectProtocol)
}

extension NSObjectProtocol where Self: CBPeripheral {
  /// Calls a handler for each change of a property: on the manager's queue, or in the program's own call that changes it.
  ///
  /// - Parameters:
  ///   - keyPath: such as `\.state`
  ///   - options: `initial` for a call at once
  ///   - changeHandler: gets the new value and the old one
  /// - Returns: the observation, which ends when it is released
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation { observers.add(self, keyPath, options, changeHandler) }
}

extension NSObjectProtocol where Self: CBManager {
  /// Calls a handler for each change of a property: on the manager's queue, before the delegate is called, or in the program's
  /// own call that changes it.
  ///
  /// - Parameters:
  ///   - keyPath: such as `\.state`, `\.isScanning`, `\.isAdvertising`
  ///   - options: `initial` for a call at once
  ///   - changeHandler: gets the new value and the old one
  /// - Returns: the observation, which ends when it is released
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation { observers.add(self, keyPath, options, changeHandler) }
}

// The functions of Core Foundation by which programs for Apple's systems measure time. Foundation on Linux has none of them.

/// Seconds since 2001-01-01 UTC.
public typealias CFAbsoluteTime = Double

/// Seconds.
public typealias CFTimeInterval = Double

/// Now, in seconds since 2001-01-01 UTC.
// swift-format-ignore: AlwaysUseLowerCamelCase
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date().timeIntervalSinceReferenceDate }
