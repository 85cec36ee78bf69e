import Testing

/// Tests that ask on a terminal run one after the other, because a process can guard only one terminal.
@Suite(.serialized) enum OneTerminal {}
