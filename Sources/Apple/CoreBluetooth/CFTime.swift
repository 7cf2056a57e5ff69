import Foundation

// The functions of Core Foundation by which programs for Apple's systems measure time. Foundation on Linux has none of them.

/// Seconds since 2001-01-01 UTC.
public typealias CFAbsoluteTime = Double

/// Seconds.
public typealias CFTimeInterval = Double

/// Now, in seconds since 2001-01-01 UTC.
// swift-format-ignore: AlwaysUseLowerCamelCase
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date().timeIntervalSinceReferenceDate }
