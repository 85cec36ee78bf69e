import Capabilities
import ChatProviders
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Synchronization
import Testing

@Suite("Model catalogue", .timeLimit(.minutes(5)))
struct CatalogueTests {
    private static let list =
        #"{"data":[{"id":"gpt-4o"},{"id":"brand-new"},{"id":"text-embedding-3-small"},{"id":"gpt-5-mini"}]}"#

    @Test("The catalogue has the listed models, completed by the model table, the default first")
    func completed() async throws {
        try await Fixture.run {
            try $0.reply(Self.list)
        } _: { fixture in
            let catalogue = await fixture.directory.catalogue()
            #expect(catalogue.models.map(\.id) == ["gpt-5-mini", "gpt-4o", "brand-new"])
            #expect(catalogue.models.first { $0.id == "gpt-4o" }?.contextTokens == 128_000)
            #expect(catalogue.models.first { $0.id == "brand-new" }?.contextTokens == nil)
            #expect(catalogue.failures.isEmpty)
        }
    }

    @Test("The catalogue is kept for one hour")
    func kept() async throws {
        let clock = Moving()
        try await Fixture.run { setup in
            setup.now = { clock.now }
        } _: {
            try $0.reply(Self.list)
        } _: { fixture in
            let provider = try await fixture.provider()
            for minutes in [0, 30, 29] {
                clock.advance(minutes: minutes)
                let count = try await provider.models().count
                #expect(count == 3)
            }
            #expect(fixture.server.record.requests.count == 1)
            clock.advance(minutes: 1)
            _ = try await provider.models()
            #expect(fixture.server.record.requests.count == 2)
        }
    }

    @Test("The catalogue uses the model table when a list is unavailable, and says why")
    func failing() async throws {
        try await Fixture.run {
            try $0.reply(401, Stream.error("no such key \(Fixture.key)"))
        } _: { fixture in
            let catalogue = await fixture.directory.catalogue()
            #expect(catalogue.models.contains { $0.id == "gpt-4o" })
            let failure = try #require(catalogue.failures.first)
            #expect(failure.provider == "openai")
            #expect(failure.failure.code == "chat.key-refused")
            #expect(!failure.failure.message.contains(Fixture.key))
        }
    }

    @Test("The catalogue has OpenRouter's own prices and contexts")
    func openRouter() async throws {
        let body =
            #"{"data":[{"id":"a/b","name":"B","context_length":8000,"pricing":{"prompt":"0.000001","completion":"0.000002"}}]}"#
        try await Fixture.run(as: "openrouter", path: "/api/v1") {
            try $0.reply(body)
        } _: { fixture in
            let model = try #require(await fixture.directory.catalogue().models.first)
            #expect(model.contextTokens == 8000)
            #expect(model.price?.input == TokenPrice(perMillion: 1))
            let choice = try await fixture.directory.choice(of: "a/b")
            #expect(choice.provider.id == "openrouter")
        }
    }

    /// A time of day that the test moves.
    final class Moving: Sendable {
        private let time = Mutex(Timestamp(microseconds: 1_700_000_000_000_000))

        var now: Timestamp { time.withLock { $0 } }
        func advance(minutes: Int) { time.withLock { $0.microseconds += Int64(minutes) * 60_000_000 } }
    }
}
