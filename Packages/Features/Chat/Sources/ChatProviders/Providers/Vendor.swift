import AnthropicDialect
import Capabilities
import HTTPClient
import HTTPCore
import ModelKit
import OpenAIDialect
import ResponsesDialect

/// A company that sells answers by the token. Its key comes from the environment or from Auth, and is sent nowhere
/// else.
struct Vendor: Sendable {
    /// Its key: the variables with it, and where and how it is sent.
    let key: ModelVendor
    let name: String
    /// The address of its API, with the version.
    let base: String
    let path: String
    let dialect: any Dialect
    /// The default model.
    let defaultModel: String
    /// The prefixes of its model names, by which they are recognised without a request.
    var families: [String] = []
    var headers: HTTPHeaders = [:]
    /// The query for the list of models.
    var listQuery = ""

    /// The id of the provider, its secret and its variables.
    var id: String { key.name.text }
    /// The variable with the key, and the variable with another address.
    var keyVariable: String { key.name.environmentVariable }
    var addressVariable: String { key.name.addressVariable }

    /// The address of its API: the one in the environment, else its own.
    func address(in environment: [String: String]) -> String {
        environment[addressVariable].flatMap { $0.isEmpty ? nil : $0 } ?? base
    }

    /// In the order in which the default is chosen.
    static func all(sendsAttribution: Bool, usesResponses: Bool) -> [Vendor] {
        [anthropic, openAI(usesResponses), openRouter(sendsAttribution)]
    }

    private static let anthropic = Vendor(
        key: .anthropic, name: "Anthropic", base: "https://api.anthropic.com/v1", path: "/messages",
        dialect: AnthropicDialect(), defaultModel: "claude-sonnet-5-5", families: ["claude-"],
        headers: ["anthropic-version": AnthropicDialect.version], listQuery: "limit=1000")

    private static func openAI(_ usesResponses: Bool) -> Vendor {
        let dialect: any Dialect = usesResponses ? ResponsesDialect() : OpenAIDialect(.openAI)
        return Vendor(
            key: .openAI, name: "OpenAI", base: "https://api.openai.com/v1",
            path: usesResponses ? "/responses" : "/chat/completions", dialect: dialect, defaultModel: "gpt-5-mini",
            families: ["gpt-", "chatgpt-", "o1", "o3", "o4"])
    }

    private static func openRouter(_ sendsAttribution: Bool) -> Vendor {
        Vendor(
            key: .openRouter, name: "OpenRouter", base: "https://openrouter.ai/api/v1", path: "/chat/completions",
            dialect: OpenAIDialect(.openRouter), defaultModel: "openrouter/auto",
            headers: sendsAttribution ? attribution : [:])
    }

    /// The headers with which OpenRouter identifies programs in its statistics. They say nothing about the user. There
    /// is no page to refer to, and an invented address would be worse than none.
    private static let attribution: HTTPHeaders = ["X-OpenRouter-Title": "Martlet", "X-Title": "Martlet"]
}
