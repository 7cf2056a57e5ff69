extension PageAssets {
  /// The style sheet of a page of a session's samples, for light and dark, and for paper.
  package static var sessionStyle: String {
    [PackageResources.colors_css, PackageResources.session_css].map(text).joined()
  }
}
