/// What a page looks like, by day and by night.
enum PageStyle {
  static let all = #"""
    :root {
      color-scheme: light dark;
      --ground: #fbfbf9; --panel: #ffffff; --line: #e3e3de; --text: #1d1f23; --quiet: #6a6e76;
      --selected: #e4ecfb; --hover: #f2f3f0; --accent: #2257c5; --hot: #ffdf7e; --warning: #8a4b00;
      --hci: #5b6b86; --l2cap: #14808f; --signaling: #3b74c4; --smp: #a86a00; --att: #2c8248;
      --gatt: #6d7f15; --ring: #a8348f; --note: #80807c;
      --row: 26px;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --ground: #14161a; --panel: #1a1d22; --line: #2c3037; --text: #dfe2e7; --quiet: #9299a4;
        --selected: #24334f; --hover: #20242a; --accent: #85adff; --hot: #7a5f00; --warning: #f0b35f;
        --hci: #93a4c0; --l2cap: #4fc0ce; --signaling: #79a9ee; --smp: #e0a545; --att: #63c083;
        --gatt: #b3c354; --ring: #e583cf; --note: #9a9a94;
      }
    }
    * { box-sizing: border-box; }
    [hidden] { display: none !important; }
    html, body { height: 100%; margin: 0; }
    body {
      display: flex; flex-direction: column; background: var(--ground); color: var(--text);
      font: 13px/1.45 system-ui, sans-serif;
    }
    button, input { font: inherit; color: inherit; }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: -1px; }
    #rows, .fields td:nth-child(2), .bytes { font-variant-numeric: tabular-nums; }

    header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 14px; padding: 10px 16px 6px; }
    h1 { font-size: 16px; font-weight: 650; margin: 0; overflow-wrap: anywhere; }
    header p { margin: 0; color: var(--quiet); }
    #remark { flex-basis: 100%; color: var(--warning); }

    #strip { padding: 0 16px; flex: none; }
    #timeline { display: block; width: 100%; cursor: crosshair; border-radius: 6px; touch-action: none; }

    #controls { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 14px; padding: 8px 16px; flex: none; }
    fieldset { display: flex; align-items: center; gap: 4px; border: 0; margin: 0; padding: 0; min-width: 0; }
    legend { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    #controls input {
      background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 4px 8px;
    }
    #query { width: 240px; }
    #range input { width: 106px; text-align: right; font-variant-numeric: tabular-nums; }
    #controls button {
      background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 4px 10px;
      cursor: pointer;
    }
    #controls button:hover { background: var(--hover); }
    #controls button[aria-pressed=true] {
      background: var(--selected); border-color: var(--accent); color: var(--accent);
    }
    #controls button:disabled { opacity: .4; cursor: default; }
    .dot { display: inline-block; width: 8px; height: 8px; border-radius: 2px; margin-right: 6px; }
    #count { color: var(--quiet); margin-left: auto; }

    main {
      flex: 1; min-height: 0; display: grid; grid-template-columns: minmax(0, 1fr) minmax(430px, 42%);
      border-top: 1px solid var(--line);
    }
    #list { overflow: auto; position: relative; background: var(--panel); outline-offset: -1px; }
    #list:focus-visible { outline-width: 1px; }
    #list:focus-visible .row[aria-selected=true] { box-shadow: inset 3px 0 var(--accent); }
    #rows { position: relative; }
    .row {
      position: absolute; left: 0; right: 0; height: var(--row); line-height: var(--row); padding: 0 16px;
      display: grid; grid-template-columns: 52px 88px 16px 68px minmax(0, 1fr); gap: 10px; cursor: default;
      white-space: nowrap;
    }
    .row > * { overflow: hidden; text-overflow: ellipsis; }
    .row > :nth-child(-n+2) { text-align: right; color: var(--quiet); }
    .row > :nth-child(3) { text-align: center; color: var(--quiet); }
    .row:hover { background: var(--hover); }
    .row[aria-selected=true] { background: var(--selected); }
    .layer { font-weight: 600; }
    .empty { padding: 32px 16px; color: var(--quiet); text-align: center; }

    #detail { overflow: auto; border-left: 1px solid var(--line); padding: 0 0 24px; background: var(--ground); }
    #detail h2 { font-size: 14px; font-weight: 600; margin: 0; padding: 12px 16px 0; overflow-wrap: anywhere; }
    #detail > p { margin: 0; padding: 2px 16px 0; color: var(--quiet); }
    #detail > p.note { color: var(--warning); }
    #detail details + details { border-top: 1px solid var(--line); }
    summary { padding: 6px 16px; cursor: pointer; overflow-wrap: anywhere; }
    summary:hover { background: var(--hover); }
    summary .layer { margin-right: 8px; }
    summary .words { color: var(--quiet); }
    summary.hot { background: var(--hot); }
    summary.hot .layer, summary.hot .words { color: var(--text) !important; }
    .fields { border-collapse: collapse; width: 100%; margin: 0 0 8px; table-layout: fixed; }
    .fields td { vertical-align: top; padding: 2px 8px; overflow-wrap: anywhere; }
    .fields td:first-child { color: var(--quiet); padding-left: 32px; width: 34%; }
    .fields td:last-child { color: var(--quiet); font-size: 11px; line-height: 19px; width: 28%; padding-right: 16px; }
    .fields tr { cursor: default; }
    .fields tr.hot { background: var(--hot); }
    .fields tr.hot td { color: var(--text); }
    .fields tr:focus { outline: 2px solid var(--accent); outline-offset: -2px; }
    .depth1 td:first-child { padding-left: 48px !important; }
    .depth2 td:first-child { padding-left: 64px !important; }
    .link { border: 0; background: none; padding: 0; color: var(--accent); cursor: pointer; text-decoration: underline; }

    #dump {
      position: sticky; top: 0; max-height: 45%; overflow: auto; padding: 8px 0; z-index: 1;
      background: var(--ground); border-bottom: 1px solid var(--line);
    }
    .bytes { padding: 2px 16px; overflow-x: auto; }
    .bytes h3 { font-size: 12px; font-weight: 600; margin: 4px 0; }
    .bytes pre { margin: 0; font: 12.5px/1.6 ui-monospace, "DejaVu Sans Mono", monospace; }
    .bytes .offset { color: var(--quiet); margin-right: 12px; }
    .bytes .ascii { margin-left: 12px; color: var(--quiet); }
    .byte { padding: 2px 3.5px; border-radius: 2px; cursor: default; }
    .char { padding: 2px 0; }
    .hot.byte, .hot.char { background: var(--hot); color: var(--text); }
    .more { margin: 6px 0; }
    details > .more { margin: 0 32px 10px; }

    @media (max-width: 980px) {
      main { grid-template-columns: minmax(0, 1fr); grid-template-rows: minmax(0, 1fr) minmax(0, 1fr); }
      #detail { border-left: 0; border-top: 1px solid var(--line); }
      .row { grid-template-columns: 48px 88px 16px 62px minmax(0, 1fr); gap: 8px; }
      #count { margin-left: 0; }
    }
    @media (forced-colors: active) {
      .row[aria-selected=true], .hot { forced-color-adjust: none; background: Highlight; color: HighlightText; }
    }

    """#
}
