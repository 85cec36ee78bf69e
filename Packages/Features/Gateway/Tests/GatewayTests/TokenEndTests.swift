import Capabilities
import CoreTesting
import FileKit
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Registry
import Testing

@testable import Gateway

/// A running gateway, another program that revokes a token, and the requests that run for it.
@Suite("Requests of a revoked or expired token", .serialized, .timeLimit(.minutes(5)))
struct TokenEndTests {
    enum Way: String, CaseIterable { case revoked, expired }

    private static let features: [any Feature.Type] = [
        MemoryVault.self, AuditLogFeature.self, PlannerFeature.self, GatewayFeature.self,
    ]

    /// A gateway in a folder, with a project in which commands run without approval and one in which they need it.
    private struct Place: Sendable {
        let folder: String
        let serving: TestHost
        let address: String
        let client: HTTPClient

        /// Runs an action like another program.
        @discardableResult
        func perform(_ id: String, _ arguments: JSONObject = [:]) async throws -> JSON {
            let other = try TestHost(TokenEndTests.features, folder: folder)
            let result = try await other.perform(id, arguments, isAgreed: true)
            await other.session.close()
            return result
        }

        func token(_ name: String, _ more: JSONObject = [:]) async throws -> String {
            var arguments: JSONObject = ["name": .string(name), "scope": ["chat", "read"]]
            for (key, value) in more { arguments[key] = value }
            return try #require(try await perform("gateway.token.create", arguments)["token"]?.string)
        }

        func request(
            _ method: HTTPMethod, _ path: String, _ token: String, _ body: JSON? = nil
        ) throws -> HTTPRequest {
            var headers: HTTPHeaders = ["Authorization": "Bearer \(token)"]
            if body != nil { headers["Content-Type"] = "application/json" }
            var request = HTTPRequest(
                method, try HTTPURL(address + path), headers: headers, body: body.map { .text($0.text()) } ?? .none)
            request.retry = .none
            return request
        }

        func json(_ method: HTTPMethod, _ path: String, _ token: String, _ body: JSON? = nil) async throws -> JSON {
            try JSON(parsing: try await client.send(try request(method, path, token, body)).body)
        }

        /// An agent turn whose stream another task reads.
        func open(_ text: String, in project: String, _ token: String) async throws -> HTTPExchange {
            try await client.open(
                try request(
                    .post, "/v1/chat/completions", token,
                    [
                        "model": "martlet/martlet-offline", "stream": true, "project_id": .string(project),
                        "messages": [["role": "user", "content": .string(text)]],
                    ])
            ).requireSuccess()
        }
    }

    private func serve(_ body: (Place) async throws -> Void) async throws {
        try await TemporaryDirectory.run { folder in
            // A question waits longer than a token lives, or its turn might end by itself before that of the token.
            let settings = "{gateway: {'approval-limit': '10m'}}"
            let serving = try TestHost(Self.features, settings: settings, folder: folder)
            let task = Task { try await serving.perform("gateway.serve", ["port": 0]) }
            let deadline = ContinuousClock.now + .seconds(60)
            while !Files.exists("\(folder)/state/gateway.json"), ContinuousClock.now < deadline { await Task.yield() }
            let state = try JSON(parsing: try Files.read("\(folder)/state/gateway.json", limit: 4096))
            let address = try #require(state["addresses"]?[0]?.string)
            let place = Place(folder: folder, serving: serving, address: address, client: HTTPClient(.standalone))
            let result: Result<Void, any Error>
            do { result = .success(try await body(place)) } catch { result = .failure(error) }
            await place.client.close()
            task.cancel()
            _ = await task.result
            try result.get()
        }
    }

    private func project(_ name: String, _ place: Place, allowing: JSON = []) async throws -> String {
        let work = "\(place.folder)/\(name)"
        try Files.makeDirectories(work)
        let made = try await place.perform("gateway.project.add", ["folder": .string(work), "allow": allowing])
        return try #require(made["id"]?.string)
    }

    /// The number of processes with a text in their arguments.
    private func processes(with text: String) throws -> Int {
        try Files.list("/proc").map(\.name).count { name in
            guard name.allSatisfy(\.isNumber) else { return false }
            do {
                let words = try Files.read("/proc/\(name)/cmdline", limit: 1 << 16)
                return String(decoding: words, as: UTF8.self).contains(text)
            } catch {
                // The process has ended meanwhile.
                return false
            }
        }
    }

