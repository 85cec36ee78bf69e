import Capabilities
import JSON
import KamiwazaTesting
import Testing

@testable import Auth

@Suite("Changes by another process", .timeLimit(.minutes(10)))
struct ChangedElsewhereTests {
    private func bearer(_ token: JSON?) -> [String: String] {
        ["Authorization": "Bearer \(token?.string ?? "")"]
    }

    @Test("A sign-out is noticed at the next request", arguments: [false, true])
    func logout(remember: Bool) async throws {
        try await Lab.signedIn(remember: remember) { server, desk in
            let token = try await desk.session()?["access_token"]
            try await desk.open { gateway in
                #expect(try await gateway.signed("\(server.api)/x", for: "lab") == bearer(token))
                try await desk.run("auth.logout")
                let error = await #expect(throws: AuthError.self) {
                    try await gateway.signed("\(server.api)/x", for: "lab")
                }
                #expect(error == .noToken("lab"))
            }
        }
    }

    @Test("A sign-in as another user is noticed at the next request")
    func login() async throws {
        try await Lab.signedIn({ $0.accounts.append(.init("bob", password: "other horse")) }) { server, desk in
            let ada = try await desk.session()?["access_token"]
            try await desk.open { gateway in
                #expect(try await gateway.signed("\(server.api)/x", for: "lab") == bearer(ada))
                try await desk.run("auth.login", ["user": "bob", "password": "other horse"])
                let bob = try await desk.session()?["access_token"]
                #expect(try await gateway.signed("\(server.api)/x", for: "lab") == bearer(bob))
                #expect(ada != bob)
            }
        }
    }

    @Test("A removed server is noticed at the next request", arguments: [false, true])
    func removal(remember: Bool) async throws {
        try await Lab.signedIn(remember: remember) { server, desk in
            try await desk.open { gateway in
                _ = try await gateway.signed("\(server.api)/x", for: "lab")
                try await desk.run("auth.server.remove", ["name": "lab"], isAgreed: true)
                await #expect(throws: AuthError.self) { try await gateway.signed("\(server.api)/x", for: "lab") }
            }
        }
    }

    @Test("Storing another secret does not affect the session")
    func otherSecret() async throws {
        try await Lab.signedIn { server, desk in
            let token = try await desk.session()?["access_token"]
            try await desk.open { gateway in
                #expect(try await gateway.signed("\(server.api)/x", for: "lab") == bearer(token))
                try await desk.run("auth.secret.set", ["name": "openai", "value": "some-key-of-mine"])
                #expect(try await gateway.signed("\(server.api)/x", for: "lab") == bearer(token))
            }
        }
    }
}
