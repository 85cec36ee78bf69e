import Capabilities
import CoreTesting
import HostTesting
import JSON
import Registry
import Testing

@testable import Auth

/// None of these looks like a secret, so only a redactor that knows it can hide it.
@Suite("Redaction of used secrets", .timeLimit(.minutes(10)))
struct KnownSecretTests {
    private func isHidden(_ secret: String, _ bench: TestSession) -> Bool {
        bench.host.redactor.redact("they said \(secret) to me") == "they said \(Redactor.mark) to me"
    }

    @Test("The key of a server without accounts is redacted after it signed a request")
    func session() async throws {
        try await SmallServer.run(SmallServer.gateway) { gateway in
            try await TestWorkbench.withAuth { bench in
                try await bench.perform("auth.server.add", ["name": "gate", "address": .string(gateway.origin)])
                try await bench.perform("auth.login", ["server": "gate", "token": "some plain words"])
                try await bench.open { bench in
                    #expect(!isHidden("some plain words", bench))
                    let headers = try await bench.signed("\(gateway.origin)/v1/models", for: "gate")
                    #expect(headers == ["Authorization": "Bearer some plain words"])
                    #expect(isHidden("some plain words", bench))
                }
            }
        }
    }

    @Test("The key of a vendor is redacted, wherever it is stored")
    func vendor() async throws {
        try await TestWorkbench.withAuth { bench in
            try await bench.perform("auth.secret.set", ["name": "openai", "value": "kept plain words"])
            bench.environment = ["GROQ_API_KEY": "given plain words"]
            try await bench.open { bench in
                // The host learns what is in the environment at once.
                #expect(!isHidden("kept plain words", bench) && isHidden("given plain words", bench))
                _ = try await bench.signed("https://api.openai.com/v1", for: "openai")
                _ = try await bench.signed("https://api.groq.com/v1", for: "groq")
                #expect(isHidden("kept plain words", bench) && isHidden("given plain words", bench))
            }
        }
    }

    @Test("The passphrase of the vault is redacted, from the environment and from the user")
    func passphrase() async throws {
        try await TestWorkbench.withAuth { bench in
            bench.settings = "{auth: {'keep-unlocked': '0s'}}"
            bench.environment = ["MARTLET_PASSPHRASE": "plain words to open"]
            try await bench.open { bench in
                _ = try await bench.perform("auth.secret.set", ["name": "openai", "value": "kept plain words"])
                #expect(isHidden("plain words to open", bench) && isHidden("kept plain words", bench))
            }
            bench.environment = [:]
            bench.person = ScriptedPerson(
                ["auth.passphrase": ["wrong plain words", "plain words to open"]], otherwise: .declines)
            try await bench.open { bench in
                _ = try await bench.perform("auth.secret.get", ["name": "openai"])
                #expect(isHidden("wrong plain words", bench) && isHidden("plain words to open", bench))
            }
        }
    }

    @Test("Passwords and tokens of a sign-in, right or wrong, and imported secrets are redacted")
    func password() async throws {
        try await Lab.run { _, bench in
            try await bench.open { bench in
                await #expect(throws: (any Error).self) {
                    _ = try await bench.perform("auth.login", ["user": "ada", "password": "wrong plain words"])
                }
                _ = try await bench.perform("auth.login", ["user": "ada", "password": .string(Lab.password)])
                #expect(isHidden("wrong plain words", bench) && isHidden(Lab.password, bench))
            }
            _ = try bench.write("a=imported plain words\n", to: "some.env")
            try await bench.open { bench in
                _ = try await bench.perform("auth.secret.import", ["file": "some.env"])
                #expect(isHidden("imported plain words", bench))
            }
        }
    }
}