    /// Reads a stream until a mark, and returns the time of the mark and the rest of the stream.
    private final class Reader: Sendable {
        let heard: Task<[String], any Error>
        let ended: Promise<Void>
        private let moment: AsyncStream<String>

        init(_ exchange: HTTPExchange, until mark: String) {
            let (moment, signal) = AsyncStream.makeStream(of: String.self)
            self.moment = moment
            let ended = Promise<Void>()
            self.ended = ended
            heard = Task {
                defer {
                    signal.finish()
                    ended.settle(())
                }
                var all: [String] = []
                for try await event in exchange.events() {
                    all.append(event.text)
                    if event.text.contains(mark) { signal.yield(event.text) }
                }
                return all
            }
        }

        /// The first event with the mark.
        func first() async throws -> String {
            for await text in moment { return text }
            throw TestProblem("the stream ended with \(try await heard.value)")
        }
    }

    private struct TestProblem: Error {
        let text: String

        init(_ text: String) {
            self.text = text
        }
    }

    // sandbox case 78
    @Test(
        "Turns, commands and approval requests of the token end within two seconds, and those of others continue",
        arguments: Way.allCases)
    func chain(way: Way) async throws {
        try await serve { place in
            let free = try await project("free", place, allowing: ["bash.run"])
            let asked = try await project("asked", place)
            let owner = try #require(try await place.perform("gateway.token.show").string)
            let ci = try await place.token("ci", way == .expired ? ["expires": "90s"] : [:])
            let other = try await place.token("other")

            let mine = "360\(way == .revoked ? 1 : 2)"
            let theirs = "\(mine)7"
            let command = Reader(
                try await place.open("run `echo begun; sleep \(mine).25`", in: free, ci), until: "begun")
            _ = try await command.first()
            let question = Reader(try await place.open("run `touch x`", in: asked, ci), until: "approval_request")
            let ticket = try JSON(parsing: try await question.first())
            let beside = Reader(
                try await place.open("run `echo begun; sleep \(theirs).25`", in: free, other), until: "begun")
            _ = try await beside.first()
            let session = try #require(ticket["session_id"]?.string)
            let approvals = "/v1/sessions/\(session)/approvals"
            #expect(try await place.json(.get, approvals, owner)["data"]?.array?.count == 1)

            switch way {
            case .revoked:
                try await place.perform("gateway.token.revoke", ["name": "ci"])
                // A new token with the same name is a different token.
                _ = try await place.token("ci")
            case .expired:
                // The rest of it is below the 120 seconds that a command may take.
                place.serving.clock.advance(by: .seconds(89))
            }
            // A second that passes while the tokens are looked at is not seen, so that one more is needed.
            for _ in 0..<20 where !command.ended.isSettled || !question.ended.isSettled {
                await place.serving.clock.waitForSleepers()
                place.serving.clock.advance(by: .seconds(1))
                _ = try await place.json(.get, approvals, owner)
            }

            for reader in [command, question] {
                let heard = try await reader.heard.value
                #expect(heard.contains { $0.contains("was revoked or has expired") }, "\(heard)")
            }
            #expect(try await place.json(.get, approvals, owner)["data"] == [])
            let late = try await place.client.send(
                try place.request(
                    .post, "\(approvals)/\(ticket["id"]?.string ?? "")", owner, ["allow": true]))
            #expect(late.status.code == 404 && !Files.exists("\(place.folder)/asked/x"), "\(late.text)")
            while try processes(with: "\(mine).25") > 0 { await Task.yield() }
            let audit = try await place.json(.get, "/v1/sessions/\(session)/audit", owner)
            let ended = audit["data"]?.array?.first { $0["action"] == "turn.ended" }
            #expect(ended?["detail"]?["reason"] == "gateway.token-ended", "\(audit)")
            #expect(try await place.json(.get, "/v1/sessions/\(session)", owner)["running"] != true)

            // Requests of other clients continue.
            let sessions = try await place.json(.get, "/v1/sessions", owner)
            for one in sessions["data"]?.array ?? [] {
                let id = one["id"]?.string ?? ""
                _ = try await place.client.send(try place.request(.delete, "/v1/chat/completions/\(id)", owner))
            }
            _ = await beside.heard.result
        }
    }
}
