import Foundation

/// The requests of a session as functions that return when the completion handler would be called.
extension ASAccessorySession {
  public func showPicker() async throws {
    try await Self.completion { showPicker(completionHandler: $0) }
  }

  public func showPicker(for displayItems: [ASPickerDisplayItem]) async throws {
    try await Self.completion { showPicker(for: displayItems, completionHandler: $0) }
  }

  public func removeAccessory(_ accessory: ASAccessory) async throws {
    try await Self.completion { removeAccessory(accessory, completionHandler: $0) }
  }

  public func renameAccessory(
    _ accessory: ASAccessory, options: ASAccessory.RenameOptions = []
  ) async throws {
    try await Self.completion { renameAccessory(accessory, options: options, completionHandler: $0) }
  }

  private static func completion(_ body: (@escaping ((any Error)?) -> Void) -> Void) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      body { error in
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
      }
    }
  }
}
