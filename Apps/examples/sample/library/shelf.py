"""The books that the library has."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Book:
    number: int
    title: str
    author: str
    is_new: bool = False


class Shelf:
    def __init__(self, books):
        self._books = {book.number: book for book in books}

    def book(self, number):
        return self._books[number]

    def search(self, words):
        """The books in whose title or author all words occur."""
        # TODO: ignore accents, so that "Bronte" finds "Brontë"
        wanted = [word.lower() for word in words.split()]
        return [
            book
            for book in self._books.values()
            if all(word in f"{book.title} {book.author}".lower() for word in wanted)
        ]

    @staticmethod
    def sample():
        return Shelf(
            [
                Book(1, "Jane Eyre", "Charlotte Brontë"),
                Book(2, "The Peregrine", "J. A. Baker"),
                Book(3, "Swifts and Us", "Sarah Gibson", is_new=True),
            ]
        )
