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
