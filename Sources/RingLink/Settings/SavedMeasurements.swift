/// What a ring measures by itself, kept to be restored: ``Ring/automaticMeasurements()``.
public struct SavedMeasurements: Hashable, Sendable {
  /// The settings that are on: the numbers of their fields, by the names of the settings.
  public var settings: [String: [String: Int]]

  public init(_ settings: [String: [String: Int]] = [:]) {
    self.settings = settings
  }

  /// Whether the ring measures nothing by itself.
  public var isEmpty: Bool { settings.isEmpty }

  /// In the order of the table. What is no automatic measurement is left out, whoever wrote it.
  var entries: [(setting: any RingSetting, numbers: [String: Int])] {
    CommandTable.automaticMeasurements.compactMap { setting in
      guard let kept = settings[setting.entry.name] else { return nil }
      var numbers: [String: Int] = [:]
      for field in setting.fields {
        // What a ring leaves out reads as a number that can't be written.
        if let number = kept[field.name], field.settable.contains(number) { numbers[field.name] = number }
      }
      return (setting, numbers)
    }
  }
}

extension SavedMeasurements: CustomStringConvertible {
  /// `heart-rate, spo2`
  public var description: String { entries.map(\.setting.entry.name).joined(separator: ", ") }
}

/// The ring's own measurements take the sensor away from a stream, and light it (ring reference, 5.1 and 5.6).
///
/// ```swift
/// let saved = try await ring.automaticMeasurements()
/// try await ring.pause(saved)
/// // ... stream ...
/// try await ring.restore(saved)
/// ```
///
/// A ring keeps its settings when the link is lost: whoever pauses has to keep `saved` until it is restored.
extension Ring {
  /// Reads what the ring measures by itself. What it does not have is left out.
  public func automaticMeasurements() async throws(RingError) -> SavedMeasurements {
    var saved = SavedMeasurements()
    for setting in CommandTable.automaticMeasurements {
      guard let numbers = try await numbersIfSupported(setting), numbers["enabled"] == 1 else { continue }
      saved.settings[setting.entry.name] = numbers
    }
    return saved
  }

  /// Switches off what the ring measures by itself.
  ///
  /// - Throws: `.notTaken` if the ring goes on measuring
  public func pause(_ saved: SavedMeasurements) async throws(RingError) {
    for (setting, numbers) in saved.entries { try await write(["enabled": 0], over: numbers, to: setting) }
  }

  /// Switches on again what was switched off. What somebody else has switched on meanwhile stays as it is.
  ///
  /// - Throws: the first error; the others are restored nevertheless, as far as there is a link
  public func restore(_ saved: SavedMeasurements) async throws(RingError) {
    var failure: RingError?
    for (setting, numbers) in saved.entries {
      do throws(RingError) {
        let found = try await self.numbers(of: setting)
        if found["enabled"] == 0 { try await write(numbers, over: found, to: setting) }
      } catch {
        switch error {
        case .refused, .notAnswered, .notTaken, .malformed, .invalidSetting: failure = failure ?? error
        default: throw error
        }
      }
    }
    if let failure { throw failure }
  }
}
