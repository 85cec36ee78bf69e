import Capabilities
import GatewayKit
import GatewayTesting
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import ModelKit
import Testing

@Suite("Faults", .timeLimit(.minutes(2)))
struct FaultTests {
    @Test(
        "a refusal names the server, the reason and what to do",
        arguments: [
            (401, "invalid_api_key", .keyRefused, "lab rejected the key, or received none: no; sign in with"),
            (403, "forbidden", .forbidden, "lab does not allow this key to do that: no; request access"),
            (429, "rate_limit_exceeded", .rateLimited, "lab received too many requests: no; try again in"),
            (503, "claude_unavailable", .notReady, "lab is not ready: no; try again later"),
            (500, "internal_error", .serverFailed, "lab had an internal error: no; try again later"),
            (504, "x", .timedOut, "lab timed out: no; try again later"),
            (422, "x", .refused, "lab refused the request: no"),
        ] as [(Int, String, RemoteGatewayError.Kind, String)])
    func refusals(status: Int, code: String, kind: RemoteGatewayError.Kind, words: String) async throws {
        try await Lab.run { server, gateway in
            server.reply("/v1/sessions/s", with: .error(status, code, "no."))
            let error = await #expect(throws: RemoteGatewayError.self) { try await gateway.session("s") }
            #expect(error?.kind == kind && error?.status == status)
            #expect(error?.message.hasPrefix(words) == true, "\(error?.message ?? "")")
            #expect(server.requests.count == 1)
        }
    }

