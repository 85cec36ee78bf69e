import AnthropicDialect
import DialectTesting

/// Reads a stream that arrives in these pieces.
func hear(_ pieces: [[UInt8]]) throws -> Heard { try Heard(pieces, by: AnthropicDialect()) }

/// Reads events, each given as its data and named by its `type`.
func hear(data: [String]) throws -> Heard {
    try hear([Array(data.map { Fixture.event($0) }.joined().utf8)])
}
