extension Result {
  /// Why it failed; nil after a success.
  package var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}
