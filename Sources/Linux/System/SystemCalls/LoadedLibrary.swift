import Glibc

/// A library of the system that is loaded when it is first needed, and kept until the end of the process.
package struct LoadedLibrary {
  private let handle: UnsafeMutableRawPointer
  private let name: String

  /// - Parameter name: of the file, with the number of its interface: `libz.so.1`
  /// - Throws: if it is not installed, or can't be loaded
  package init(_ name: String) throws(LibraryError) {
    guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
      throw LibraryError(name: name, reason: dlerror().map { String(cString: $0) } ?? "no reason is given")
    }
    self.handle = handle
    self.name = name
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

  /// Finds a variable.
  package func variable(_ variable: String) throws(LibraryError) -> UnsafeMutableRawPointer {
    guard let address = dlsym(handle, variable) else {
      throw LibraryError(name: name, reason: "it lacks the variable \(variable)")
    }
    return address
  }

  /// The same for a function that a program can't do without. Its type is that of the place it is stored in.
  package func required<Function>(_ function: String) throws(LibraryError) -> Function {
    guard let found: Function = self.function(function) else {
      throw LibraryError(name: name, reason: "it lacks the function \(function)")
    }
    return found
  }
}

/// Why a library can't be used.
package struct LibraryError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of its file.
  package let name: String
  /// The dynamic linker's message, or the missing function.
  package let reason: String

  /// Whether there is no such file. Other reasons are of this process: a limit of its memory, for instance.
  package var isMissing: Bool {
    reason == "\(name): cannot open shared object file: No such file or directory"
  }

  package var description: String { "\(name) can't be loaded: \(reason)" }
}
