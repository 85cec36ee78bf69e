import Capabilities
import CoreTesting
import FileKit
import HTTPClient
import HTTPCore
import JSON
import MCPKit
import RPCKit
import Registry
import ServeTesting
import Synchronization
import Testing

@testable import ServeFrontend

@Suite("Serving over HTTP", .timeLimit(.minutes(5)))
struct HTTPTests {
    /// What runs for the length of a test.
    struct Served: Sendable {
        let test: TestHost
        let url: HTTPURL
        let tokenFile: String
        let state: LabState

        var token: String { get throws { try TestFile.text(tokenFile) } }

        /// A host with a token for as long as `body` runs.
        func host<Value: Sendable>(
            _ era: Era = .modern, token: String, _ body: @escaping @Sendable (MCPClient) async throws -> Value
        ) async throws -> Value {
            let address = MCPServerAddress(url, headers: ["Authorization": "Bearer \(token)"])
            let client = address.client(
                of: "martlet", by: HTTPTests.client, as: MCPIdentity(name: "tests", version: "1"),
                limits: .unhurried, knowing: era.version)
            return try await client.whileRunning { try await body(client) }
        }

        /// The status of a request to list the tools, with these headers in place of the right ones.
        func status(_ headers: KeyValuePairs<String, String> = [:], method: HTTPMethod = .post) async throws -> Int {
            let body = #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#
            var all: HTTPHeaders = [
                "Accept": "application/json, text/event-stream", "Content-Type": "application/json",
            ]
            all["Authorization"] = "Bearer \(try token)"
            for (name, value) in headers { all[name] = value.isEmpty ? nil : value }
            let request = HTTPRequest(
                method, url, headers: all, body: method == .post ? .bytes(Array(body.utf8)) : .none)
            return try await HTTPTests.client.send(request).status.code
        }
    }

    static let client = HTTPClient(.standalone)

    /// Runs the action while `body` does, and cancels it then.
    private func with(
        _ arguments: JSONObject = [:], taskAfter: String = "10m", in folder: String,
        _ body: @escaping @Sendable (Served) async throws -> Void
    ) async throws {
        // A task would go on when its host vanishes, and on a slow machine any call might become one.
        let test = try TestHost(
            [LabFeature.self, ServeFeature.self], settings: "{serve: {'task-after': '\(taskAfter)'}}",
            folder: folder)
        let output = RecordingOutput()
        var arguments = arguments
        arguments["http"] = true
        try await withThrowingTaskGroup(of: Void.self) { [arguments] group in
            group.addTask { try await test.perform("mcp.serve", arguments, output: output) }
            group.addTask {
                await output.wait { !$0.isEmpty }
                try Task.checkCancellation()
                let event = try #require(output.events.first)
                let served = Served(
                    test: test, url: try HTTPURL(try #require(event.fields["url"]?.string)),
                    tokenFile: try #require(event.fields["token_file"]?.string),
                    state: try test.host.registry.one(LabState.self))
                try await body(served)
            }
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
        // The token of a run is gone with it.
        if arguments["token-file"] == nil, let file = output.events.first?.fields["token_file"]?.string {
            #expect(!Files.exists(file))
        }
        await test.session.close()
    }

    @Test("Strangers, web pages and foreign names are refused, and the token's host is not")
    func strangers() async throws {
        try await TemporaryDirectory.run { folder in
            try await with(in: folder) { served async throws in
                #expect(try await served.status() == 200)
                #expect(try await served.status(["Authorization": ""]) == 401)
                #expect(try await served.status(["Authorization": "Bearer guess"]) == 401)
                #expect(try await served.status(["Authorization": "Bearer \(try served.token)x"]) == 401)
                #expect(try await served.status(["Authorization": "Basic \(try served.token)"]) == 401)
                #expect(try await served.status(["Origin": "https://evil.example"]) == 403)
                #expect(try await served.status(["Origin": "null"]) == 403)
                for host in ["evil.example", "127.0.0.1.evil.example", "evil.example:80"] {
                    #expect(try await served.status(["Host": host]) == 421)
                    #expect(try await served.status(["Host": host, "Origin": "http://\(host)"]) == 421)
                    #expect(try await served.status(["Host": host], method: .get) == 421)
                }
                // A token in the address is none.
                #expect(served.url.description.contains("127.0.0.1"))
            }
        }
    }

    @Test("The token is in a file that only this user reads, and is shown nowhere else")
    func tokenFile() async throws {
        try await TemporaryDirectory.run { folder in
            try await with(in: folder) { served async throws in
                let token = try served.token
                #expect(try Files.info(served.tokenFile).mode == 0o600 && token.utf8.count >= 40)
                #expect(served.tokenFile.hasPrefix(folder) && !served.test.output.text.contains(token))
                #expect(served.test.host.redactor.redact("it is \(token)") == "it is ‹redacted›")
            }
            // One that is kept is the same in the next run.
            let kept = "\(folder)/kept"
            let tokens = Mutex([String]())
            for _ in 0..<2 {
                try await with(["token-file": .string(kept)], in: folder) { served async throws in
                    let token = try served.token
                    tokens.withLock { $0.append(token) }
                    #expect(try await served.status() == 200)
                }
            }
            let all = tokens.withLock { $0 }
            #expect(all.count == 2 && Set(all).count == 1 && Files.exists(kept))
        }
    }

    @Test("A token file that others can read, or without a good token, is not used")
    func badFiles() async throws {
        try await TemporaryDirectory.run { folder in
            let good = String(repeating: "a", count: 40)
            for (text, mode, words) in [
                (good, 0o644, "can be read by others"), ("short", 0o600, "at least 32"), ("", 0o600, "at least 32"),
                ("\(good) \(good)", 0o600, "one token"),
            ] as [(String, UInt32, String)] {
                let path = "\(folder)/token"
                try TestFile.write(text, to: path, mode: mode)
                let error = await #expect(throws: ServeFailure.self) {
                    try await with(["token-file": .string(path)], in: folder) { _ in }
                }
                #expect(error?.message.contains(words) == true && error?.exit == .denied)
            }
            try TestFile.write(good, to: "\(folder)/good")
            try await with(["token-file": .string("\(folder)/good")], in: folder) { served async throws in
                #expect(try await served.status() == 200)
            }
        }
    }

    @Test("A token that is revoked ends the calls that run, and a new one is good at once", arguments: Era.allCases)
    func revoked(era: Era) async throws {
        try await TemporaryDirectory.run { folder in
            try await with(in: folder) { served async throws in
                let token = try served.token
                try await served.host(era, token: token) { client async throws in
                    #expect(try await client.call("lab_echo", ["text": "hi"]).text == "hi")
                    async let waiting = client.call("lab_wait")
                    try await served.state.wait { $0.waiting == 1 }
                    try Files.remove(served.tokenFile)
                    // Nobody asks meanwhile: the file is looked at once a second.
                    await served.test.clock.waitForSleepers()
                    served.test.clock.advance(by: .seconds(1))
                    #expect(try await waiting.code == "serve.token")
                    try await served.state.wait { $0.cancelled == 1 }
                    let error = await #expect(throws: MCPError.self) {
                        try await client.call("lab_echo", ["text": "a"])
                    }
                    #expect(error?.kind == .denied, "\(String(describing: error))")
                }
                let next = String(repeating: "b", count: 40)
                try TestFile.write(next, to: served.tokenFile)
                #expect(try await served.status() == 200)
                #expect(try await served.status(["Authorization": "Bearer \(token)"]) == 401)
                try await served.host(era, token: next) { client async throws in
                    #expect(try await client.call("lab_echo", ["text": "hi"]).text == "hi")
                }
            }
        }
    }

