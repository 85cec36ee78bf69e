import ChatHistory
import FileKit
import StorageKit
import Testing

@Suite("What is offered while typing")
struct OfferedTests {
    @Test("Conversations come with their titles and models with their providers, newest first")
    func offered() async throws {
        try await withHistory { history in
            #expect(history.offered().isEmpty && history.offeredModels().isEmpty)
            #expect(!Files.exists(history.database.path))
            let first = try await history.create(ConversationSetup(provider: "openai", model: "gpt-5"), title: "One")
            let second = try await history.create(ConversationSetup(provider: "lab", model: "small"), title: "Two")
            try await history.create(ConversationSetup(), title: "Three")
            #expect(history.offered().map { $0.title } == ["Three", "Two", "One"])
            #expect(history.offered().last?.id == first.id)
            #expect(history.offeredModels().map { "\($0.provider)/\($0.model)" } == ["lab/small", "openai/gpt-5"])
            #expect(history.offeredModels(of: "openai").map { $0.model } == ["gpt-5"])
            try await history.delete(second.id)
            #expect(history.offered().map { $0.title } == ["Three", "One"])
            #expect(history.offered(isDeleted: true).map { $0.id } == [second.id])
        }
    }

    @Test("The messages of the conversation that is named come with their texts, newest first")
    func messages() async throws {
        try await withHistory { history in
            #expect(history.offeredMessages(of: "2026").isEmpty)
            #expect(!Files.exists(history.database.path))
            let talk = try await history.talk("How do swifts sleep?", "In flight")
            let other = try await history.talk("Hello")
            let offered = history.offeredMessages(of: talk.id.tag)
            #expect(offered.map { $0.text } == ["assistant: In flight", "user: How do swifts sleep?"])
            #expect(offered.first?.id == talk.head)
            #expect(history.offeredMessages(of: other.id.rawValue).map { $0.text } == ["user: Hello"])
            for none in ["", "2026", "of-nobody"] { #expect(history.offeredMessages(of: none).isEmpty, "\(none)") }
        }
    }
}
