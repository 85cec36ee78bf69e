import Capabilities
import CoreTesting
import FileKit
import HTTPCore
import HTTPTesting
import HostTesting
import JSON
import Registry
import Testing

/// Tests `http.request` with real connections on this machine.
@Suite("http.request", .serialized, .timeLimit(.minutes(5)))
struct HTTPRequestTests {
    /// Answers each request by its path.
    private static func serving(
        _ answer: @escaping @Sendable (ScriptedConnection, RecordedRequest) throws -> Void
    ) -> ScriptedServer.Script {
        { connection in while true { try answer(connection, try connection.receiveRequest()) } }
    }

    /// A bundle with one request.
    private static func bundle(
        _ with: String, hosts: String = "'127.0.0.1'", permissions: String = "", step: String = "", env: String = "{}"
    ) -> String {
        """
        name: b
        permissions: {effects: writes, hosts: [\(hosts)]\(permissions)}
        env: \(env)
        steps:
          - {id: s, action: http.request\(step), with: {\(with)}}
        """
    }

    private static func step(_ run: TestResult) -> JSON? { run.json["steps"]?[0] }

    private static let hello: ScriptedServer.Script = serving { connection, _ in
        try connection.answer(200, [:], "hello")
    }

    // MARK: Requests and responses

    @Test("A result has the JSON, the status and the headers")
    func json() async throws {
        let script = Self.serving { connection, request in
            try connection.answer(
                201, ["Content-Type": "application/json; charset=utf-8", "X-Kind": "a", "x-kind": "b"],
                #"{"made":{"id":7},"sent":"\#(request.method)"}"#)
        }
        try await ScriptedServer.run(script) { server in
            try await TestWorkbench.withRunner { bench in
                let run = try await bench.run(
                    """
                    name: b
                    permissions: {actions: [http.request], hosts: ['127.0.0.1']}
                    steps:
                      - id: make
                        action: http.request
                        with:
                          url: http://127.0.0.1:\(server.port)/items?a=1
                          query: {q: "a b&c=ä", page: 2, tags: [x, y], none: null}
                          header: {X-Of-Mine: "1, 2", X-Count: 3}
                          data: {name: "${{ 'o' ~ 'ne' }}"}
                      - {id: use, action: lab.echo, with: {value: "${{ steps.make.result.json.made.id }}"}}
                    """)
                #expect(run.exit == .done, "\(run.json)")
                let result = try #require(Self.step(run)?["result"])
                #expect(result["status"] == 201 && result["status_text"] == "Created" && result["state"] == "done")
                #expect(result["json"]?["sent"] == "POST" && result["text"] == nil && result["size"] == 31)
                #expect(result["headers"]?["x-kind"] == "a, b" && result["headers"]?["Content-Type"] == nil)
                #expect(result["attempts"] == 1 && result["duration"]?.string != nil)
                #expect(run.json["steps"]?[1]?["result"] == 7)
                let request = try #require(server.record.requests.first)
                #expect(request.target == "/items?a=1&page=2&q=a%20b%26c%3D%C3%A4&tags=x&tags=y")
                #expect(request.headers["X-Of-Mine"] == "1, 2" && request.headers["X-Count"] == "3")
                #expect(request.headers["Content-Type"] == "application/json")
                #expect(String(decoding: request.body, as: UTF8.self) == #"{"name":"one"}"#)
                #expect(request.headers["Authorization"] == nil && request.headers["Cookie"] == nil)
            }
        }
    }

    @Test("A request sends any kind of body, but only one")
    func bodies() async throws {
        let script = Self.serving { connection, _ in try connection.answer(204) }
        try await ScriptedServer.run(script) { server in
            try await TestWorkbench.withRunner { bench in
                let url = JSON.string("http://127.0.0.1:\(server.port)/")
                let large = [UInt8](repeating: 7, count: 3 << 20)
                try Files.writeAtomically(large, to: "\(bench.folder)/large.bin")
                let file = JSON.string("\(bench.folder)/large.bin")
                for given: JSONObject in [
                    ["form": ["a": "x y", "b": [1, true]]], ["body": "text", "method": "PUT"], ["file": file],
                    ["method": "DELETE"], ["method": "GET", "data": [1]], ["data": "{\"a\": 1}"], ["data": "word"],
                ] {
                    var arguments = given
                    arguments["url"] = url
                    let result = try await bench.perform("http.request", arguments)
                    #expect(result.exit == .done && result.json["status"] == 204, "\(result.json)")
                    #expect(result.json["size"] == 0 && result.json["text"] == nil && result.json["json"] == nil)
                }
                let sent = server.record.requests
                #expect(sent.map(\.method) == ["POST", "PUT", "POST", "DELETE", "GET", "POST", "POST"])
                #expect(String(decoding: sent[0].body, as: UTF8.self) == "a=x%20y&b=1&b=true")
                #expect(sent[0].headers["Content-Type"] == "application/x-www-form-urlencoded")
                #expect(String(decoding: sent[1].body, as: UTF8.self) == "text")
                #expect(sent[2].body == large && sent[2].headers["Content-Length"] == "\(3 << 20)")
                #expect(sent[3].body.isEmpty && sent[4].body == Array("[1]".utf8))
                #expect(sent[5].body == Array(#"{"a":1}"#.utf8) && sent[6].body == Array(#""word""#.utf8))
                for wrong: JSONObject in [
                    ["data": 1, "body": "x"], ["form": ["a": "b"], "file": file], ["method": "HEAD", "body": "x"],
                    ["data": "{name: a}"],
                ] {
                    var arguments = wrong
                    arguments["url"] = url
                    await #expect(throws: (any Error).self) { try await bench.perform("http.request", arguments) }
                }
                #expect(server.record.requests.count == 7)
            }
        }
    }

    @Test("A result has text if it is not JSON, shortened if it is long, and nothing if it is binary")
    func texts() async throws {
        let script = Self.serving { connection, request in
            switch request.target {
            case "/long":
                try connection.answer(
                    200, ["Content-Type": "text/plain"], "first\n" + String(repeating: "x\n", count: 100_000) + "last\n"
                )
            case "/binary": try connection.answer(200, ["Content-Type": "image/png"], "\u{0}\u{1}")
            case "/empty": try connection.answer(200, ["Content-Type": "application/json"], "")
            default: try connection.answer(200, ["Content-Type": "text/plain", "Content-Length": "5"])
            }
        }
        try await ScriptedServer.run(script) { server in
            try await TestWorkbench.withRunner { bench in
                func ask(_ path: String, _ method: String = "GET") async throws -> JSON {
                    try await bench.perform(
                        "http.request",
                        ["url": .string("http://127.0.0.1:\(server.port)\(path)"), "method": .string(method)]
                    ).json
                }
                let text = try await ask("/long")["text"]?.string ?? ""
                #expect(
                    text.hasPrefix("first\n") && text.hasSuffix("last\n") && text.contains("bytes omitted"))
                #expect(text.utf8.count < 66 << 10)
                let binary = try await ask("/binary")
                #expect(binary["text"] == nil && binary["size"] == 2 && binary["state"] == "done")
                #expect(binary["note"]?.string?.contains("--to FILE") == true)
                #expect(bench.output.notices.last?.contains("--to FILE") == true)
                let empty = try await ask("/empty")
                #expect(empty["json"] == nil && empty["state"] == "done" && empty["size"] == 0)
            }
        }
    }