    @Test("A task ends with the token that it was begun with")
    func revokedTask() async throws {
        try await TemporaryDirectory.run { folder in
            try await with(taskAfter: "1ms", in: folder) { served async throws in
                try await served.host(token: try served.token) { client async throws in
                    // Control: while the token is valid, what is a task gives its result.
                    #expect(try await client.call("lab_echo", ["text": "hi"]).text == "hi")
                    async let waiting = client.call("lab_wait")
                    try await served.state.wait { $0.waiting == 1 }
                    try Files.remove(served.tokenFile)
                    await served.test.clock.waitForSleepers()
                    served.test.clock.advance(by: .seconds(1))
                    try await served.state.wait { $0.cancelled == 1 }
                    do {
                        // As a call it says why it ended; who asks for the task by the old token is refused.
                        #expect(try await waiting.code == "serve.token")
                    } catch let error as MCPError {
                        #expect(error.kind == .denied, "\(error)")
                    }
                }
            }
        }
    }

    @Test("A host that says yes to everything gains nothing by its token, and something with 'approves'")
    func approves() async throws {
        try await TemporaryDirectory.run { folder in
            for (allows, granted) in [(["destroys"], 0), (["destroys", "approves"], 1)] as [([JSON], Int)] {
                try await with(["allow": .array(allows)], in: folder) { served async throws in
                    let address = MCPServerAddress(
                        served.url, headers: ["Authorization": "Bearer \(try served.token)"])
                    let client = address.client(
                        of: "martlet", by: Self.client, as: MCPIdentity(name: "tests", version: "1"),
                        handler: HostUser.sayingYes())
                    try await client.whileRunning { () async throws in
                        #expect(try await client.call("lab_wipe").isError == (granted == 0))
                        #expect(try await client.call("lab_trust").isError == (granted == 0))
                    }
                    #expect(served.state.counts.destroyed == granted && served.state.counts.granted == granted)
                }
            }
        }
    }

    @Test("A thousand calls of twenty hosts are answered side by side", arguments: Era.allCases)
    func many(era: Era) async throws {
        try await TemporaryDirectory.run { folder in
            try await with(in: folder) { served async throws in
                let token = try served.token
                let sums = try await withThrowingTaskGroup(of: Set<Int?>.self) { hosts in
                    for host in 0..<20 {
                        hosts.addTask {
                            try await served.host(era, token: token) { client in
                                try await withThrowingTaskGroup(of: Int?.self) { calls in
                                    for number in 0..<50 {
                                        calls.addTask {
                                            let result = try await client.call(
                                                "lab_add", ["a": .int(50 * host + number), "b": 0])
                                            return result.structured?["sum"]?.int
                                        }
                                    }
                                    return try await calls.reduce(into: []) { $0.insert($1) }
                                }
                            }
                        }
                    }
                    return try await hosts.reduce(into: Set<Int?>()) { $0.formUnion($1) }
                }
                #expect(sums == Set(0..<1_000))
            }
        }
    }

    @Test("A host that vanishes leaves nothing behind", arguments: Era.allCases)
    func vanished(era: Era) async throws {
        try await TemporaryDirectory.run { folder in
            try await with(in: folder) { served async throws in
                do {
                    try await served.host(era, token: try served.token) { client async throws in
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            group.addTask { _ = try await client.call("lab_wait") }
                            try await served.state.wait { $0.waiting == 1 }
                            client.close()
                            try await group.waitForAll()
                        }
                    }
                } catch is MCPError {
                    // The call has ended with the connection.
                }
                // In the modern era a connection that closes cancels, and in the legacy era the end of the session.
                try await served.state.wait { $0.cancelled == 1 }
            }
        }
    }
}
