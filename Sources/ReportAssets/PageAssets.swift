/// The parts of the HTML report that are the same for every capture, embedded in the program.
public enum PageAssets {
  /// The modules of the script, in the order in which the page runs them.
  private static let modules = [
    PackageResources.session_js, PackageResources.view_js, PackageResources.timeline_js,
    PackageResources.timelineInput_js, PackageResources.list_js, PackageResources.bytes_js,
    PackageResources.detail_js, PackageResources.main_js,
  ]

  /// The script, one text.
  public static var script: String { modules.map { text($0) }.joined() }

  /// The style sheet, for light and dark.
  public static var style: String { text(PackageResources.page_css) }

  /// The elements of the body that exist before the script fills them.
  public static var body: String { text(PackageResources.body_html) }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
