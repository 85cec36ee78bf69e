import AnthropicDialect
import DialectTesting

/// Hears a stream that comes in these pieces.
func hear(_ pieces: [[UInt8]]) throws -> Heard { try Heard(pieces, by: AnthropicDialect()) }

/// Hears events, each given as its data and named as its `type` says.
func hear(data: [String]) throws -> Heard {
    try hear([Array(data.map { Fixture.event($0) }.joined().utf8)])
}
