"""Drawings for docs/pictures: shapes and texts, in colours that fit a light page and a dark one."""

from html import escape

# Fill, line and text of each colour, on a light page and on a dark one.
COLOURS = {
    "plain": (("#f6f8fa", "#8c959f", "#1f2328"), ("#21262d", "#8b949e", "#e6edf3")),
    "green": (("#dafbe1", "#1a7f37", "#1f2328"), ("#12261e", "#3fb950", "#e6edf3")),
    "blue": (("#ddf4ff", "#0969da", "#1f2328"), ("#0c2d4a", "#58a6ff", "#e6edf3")),
    "yellow": (("#fff8c5", "#9a6700", "#1f2328"), ("#2e2a1f", "#d29922", "#e6edf3")),
    "red": (("#ffebe9", "#cf222e", "#1f2328"), ("#3c1618", "#f85149", "#e6edf3")),
    "purple": (("#fbefff", "#8250df", "#1f2328"), ("#271052", "#bc8cff", "#e6edf3")),
}
PAPER, INK, DIM = ("#ffffff", "#0d1117"), ("#1f2328", "#e6edf3"), ("#59636e", "#9198a1")


def styles() -> str:
    def rules(page: int) -> str:
        out = f".paper{{fill:{PAPER[page]}}}text{{fill:{INK[page]}}}.dim{{fill:{DIM[page]}}}.over{{stroke:{PAPER[page]}}}"
        out += f".line{{stroke:{DIM[page]}}}.head{{fill:{DIM[page]}}}"
        for name, pages in COLOURS.items():
            fill, line, text = pages[page]
            out += f".{name}{{fill:{fill};stroke:{line}}}.{name}-text{{fill:{line}}}.{name}-line{{stroke:{line}}}"
        return out

    return (
        "text{font:13px -apple-system,'Segoe UI','DejaVu Sans',sans-serif}.small{font-size:11px}.strong{font-weight:600}"
        ".over{paint-order:stroke;stroke-width:5px}"
        ".mono{font-family:ui-monospace,'DejaVu Sans Mono',monospace}.line{fill:none}" + rules(0)
        + f"@media(prefers-color-scheme:dark){{{rules(1)}}}")


class Picture:
    """A drawing whose height grows with what is drawn. Coordinates are pixels, from the upper left corner."""

    def __init__(self, width: float, title: str):
        self.width, self.title, self.bottom = width, title, 0.0
        self.behind, self.parts = [], []

    def extend(self, y: float) -> None:
        self.bottom = max(self.bottom, y)

    def box(self, x, y, width, height, colour="plain", *, round=3) -> None:
        self.parts.append(
            f'<rect class="{colour}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{round}"/>')
        self.extend(y + height)

    def text(self, x, y, text, *styles, anchor="start") -> None:
        kinds = f' class="{" ".join(styles)}"' if styles else ""
        place = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self.parts.append(f'<text{kinds} x="{x:g}" y="{y:g}"{place}>{escape(str(text), quote=False)}</text>')
        self.extend(y + 4)

    def line(self, x1, y1, x2, y2, colour="", *, dashed=False, end=False, start=False) -> None:
        """A line, with a head at its end or its start."""
        kind = f"line {colour}-line" if colour else "line"
        extra = ' stroke-dasharray="4 3"' if dashed else ""
        extra += ' marker-end="url(#head)"' if end else ""
        extra += ' marker-start="url(#head)"' if start else ""
        self.parts.append(f'<line class="{kind}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"{extra}/>')
        self.extend(max(y1, y2))

    def path(self, data: str, colour="", *, end=False) -> None:
        kind = f"line {colour}-line" if colour else "line"
        extra = ' marker-end="url(#head)"' if end else ""
        self.parts.append(f'<path class="{kind}" d="{data}"{extra}/>')

    def labelled(self, x, y, width, height, text, colour="plain", *styles) -> None:
        """A box with a text in its middle."""
        self.box(x, y, width, height, colour)
        self.text(x + width / 2, y + height / 2 + 4.5, text, *styles, anchor="middle")

    def heading(self, text, about="", x=20, y=26) -> None:
        """What is shown, and beside it a sentence on it."""
        self.text(x, y, text, "strong")
        if about:
            self.text(x + 14 + 8.3 * len(text), y, about, "dim")

    def legend(self, y: float, entries: list[tuple[str, str]], x=20.0) -> None:
        """What the colours stand for."""
        for colour, text in entries:
            self.box(x, y, 14, 14, colour)
            self.text(x + 20, y + 11.5, text, "small")
            x += 30 + 7 * len(text)

    def span(self, x1, x2, y, text) -> None:
        """A measure: a line with two heads and its length."""
        self.line(x1, y, x2, y, end=True, start=True)
        self.text((x1 + x2) / 2, y - 5, text, "small", "dim", anchor="middle")

    def svg(self) -> str:
        height = round(self.bottom + 14)
        head = (
            '<marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">'
            '<path class="head" d="M0 0L8 4L0 8z"/></marker>')
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width:g}" height="{height}" '
            f'viewBox="0 0 {self.width:g} {height}" role="img">',
            f"<title>{escape(self.title, quote=False)}</title>", f"<style>{styles()}</style>", f"<defs>{head}</defs>",
            f'<rect class="paper" width="{self.width:g}" height="{height}"/>', *self.behind, *self.parts, "</svg>", ""])
