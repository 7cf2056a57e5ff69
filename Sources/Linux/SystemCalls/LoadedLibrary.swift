import Glibc

/// A library of the system that is loaded when it is first needed, and kept until the end of the process.
package struct LoadedLibrary {
  private let handle: UnsafeMutableRawPointer

  /// - Parameter name: of the file, with the number of its interface: `libz.so.1`
  /// - Returns: nil if it is not installed
  package init?(_ name: String) {
    guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
    self.handle = handle
  }

  /// Finds a function.
  ///
  /// - Parameters:
  ///   - name: its name in the library
  ///   - type: its type in C, as a `@convention(c)` type
  /// - Returns: nil if the library has none with that name
  package func function<Function>(_ name: String, as type: Function.Type = Function.self) -> Function? {
    dlsym(handle, name).map { unsafeBitCast($0, to: type) }
  }

  /// The same for a function that a program can't do without. Its type is that of the place it is stored in.
  package func required<Function>(_ name: String) throws(MissingFunction) -> Function {
    guard let function: Function = function(name) else { throw MissingFunction(name: name) }
    return function
  }
}

/// A library that lacks a function: another version of it than the one that its name says.
package struct MissingFunction: Error {
  package let name: String
}
