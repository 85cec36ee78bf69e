"""Shows the lines of a file in a list: file."""
import sys

from textual.app import App
from textual.widgets import Footer, Header, Label, ListItem, ListView


class ListApp(App):
    BINDINGS = [("q", "quit", "Quit")]

    def compose(self):
        with open(sys.argv[1]) as file:
            rows = file.read().splitlines()
        yield Header()
        yield ListView(*[ListItem(Label(row, markup=False)) for row in rows])
        yield Footer()


ListApp().run()
