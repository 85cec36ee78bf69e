import Capabilities
import HTTPClient

/// A provider of models with a key by name, whose key goes nowhere else.
struct ModelVendor: Sendable {
    /// How requests carry the key.
    enum Header: Sendable {
        case bearer
        case named(String)
    }

    /// The name of its key among the secrets; the environment variable follows from it.
    let name: SecretName
    let hosts: [String]
    let header: Header
    /// The variable by which the environment sends its own key elsewhere.
    var addressVariable: String { name.environmentVariable.replacingEnd("_API_KEY", by: "_BASE_URL") }

    private init(_ name: SecretName, _ hosts: [String], _ header: Header = .bearer) {
        self.name = name
        self.hosts = hosts
        self.header = header
    }

    static let all = [
        ModelVendor("openai", ["api.openai.com"]),
        ModelVendor("anthropic", ["api.anthropic.com"], .named("x-api-key")),
        ModelVendor("openrouter", ["openrouter.ai"]),
        ModelVendor("gemini", ["generativelanguage.googleapis.com"], .named("x-goog-api-key")),
        ModelVendor("mistral", ["api.mistral.ai"]),
        ModelVendor("groq", ["api.groq.com"]),
        ModelVendor("deepseek", ["api.deepseek.com"]),
        ModelVendor("xai", ["api.x.ai"]),
        // It has no host of its own: its key is for the address that stands beside it, and for no other.
        ModelVendor("kamiwaza", []),
    ]

    static func named(_ name: String) -> ModelVendor? {
        all.first { $0.name.text == name }
    }

    /// Whether a key may go to an address. One from the environment also goes where the same environment says.
    func mayGo(to url: HTTPURL, keyIsFromEnvironment: Bool, environment: [String: String]) -> Bool {
        if url.scheme == .https, hosts.contains(url.host), url.port == 443 { return true }
        guard keyIsFromEnvironment, let base = address(environment) else { return false }
        return url.isSameOrigin(as: base)
    }

    /// Where the environment wants its key to go.
    func address(_ environment: [String: String]) -> HTTPURL? {
        guard let text = environment[addressVariable], !text.isEmpty else { return nil }
        // What is no address leads nowhere, so the key stays here; the request itself will say what is wrong.
        return try? HTTPURL(text, assuming: .https)
    }

    func sign(_ request: inout RequestHead, with key: Secret) {
        switch header {
        case .bearer: request.authorize(with: key)
        case .named(let name): request.headers.append((name, key))
        }
    }
}

extension RequestHead {
    /// Carries a token in the usual place.
    mutating func authorize(with token: Secret) {
        headers.append(("Authorization", Secret("Bearer " + token.withText { $0 })))
    }

    /// The token that `authorize` put there.
    var token: Secret? {
        headers.last { $0.name == "Authorization" }?.value.withText { text in
            text.hasPrefix("Bearer ") ? Secret(String(text.dropFirst(7))) : nil
        }
    }
}

extension String {
    fileprivate func replacingEnd(_ end: String, by other: String) -> String {
        hasSuffix(end) ? dropLast(end.count) + other : self
    }
}
