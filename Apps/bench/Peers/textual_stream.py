"""Shows a growing text: log or markdown, the file with the text, tokens a second, tokens in all.

A token has five bytes. Every 5 ms those that are due are written one by one, after a second in which whoever measures
gets ready. Below the text is a line to type in.
"""
import asyncio
import sys
import time

from textual.app import App
from textual.containers import VerticalScroll
from textual.widgets import Input, Log, Markdown

KIND, FILE, RATE, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
END = "ZQZQZQZQ"


class StreamApp(App):
    def compose(self):
        if KIND == "log":
            yield Log()
        else:
            with VerticalScroll():
                yield Markdown()
        yield Input(placeholder="ready")

    def on_mount(self):
        self.query_one(Input).focus()
        self.run_worker(self.stream())

    async def stream(self):
        with open(FILE) as file:
            text = file.read()
        tokens = [text[start : start + 5] for start in range(0, len(text), 5)]
        if KIND == "log":
            log = self.query_one(Log)

            async def write(token):
                log.write(token)
        else:
            self.query_one(VerticalScroll).anchor()
            stream = Markdown.get_stream(self.query_one(Markdown))
            write = stream.write
        await asyncio.sleep(1)
        start = time.monotonic()
        sent = 0
        while sent < COUNT:
            await asyncio.sleep(0.005)
            due = min(COUNT, int((time.monotonic() - start) * RATE))
            while sent < due:
                await write(tokens[sent % len(tokens)])
                sent += 1
        await write("\n\n" + END + "\n")


StreamApp().run()
