import JSON
import MCPKit
import ServeTesting
import Testing

@testable import ServeFrontend

@Suite("Completion of the variables of templates", .timeLimit(.minutes(2)))
struct CompletionTests {
    private static let conversations = MCPReference.resource("martlet://conversations/{conversation}")
    private static let shelf = MCPReference.resource("martlet://screens/lab.shelf{?color,book}")

    @Test("Conversations complete words only for callers that may read them", arguments: Era.allCases)
    func conversations(era: Era) async throws {
        try await ServedLab(exposing: [.conversations]).host(era) { client async throws in
            #expect(try await client.server().capabilities.completions)
            #expect(try await client.complete(Self.conversations, "conversation", "").values == ["c1"])
            #expect(try await client.complete(Self.conversations, "conversation", "C").values == ["c1"])
            #expect(try await client.complete(Self.conversations, "conversation", "about").values == ["c1"])
            #expect(try await client.complete(Self.conversations, "conversation", "d").values.isEmpty)
            #expect(try await client.complete(Self.conversations, "other", "").values.isEmpty)
            #expect(try await client.complete(Self.shelf, "color", "").values.isEmpty)
            #expect(try await client.complete(.prompt("conversation"), "conversation", "").values.isEmpty)
        }
        try await ServedLab(exposing: [.screens]).host(era) { client async throws in
            #expect(try await client.complete(Self.conversations, "conversation", "").values.isEmpty)
            #expect(try await client.complete(Self.shelf, "color", "").values.count == 3)
        }
        try await ServedLab().host(era) { client async throws in
            #expect(try await client.server().capabilities.completions == false)
        }
    }

    @Test("A secret that a title contains is not found by it")
    func titles() async throws {
        try await ServedLab(exposing: [.actions, .conversations]).host { client async throws in
            _ = try await client.call("lab_leak")
            #expect(try await client.complete(Self.conversations, "conversation", "correct").values.isEmpty)
        }
    }

    @Test("Screens complete words, those of the history only for callers that may read it", arguments: Era.allCases)
    func screens(era: Era) async throws {
        try await ServedLab(exposing: [.screens]).host(era) { client async throws in
            #expect(try await client.complete(Self.shelf, "color", "R").values == ["red", "rose"])
            #expect(try await client.complete(Self.shelf, "book", "").values.isEmpty)
            let far = MCPReference.resource("martlet://screens/lab.far{?color}")
            #expect(try await client.complete(far, "color", "").values.isEmpty)
        }
        let lab = try ServedLab(exposing: [.actions, .screens, .conversations])
        try await lab.host(era) { client async throws in
            _ = try await client.call("lab_leak")
            let found = try await client.complete(Self.shelf, "book", "red-2", given: ["color": "red"])
            #expect(found.values.count == 62 && found.hasMore == false && found.total == 62)
            let all = try await client.complete(Self.shelf, "book", "")
            #expect(all.values.count == 100 && all.hasMore && all.total == 250)
            #expect(all.values.first == "no-1")
        }
    }
}
