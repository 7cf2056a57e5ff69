import Glibc
import HaloCommandLine
import HaloRaw

extension ArgumentType where Value == AdapterSpecification {
  static var adapter: Self {
    ArgumentType(placeholder: "SPEC", expected: "an adapter") { text throws(Failure) in
      try AdapterSpecification(argument: text)
    }
  }
}

extension AdapterSpecification {
  /// Reads an argument; another one is an error of usage.
  init(argument text: String) throws(Failure) {
    do throws(AdapterSpecificationError) {
      try self.init(text)
    } catch {
      throw .usage(error.description)
    }
  }
}

extension Invocation {
  /// The adapter that `--adapter` names, else the one of the environment (`HALO_ADAPTER`), else the first.
  var adapter: AdapterSpecification {
    get throws(Failure) {
      let option = command.usesAdapter ? CommonOptions.adapter : StoreFile.adapter
      if let adapter = self[option] { return adapter }
      guard let text = getenv("HALO_ADAPTER") else { return .kernel(nil) }
      return try AdapterSpecification(argument: String(cString: text))
    }
  }
}
