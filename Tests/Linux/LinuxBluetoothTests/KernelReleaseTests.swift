import Testing

@testable import HaloLinuxBluetooth

@Suite struct KernelReleaseTests {
  @Test func releasesAreCompared() throws {
    let pi = try #require(KernelRelease("6.12.107+deb13-arm64"))
    #expect(pi.description == "6.12" && pi >= .takesScanForDiscovery)
    #expect(try #require(KernelRelease("6.1.0-56-amd64")) < .takesScanForDiscovery)
    #expect(try #require(KernelRelease("7.0-rc1")) >= .takesScanForDiscovery)
    #expect(KernelRelease("5.15rc") == KernelRelease(major: 5, minor: 15))
  }

  @Test(arguments: ["", "6", "6.", "six.one", "99999999999999999999.1"])
  func rejectsInvalidReleaseText(text: String) { #expect(KernelRelease(text) == nil) }

  @Test func thisKernelHasOne() { #expect(KernelRelease.current != nil) }
}
