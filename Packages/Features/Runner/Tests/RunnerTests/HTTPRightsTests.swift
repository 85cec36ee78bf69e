import Capabilities
import CoreTesting
import Cryptography
import FileKit
import HTTPClient
import HTTPCore
import HTTPTesting
import HostTesting
import JSON
import Registry
import Testing

/// Tests which servers `http.request` may reach, and what of it appears in outputs.
@Suite("Rights of http.request", .serialized, .timeLimit(.minutes(5)))
struct HTTPRightsTests {
    private static let hello: ScriptedServer.Script = { connection in
        while true {
            try connection.receiveRequest()
            try connection.answer(200, [:], "hello")
        }
    }

    private static func bundle(_ permissions: String, _ with: String, before: String = "") -> String {
        "name: b\npermissions: {\(permissions)}\n\(before)steps: [{id: s, action: http.request, with: {\(with)}}]"
    }

    private static func step(_ run: TestResult) -> JSON? { run.json["steps"]?[0] }

    // MARK: Permitted servers

    @Test("Without hosts only set-up servers are allowed, and the check names the line to add")
    func unnamed() async throws {
        try await TestWorkbench.withRunner { bench in
            for url in [
                "https://api.example.com/v1", "https://api.example.com/${{ run.id }}",
                "https://api.example.com?q=${{ run.id }}",
            ] {
                for arguments: JSONObject in [["check": true], ["plan": true], [:]] {
                    let text = Self.bundle("effects: writes", "url: \"\(url)\"")
                    let failure = try #require(try await bench.failure(ofBundle: text, arguments))
                    #expect(failure.exit == .usage && failure.code == "bundle.invalid")
                    #expect(
                        failure.message.contains("add hosts: [set-up, \"api.example.com:443\"] to permissions"),
                        "\(failure.message)")
                }
            }
            // The control: with that line the check succeeds and shows the server.
            let text = Self.bundle(
                "effects: writes, hosts: [set-up, 'api.example.com:443']",
                "url: \"https://api.example.com/${{ run.id }}\"")
            for arguments: JSONObject in [["check": true], ["plan": true]] {
                bench.output = RecordingOutput()
                _ = try await bench.run(text, arguments)
                #expect(bench.output.events.last?.text?.contains("api.example.com:443\n") == true)
            }
            // A server that an expression can change is checked in the run, before its name is resolved.
            let open = Self.bundle("effects: writes", "url: \"https://api.example.com${{ '.evil.example' }}/\"")
            _ = try await bench.run(open, ["check": true])
            let run = try await bench.run(open)
            #expect(Self.step(run)?["error"]?["message"]?.string?.contains("api.example.com.evil.example:443") == true)
            // A request counts as sending, whatever its method.
            let reading = try #require(
                try await bench.failure(ofBundle: Self.bundle("hosts: ['*']", "url: 'https://example.com/'")))
            #expect(reading.message.contains("permissions.effects to writes"), "\(reading.message)")
        }
    }

    @Test("The example of the guide is a valid bundle")
    func guide() async throws {
        let root = #filePath.split(separator: "/").dropLast(6).map { "/\($0)" }.joined()
        let guide = String(decoding: try Files.read("\(root)/docs/BUNDLES.md", limit: 1 << 20), as: UTF8.self)
        let section = try #require(guide.split(separator: "## Requests\n").last)
        let text = try #require(section.split(separator: "```yaml\n").dropFirst().first?.split(separator: "```").first)
        try await TestWorkbench.withRunner { bench in
            bench.environment["API_TOKEN"] = "very-secret-4711"
            let bundle = "name: guide\n\(text)".replacing("nightly.tar.gz", with: "\(bench.folder)/nightly.tar.gz")
                .replacing("secrets:", with: "paths: ['\(bench.folder)']\n  secrets:")
            let checked = try await bench.run(bundle, ["check": true])
            #expect(checked.exit == .done)
        }
    }

    @Test("A set-up server is allowed without being listed")
    func setUp() async throws {
        try await ScriptedServer.run(Self.hello) { server in
            try await TestWorkbench.withRunner { bench in
                let text = Self.bundle("effects: writes", "url: 'http://127.0.0.1:\(server.port)/'")
                let refused = try await bench.failure(ofBundle: text)
                #expect(refused?.code == "bundle.invalid")
                bench.environment["LAB_SERVER"] = "127.0.0.1:\(server.port)"
                #expect(Self.step(try await bench.run(text))?["result"]?["text"] == "hello")
            }
        }
    }

    // sandbox case 53
    @Test("Loopback, link-local and metadata addresses are allowed only if listed, in any spelling")
    func confined() async throws {
        try await ScriptedServer.run(Self.hello) { server in
            try await TestWorkbench.withRunner { bench in
                func run(_ host: String, _ hosts: String) async throws -> TestResult {
                    try await bench.run(
                        Self.bundle("effects: writes, hosts: [\(hosts)]", "url: \"${{ 'http' }}://\(host)/\""))
                }
                for host in [
                    "127.0.0.1", "localhost", "localhost.", "LOCALHOST", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]",
                    "0.0.0.0", "127.1",
                ] {
                    let refused = try await run("\(host):\(server.port)", "'*'")
                    let message = Self.step(refused)?["error"]?["message"]?.string
                    #expect(message?.contains("may not connect to") == true, "\(host): \(refused.json)")
                }
                for host in ["169.254.169.254", "[fd00:ec2::254]", "2852039166", "[fe80::1]"] {
                    let refused = try await run(host, "'*'")
                    let message = Self.step(refused)?["error"]?["message"]?.string
                    #expect(message?.contains("may not connect to") == true, "\(host): \(refused.json)")
                }
                #expect(server.record.connections.isEmpty)
                // The control: a listed server gets the request.
                for host in ["127.0.0.1", "localhost"] {
                    let allowed = try await run("\(host):\(server.port)", "'\(host)'")
                    #expect(Self.step(allowed)?["result"]?["text"] == "hello", "\(host): \(allowed.json)")
                }
            }
        }
    }

    // sandbox case 54
    @Test(
        "A permitted name that resolves to this machine is refused",
        .enabled(if: LoopbackName.other != nil, "/etc/hosts has no other name for 127.0.0.1"))
    func rebound() async throws {
        let name = try #require(LoopbackName.other)
        try await ScriptedServer.run(Self.hello) { server in
            try await TestWorkbench.withRunner { bench in
                func run(_ hosts: String) async throws -> JSON? {
                    Self.step(
                        try await bench.run(
                            Self.bundle("effects: writes, hosts: [\(hosts)]", "url: 'http://\(name):\(server.port)/'")))
                }
                for hosts in ["'\(name)'", "'*'", "set-up, '\(name)'"] {
                    let refused = try await run(hosts)
                    let message = refused?["error"]?["message"]?.string ?? ""
                    #expect(message.contains("127.0.0.1:\(server.port), the address of \(name)"), "\(message)")
                    #expect(message.contains("add \"127.0.0.1:\(server.port)\" to permissions.hosts"), "\(message)")
                }
                #expect(server.record.requests.isEmpty)
                // The controls: the address is listed as well, or the server is set up.
                #expect(try await run("'\(name)', '127.0.0.1'")?["result"]?["text"] == "hello")
                bench.environment["LAB_SERVER"] = "\(name):\(server.port)"
                #expect(try await run("set-up")?["result"]?["text"] == "hello")
                #expect(
                    try await bench.perform("http.request", ["url": .string("http://\(name):\(server.port)/")])
                        .json["text"] == "hello")
            }
        }
    }

    // sandbox case 55
    @Test("Redirects are followed only to permitted servers, without credentials, and not forever")
    func redirects() async throws {
        try await ScriptedServer.run(Self.hello) { other in
            let script: ScriptedServer.Script = { connection in
                while true {
                    switch try connection.receiveRequest().target {
                    case "/away": try connection.answer(307, ["Location": "http://localhost:\(other.port)/x"])
                    case "/file": try connection.answer(302, ["Location": "file:///etc/passwd"])
                    case "/cloud": try connection.answer(302, ["Location": "http://169.254.169.254/latest/meta-data/"])
                    case let target: try connection.answer(302, ["Location": target == "/a" ? "/b" : "/a"])
                    }
                }
            }
            try await ScriptedServer.run(script) { server in
                try await TestWorkbench.withRunner { bench in
                    func run(_ path: String, _ hosts: String, _ more: String = "") async throws -> JSON? {
                        Self.step(
                            try await bench.run(
                                Self.bundle(
                                    "effects: writes, hosts: [\(hosts)]",
                                    "url: 'http://127.0.0.1:\(server.port)\(path)', token: very-secret-4711, "
                                        + "header: {X-Api-Key: very-secret-4712, Cookie: a=very-secret-4713}\(more)")))
                    }
                    let refused = try await run("/away", "127.0.0.1")
                    #expect(refused?["error"]?["code"] == "http.not-permitted", "\(refused ?? .null)")
                    #expect(refused?["error"]?["message"]?.string?.contains("localhost:\(other.port)") == true)
                    #expect(other.record.connections.isEmpty)
                    #expect(try await run("/cloud", "127.0.0.1, '*'")?["error"]?["code"] == "http.not-permitted")
                    #expect(try await run("/file", "'127.0.0.1'")?["error"]?["code"] == "http.redirect")
                    #expect(try await run("/a", "'127.0.0.1'")?["error"]?["code"] == "http.redirect")
                    let kept = try await run("/away", "127.0.0.1", ", no-follow: true")
                    #expect(kept?["result"]?["status"] == 307 && kept?["status"] == "ok")
                    // The control: if the other server is listed, the redirect is followed without the credentials.
                    let followed = try await run("/away", "127.0.0.1, localhost")
                    #expect(followed?["result"]?["text"] == "hello", "\(followed ?? .null)")
                    #expect(followed?["result"]?["url"]?.string == "http://localhost:\(other.port)/x")
                    let request = try #require(other.record.requests.first)
                    for name in ["Authorization", "X-Api-Key", "Cookie"] { #expect(request.headers[name] == nil) }
                    #expect(server.record.requests.last?.headers["Authorization"] == "Bearer very-secret-4711")
                }
            }
        }
    }

    @Test("A request through a proxy still reaches only permitted servers")
    func proxies() async throws {
        let script: ScriptedServer.Script = { connection in
            let request = try connection.receiveRequest()
            try connection.answer(200, ["Connection": "close"], "\(request.method) \(request.target)")
        }
        try await ScriptedServer.run(script) { proxy in
            try await TestWorkbench.withRunner { bench in
                bench.environment["http_proxy"] = "http://127.0.0.1:\(proxy.port)"
                let text = "url: 'http://api.example.com/v1'"
                let run = try await bench.run(Self.bundle("effects: writes, hosts: [api.example.com]", text))
                #expect(Self.step(run)?["result"]?["text"] == "GET http://api.example.com/v1", "\(run.json)")
                let refused = try await bench.run(
                    Self.bundle("effects: writes", "url: \"${{ 'http' }}://api.example.com/v1\""))
                #expect(Self.step(refused)?["error"]?["code"] == "access.denied")
                #expect(proxy.record.requests.count == 1)
            }
        }
    }

    @Test("A request uses the user's trusted certificates")
    func trust() async throws {
        let all = try TestCertificates.shared()
        try await ScriptedServer.run(tls: ScriptedTLS(all.good), Self.hello) { server in
            try await TestWorkbench.withRunner { bench in
                let text = Self.bundle(
                    "effects: writes, hosts: ['127.0.0.1']", "url: 'https://127.0.0.1:\(server.port)/'")
                let refused = try await bench.run(text)
                #expect(refused.exit != .done && Self.step(refused)?["result"]?["text"] == nil, "\(refused.json)")
                #expect(server.record.bytesReceived == 0)
                bench.environment["LAB_AUTHORITY"] = try bench.write(all.authority.chainPEM, to: "authority.pem")
                #expect(Self.step(try await bench.run(text))?["result"]?["text"] == "hello")
            }
        }
    }

    @Test("A request never presents the user's client certificate")
    func certificate() async throws {
        let all = try TestCertificates.shared()
        let tls = try ScriptedTLS(all.good, clientAuthorities: [all.authority.certificate])
        try await ScriptedServer.run(tls: tls, Self.hello) { server in
            try await TestWorkbench.withRunner { bench in
                _ = try all.client.write(into: bench.folder, as: "client")
                bench.environment["LAB_CERTIFICATE"] = "\(bench.folder)/client"
                bench.environment["LAB_AUTHORITY"] = try bench.write(all.authority.chainPEM, to: "authority.pem")
                let url = "https://127.0.0.1:\(server.port)/"
                let run = try await bench.run(Self.bundle("effects: writes, hosts: ['127.0.0.1']", "url: '\(url)'"))
                #expect(run.exit != .done && server.record.requests.isEmpty, "\(run.json)")
                // The control: a client that presents the certificate is accepted.
                var configuration = HTTPClient.Configuration.standalone
                configuration.trust = TrustDomain(LabTrust(bench.environment))
                let client = HTTPClient(configuration)
                let answer = try await client.send(HTTPRequest(.get, try HTTPURL(url)))
                await client.close()
                #expect(answer.text == "hello")
            }
        }
    }

    // MARK: Refusals

    @Test(
        "A request with another protocol, credentials in the URL or a bad header is refused",
        arguments: [
            ("url: 'ftp://127.0.0.1/x'", "only http:// and https://"),
            ("url: 'file:///etc/passwd'", "only http:// and https://"),
            ("url: 'unix:/run/docker.sock'", "neither with http:// nor"),
            ("url: '127.0.0.1/x'", "neither with http:// nor"),
            ("url: 'http://ada:very-secret-4711@127.0.0.1/'", "use token, user and password"),
            ("url: 'http://ada@127.0.0.1/'", "use token"),
            ("url: \"http://127.0.0.1/a\\r\\nX: y\"", "not a valid address"),
            ("url: 'http://127.0.0.1/', header: {'X: y': z}", "invalid character"),
            ("url: 'http://127.0.0.1/', header: {X: \"a\\r\\nY: b\"}", "invalid character"),
            ("url: 'http://127.0.0.1/', header: {\"X\\nY\": b}", "invalid character"),
            ("url: 'http://127.0.0.1/', header: {X: \"a\\0b\"}", "invalid character"),
            ("url: 'http://127.0.0.1/', token: \"a\\nb\"", "invalid character"),
            ("url: 'http://127.0.0.1/', idempotency-key: \"a\\nb\"", "invalid character"),
            ("url: 'http://127.0.0.1/', header: {host: other}", "is set automatically"),
            ("url: 'http://127.0.0.1/', header: {Content-Length: 3}", "is set automatically"),
            ("url: 'http://127.0.0.1/', header: {Transfer-Encoding: chunked}", "is set automatically"),
            ("url: 'http://127.0.0.1/', header: {Authorization: null}", "has no value"),
            ("url: 'http://127.0.0.1/', header: {X: {a: b}}", "not an object"),
            ("url: 'http://127.0.0.1/', user: ada", "user and password"),
            ("url: 'http://127.0.0.1/', token: t, header: {authorization: x}", "give either the header Authorization"),
        ])
    func refused(with: String, words: String) async throws {
        try await ScriptedServer.run(Self.hello) { server in
            try await TestWorkbench.withRunner { bench in
                let port = server.port
                let given = with.replacing("127.0.0.1/", with: "127.0.0.1:\(port)/")
                let run = try await bench.run(Self.bundle("effects: writes, hosts: ['*', '127.0.0.1']", given))
                let error = Self.step(run)?["error"]
                #expect(run.exit == .usage && error?["message"]?.string?.contains(words) == true, "\(run.json)")
                #expect(server.record.connections.isEmpty && !run.json.text().contains("very-secret"))
                // The control: the same server answers a valid request.
                let well = Self.bundle("effects: writes, hosts: ['127.0.0.1']", "url: 'http://127.0.0.1:\(port)/'")
                #expect(Self.step(try await bench.run(well))?["result"]?["text"] == "hello")
            }
        }
    }

    @Test("Models are not offered http.request")
    func models() async throws {
        try await TestWorkbench.withRunner { bench in
            let action = try bench.action("http.request")
            #expect(action.offer == .bundles && action.effect == .writes)
            let decision = Grant.model.decide(.action(action.id, action.effect, action.offer))
            #expect(decision.isDenied)
        }
    }

    // MARK: Secrets

    @Test("Secrets are sent, but appear in no event, journal, report, error or recording")
    func secrets() async throws {
        let script: ScriptedServer.Script = { connection in
            while true {
                let request = try connection.receiveRequest()
                // The server echoes whatever it gets.
                let sent = request.headers.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
                try connection.answer(
                    request.target.hasPrefix("/bad") ? 400 : 200,
                    ["Content-Type": "text/plain", "Set-Cookie": "sid=cookie-secret-471147114711; Path=/"],
                    "\(request.target) \(sent) \(String(decoding: request.body, as: UTF8.self))")
            }
        }
        try await ScriptedServer.run(script) { server in
            try await TestWorkbench.withRunner { bench in
                bench.environment["CI_TOKEN"] = "very-secret-4711"
                let tape = "\(bench.folder)/tape.ndjson"
                let text = """
                    name: b
                    permissions: {effects: writes, hosts: ['127.0.0.1'], secrets: [CI_TOKEN]}
                    env: {t: {variable: CI_TOKEN}}
                    steps:
                      - id: token
                        action: http.request
                        with: {url: "http://127.0.0.1:\(server.port)/a?x=${{ env.t }}", token: "${{ env.t }}"}
                      - id: header
                        action: http.request
                        with: {url: "http://127.0.0.1:\(server.port)/b", header: {X-Key: "${{ env.t }}"}, form: {p: "${{ env.t }}"}}
                      - id: basic
                        action: http.request
                        with: {url: "http://127.0.0.1:\(server.port)/c", user: ada, password: "${{ env.t }}"}
                      - id: bad
                        action: http.request
                        continue-on-error: true
                        with: {url: "http://127.0.0.1:\(server.port)/bad?x=${{ env.t }}"}
                      - id: broken
                        action: http.request
                        continue-on-error: true
                        with: {url: "http://127.0.0.1:1/${{ env.t }}?x=${{ env.t }}", query: {y: "${{ env.t }}"}}
                    """
                let run = try await bench.run(text, ["record": .string(tape)])
                #expect(run.exit == .done, "\(run.json)")
                // The control: they were sent.
                let sent = server.record.requests
                #expect(
                    sent[0].headers["Authorization"] == "Bearer very-secret-4711" && sent[0].target.hasSuffix("4711"))
                #expect(
                    sent[1].headers["X-Key"] == "very-secret-4711" && sent[1].body == Array("p=very-secret-4711".utf8))
                #expect(sent[2].headers["Authorization"] == "Basic YWRhOnZlcnktc2VjcmV0LTQ3MTE=")
                let logs = try await bench.perform("runs.logs").json.text()
                let shown = try await bench.perform("runs.show").json.text()
                let events = bench.output.events.map { $0.json.text() + ($0.text ?? "") }.joined()
                var stored = try bench.read("tape.ndjson")
                for file in try Files.list("\(bench.folder)/home/data") where file.kind == .regular {
                    stored += String(
                        decoding: try Files.read("\(bench.folder)/home/data/\(file.name)", limit: 1 << 24),
                        as: UTF8.self
                    )
                }
                for (place, text) in [
                    ("report", run.json.text()), ("logs", logs), ("runs", shown), ("events", events),
                    ("stored", stored),
                    ("notices", bench.output.notices.joined()),
                ] {
                    for secret in ["very-secret", "YWRhOnZlcnktc2VjcmV0", "cookie-secret"] {
                        #expect(!text.contains(secret), "\(secret) is in the \(place)")
                    }
                }
            }
        }
    }

    @Test("A token from a response reaches the next step, and appears nowhere else")
    func tokens() async throws {
        let script: ScriptedServer.Script = { connection in
            while true {
                let request = try connection.receiveRequest()
                try connection.answer(
                    200, ["Content-Type": "application/json"],
                    request.target == "/token"
                        ? #"{"access_token":"fresh-secret-471147114711"}"#
                        : "{\"who\":\"\(request.headers["Authorization"] ?? "nobody")\"}")
            }
        }
        try await ScriptedServer.run(script) { server in
            try await TestWorkbench.withRunner { bench in
                let run = try await bench.run(
                    """
                    name: b
                    permissions: {effects: writes, hosts: ['127.0.0.1']}
                    steps:
                      - {id: sign, action: http.request, with: {url: "http://127.0.0.1:\(server.port)/token", form: {grant_type: client}}}
                      - {id: use, action: http.request, with: {url: "http://127.0.0.1:\(server.port)/me", token: "${{ steps.sign.result.json.access_token }}"}}
                    """)
                #expect(
                    run.exit == .done
                        && server.record.requests[1].headers["Authorization"] == "Bearer fresh-secret-471147114711")
                let logs = try await bench.perform("runs.logs").json.text()
                let shown = try await bench.perform("runs.show").json.text()
                for text in [run.json.text(), logs, shown] + bench.output.events.map({ $0.json.text() }) {
                    #expect(!text.contains("fresh-secret"), "\(text)")
                }
            }
        }
    }

    // MARK: Runs

    @Test("A request is replayed without a connection, and not repeated when a run is resumed")
    func again() async throws {
        try await ScriptedServer.run(Self.hello) { server in
            try await TestWorkbench.withRunner { bench in
                let tape = "\(bench.folder)/tape.ndjson"
                let text = """
                    name: b
                    permissions: {effects: writes, hosts: ['127.0.0.1'], paths: ['\(bench.folder)']}
                    steps:
                      - {id: s, action: http.request, with: {url: "http://127.0.0.1:\(server.port)/"}}
                      - {id: t, action: file.read, with: {path: "\(bench.folder)/later.txt"}}
                      - {id: u, action: lab.echo, with: {value: "${{ steps.s.result.text }} ${{ steps.t.result.text }}"}}
                    """
                #expect(try await bench.run(text, ["record": .string(tape)]).exit == .failed)
                #expect(server.record.requests.count == 1)
                let replay = try await bench.perform("run.start", ["replay": .string(tape)])
                #expect(replay.json["same"] == true, "\(replay.json)")
                try bench.write("later", to: "later.txt")
                let resumed = try await bench.perform("run.start", ["resume": "last", "again": true])
                #expect(server.record.requests.count == 1)
                let last = resumed.json["steps"]?.array?.last
                #expect(last?["result"] == "hello later", "\(resumed.json)")
            }
        }
    }
}
