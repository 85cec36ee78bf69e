import unittest
from datetime import date

from library.loans import Desk
from library.reminders import reminder
from library.shelf import Shelf


class LoanTests(unittest.TestCase):
    def setUp(self):
        self.desk = Desk(Shelf.sample())

    def test_a_loan_lasts_three_weeks_and_one_for_new_books(self):
        self.assertEqual(self.desk.lend(1, "Ada", date(2026, 11, 1)).until, date(2026, 11, 22))
        self.assertEqual(self.desk.lend(3, "Ada", date(2026, 11, 1)).until, date(2026, 11, 8))

    def test_a_book_is_lent_to_one_member(self):
        self.desk.lend(1, "Ada", date(2026, 11, 1))
        with self.assertRaises(ValueError):
            self.desk.lend(1, "Grace", date(2026, 11, 2))

    def test_a_loan_is_renewed_twice_at_most(self):
        self.desk.lend(1, "Ada", date(2026, 11, 1))
        self.desk.renew(1)
        self.desk.renew(1)
        with self.assertRaises(ValueError):
            self.desk.renew(1)

    def test_a_reminder_names_the_book_and_the_day(self):
        text = reminder(self.desk.lend(2, "Grace", date(2026, 11, 1)))
        self.assertIn("The Peregrine", text)
        self.assertIn("22.11.2026", text)


class ShelfTests(unittest.TestCase):
    def test_all_words_are_looked_for_in_title_and_author(self):
        found = Shelf.sample().search("jane charlotte")
        self.assertEqual([book.title for book in found], ["Jane Eyre"])


if __name__ == "__main__":
    unittest.main()
