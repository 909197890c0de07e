"""An animated picture of two terminals: each line is a text that is visible for its time."""

from xml.sax.saxutils import escape

WIDTH, HEIGHT, MARGIN, TITLE = 7.3, 18, 12, 26
STYLE = """
  text { font: 12px ui-monospace, 'DejaVu Sans Mono', Menlo, monospace; fill: #d7e3ea; white-space: pre }
  .title { font-weight: bold; fill: #9fd8e8 }
  .terminal { fill: #10222b }
"""


class Picture:
    def __init__(self, columns, rows, hidden):
        self.columns, self.rows, self.hidden = columns, rows, hidden
        self.names = []
        # Of each terminal's row: the text, and since when it is shown.
        self.current = {}
        # Terminal, row, text, first and last moment.
        self.texts = []

    def show(self, now, screens):
        self.names = list(screens)
        for name, lines in screens.items():
            for row, text in enumerate(lines):
                text = text.replace(f"{self.hidden}/{name}", "/home/me")
                before, since = self.current.get((name, row), ("", now))
                if text != before:
                    self.keep(name, row, before, since, now)
                    self.current[name, row] = (text, now)

    def keep(self, name, row, text, since, now):
        if text and now > since:
            self.texts.append((name, row, text, since, now))

    def text(self, end):
        """The SVG. It begins again at `end` seconds; readers without animation see the end."""
        for (name, row), (text, since) in self.current.items():
            self.keep(name, row, text, since, end)
        self.current = {}
        width = round(self.columns * WIDTH + 2 * MARGIN)
        height = TITLE + self.rows * HEIGHT + MARGIN
        whole = len(self.names) * (height + MARGIN) - MARGIN
        style, body = [STYLE], []
        for index, name in enumerate(self.names):
            top = index * (height + MARGIN)
            body.append(f'<rect class="terminal" y="{top}" width="{width}" height="{height}" rx="8"/>')
            body.append(f'<text class="title" x="{MARGIN}" y="{top + 18}">{escape(name)}</text>')
        for number, (name, row, text, since, until) in enumerate(self.texts):
            y = self.names.index(name) * (height + MARGIN) + TITLE + (row + 1) * HEIGHT - 4
            first, last = 100 * since / end, 100 * until / end
            steps = [f"{first:.2f}% {{ opacity: 1 }}"]
            if first > 0:
                steps.insert(0, "0% { opacity: 0 }")
            is_last = until >= end
            if not is_last:
                steps.append(f"{last:.2f}% {{ opacity: 0 }}")
            style.append(f"  @keyframes t{number} {{ {' '.join(steps)} }}")
            style.append(f"  .t{number} {{ animation: t{number} {end:.1f}s step-end infinite; "
                         f"opacity: {1 if is_last else 0} }}")
            body.append(f'<text class="t{number}" x="{MARGIN}" y="{y}" xml:space="preserve">{escape(text)}</text>')
        style.append("  @media (prefers-reduced-motion) { text { animation: none !important } }")
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {whole}" width="{width}" height="{whole}">',
            "<title>Two terminals: a transfer from the study to the kitchen</title>",
            "<style>", *style, "</style>", *body, "</svg>", ""])