    @Test("what runs or has changed is told as such")
    func conflicts() async throws {
        try await Lab.run { server, gateway in
            server.reply("/v1/sessions/s", with: .error(409, "busy", "a turn is running"))
            let busy = await #expect(throws: AgentServerError.self) { try await gateway.endSession("s") }
            #expect(busy?.kind == .busy && busy?.subject == .session)
            server.reply("/v1/projects/p/files/a", with: .error(412, "changed", "it has changed"))
            let changed = await #expect(throws: AgentServerError.self) {
                try await gateway.writeFile([], to: "a", ofProject: "p", if: .matches(etag: "\"1\""))
            }
            #expect(changed?.kind == .changed && changed?.subject == .file)
            #expect(server.requests.last?.headers["If-Match"] == "\"1\"")
        }
    }

    @Test("a secret that the server sends back is in no message")
    func secrecy() async throws {
        try await Lab.run { server, gateway in
            server.reply("/v1/sessions/s", with: .error(400, "x", "the key \(Lab.key) is odd"))
            let error = await #expect(throws: RemoteGatewayError.self) { try await gateway.session("s") }
            #expect(error?.message.contains(Lab.key) == false)
            #expect(error?.refusal?.message.contains(Lab.key) == false)
        }
    }

    @Test("rubbish is not a list", arguments: ["", "rubbish", "{", "7", "{}", #"{"a":[],"b":[]}"#, "<html></html>"])
    func rubbish(body: String) async throws {
        try await Lab.run { server, gateway in
            for path in ["/v1/projects", "/v1/models", "/v1/mcp/servers"] {
                server.reply(path, with: .init(200, body))
            }
            let calls: [() async throws -> Void] = [
                { _ = try await gateway.projects() }, { _ = try await gateway.models() },
                { _ = try await gateway.toolServers(.all, project: nil) },
            ]
            for call in calls {
                let error = await #expect(throws: RemoteGatewayError.self) { try await call() }
                #expect(error?.kind == .badAnswer && error?.message.contains("lab") == true)
            }
        }
    }

    @Test("paging that never ends is cut, and a server without pages is asked twice")
    func endless() async throws {
        try await Lab.scripted { connection in
            while true {
                let request = try connection.receiveRequest()
                let page = request.target.split(separator: "=").dropFirst().first?.prefix { $0 != "&" } ?? ""
                try connection.answer(
                    200, [:], #"{"data":[{"id":"p-\#(page)","name":"n"}],"pagination":{"has_next":true}}"#)
            }
        } _: { server, gateway in
            let list = try #require(try await gateway.projects().value)
            #expect(list.rows.count == 50 && list.isCut)
            #expect(server.record.requests.count == 50)
        }
        try await Lab.run { server, gateway in
            server.reply(
                "/v1/projects", with: .init(200, #"{"data":[{"id":"p"}],"pagination":{"has_next":true}}"#))
            let list = try #require(try await gateway.projects().value)
            #expect(list.rows.map(\.id) == ["p"] && list.isCut && server.requests.count == 2)
        }
    }

    @Test("a huge answer is refused before it is read to its end")
    func huge() async throws {
        try await Lab.scripted { connection in
            try connection.receiveRequest()
            try connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[")
            try connection.sendEndlessly(Array(String(repeating: "{},", count: 10_000).utf8))
        } _: { server, gateway in
            let error = await #expect(throws: RemoteGatewayError.self) { try await gateway.session("s") }
            #expect(error?.kind == .badAnswer && error?.message.contains("too large") == true)
            let file = await #expect(throws: AgentServerError.self) {
                try await gateway.readFile("a", ofProject: "p", in: nil)
            }
            #expect(file?.kind == .tooLarge && file?.message.contains("read it in parts") == true)
        }
    }

    @Test("a redirect is not followed, and the other server gets nothing", arguments: [301, 302, 303, 307, 308])
    func redirect(status: Int) async throws {
        try await PlainGateway.run { other in
            try await Lab.run { server, gateway in
                for place in [other.address, server.address] {
                    server.reply(
                        "/v1/projects", with: .init(status, "", headers: ["Location": "\(place)/v1/elsewhere"]))
                    let error = await #expect(throws: RemoteGatewayError.self) { try await gateway.projects() }
                    #expect(error?.kind == .redirected && error?.message.contains(place) == true)
                }
                #expect(other.requests.isEmpty && server.requests.count == 2)
            }
        }
    }

    @Test("a server that does not answer is left after the limit, and at once when the task is cancelled")
    func slow() async throws {
        try await Lab.scripted(patience: .milliseconds(300)) { connection in
            try connection.receiveRequest()
            try connection.stall()
        } _: { server, gateway in
            let error = await #expect(throws: RemoteGatewayError.self) { try await gateway.session("s") }
            #expect(error?.kind == .timedOut && error?.message.contains("lab") == true)
            let patient = gateway.waiting(atMost: .seconds(3600))
            let before = server.record.requests.count
            let task = Task { try await patient.projects() }
            try await server.until { $0.requests.count > before }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test("a list whose pages are slow ends in time")
    func slowPages() async throws {
        try await Lab.scripted(patience: .milliseconds(400)) { connection in
            while true {
                let request = try connection.receiveRequest()
                try connection.pause(.milliseconds(200))
                try connection.answer(
                    200, [:],
                    #"{"data":[{"id":"\#(request.target.utf8.count)"}],"pagination":{"has_next":true},"n":"\#(request.target)"}"#
                )
            }
        } _: { _, gateway in
            let error = await #expect(throws: RemoteGatewayError.self) { try await gateway.projects() }
            #expect(error?.kind == .timedOut && error?.message.contains("lab") == true)
        }
    }

    @Test("nothing at the address is told with the server's name")
    func unreachable() async throws {
        try await RefusingPort.run { port in
            try await Lab.with("http://127.0.0.1:\(port)") { gateway in
                let error = await #expect(throws: RemoteGatewayError.self) { try await gateway.projects() }
                #expect(error?.kind == .unreachable && error?.exit == .unreachable)
                #expect(error?.message.hasPrefix("cannot reach lab: ") == true)
            }
        }
    }

    @Test("a part of a file is what was asked for, or an error")
    func parts() async throws {
        try await Lab.run { server, gateway in
            func serve(_ range: String, status: Int = 206) {
                server.reply(
                    "/v1/projects/p/files/a",
                    with: .init(status, "cde", headers: ["Content-Range": range, "ETag": "\"1\""]))
            }
            serve("bytes 2-4/10")
            let part = AgentFileContent(bytes: Array("cde".utf8), start: 2, size: 10, etag: "\"1\"")
            let first = try await gateway.readFile("a", ofProject: "p", in: 2..<5)
            #expect(first == .value(part))
            serve("", status: 200)
            let whole = AgentFileContent(bytes: Array("cde".utf8), etag: "\"1\"")
            #expect(try await gateway.readFile("a", ofProject: "p", in: 2..<5) == .value(whole))
            for wrong in ["bytes 2-5/10", "bytes 2-4/3", "rubbish", "bytes 4-2/10"] {
                serve(wrong)
                let error = await #expect(throws: RemoteGatewayError.self) {
                    try await gateway.readFile("a", ofProject: "p", in: 2..<5)
                }
                #expect(error?.kind == .badAnswer)
            }
        }
    }
}
