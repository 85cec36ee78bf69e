"""What is written to members."""


def reminder(loan):
    # TODO: replace "Dear reader" with "Dear {loan.member}"
    return f"Dear reader, '{loan.book.title}' was due on {loan.until:%d.%m.%Y}."
