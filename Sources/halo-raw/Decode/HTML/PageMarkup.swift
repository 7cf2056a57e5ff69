/// The elements of a page that are there before its script fills them.
enum PageMarkup {
  static let all = #"""
    <noscript>This page shows a Bluetooth session, and needs JavaScript for it. It loads nothing.</noscript>
    <header>
      <h1 id="name"></h1>
      <p id="about"></p>
      <p id="remark" role="note" hidden></p>
    </header>
    <section id="strip" aria-label="Time line">
      <canvas id="timeline" tabindex="0" role="img" title="sent above the line, received below; drag to zoom in"
        aria-keyshortcuts="+ - ArrowLeft ArrowRight Home"></canvas>
    </section>
    <form id="controls" role="search" aria-label="Search and filters">
      <input id="query" type="search" placeholder="Search  /" aria-label="Search in all fields"
        aria-keyshortcuts="/" autocomplete="off" spellcheck="false">
      <fieldset id="layers"><legend>Layers</legend></fieldset>
      <fieldset id="directions"><legend>Directions</legend></fieldset>
      <fieldset id="range"><legend>Seconds</legend>
        <input id="from" inputmode="decimal" size="9" aria-label="From, in seconds" autocomplete="off">
        <span aria-hidden="true">–</span>
        <input id="to" inputmode="decimal" size="9" aria-label="To, in seconds" autocomplete="off">
      </fieldset>
      <button id="reset" type="button">Show all</button>
      <output id="count" aria-live="polite"></output>
    </form>
    <main>
      <div id="list" role="grid" tabindex="0" aria-label="Packets" aria-colcount="5">
        <div id="rows" role="rowgroup"></div>
      </div>
      <section id="detail" aria-label="The selected packet" tabindex="-1"></section>
    </main>

    """#
}
