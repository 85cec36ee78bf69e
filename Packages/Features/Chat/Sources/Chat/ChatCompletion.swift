import Capabilities
import ChatHistory
import JSON
import Registry
import TurnLoop

/// How a shell completes conversations, models and providers: from the history and from what is built in. No server is
/// asked.
enum ChatCompletion {
    /// Conversations, with their titles.
    static let conversations = Completion.dynamic { registry, _, _ in Self.candidates(registry, isDeleted: false) }

    /// Conversations that can be restored.
    static let deleted = Completion.dynamic { registry, _, _ in Self.candidates(registry, isDeleted: true) }

    private static func candidates(_ registry: Registry, isDeleted: Bool) -> [Completion.Candidate] {
        (Self.history(registry)?.offered(isDeleted: isDeleted) ?? []).map {
            Completion.Candidate($0.id.rawValue, $0.title)
        }
    }

    /// The names by which a model is asked: those used before, those that are known without a request, and providers,
    /// which then choose.
    static let models = Completion.dynamic { registry, _, _ in
        let providers = registry.all((any ModelProvider).self)
        let names = Dictionary(providers.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
        let used = (Self.history(registry)?.offeredModels() ?? []).map { used in
            Completion.Candidate(
                "\(used.provider)/\(used.model)", "\(names[used.provider] ?? used.provider), used before")
        }
        let known = ModelTable.known.all.filter { names[$0.provider] != nil }.map { model in
            Completion.Candidate(
                "\(model.provider)/\(model.id)",
                [model.name, names[model.provider]].compactMap(\.self).joined(separator: ", "))
        }
        return used + known + providers.map { Completion.Candidate($0.id, $0.name) }
    }

    /// The models of the history, which its filters name without their providers; only those of a provider that is given.
    static let usedModels = Completion.dynamic { registry, _, given in
        (Self.history(registry)?.offeredModels(of: given["provider"]?.string) ?? []).map { used in
            Completion.Candidate(used.model, used.provider)
        }
    }

    /// The messages of the conversation that is given, with their texts.
    static let messages = Completion.dynamic { registry, _, given in
        guard let conversation = given["conversation"]?.string else { return [] }
        return (Self.history(registry)?.offeredMessages(of: conversation) ?? []).map { message in
            Completion.Candidate("\(message.id.rawValue)", message.text)
        }
    }

    /// The providers of the history.
    static let usedProviders = Completion.dynamic { registry, _, _ in
        let names = Dictionary(
            registry.all((any ModelProvider).self).map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
        return (Self.history(registry)?.offeredModels() ?? []).map { used in
            Completion.Candidate(used.provider, names[used.provider] ?? "")
        }
    }

    /// All providers.
    static let providers = Completion.dynamic { registry, _, _ in
        registry.all((any ModelProvider).self).map { Completion.Candidate($0.id, $0.name) }
    }

    private static func history(_ registry: Registry) -> History? {
        registry.all((any ConversationStore).self).lazy.compactMap { $0 as? Conversations }.first?.history
    }
}
