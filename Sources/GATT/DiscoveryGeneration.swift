/// When something was discovered, and by which client.
package struct DiscoveryGeneration: Hashable, Sendable {
  package var client: UInt64
  /// The number of changes that the server had indicated at that time.
  package var changeCount: Int

  package init(client: UInt64, changeCount: Int) {
    self.client = client
    self.changeCount = changeCount
  }
}
