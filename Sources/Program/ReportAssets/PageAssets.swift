/// The parts of the HTML pages that are the same for every capture and stream, embedded in the program.
package enum PageAssets {
  /// The modules of the script, in the order in which they run: each after those that it imports.
  private static let modules = [
    PackageResources.format_js, PackageResources.specification_js, PackageResources.style_js,
    PackageResources.drawing_js, PackageResources.elements_js, PackageResources.packets_js,
    PackageResources.field_filter_js, PackageResources.hits_js, PackageResources.handles_js,
    PackageResources.filters_js, PackageResources.scale_js, PackageResources.session_js,
    PackageResources.view_js, PackageResources.timeline_js, PackageResources.overlay_js,
    PackageResources.timeline_input_js, PackageResources.columns_js, PackageResources.list_js,
    PackageResources.bytes_js, PackageResources.pages_js, PackageResources.detail_head_js,
    PackageResources.detail_js, PackageResources.series_js, PackageResources.plotting_js,
    PackageResources.charts_js, PackageResources.plots_js, PackageResources.statistics_js,
    PackageResources.controls_js, PackageResources.keys_js, PackageResources.report_js,
    PackageResources.main_js,
  ]

  /// The style sheets; the last one overrides the others in narrow windows.
  private static let sheets = [
    PackageResources.colors_css, PackageResources.elements_css, PackageResources.base_css,
    PackageResources.plots_css, PackageResources.list_css, PackageResources.detail_css,
    PackageResources.pages_css,
  ]

  /// The script: one module, made of all modules.
  package static var script: String { modules.map { joinable(text($0)) }.joined() }

  /// The style sheet, for light and dark.
  package static var style: String { sheets.map(text).joined() }

  /// The elements of the body that exist before the script fills them.
  package static var body: String { text(PackageResources.body_html) }

  /// A module without its `import` lines and `export` keywords, to stand in one scope with the others.
  private static func joinable(_ module: String) -> String {
    var script = ""
    for line in module.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
      if line.hasPrefix("import ") { continue }
      script += line.hasPrefix("export ") ? line.dropFirst("export ".count) : line
      script += "\n"
    }
    return script
  }

  static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  /// The style sheet of a page of a session's samples, for light and dark, and for paper.
  package static var sessionStyle: String {
    [PackageResources.colors_css, PackageResources.session_css].map(text).joined()
  }

  /// The style sheet of a page of a ring's days.
  package static var daysStyle: String { sessionStyle + text(PackageResources.days_css) }

  /// The modules of the script of the live page, in the order in which they run.
  private static let liveModules = [
    PackageResources.style_js, PackageResources.drawing_js, PackageResources.elements_js,
    PackageResources.scale_js, PackageResources.plotting_js, PackageResources.live_words_js,
    PackageResources.live_clock_js, PackageResources.live_series_js, PackageResources.live_ring_js,
    PackageResources.live_session_js, PackageResources.live_events_js, PackageResources.live_stream_js,
    PackageResources.live_paint_js, PackageResources.live_wave_js, PackageResources.live_card_js,
    PackageResources.live_day_js, PackageResources.live_day_chart_js,
    PackageResources.live_day_input_js, PackageResources.live_marks_js, PackageResources.live_main_js,
  ]

  /// The style sheets of the live page.
  private static let liveSheets = [
    PackageResources.colors_css, PackageResources.elements_css, PackageResources.live_css,
  ]

  /// The whole page that shows a stream as it comes, for light and dark.
  ///
  /// - Parameter nonce: marks the style and the script that the policy of the page allows
  package static func livePage(nonce: String) -> String { livePieces.joined(separator: nonce) }

  /// What stands around the nonces of the live page.
  private static let livePieces: [String] = {
    let style = liveSheets.map(text).joined()
    let script = liveModules.map { joinable(text($0)) }.joined()
    let nonce = "\u{1}"
    return text(PackageResources.live_html)
      .replacing("<style></style>", with: "<style nonce=\"\(nonce)\">\(style)</style>")
      .replacing(
        "<script type=\"module\"></script>",
        with: "<script type=\"module\" nonce=\"\(nonce)\">\(script)</script>"
      )
      .split(separator: nonce).map { String($0) }
  }()

  /// What a phone is told that keeps the live page among its programs (application/manifest+json).
  package static var liveManifest: String { text(PackageResources.live_webmanifest) }

  /// The icon of the live page (image/svg+xml).
  package static var liveIcon: String { text(PackageResources.live_icon_svg) }

  /// The same icon for phones that take no SVG (image/png).
  package static var liveIconPNG: [UInt8] { PackageResources.live_icon_png }
}