    @Test("A response to HEAD has no body, whatever its Content-Length")
    func head() async throws {
        let script: ScriptedServer.Script = { connection in
            try connection.receiveHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n\r\n")
            try connection.receiveEnd()
        }
        try await ScriptedServer.run(script) { server in
            try await TestWorkbench.withRunner { bench in
                let result = try await bench.perform(
                    "http.request", ["url": .string("http://127.0.0.1:\(server.port)/"), "method": "HEAD"]
                ).json
                #expect(result["status"] == 200 && result["headers"]?["content-length"] == "5000000", "\(result)")
                #expect(result["size"] == nil && result["json"] == nil && result["state"] == "done")
            }
        }
    }

    @Test("A body is saved with --to, completely or not at all, without keeping it in memory")
    func files() async throws {
        let script = Self.serving { connection, request in
            switch request.target {
            case "/large":
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(10 << 20)\r\n\r\n")
                try connection.send([UInt8](repeating: 9, count: 10 << 20))
            case "/cut":
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nhalf")
                connection.reset()
                throw ScriptError.stopped
            case "/none": try connection.answer(404, ["Content-Type": "text/plain"], "no such thing")
            default: try connection.answer(304)
            }
        }
        try await ScriptedServer.run(script) { server in
            try await TestWorkbench.withRunner { bench in
                func text(_ path: String, _ to: String, _ paths: String? = nil) -> String {
                    Self.bundle(
                        "url: 'http://127.0.0.1:\(server.port)\(path)', to: '\(bench.folder)/\(to)'",
                        permissions: ", paths: ['\(paths ?? bench.folder)']")
                }
                let run = try await bench.run(text("/large", "new/large.bin"))
                #expect(run.exit == .done, "\(run.json)")
                #expect(Self.step(run)?["result"]?["size"] == 10_485_760)
                #expect(Self.step(run)?["result"]?["file"]?.string == "\(bench.folder)/new/large.bin")
                #expect(
                    try Files.read("\(bench.folder)/new/large.bin", limit: 1 << 24)
                        == [UInt8](repeating: 9, count: 10 << 20))
                try bench.write("before", to: "new/kept")
                for (path, code) in [("/cut", "http."), ("/none", "bundle.step-failed")] {
                    let failed = try await bench.run(text(path, "new/kept"))
                    #expect(Self.step(failed)?["error"]?["code"]?.string?.hasPrefix(code) == true, "\(failed.json)")
                    #expect(try bench.read("new/kept") == "before")
                }
                #expect(try await bench.run(text("/unchanged", "new/kept")).exit == .done)
                #expect(try bench.read("new/kept") == "before")
                #expect(try Files.list("\(bench.folder)/new").map(\.name).sorted() == ["kept", "large.bin"])
                // The control is above: in a permitted folder the file is written.
                let asked = server.record.requests.count
                let refused = try #require(
                    try await bench.failure(ofBundle: text("/large", "other/x", "\(bench.folder)/new")))
                #expect(refused.message.contains("may not write \(bench.folder)/other/x"), "\(refused.message)")
                try bench.write("secret", to: "mine.txt")
                let upload = Self.bundle(
                    "url: 'http://127.0.0.1:\(server.port)/', file: \"${{ '\(bench.folder)' }}/mine.txt\"",
                    permissions: ", paths: ['\(bench.folder)/new']")
                #expect(Self.step(try await bench.run(upload))?["error"]?["code"] == "access.denied")
                #expect(server.record.requests.count == asked)
            }
        }
    }

    @Test("A body over 4 MiB without --to gives a note for text and a failure for JSON")
    func tooLarge() async throws {
        let script = Self.serving { connection, request in
            let type = request.target == "/json" ? "application/json" : "text/plain"
            try connection.send("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\r\n")
            try connection.sendEndlessly([UInt8](repeating: UInt8(ascii: "1"), count: 1 << 16))
        }
        try await ScriptedServer.run(script) { server in
            try await TestWorkbench.withRunner { bench in
                let text = try await bench.run(Self.bundle("url: 'http://127.0.0.1:\(server.port)/text'"))
                #expect(text.exit == .done && Self.step(text)?["result"]?["text"] == nil, "\(text.json)")
                #expect(Self.step(text)?["result"]?["note"]?.string?.contains("--to FILE") == true)
                let json = try await bench.run(Self.bundle("url: 'http://127.0.0.1:\(server.port)/json'"))
                #expect(json.exit == .toolFailed)
                #expect(
                    Self.step(json)?["error"]?["message"]?.string?.contains("larger than 4.0 MiB") == true,
                    "\(json.json)")
            }
        }
    }

    // MARK: Statuses and faults

    @Test("A status of 400 or more fails with the server's message, and so does an unexpected one")
    func statuses() async throws {
        let script = Self.serving { connection, request in
            switch request.target {
            case "/json":
                try connection.answer(422, ["Content-Type": "application/json"], #"{"error":{"message":"no name"}}"#)
            case "/html": try connection.answer(500, ["Content-Type": "text/html"], "<h1>It\n broke</h1>")
            default: try connection.answer(200, [:], "fine")
            }
        }
        try await ScriptedServer.run(script) { server in
            try await TestWorkbench.withRunner { bench in
                for (path, more, reason) in [
                    ("/json", "", "answered 422 Unprocessable Content: no name"),
                    ("/html", "", "answered 500 Internal Server Error: <h1>It broke</h1>"),
                    ("/fine", ", expect: [201, 204]", "answered 200 OK: fine; expected 201 or 204"),
                    ("/json", ", expect: [422]", nil), ("/fine", ", expect: [200]", nil), ("/fine", "", nil),
                ] {
                    let run = try await bench.run(Self.bundle("url: 'http://127.0.0.1:\(server.port)\(path)'\(more)"))
                    #expect(run.exit == (reason == nil ? .done : .toolFailed), "\(run.json)")
                    let message = Self.step(run)?["error"]?["message"]?.string
                    #expect(message?.hasSuffix(reason ?? "") ?? (reason == nil), "\(message ?? "")")
                    // The result has the response in any case.
                    #expect(Self.step(run)?["result"]?["status"] != nil)
                    if path == "/json" {
                        #expect(Self.step(run)?["result"]?["json"]?["error"]?["message"] == "no name")
                    }
                }
                let own = try await bench.perform(
                    "http.request", ["url": .string("http://127.0.0.1:\(server.port)/json")])
                #expect(own.exit == .toolFailed && bench.output.notices.last?.hasSuffix("no name") == true)
            }
        }
    }

    @Test("A response with invalid JSON fails, and the result has its text")
    func badJSON() async throws {
        let script = Self.serving { connection, _ in
            try connection.answer(200, ["Content-Type": "application/problem+json"], #"{"a": "#)
        }
        try await ScriptedServer.run(script) { server in
            try await TestWorkbench.withRunner { bench in
                let run = try await bench.run(Self.bundle("url: 'http://127.0.0.1:\(server.port)/'"))
                #expect(run.exit == .toolFailed && Self.step(run)?["result"]?["text"] == #"{"a": "#, "\(run.json)")
                #expect(
                    Self.step(run)?["error"]?["message"]?.string?.contains("its body is not valid JSON") == true)
            }
        }
    }

    @Test("A request is retried after a server error if that is safe")
    func retries() async throws {
        let script: ScriptedServer.Script = { connection in
            try connection.receiveRequest()
            let isFirst = connection.number % 2 == 0
            try connection.answer(
                isFirst ? 500 : 200, ["Retry-After": "0", "Connection": "close"], "answer \(connection.number)")
        }
        for (more, attempts, status) in [
            ("retries: 2", 2, 200), ("retries: 0", 1, 500), ("method: POST, retries: 2", 1, 500),
            ("method: POST, retries: 2, idempotency-key: once", 2, 200), ("retries: 2, expect: [500]", 1, 500),
        ] {
            try await ScriptedServer.run(script) { server in
                try await TestWorkbench.withRunner { bench in
                    let run = try await bench.run(Self.bundle("url: 'http://127.0.0.1:\(server.port)/', \(more)"))
                    let result = Self.step(run)?["result"]
                    #expect(
                        result?["status"] == .int(status) && result?["attempts"] == .int(attempts),
                        "\(more): \(run.json)")
                    #expect(server.record.requests.count == attempts)
                    let keys = server.record.requests.map { $0.headers["Idempotency-Key"] }
                    #expect(keys.allSatisfy { $0 == (more.contains("once") ? "once" : nil) })
                }
            }
        }
    }

    @Test("A request ends when the server is silent, the step times out or the connection is lost")
    func stalls() async throws {
        let script: ScriptedServer.Script = { connection in
            let target = try connection.receiveHead().target
            if target != "/silent" { try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf") }
            if target == "/cut" { return }
            try connection.stall()
        }
        try await ScriptedServer.run(script) { server in
            try await TestWorkbench.withRunner { bench in
                for (path, step, more, code) in [
                    ("/silent", "", ", wait: 100ms", "http.timed-out.first-byte"),
                    ("/half", "", ", wait: 100ms", "http.timed-out.idle"),
                    ("/half", ", timeout: 300ms", ", to: '\(bench.folder)/out/x'", "bundle.timed-out"),
                    ("/cut", "", "", "http.cut"), ("/cut", "", ", to: '\(bench.folder)/out/x'", "http.cut"),
                ] {
                    let run = try await bench.run(
                        Self.bundle(
                            "url: 'http://127.0.0.1:\(server.port)\(path)'\(more)",
                            permissions: ", paths: ['\(bench.folder)']", step: step))
                    #expect(run.exit == .unreachable, "\(run.json)")
                    #expect(Self.step(run)?["error"]?["code"] == .string(code), "\(path)\(more): \(run.json)")
                }
                // No partial file and no open connection is left.
                try await server.until { $0.openNow == 0 }
                #expect(try Files.list("\(bench.folder)/out").isEmpty)
            }
        }
    }

    @Test("A cancelled request ends and removes its partial file")
    func cancelled() async throws {
        let script: ScriptedServer.Script = { connection in
            try connection.receiveHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
            try connection.stall()
        }
        try await ScriptedServer.run(script) { server in
            try await TestWorkbench.withRunner { bench in
                let (folder, port) = (bench.folder, server.port)
                let copy = bench
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        _ = try await copy.perform(
                            "http.request",
                            ["url": .string("http://127.0.0.1:\(port)/"), "to": .string("\(folder)/out/x")])
                    }
                    try await server.until { $0.bytesSent > 0 }
                    group.cancelAll()
                    await #expect(throws: (any Error).self) { try await group.next() }
                }
                try await server.until { $0.openNow == 0 }
                #expect(try Files.list("\(folder)/out").isEmpty)
            }
        }
    }
}
