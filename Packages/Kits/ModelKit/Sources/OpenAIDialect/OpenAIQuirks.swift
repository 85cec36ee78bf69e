import JSON
public import ModelKit

/// In what a server that speaks OpenAI's Chat Completions differs from the others that do.
public struct OpenAIQuirks: Sendable, Hashable {
    /// What the limit of an answer's tokens is called.
    public enum TokenLimit: Sendable, Hashable {
        case maxTokens, maxCompletionTokens
        /// The newer name for OpenAI's newer models, wherever they are served, and the older one for all others.
        case byModel
    }

    /// What a request may ask for and not every server has.
    public enum Feature: String, Sendable, Hashable, CaseIterable {
        case images, files, tools, schema, seed, effort
    }

    public var tokenLimit = TokenLimit.byModel
    /// What is refused here, because the server would pass over it in silence or not understand it.
    public var lacks: Set<Feature> = []
    /// Whether models that think want `developer` in place of `system`.
    public var usesDeveloperRole = false
    /// Whether the effort is a member of `reasoning` and not `reasoning_effort`.
    public var nestsEffort = false
    /// Whether the model's thoughts are sent back to it.
    public var returnsReasoning = false
    /// Whether the server runs the calls itself, so that they are history and never to be answered.
    public var callsAreDone = false
    /// Whether only the last message of the user is read, so that it has to tell what was said before.
    public var foldsHistory = false
    /// Whether usage in a stream is asked for, and with it not given to servers that refuse the question.
    public var asksForUsage = true
    /// Whether the server may write its errors as an SSE field `error`, which `EventParser` has to be told.
    public var readsErrorField = false

    public init() {}
}

extension OpenAIQuirks {
    /// The quirks to ask once more with, after a server has refused a name that this one calls differently; nil when
    /// the refusal is about something else.
    public func adapted(to refusal: ServerRefusal) -> OpenAIQuirks? {
        let words = [refusal.message, refusal.code ?? "", refusal.field ?? ""].joined(separator: " ").lowercased()
        let signs = ["unsupported", "not supported", "unrecognized", "unknown", "not permitted", "unexpected", "extra"]
        guard signs.contains(where: { words.contains($0) }) else { return nil }
        var quirks = self
        if words.contains("max_completion_tokens") {
            // The one name is refused by naming the other, or it is itself the unknown one.
            quirks.tokenLimit = tokenLimit == .maxCompletionTokens ? .maxTokens : .maxCompletionTokens
        } else if words.contains("stream_options"), asksForUsage {
            quirks.asksForUsage = false
        } else if words.contains("developer"), usesDeveloperRole {
            quirks.usesDeveloperRole = false
        } else {
            return nil
        }
        return quirks
    }
}

extension OpenAIQuirks {
    func limitName(for model: String) -> String {
        switch tokenLimit {
        case .maxTokens: "max_tokens"
        case .maxCompletionTokens: "max_completion_tokens"
        case .byModel: Self.isNew(model) ? "max_completion_tokens" : "max_tokens"
        }
    }

    func systemRole(for model: String) -> JSON {
        usesDeveloperRole && Self.isNew(model) ? "developer" : "system"
    }

    /// Whether a model is one of OpenAI's since o1, which think, and for which the names were changed.
    private static func isNew(_ model: String) -> Bool {
        let name = model.split(separator: "/").last ?? ""
        if name.hasPrefix("gpt-") { return (name.dropFirst(4).first?.wholeNumberValue ?? 0) >= 5 }
        return name.first == "o" && name.dropFirst().first?.isNumber == true
    }
}

extension OpenAIQuirks {
    /// A server of which nothing more is known.
    public static let compatible = OpenAIQuirks {
        $0.lacks = [.files]
    }

    public static let openAI = OpenAIQuirks {
        $0.tokenLimit = .maxCompletionTokens
        $0.usesDeveloperRole = true
    }

    public static let openRouter = OpenAIQuirks {
        $0.tokenLimit = .maxTokens
        $0.nestsEffort = true
        $0.returnsReasoning = true
    }

    /// An agent behind HTTP. It runs its tools itself, forgets everything between two calls, and passes over what it
    /// does not know.
    public static let gateway = OpenAIQuirks {
        $0.tokenLimit = .maxTokens
        $0.lacks = Set(Feature.allCases)
        $0.callsAreDone = true
        $0.foldsHistory = true
    }

    public static let ollama = OpenAIQuirks {
        $0.tokenLimit = .maxTokens
        $0.lacks = [.files]
    }

    public static let llamaCpp = OpenAIQuirks {
        $0.tokenLimit = .maxTokens
        $0.lacks = [.files]
        $0.readsErrorField = true
    }

    public static let vLLM = OpenAIQuirks {
        $0.tokenLimit = .maxTokens
        $0.lacks = [.files]
    }

    /// A deployment on a Kamiwaza platform, behind which is vLLM or llama.cpp.
    public static let kamiwaza = llamaCpp

    /// A proxy, which gives each name to the model behind it as that one wants it.
    public static let liteLLM = OpenAIQuirks {
        $0.tokenLimit = .maxTokens
    }

    /// All of them, by the names that settings use.
    public static let servers: [(name: String, quirks: OpenAIQuirks)] = [
        ("compatible", compatible), ("openai", openAI), ("openrouter", openRouter), ("gateway", gateway),
        ("ollama", ollama), ("llama.cpp", llamaCpp), ("vllm", vLLM), ("kamiwaza", kamiwaza), ("litellm", liteLLM),
    ]

    private init(_ change: (inout OpenAIQuirks) -> Void) {
        self.init()
        change(&self)
    }
}
