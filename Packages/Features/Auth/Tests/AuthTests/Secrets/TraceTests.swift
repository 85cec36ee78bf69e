import Capabilities
import CoreTesting
import FileKit
import HTTPCore
import HostTesting
import JSON
import KamiwazaTesting
import Testing

@testable import Auth

@Suite("Traces", .timeLimit(.minutes(10)))
struct TraceTests {
    @Test("Traces show commands and servers, but no password or token")
    func secrets() async throws {
        try await Lab.signedIn { server, bench in
            var secrets: Set<String> = [Lab.password, "correct%20horse", "correct+horse"]
            func learn() async throws {
                let session = try #require(try await bench.session())
                secrets.formUnion(["access_token", "refresh_token"].compactMap { session[$0]?.string })
            }
            try await learn()
            for secret in secrets {
                let echo = Fault.status(.forbidden, ["detail": .string("no rights for \(secret)")])
                server.fail("/api/auth/users/me", with: echo)
                #expect(try await bench.failure("auth.whoami")?.exit == .denied)
            }
            server.heal("/api/auth/users/me")
            let echo = Fault.status(.unprocessable, ["detail": .string(Lab.password)])
            server.fail("/api/auth/token", with: echo, times: 1)
            let arguments: JSONObject = ["user": "ada", "password": .string(Lab.password)]
            #expect(try await bench.failure("auth.login", arguments)?.code == "kamiwaza.refused")
            bench.time?.advance(by: .seconds(400))
            try await bench.perform("auth.whoami")
            try await learn()
            let made = try await bench.perform("auth.pat.create", ["name": "ci"])
            secrets.insert(try #require(made["token"]?.string))
            try await bench.perform("auth.login", ["token": try #require(made["token"])])
            try await bench.perform("auth.secret.set", ["name": "openai", "value": "kept-secret-1"])
            secrets.insert("kept-secret-1")
            try await bench.perform("auth.logout")

            let spans = String(decoding: try Files.read("\(bench.folder)/state/spans", limit: 1 << 24), as: UTF8.self)
            for words in ["auth.login", "auth.whoami", "http.request", #""http.response.status_code":403"#] {
                #expect(spans.contains(words), "\(words)")
            }
            for secret in secrets {
                let lines = spans.split(separator: "\n").filter { $0.contains(secret) }
                #expect(lines.isEmpty, "\(lines)")
            }
        }
    }
}
