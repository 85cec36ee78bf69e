import Capabilities
import HTTPCore
import Testing

@testable import HTTPClient

@Suite("Where keys may go")
struct KeyRuleTests {
    private struct Case: Sendable {
        let destination: CredentialDestination
        let allowed: [String]
        let refused: [String]
    }

    private static func cases() throws -> [Case] {
        let (plain, secure) = (try HTTPURL("http://lab.test:8080/api"), try HTTPURL("https://lab.test/api"))
        return [
            Case(
                destination: .key(beside: plain), allowed: ["http://lab.test:8080/", "http://LAB.test:8080/v1?x=1"],
                refused: [
                    "https://lab.test/", "https://lab.test:8080/", "http://lab.test/", "http://other.test:8080/",
                ]),
            Case(
                destination: .key(beside: secure), allowed: ["https://lab.test/", "https://lab.test:8443/v1"],
                refused: ["http://lab.test/", "http://lab.test:443/", "https://x.lab.test/", "https://lab.test./"]),
            Case(
                destination: .profile(at: plain),
                allowed: ["http://lab.test:8080/", "https://lab.test/", "https://lab.test:9443/v1"],
                refused: ["http://lab.test/", "http://lab.test:9443/", "https://lab.test.evil.test/"]),
            Case(
                destination: .key(of: .openAI, beside: nil), allowed: ["https://api.openai.com/v1/models"],
                refused: [
                    "http://api.openai.com/", "https://api.openai.com:8443/", "http://api.openai.com:443/",
                    "https://x.api.openai.com/", "https://lab.test/", "https://api.anthropic.com/",
                ]),
            Case(
                destination: .key(of: .openAI, beside: plain),
                allowed: ["https://api.openai.com/v1/models", "http://lab.test:8080/v1"],
                refused: ["https://lab.test/", "https://lab.test:8080/", "http://api.openai.com/"]),
            Case(
                destination: .key(of: .kamiwaza, beside: nil), allowed: [], refused: ["https://lab.test/"]),
            Case(
                destination: .key(of: .kamiwaza, beside: secure), allowed: ["https://lab.test/"],
                refused: ["https://lab.test:8443/"]),
        ]
    }

    @Test("A credential is allowed at its own servers and at no others, and added to no other request")
    func destinations() throws {
        for example in try Self.cases() {
            for url in try example.allowed.map({ try HTTPURL($0) }) {
                #expect(example.destination.allows(url), "\(url)")
                var head = RequestHead(method: "GET", url: url.text)
                let isAdded = try head.authorize(with: Secret("key-1"), for: example.destination)
                #expect(isAdded && head.headers.count == 1, "\(url)")
            }
            for url in try example.refused.map({ try HTTPURL($0) }) {
                #expect(!example.destination.allows(url), "\(url)")
                var head = RequestHead(method: "GET", url: url.text)
                let isAdded = try head.authorize(with: Secret("key-1"), for: example.destination)
                #expect(!isAdded && head.headers.isEmpty, "\(url)")
            }
        }
    }

    @Test("A destination names its servers")
    func servers() throws {
        let address = try HTTPURL("http://[::1]:4000/v1")
        #expect(CredentialDestination.key(of: .openAI, beside: nil).servers == ["api.openai.com"])
        #expect(CredentialDestination.key(of: .openAI, beside: address).servers == ["api.openai.com", "[::1]:4000"])
        #expect(CredentialDestination.profile(at: address).servers == ["[::1]:4000"])
        #expect(CredentialDestination.key(of: .kamiwaza, beside: nil).servers == [])
    }

