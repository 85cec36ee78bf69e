public import Capabilities
import JSON
public import ModelKit

extension OpenAIDialect {
    /// The models in a list, in the server's order: of OpenAI, OpenRouter, Ollama, vLLM, llama.cpp, and a gateway's models
    /// and capabilities. What is no model is passed over.
    public static func models(
        in body: [UInt8], provider: String
    ) throws(DialectError) -> [ModelDescription] {
        let list: JSON
        do {
            list = try JSON(parsing: body, reading: .stream)
        } catch {
            throw .malformed(body)
        }
        guard let entries = list.array ?? list["data"]?.array ?? list["models"]?.array else { throw .malformed(body) }
        return entries.compactMap { entry in
            let id = entry.filled ?? (entry["id"] ?? entry["model"] ?? entry["name"])?.filled
            return id.map { ModelDescription(id: $0, provider: provider, listed: entry) }
        }
    }
}

extension ModelDescription {
    fileprivate init(id: String, provider: String, listed entry: JSON) {
        self.init(id: id, provider: provider)
        let title = (entry["name"] ?? entry["display_name"])?.filled
        name = title == id ? nil : title
        let contextKeys = [
            "context_length", "max_model_len", "context_window", "max_context_length", "context_tokens",
            "max_input_tokens", "max_tokens", "maxTokens",
        ]
        contextTokens = contextKeys.lazy.compactMap { entry[$0].limit }.first ?? entry["meta"]?["n_ctx_train"].limit
        outputTokens = entry["top_provider"]?["max_completion_tokens"].limit ?? entry["max_output_tokens"].limit
        price = ModelPrice(listed: entry)
        abilities = Self.abilities(of: entry)
    }

    private static func abilities(of entry: JSON) -> Set<ModelAbility>? {
        var found: Set<ModelAbility> = []
        var isTold = false
        if let kinds = entry["architecture"]?["input_modalities"]?.array?.compactMap(\.string) {
            isTold = true
            if kinds.contains("image") { found.insert(.images) }
            if kinds.contains("file") { found.insert(.files) }
        }
        if let parameters = entry["supported_parameters"]?.array?.compactMap(\.string) {
            isTold = true
            if parameters.contains("tools") { found.insert(.tools) }
            if parameters.contains("reasoning") { found.insert(.reasoning) }
            if parameters.contains("structured_outputs") { found.insert(.schema) }
        }
        if let tools = (entry["supports_tools"] ?? entry["supportsTools"])?.bool {
            isTold = true
            if tools { found.insert(.tools) }
        }
        return isTold ? found : nil
    }
}

extension ModelPrice {
    /// Nil where the entry has none. OpenRouter's are strings, in dollars for one token; a gateway's are numbers, for a
    /// thousand.
    fileprivate init?(listed entry: JSON) {
        let pricing = entry["pricing"]
        self.init(
            input: TokenPrice(pricing?["prompt"]) ?? TokenPrice(entry["input_cost_per_1k"], for: 1000),
            output: TokenPrice(pricing?["completion"]) ?? TokenPrice(entry["output_cost_per_1k"], for: 1000),
            cachedInput: TokenPrice(pricing?["input_cache_read"]),
            cacheWrite: TokenPrice(pricing?["input_cache_write"]))
        if self == ModelPrice() { return nil }
    }
}

extension TokenPrice {
    /// Less than zero is how OpenRouter says that the price depends.
    fileprivate init?(_ dollars: JSON?, for tokens: Double = 1) {
        guard let dollars = dollars?.double ?? dollars?.string.flatMap(Double.init), dollars >= 0, dollars < 1000
        else { return nil }
        self.init(femtodollars: Int((dollars / tokens * 1e15).rounded()))
    }
}

extension JSON? {
    /// A limit; zero is how some say that they do not know.
    fileprivate var limit: Int? {
        tokens.flatMap { $0 > 0 ? $0 : nil }
    }
}
