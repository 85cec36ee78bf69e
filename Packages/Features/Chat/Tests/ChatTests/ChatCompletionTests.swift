import Capabilities
import ChatHistory
import CoreTesting
import FileKit
import HostKit
import JSON
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
            func found(_ completion: Completion?, _ given: JSONObject = [:]) -> [Completion.Candidate] {
                guard case .dynamic(let find) = completion else { return [] }
                return find(test.composition.registry, test.host, given)
            }
            #expect(found(ChatCompletion.conversations).isEmpty && found(ChatCompletion.usedModels).isEmpty)
            #expect(found(ChatCompletion.models).contains(Completion.Candidate("openai", "OpenAI")))
            #expect(try Files.list(folder).isEmpty)

            let history = History("\(folder)/data/chat.db", now: test.host.now)
            let talk = try await history.create(ConversationSetup(provider: "openai", model: "odd"), title: "Swifts")
            let gone = try await history.create(ConversationSetup(), title: "Rooks")
            let question = try await history.append(Message(.user, "How do they sleep?"), to: talk.id, after: nil)
            try await history.delete(gone.id)
            await history.close()
            #expect(found(ChatCompletion.conversations) == [Completion.Candidate(talk.id.rawValue, "Swifts")])
            #expect(found(ChatCompletion.deleted) == [Completion.Candidate(gone.id.rawValue, "Rooks")])
            #expect(found(ChatCompletion.usedModels) == [Completion.Candidate("odd", "openai")])
            #expect(found(ChatCompletion.usedModels, ["provider": "anthropic"]).isEmpty)
            #expect(found(ChatCompletion.usedModels, ["provider": "openai"]).map(\.word) == ["odd"])
            let id = "\(question.id.rawValue)"
            #expect(
                found(ChatCompletion.messages, ["conversation": .string(talk.id.rawValue)]) == [
                    Completion.Candidate(id, "user: How do they sleep?")
                ])
            #expect(found(ChatCompletion.messages).isEmpty)
            #expect(found(ChatCompletion.usedProviders) == [Completion.Candidate("openai", "OpenAI")])
            #expect(
                found(test.composition.registry.settingCompletions["chat.model"]).first
                    == Completion.Candidate("openai/odd", "OpenAI, used before"))
        }
    }
}
