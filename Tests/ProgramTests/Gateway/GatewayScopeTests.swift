import HTTPClient
import HTTPCore
import JSON
import Testing

/// Client tokens on a running gateway.
@Suite("Client tokens", .timeLimit(.minutes(5)))
struct GatewayScopeTests {
    private func token(_ home: GatewayHome, _ words: String...) async throws -> String {
        let made = try await Program.martlet.run(
            ["gateway", "token", "create"] + words + ["--json"], home: home.path, adding: home.variables)
        #expect(made.code == 0, "\(made.errors)")
        return try #require(try made.output.json()["token"]?.string)
    }

    private func headers(_ token: String) -> HTTPHeaders { ["Authorization": "Bearer \(token)"] }

    // finding L.F12
    @Test("A token opens only the routes of its scopes, a refusal names the scope, and the owner cannot change rules")
    func scopes() async throws {
        try await GatewayHome.with { home in
            try await home.serve { gateway in
                let names = ["chat", "read", "approve", "admin"]
                var tokens: [String: String] = [:]
                for name in names { tokens[name] = try await token(home, name, "--scope", name) }
                let routes = try await home.martlet("gateway", "routes", "--json").output.json().array ?? []
                #expect(routes.count > 35)
                for route in routes {
                    let method = try #require(route["method"]?.string), path = try #require(route["path"]?.string)
                    let scopes = (route["scopes"]?.array ?? []).compactMap(\.string)
                    let isOpen = route["open"] == true
                    #expect(isOpen == scopes.isEmpty, "\(method) \(path) needs a scope, or none")
                    let target =
                        gateway.address
                        + path.replacing("{id...}", with: "none").replacing("{path...}", with: "none")
                        .replacing(/\{\w+\}/, with: "none")
                    for name in names {
                        let answer = try await home.send(method, target, headers(tokens[name] ?? ""))
                        let isRefused = answer.status.code == 403
                        #expect(
                            isRefused == (!isOpen && !scopes.contains(name)),
                            "\(name): \(method) \(path) \(answer.status)")
                        if isRefused {
                            #expect(answer.text.contains("gateway token create NAME --scope"), "\(answer.text)")
                        }
                    }
                }
                let rules: JSON = ["name": "x", "rules": [["tool": "*", "verdict": "allow"]]]
                let owner = try await home.post("\(gateway.address)/v1/projects", rules)
                #expect(
                    owner.status.code == 403 && owner.text.contains("the token 'owner' has the scopes"), "\(owner.text)"
                )
                #expect(try await home.martlet("gateway", "project", "list", "--json").output.json() == [])
                // An answer for a whole project would be a rule as well.
                for (scope, status) in [("once", 404), ("session", 404), ("project", 403)] {
                    let answer = try await home.post(
                        "\(gateway.address)/v1/sessions/none/approvals/none", ["allow": true, "scope": .string(scope)])
                    #expect(answer.status.code == status, "\(scope): \(answer.text)")
                }
                let admin = try await home.send(
                    "POST", "\(gateway.address)/v1/projects", headers(tokens["admin"] ?? ""), rules)
                #expect(admin.status.code == 200, "\(admin.text)")
            }
        }
    }

    @Test("A token is valid from its creation until it is revoked or expires, and is not stored")
    func life() async throws {
        try await GatewayHome.with { home in
            try await home.serve { gateway in
                let url = "\(gateway.address)/v1/models"
                let ci = try await token(home, "ci", "--expires", "90d")
                #expect(ci.hasPrefix("mgc_") && ci.utf8.count >= 46)
                #expect(try await home.get(url, headers(ci)).status == .ok)
                #expect(try await home.get(url, ["X-API-Key": ci]).status == .ok)
                #expect(try await home.get(url, headers(ci + "x")).status == .unauthorized)
                let again = try await home.martlet("gateway", "token", "create", "ci")
                #expect(again.code == 2 && again.errors.contains("there is already a token 'ci'"), "\(again.errors)")
                let short = try await home.martlet("gateway", "token", "create", "brief", "--expires", "1ms", "--json")
                let brief = try #require(try short.output.json()["token"]?.string)
                let ended = try await home.get(url, headers(brief))
                #expect(
                    ended.status == .unauthorized && ended.text.contains("the token brief expired at"), "\(ended.text)")
                let list = try await home.martlet("gateway", "token", "list", "--json").output.json()
                #expect(list.array?.compactMap { $0["name"]?.string } == ["brief", "ci"])
                #expect(list[0]?["state"] == "ended" && list[1]?["state"] == "valid" && list[1]?["used"]?.string != nil)
                #expect(list[1]?["scopes"] == ["chat", "read"] && !list.text().contains("mgc_"))
                for name in ["gateway.db", "gateway.db-wal"] {
                    #expect(!(try home.bytes("martlet/data/\(name)")).contains(ci), "\(name)")
                }
                let asked = try await home.martlet("gateway", "token", "revoke", "ci")
                #expect(
                    asked.code == 6 && asked.errors.contains("Revoke the token ci, last used at"), "\(asked.errors)")
                #expect(try await home.martlet("gateway", "token", "revoke", "ci", "--yes").code == 0)
                #expect(try await home.get(url, headers(ci)).status == .unauthorized)
                let gone = try await home.martlet("gateway", "token", "revoke", "ci", "--yes")
                #expect(gone.code == 2 && gone.errors.contains("there is no token 'ci'"), "\(gone.errors)")
            }
        }
    }

    @Test("A token is limited to its rate, and the response says when to retry")
    func rate() async throws {
        try await GatewayHome.with { home in
            try await home.serve { gateway in
                let slow = try await token(home, "slow", "--rate", "3")
                var codes: [Int] = []
                var refused: HTTPResponse?
                // Ten requests fall into at most two minutes.
                for _ in 0..<10 {
                    let answer = try await home.get("\(gateway.address)/v1/models", headers(slow))
                    codes.append(answer.status.code)
                    if answer.status.code == 429 { refused = answer }
                }
                #expect(codes.prefix(3) == [200, 200, 200] && codes.count { $0 == 200 } <= 6)
                let wait = refused?.headers["Retry-After"].flatMap(Int.init)
                #expect(wait.map { 1...60 ~= $0 } == true && refused?.text.contains("3 requests a minute") == true)
                #expect(try await home.get("\(gateway.address)/v1/models").status == .ok)
            }
        }
    }

    @Test("A user can choose the token if it is long enough and not in use")
    func given() async throws {
        try await GatewayHome.with { home in
            let own = "my-own-token-for-the-lab-0123456789"
            func create(_ name: String, _ token: String) async throws -> Program.Run {
                try await home.martlet(
                    "gateway", "token", "create", name, "--token-env", "LAB_TOKEN", adding: ["LAB_TOKEN": token])
            }
            #expect(try await create("lab", own).code == 0)
            let second = try await create("other", own)
            #expect(
                second.code == 2 && second.errors.contains("another client already has this token"), "\(second.errors)")
            let short = try await create("short", "too-short")
            #expect(short.code == 2 && short.errors.contains("32 characters"), "\(short.errors)")
            for odd in [String(repeating: " ", count: 40), "one two three four five six seven eight", "\(own)\u{E9}"] {
                let refused = try await create("odd", odd)
                #expect(refused.code == 2 && refused.errors.contains("fits in a header"), "\(refused.errors)")
            }
            for name in ["", " ", "a ", "owner", "a\u{200B}b", "a\nb", String(repeating: "n", count: 65)] {
                let refused = try await create(name, "\(own)-\(name.utf8.count)")
                #expect(
                    refused.code == 2 && refused.errors.contains("invalid token name"), "\(name): \(refused.errors)")
            }
            let owner = String(try await home.martlet("gateway", "token").output.dropLast())
            let taken = try await create("lesser", owner)
            #expect(taken.code == 2 && taken.errors.contains("that is the owner's token"), "\(taken.errors)")
            try await home.serve { gateway in
                let answer = try await home.get("\(gateway.address)/v1/models", headers(own))
                #expect(answer.status == .ok)
            }
        }
    }
}