    @Test("No host belongs to two vendors, and each vendor is found by its name")
    func vendors() {
        let hosts = ModelVendor.all.flatMap(\.hosts)
        #expect(Set(hosts).count == hosts.count && hosts.allSatisfy { !$0.isEmpty && $0 == $0.lowercased() })
        for vendor in ModelVendor.all { #expect(ModelVendor.named(vendor.name.text)?.hosts == vendor.hosts) }
        #expect(ModelVendor.named("nobody") == nil)
    }

    private static func key(_ id: String, _ environment: [String: String]) throws -> EnvironmentKey {
        try EnvironmentKey(for: id, in: environment, redactor: Redactor())
    }

    /// The headers with which a request is signed.
    private static func signed(_ url: String, by authenticator: any Authenticator) async throws -> [String: String] {
        var head = RequestHead(method: "GET", url: url)
        try await authenticator.sign(&head, for: ServerID("any"))
        return Dictionary(uniqueKeysWithValues: head.headers.map { ($0.name, $0.value.withText { $0 }) })
    }

    @Test("A vendor's key is sent in the vendor's header, and a 401 changes nothing")
    func vendorKey() async throws {
        let environment = ["ANTHROPIC_API_KEY": "key-1", "ANTHROPIC_BASE_URL": "http://127.0.0.1:4000"]
        let signer = try #require(try Self.key("anthropic", environment).authenticator(for: .anthropic))
        for url in ["http://127.0.0.1:4000/v1/messages", "https://api.anthropic.com/v1/messages"] {
            #expect(try await Self.signed(url, by: signer) == ["x-api-key": "key-1"])
        }
        await #expect(throws: EnvironmentKeyError.self) {
            try await Self.signed("https://evil.test/v1/messages", by: signer)
        }
        let refused = RequestHead(method: "GET", url: "http://127.0.0.1:4000/")
        #expect(try await signer.renew(refused, for: ServerID("anthropic")) == false)
        let empty = try Self.key("anthropic", ["ANTHROPIC_API_KEY": ""])
        #expect(empty.authenticator(for: .anthropic) == nil)
    }

    @Test("A server's key is only for the address beside it")
    func serverKey() async throws {
        let lab = try HTTPURL("http://127.0.0.1:4000/v1")
        let environment = ["LAB_API_KEY": "key-1", "LAB_BASE_URL": "http://127.0.0.1:4000"]
        let signer = try #require(try Self.key("lab", environment).authenticator(for: lab))
        #expect(try await Self.signed("http://127.0.0.1:4000/x", by: signer) == ["Authorization": "Bearer key-1"])
        do {
            _ = try await Self.signed("http://127.0.0.1:4001/x", by: signer)
            Issue.record("the key went to another port")
        } catch {
            guard case EnvironmentKeyError.wrongServer(let meant, let target) = error else { throw error }
            #expect(meant == ["127.0.0.1:4000"] && target == "127.0.0.1:4001")
        }
        for address in ["http://127.0.0.1:4001/", "https://127.0.0.1:4000/", "http://localhost:4000/"] {
            let other = try HTTPURL(address)
            let found = try Self.key("lab", environment).authenticator(for: other)
            #expect(found == nil, "\(address)")
        }
        // Without an address it is not known whose key it is.
        let alone = try Self.key("lab", ["LAB_API_KEY": "key-1"])
        #expect(alone.address == nil && alone.authenticator(for: lab) == nil)
        #expect(alone.authenticator(for: .openAI) != nil)
    }

    @Test(
        "A key that could change the request is refused, and is redacted all the same",
        arguments: ["a\r\nX: 1", "ü", " "])
    func badKey(text: String) throws {
        let redactor = Redactor()
        let key = text + "-and-more"
        do {
            _ = try EnvironmentKey(for: "lab", in: ["LAB_API_KEY": key], redactor: redactor)
            Issue.record("the key was taken")
        } catch {
            guard case EnvironmentKeyError.badKey(let variable) = error else { throw error }
            #expect(variable == "LAB_API_KEY")
        }
        #expect(!redactor.redact("it is \(key)!").contains("and-more"))
    }

    @Test("An invalid address beside a key is an error with its variable")
    func badAddress() throws {
        do {
            _ = try Self.key("lab", ["LAB_BASE_URL": "ftp://lab.test"])
            Issue.record("the address was taken")
        } catch {
            guard case EnvironmentKeyError.badAddress(let variable, let error) = error else { throw error }
            #expect(variable == "LAB_BASE_URL" && error.kind == .invalidURL)
        }
        #expect(ModelVendor.openAI.address(in: ["OPENAI_BASE_URL": "ftp://x"]) == nil)
    }
}
