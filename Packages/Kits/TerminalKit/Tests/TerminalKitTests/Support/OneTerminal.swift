import Testing

/// Tests that ask on a terminal, one after the other: a process has one terminal to guard.
@Suite(.serialized) enum OneTerminal {}
