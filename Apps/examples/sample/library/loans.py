"""Who has which book, and until when."""

from dataclasses import dataclass, replace
from datetime import date, timedelta

WEEKS = 3
WEEKS_FOR_NEW_BOOKS = 1
MOST_RENEWALS = 2


@dataclass(frozen=True)
class Loan:
    book: object
    member: str
    until: date
    renewals: int = 0


class Desk:
    def __init__(self, shelf):
        self._shelf = shelf
        self._loans = {}

    def lend(self, number, member, today):
        if number in self._loans:
            raise ValueError(f"book {number} is lent already")
        book = self._shelf.book(number)
        weeks = WEEKS_FOR_NEW_BOOKS if book.is_new else WEEKS
        loan = Loan(book, member, today + timedelta(weeks=weeks))
        self._loans[number] = loan
        return loan

    def renew(self, number):
        loan = self._loans[number]
        if loan.renewals >= MOST_RENEWALS:
            raise ValueError(f"book {number} was renewed {MOST_RENEWALS} times")
        renewed = replace(loan, until=loan.until + timedelta(weeks=WEEKS), renewals=loan.renewals + 1)
        self._loans[number] = renewed
        return renewed

    def take_back(self, number):
        return self._loans.pop(number)

    def due(self, day):
        """The loans that end by a day, the oldest first."""
        return sorted((loan for loan in self._loans.values() if loan.until <= day), key=lambda loan: loan.until)

    @staticmethod
    def sample(shelf):
        desk = Desk(shelf)
        desk.lend(1, "Ada", date(2026, 10, 26))
        desk.lend(2, "Grace", date(2026, 10, 30))
        desk.lend(3, "Edsger", date(2026, 11, 13))
        return desk
