import AnthropicDialect
import Capabilities
import HTTPCore
import ModelKit
import OpenAIDialect
import ResponsesDialect

/// A company that sells answers by the token. Its key is in the environment or with Auth, and goes nowhere else.
struct Vendor: Sendable {
    /// The name of the provider, of its secret, and of the variables.
    let id: String
    let name: String
    /// Where its API is, with the version.
    let base: String
    let header: KeyHeader
    let path: String
    let dialect: any Dialect
    /// What is asked where nobody says what.
    let defaultModel: String
    /// How the names of its models begin, by which they are known without asking.
    var families: [String] = []
    var headers: HTTPHeaders = [:]
    /// The query of the list of models.
    var listQuery = ""

    /// The variable with the key, and the one by which the same environment sends it elsewhere.
    var keyVariable: String { SecretName(id).environmentVariable }
    var addressVariable: String { EnvironmentKey.addressVariable(for: id) }

    /// In the order in which a default is looked for.
    static func all(sendsAttribution: Bool, usesResponses: Bool) -> [Vendor] {
        [anthropic, openAI(usesResponses), openRouter(sendsAttribution)]
    }

    private static let anthropic = Vendor(
        id: "anthropic", name: "Anthropic", base: "https://api.anthropic.com/v1", header: .named("x-api-key"),
        path: "/messages", dialect: AnthropicDialect(), defaultModel: "claude-sonnet-5-5", families: ["claude-"],
        headers: ["anthropic-version": AnthropicDialect.version], listQuery: "limit=1000")

    private static func openAI(_ usesResponses: Bool) -> Vendor {
        let dialect: any Dialect = usesResponses ? ResponsesDialect() : OpenAIDialect(.openAI)
        return Vendor(
            id: "openai", name: "OpenAI", base: "https://api.openai.com/v1", header: .bearer,
            path: usesResponses ? "/responses" : "/chat/completions", dialect: dialect, defaultModel: "gpt-5-mini",
            families: ["gpt-", "chatgpt-", "o1", "o3", "o4"])
    }

    private static func openRouter(_ sendsAttribution: Bool) -> Vendor {
        Vendor(
            id: "openrouter", name: "OpenRouter", base: "https://openrouter.ai/api/v1", header: .bearer,
            path: "/chat/completions", dialect: OpenAIDialect(.openRouter), defaultModel: "openrouter/auto",
            headers: sendsAttribution ? attribution : [:])
    }

    /// By which OpenRouter tells programs apart in its statistics. It says nothing about the person.
    /// There is no page to refer to, and an invented address would be worse than none.
    private static let attribution: HTTPHeaders = ["X-OpenRouter-Title": "Martlet", "X-Title": "Martlet"]
}
