import JSON
public import ModelKit

/// How a server deviates from the other servers with OpenAI's Chat Completions.
public struct OpenAIQuirks: Sendable, Hashable {
    /// The name of the token limit.
    public enum TokenLimit: Sendable, Hashable {
        case maxTokens, maxCompletionTokens
        /// The newer name for OpenAI's newer models, wherever they are served, and the older one for all others.
        case byModel
    }

    /// Features of a request that some servers lack.
    public enum Feature: String, Sendable, Hashable, CaseIterable {
        case images, files, tools, schema, seed, effort
    }

    /// The name under which the token limit is sent.
    public var tokenLimit = TokenLimit.byModel
    /// Features that are refused here, because the server would ignore or misunderstand them.
    public var lacks: Set<Feature> = []
    /// Whether reasoning models expect `developer` instead of `system`.
    public var usesDeveloperRole = false
    /// Whether the effort is a member of `reasoning` and not `reasoning_effort`.
    public var nestsEffort = false
    /// Whether reasoning is sent back to the model.
    public var returnsReasoning = false
    /// Whether the server runs the calls itself, so that they are history and need no results.
    public var callsAreDone = false
    /// Whether only the last user message is read, so that it must contain the earlier ones.
    public var foldsHistory = false
    /// Whether usage in a stream is requested. Servers that refuse the option do not report it.
    public var asksForUsage = true
    /// Whether the server may write its errors as an SSE field `error`, which `EventParser` must be configured for.
    public var readsErrorField = false

    /// A server without deviations.
    public init() {}
}

extension OpenAIQuirks {
    /// The quirks for a retry after a server has refused a name; nil if the refusal is about something else.
    public func adapted(to refusal: ServerRefusal) -> OpenAIQuirks? {
        let words = [refusal.message, refusal.code ?? "", refusal.field ?? ""].joined(separator: " ").lowercased()
        let signs = ["unsupported", "not supported", "unrecognized", "unknown", "not permitted", "unexpected", "extra"]
        guard signs.contains(where: { words.contains($0) }) else { return nil }
        var quirks = self
        if words.contains("max_completion_tokens") {
            // The refusal names the other name, or the refused name is itself unknown.
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

    /// Whether it is a reasoning model of OpenAI, since o1, for which the names were changed.
    private static func isNew(_ model: String) -> Bool {
        let name = model.split(separator: "/").last ?? ""
        if name.hasPrefix("gpt-") { return (name.dropFirst(4).first?.wholeNumberValue ?? 0) >= 5 }
        return name.first == "o" && name.dropFirst().first?.isNumber == true
    }
}

extension OpenAIQuirks {
    /// An unknown compatible server.
    public static let compatible = OpenAIQuirks {
        $0.lacks = [.files]
    }

    /// OpenAI itself, whose reasoning models expect the role `developer`.
    public static let openAI = OpenAIQuirks {
        $0.tokenLimit = .maxCompletionTokens
        $0.usesDeveloperRole = true
    }

    /// OpenRouter, which nests the reasoning effort and expects reasoning back.
    public static let openRouter = OpenAIQuirks {
        $0.tokenLimit = .maxTokens
        $0.nestsEffort = true
        $0.returnsReasoning = true
    }

    /// An agent behind HTTP. It runs its own tools, has no memory between requests, and ignores what it does not know.
    public static let gateway = OpenAIQuirks {
        $0.tokenLimit = .maxTokens
        $0.lacks = Set(Feature.allCases)
        $0.callsAreDone = true
        $0.foldsHistory = true
    }

    /// Ollama, which does not take files.
    public static let ollama = OpenAIQuirks {
        $0.tokenLimit = .maxTokens
        $0.lacks = [.files]
    }

    /// The server of llama.cpp, which may write its errors as an SSE field `error`.
    public static let llamaCpp = OpenAIQuirks {
        $0.tokenLimit = .maxTokens
        $0.lacks = [.files]
        $0.readsErrorField = true
    }

    /// vLLM, which does not take files.
    public static let vLLM = OpenAIQuirks {
        $0.tokenLimit = .maxTokens
        $0.lacks = [.files]
    }

    /// A deployment on a Kamiwaza platform, which is vLLM or llama.cpp.
    public static let kamiwaza = llamaCpp

    /// A proxy that translates each name for the model behind it.
    public static let liteLLM = OpenAIQuirks {
        $0.tokenLimit = .maxTokens
    }

    /// All of them, by their names in settings.
    public static let servers: [(name: String, quirks: OpenAIQuirks)] = [
        ("compatible", compatible), ("openai", openAI), ("openrouter", openRouter), ("gateway", gateway),
        ("ollama", ollama), ("llama.cpp", llamaCpp), ("vllm", vLLM), ("kamiwaza", kamiwaza), ("litellm", liteLLM),
    ]

    private init(_ change: (inout OpenAIQuirks) -> Void) {
        self.init()
        change(&self)
    }
}
