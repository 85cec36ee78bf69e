import Capabilities
import HostTesting
import JSON
import Testing

@testable import Auth

@Suite("Signing with a vendor's key", .timeLimit(.minutes(10)))
struct VendorTests {
    private static let home: [(name: String, url: String, header: String, value: String)] = [
        ("openai", "https://api.openai.com/v1/models", "Authorization", "Bearer KEY"),
        ("anthropic", "https://api.anthropic.com/v1/messages", "x-api-key", "KEY"),
        ("openrouter", "https://openrouter.ai/api/v1/models", "Authorization", "Bearer KEY"),
        ("gemini", "https://generativelanguage.googleapis.com/v1beta/models", "x-goog-api-key", "KEY"),
        ("mistral", "https://api.mistral.ai/v1/models", "Authorization", "Bearer KEY"),
        ("groq", "https://api.groq.com/openai/v1/models", "Authorization", "Bearer KEY"),
        ("deepseek", "https://api.deepseek.com/models", "Authorization", "Bearer KEY"),
        ("xai", "https://api.x.ai/v1/models", "Authorization", "Bearer KEY"),
    ]

    @Test("The key is sent to the vendor's host in the vendor's header, from the vault or the environment")
    func ownHost() async throws {
        try await TestWorkbench.withAuth { bench in
            for (name, url, header, value) in Self.home {
                let kept = "kept-\(name)-key"
                let given = "given-\(name)-key"
                bench.environment = [:]
                try await bench.perform("auth.secret.set", ["name": .string(name), "value": .string(kept)])
                let first = try await bench.open { try await $0.signed(url, for: name) }
                #expect(first == [header: value.replacing("KEY", with: kept)])
                bench.environment = ["\(name.uppercased())_API_KEY": given]
                let second = try await bench.open { try await $0.signed(url, for: name) }
                #expect(second == [header: value.replacing("KEY", with: given)])
            }
        }
    }

    private static let strangers = [
        "http://api.openai.com/v1", "https://api.openai.com:8443/v1", "https://api.openai.com.evil.example/v1",
        "https://evil.example/api.openai.com", "https://api.openai.com@evil.example/", "https://openai.com/v1",
        "https://x.api.openai.com/v1", "https://api.openai.com./v1", "https://evil.example#api.openai.com",
        "https://evil.example?https://api.openai.com/", "https://api.openai.com%2eevil.example/",
        "https://api.openai.com\\@evil.example/", "https://api.openai.com:443@evil.example/", "https://127.0.0.1/v1",
        "https://api.anthropic.com/v1", "https://аpi.openai.com/v1", "http://api.openai.com:443/", "api.openai.com", "",
    ]

    @Test("The key is not sent anywhere else, whatever the address looks like", arguments: strangers)
    func elsewhere(url: String) async throws {
        try await TestWorkbench.withAuth { bench in
            for isGiven in [true, false] {
                bench.environment = isGiven ? ["OPENAI_API_KEY": "given-openai-key"] : [:]
                if !isGiven {
                    try await bench.perform("auth.secret.set", ["name": "openai", "value": "kept-openai-key"])
                }
                do {
                    let headers = try await bench.open { try await $0.signed(url, for: "openai") }
                    Issue.record("\(url) got \(headers)")
                } catch {
                    let failure = AnyFailure(error)
                    #expect([.denied, .usage, .failed].contains(failure.exit), "\(failure.code)")
                    #expect(!failure.report.text().contains("openai-key"))
                    if let error = error as? AuthError {
                        #expect(error.code == "auth.wrong-destination" && error.exit == .denied)
                        #expect(error.message.contains("it is only for api.openai.com"))
                    }
                }
            }
        }
    }

    @Test(
        "The key is sent to its host in any spelling of the host",
        arguments: ["https://API.OpenAI.com/v1", "https://api.openai.com:443/v1"])
    func sameHost(url: String) async throws {
        try await TestWorkbench.withAuth { bench in
            bench.environment = ["OPENAI_API_KEY": "given-openai-key"]
            let headers = try await bench.open { try await $0.signed(url, for: "openai") }
            #expect(headers == ["Authorization": "Bearer given-openai-key"])
        }
    }

    @Test("The address in the environment applies only to a key from the environment")
    func baseAddress() async throws {
        try await TestWorkbench.withAuth { bench in
            let base = "http://127.0.0.1:4000/v1"
            bench.environment = ["OPENAI_API_KEY": "given-openai-key", "OPENAI_BASE_URL": base]
            func headers(_ url: String) async throws -> [String: String] {
                try await bench.open { try await $0.signed(url, for: "openai") }
            }
            #expect(try await headers("\(base)/models") == ["Authorization": "Bearer given-openai-key"])
            #expect(try await headers("https://api.openai.com/v1") == ["Authorization": "Bearer given-openai-key"])
            for other in ["http://127.0.0.1:4001/v1", "https://127.0.0.1:4000/v1", "http://127.0.0.2:4000/v1"] {
                await #expect(throws: AuthError.self) { _ = try await headers(other) }
            }
            // A vendor's address applies only to that vendor.
            bench.environment["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:5000"
            await #expect(throws: AuthError.self) { _ = try await headers("http://127.0.0.1:5000/") }

            try await bench.perform("auth.secret.set", ["name": "openai", "value": "kept-openai-key"])
            bench.environment["OPENAI_API_KEY"] = nil
            do {
                _ = try await headers(base)
                Issue.record("a kept key went to a BASE_URL")
            } catch let error as AuthError {
                #expect(error.code == "auth.wrong-destination" && !error.message.contains("127.0.0.1:4000, "))
                #expect(error.message.hasSuffix("it is only for api.openai.com"))
            }
            bench.environment["OPENAI_API_KEY"] = ""
            await #expect(throws: AuthError.self) { _ = try await headers(base) }
            bench.environment = ["OPENAI_API_KEY": "given-openai-key", "OPENAI_BASE_URL": "nonsense://x y"]
            await #expect(throws: AuthError.self) { _ = try await headers("http://127.0.0.1:4000/") }
        }
    }

    @Test("A request without a key stays unsigned, and a 401 changes nothing")
    func none() async throws {
        try await TestWorkbench.withAuth { bench in
            try await bench.open { bench in
                let vendor = try await bench.signed("https://api.openai.com/v1", for: "openai")
                let nobody = try await bench.signed("https://any.example/", for: "nobody")
                #expect(vendor == [:] && nobody == [:])
                let refused = RequestHead(
                    method: "GET", url: "https://api.openai.com/v1",
                    headers: [("Authorization", Secret("Bearer given-openai-key"))])
                #expect(try await bench.authenticator.renew(refused, for: ServerID("openai")) == false)
            }
        }
    }
}
