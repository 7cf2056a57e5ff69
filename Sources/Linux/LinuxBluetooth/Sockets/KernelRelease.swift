import Glibc

/// The release of a kernel: `6.12.107+deb13-arm64` is 6.12.
struct KernelRelease: Comparable, LosslessStringConvertible {
  var major: Int
  var minor: Int

  /// Since this release, the kernel takes an active scan of a program for a discovery that never ends: it does not look for
  /// the peer of a socket any more, and only connects when the program's own scan hears it (docs/08-the-kernel.md).
  static let takesScanForDiscovery = KernelRelease(major: 6, minor: 10)

  /// The release of this machine's kernel; nil if its text has another form.
  static var current: KernelRelease? {
    var names = utsname()
    guard uname(&names) == 0 else { return nil }
    return withUnsafeBytes(of: names.release) {
      KernelRelease(String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self))
    }
  }

  init(major: Int, minor: Int) {
    self.major = major
    self.minor = minor
  }

  init?(_ description: String) {
    let numbers = description.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
    guard numbers.count > 1, let major = Int(numbers[0]), let minor = Int(numbers[1].prefix { $0.isNumber })
    else {
      return nil
    }
    self.init(major: major, minor: minor)
  }

  var description: String { "\(major).\(minor)" }

  static func < (a: KernelRelease, b: KernelRelease) -> Bool { (a.major, a.minor) < (b.major, b.minor) }
}
