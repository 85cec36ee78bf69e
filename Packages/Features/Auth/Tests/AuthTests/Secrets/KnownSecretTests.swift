import Capabilities
import JSON
import Registry
import Testing

@testable import Auth

/// None of these looks like a secret, so that only who knows it can hide it.
@Suite("Redaction of used secrets", .timeLimit(.minutes(10)))
struct KnownSecretTests {
    private func isHidden(_ secret: String, _ desk: OpenDesk) -> Bool {
        desk.host.redactor.redact("they said \(secret) to me") == "they said \(Redactor.mark) to me"
    }

    @Test("The key of a server without accounts is redacted after it signed a request")
    func session() async throws {
        try await SmallServer.run(SmallServer.gateway) { gateway in
            try await Desk.run { desk in
                try await desk.run("auth.server.add", ["name": "gate", "address": .string(gateway.origin)])
                try await desk.run("auth.login", ["server": "gate", "token": "some plain words"])
                try await desk.open { desk in
                    #expect(!isHidden("some plain words", desk))
                    let headers = try await desk.signed("\(gateway.origin)/v1/models", for: "gate")
                    #expect(headers == ["Authorization": "Bearer some plain words"])
                    #expect(isHidden("some plain words", desk))
                }
            }
        }
    }

    @Test("The key of a vendor is redacted, wherever it is stored")
    func vendor() async throws {
        try await Desk.run { desk in
            try await desk.run("auth.secret.set", ["name": "openai", "value": "kept plain words"])
            desk.environment = ["GROQ_API_KEY": "given plain words"]
            try await desk.open { desk in
                #expect(!isHidden("kept plain words", desk) && !isHidden("given plain words", desk))
                _ = try await desk.signed("https://api.openai.com/v1", for: "openai")
                _ = try await desk.signed("https://api.groq.com/v1", for: "groq")
                #expect(isHidden("kept plain words", desk) && isHidden("given plain words", desk))
            }
        }
    }

    @Test("The passphrase of the vault is redacted, from the environment and from the user")
    func passphrase() async throws {
        try await Desk.run { desk in
            desk.overrides = "{auth: {'keep-unlocked': '0s'}}"
            desk.environment = ["MARTLET_PASSPHRASE": "plain words to open"]
            try await desk.open { desk in
                _ = try await desk.perform("auth.secret.set", ["name": "openai", "value": "kept plain words"])
                #expect(isHidden("plain words to open", desk) && isHidden("kept plain words", desk))
            }
            desk.environment = [:]
            desk.person = Person(["auth.passphrase": ["wrong plain words", "plain words to open"]])
            try await desk.open { desk in
                _ = try await desk.perform("auth.secret.get", ["name": "openai"])
                #expect(isHidden("wrong plain words", desk) && isHidden("plain words to open", desk))
            }
        }
    }

    @Test("Passwords and tokens of a sign-in, right or wrong, and imported secrets are redacted")
    func password() async throws {
        try await Lab.run { _, desk in
            try await desk.open { desk in
                await #expect(throws: (any Error).self) {
                    _ = try await desk.perform("auth.login", ["user": "ada", "password": "wrong plain words"])
                }
                _ = try await desk.perform("auth.login", ["user": "ada", "password": .string(Lab.password)])
                #expect(isHidden("wrong plain words", desk) && isHidden(Lab.password, desk))
            }
            _ = try desk.write("a=imported plain words\n", to: "some.env")
            try await desk.open { desk in
                _ = try await desk.perform("auth.secret.import", ["file": "some.env"])
                #expect(isHidden("imported plain words", desk))
            }
        }
    }
}
