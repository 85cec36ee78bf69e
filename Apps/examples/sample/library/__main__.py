"""The command: python3 -m library due DAY"""

import sys
from datetime import date

from library.loans import Desk
from library.reminders import reminder
from library.shelf import Shelf


def main(words):
    if len(words) != 2 or words[0] != "due":
        print(__doc__)
        return 2
    shelf = Shelf.sample()
    desk = Desk.sample(shelf)
    # TODO: read shelf and desk from a file instead of the sample
    for loan in desk.due(date.fromisoformat(words[1])):
        print(reminder(loan))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
