import DialectTesting
import HTTPCore
import OpenAIDialect

/// Reads a stream that arrives in these pieces.
func hear(_ pieces: [[UInt8]], _ quirks: OpenAIQuirks) throws -> Heard {
    try Heard(pieces, by: OpenAIDialect(quirks), parser: EventParser(readsErrorField: quirks.readsErrorField))
}

/// Reads events without names, each given as its data.
func hear(data: [String], _ quirks: OpenAIQuirks = .compatible) throws -> Heard {
    try hear([Array(data.map { "data: \($0)\n\n" }.joined().utf8)], quirks)
}
