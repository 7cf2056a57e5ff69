"""Sequences for docs/pictures: lifelines from left to right, and arrows between them from the top to the bottom."""

from svg import Picture

STEP = 22


class Sequence(Picture):
    """`columns` has the place of each lifeline. What is drawn next stands at `y`."""

    def __init__(self, title: str, heading: str, about: str, columns: dict[str, float], *, width: float = 120):
        super().__init__(760, title)
        # `base` is where the last text stands.
        self.columns, self.y, self.base = columns, 92.0, 92.0
        self.heading(heading, about)
        for who, x in columns.items():
            self.labelled(x - width / 2, 42, width, 26, who, "plain", "strong")

    def part(self, text: str) -> None:
        """A heading on the left, with the arrows that follow below it."""
        self.y += 8
        self.text(20, self.y, text, "small", "strong", "over")
        self.y += 23

    def arrow(self, start: str, end: str, text: str, colour="", *, time: float | None = None) -> None:
        x1, x2 = self.columns[start], self.columns[end]
        self.base = self.y + 3
        if time is not None:
            self.text(20, self.base, f"{time:.3f}", "small", "mono", "dim")
        self.line(x1, self.y, x2, self.y, colour, end=True)
        self.text((x1 + x2) / 2, self.y - 5, text, "small", "over", anchor="middle")
        self.y += STEP

    def note(self, text: str, *between: str) -> None:
        """A line of text between two lifelines; without them, between the first and the last."""
        x = [self.columns[who] for who in between] or [min(self.columns.values()), max(self.columns.values())]
        self.base = self.y - 1
        self.text(sum(x) / len(x), self.base, text, "small", "dim", "over", anchor="middle")
        self.y += STEP

    def state(self, x: float, value) -> None:
        """A value that holds after what was drawn last."""
        self.text(x, self.base, value, "small", "mono", anchor="middle")

    def svg(self) -> str:
        self.behind = [f'<line class="line" x1="{x:g}" y1="68" x2="{x:g}" y2="{self.y:g}"/>' for x in self.columns.values()]
        self.extend(self.y)
        return super().svg()
