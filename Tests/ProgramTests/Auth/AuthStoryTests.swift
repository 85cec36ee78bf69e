import HTTPCore
import JSON
import KamiwazaTesting
import Testing

@Suite("Machine without a user", .timeLimit(.minutes(5)))
struct AuthStoryTests {
    @Test("The command in the error leads from an unknown certificate to a session")
    func story() async throws {
        try await AuthHome.with(AuthHome.selfSigned) { home in
            let server = home.server
            let refused = try await home.martlet("auth server add lab \(server.origin)")
            #expect(refused.code == 3 && refused.output == "")
            #expect(refused.errors.contains("is not trusted: it is self-signed"), "\(refused.errors)")
            let told = try #require(refused.errors.lines.last { $0.contains("martlet auth trust add") })
            let machine = try await home.martlet("auth server add lab \(server.origin) --json")
            #expect(machine.code == 3 && machine.output == "")
            let error = try #require(try machine.errors.lines.last?.json()["error"])
            #expect(error["code"] == "auth.certificate-unknown")
            let command = try #require(error["command"]?.string)
            #expect(told.hasSuffix(command))
            #expect(server.requests.isEmpty)

            let trusted = try await home.shell(command)
            #expect(trusted.code == 0 && trusted.output.contains("pinned"), "\(trusted.errors)")
            #expect(server.requests.isEmpty)
            let added = try await home.martlet("auth server add lab \(server.origin) --json")
            #expect(added.code == 0, "\(added.errors)")
            #expect(try added.output.json()["server"]?.string == server.api)

            let login = try await home.martlet(
                "auth login --user ada --password-stdin --remember --json", input: AuthHome.password)
            #expect(login.code == 0, "\(login.errors)")
            #expect(try login.output.json()["user"] == "ada")
            let me = try await home.martlet("auth whoami --json")
            #expect(try me.output.json()["email"] == "ada@lab.example")
            #expect(server.requests.last?.credential == .personalToken)

            let before = try await home.session()
            #expect(try await home.martlet("auth pat rotate").code == 0)
            let after = try await home.session()
            #expect(before["access_token"] != after["access_token"])
            let list = try await home.martlet("auth pat list --json").output.json().array ?? []
            #expect(list.map { $0["state"] } == ["revoked", "active"] && list.last?["this_machine"] == true)

            #expect(try await home.martlet("auth logout").code == 0)
            #expect(try await home.martlet("auth status lab").code == 3)
            let over = try await home.martlet("auth whoami")
            #expect(over.code == 3 && over.errors.contains("martlet auth login lab"))
            #expect(server.count(.delete, "/api/auth/pats/\(after["id"]?.string ?? "")") == 1)
        }
    }

    @Test("Only the certificate with the given fingerprint is trusted")
    func otherFingerprint() async throws {
        try await AuthHome.with(AuthHome.selfSigned) { home in
            let other = String(repeating: "ab", count: 32)
            let add = try await home.martlet("auth trust add \(home.server.origin) --fingerprint \(other)")
            #expect(add.code == 3 && add.errors.contains("so it was not trusted"))
            let malformed = try await home.martlet("auth trust add \(home.server.origin) --fingerprint abc")
            #expect(malformed.code == 2)
            #expect(try await home.martlet("auth trust verify \(home.server.origin)").code == 3)
            #expect(try await home.martlet("auth trust list --json").output.json() == [])
            #expect(home.server.requests.isEmpty)
        }
    }

    @Test("A timeout ends a command whose server does not answer")
    func slow() async throws {
        try await AuthHome.with { home in
            try await home.signIn()
            home.server.fail("/api/auth/users/me", with: .held)
            let run = try await home.martlet("auth whoami --timeout 200ms")
            #expect(run.code == 4 && run.output == "", "\(run.errors)")
            #expect(!run.errors.contains("abandoned"), "\(run.errors)")
            home.server.heal("/api/auth/users/me")
        }
    }
}
