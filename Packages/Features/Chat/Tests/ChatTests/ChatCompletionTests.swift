import Capabilities
import ChatHistory
import CoreTesting
import FileKit
import HostKit
import Registry
import Testing

@testable import Chat

@Suite("Completion of chat")
struct ChatCompletionTests {
    @Test("Conversations, models and providers are offered, and no history is created for it")
    func offered() async throws {
        try await TemporaryDirectory.run { folder in
            let test = try TestHost(
                [
                    BuiltInFeature(essential: HostFeature.self), BuiltInFeature(Workshop.self),
                    BuiltInFeature(ChatFeature.self),
                ], folder: folder)
            func found(_ completion: Completion?) -> [Completion.Candidate] {
                guard case .dynamic(let find) = completion else { return [] }
                return find(test.composition.registry, test.host)
            }
            #expect(found(ChatCompletion.conversations).isEmpty && found(ChatCompletion.usedModels).isEmpty)
            #expect(found(ChatCompletion.models).contains(Completion.Candidate("openai", "OpenAI")))
            #expect(try Files.list(folder).isEmpty)

            let history = History("\(folder)/data/chat.db", now: test.host.now)
            let talk = try await history.create(ConversationSetup(provider: "openai", model: "odd"), title: "Swifts")
            let gone = try await history.create(ConversationSetup(), title: "Rooks")
            try await history.delete(gone.id)
            await history.close()
            #expect(found(ChatCompletion.conversations) == [Completion.Candidate(talk.id.rawValue, "Swifts")])
            #expect(found(ChatCompletion.deleted) == [Completion.Candidate(gone.id.rawValue, "Rooks")])
            #expect(found(ChatCompletion.usedModels) == [Completion.Candidate("odd", "openai")])
            #expect(found(ChatCompletion.usedProviders) == [Completion.Candidate("openai", "OpenAI")])
            #expect(
                found(test.composition.registry.settingCompletions["chat.model"]).first
                    == Completion.Candidate("openai/odd", "OpenAI, used before"))
        }
    }
}
