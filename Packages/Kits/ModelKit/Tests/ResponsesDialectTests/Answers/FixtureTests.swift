import Capabilities
import CoreTesting
import DialectTesting
import HTTPCore
import OpenAIDialect
import Testing

@Suite("Streams of all servers")
struct FixtureTests {
    @Test("A stream is read as its server means it", arguments: Fixture.all)
    func meaning(_ fixture: Fixture) throws {
        let heard = try hear([fixture.bytes])
        #expect(heard.reading == fixture.expected)
    }

    @Test("The events contain the whole answer exactly once", arguments: Fixture.all)
    func eventsAreTheAnswer(_ fixture: Fixture) throws {
        let heard = try hear([fixture.bytes])
        #expect(heard.told.parts == heard.answer.message.parts)
        #expect(heard.told.usage == heard.answer.usage)
        if let first = heard.events.first {
            guard case .began = first else {
                Issue.record("the first event is \(first)")
                return
            }
        }
    }

    @Test("Splitting the stream at any byte changes no event", arguments: Fixture.all)
    func cuts(_ fixture: Fixture) throws {
        let bytes = fixture.bytes
        let whole = try hear([bytes])
        for cut in 1..<bytes.count {
            let heard = try hear([Array(bytes[..<cut]), Array(bytes[cut...])])
            try #require(heard == whole, "cut at byte \(cut)")
        }
        #expect(try hear(bytes.map { [$0] }) == whole)
    }

    @Test("A stream that ends early is never a complete answer with another text")
    func earlyEnds() throws {
        for fixture in Fixture.all where fixture.expected.failure == nil {
            let bytes = fixture.bytes
            for end in 0..<bytes.count {
                let heard = try hear([Array(bytes[..<end])]).reading
                if heard.failure == nil {
                    try #require(heard.text == fixture.expected.text, "\(fixture.name), cut at byte \(end)")
                } else {
                    // Calls may be complete before that; a cut one is not a call.
                    try #require(heard.calls.allSatisfy(fixture.expected.calls.contains), "\(fixture.name) at \(end)")
                }
            }
        }
    }
}
