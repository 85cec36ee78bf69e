import Capabilities
import GatewayTurns
import HTTPClient
import HTTPCore
import JSON
import Testing

@Suite("Approvals", .timeLimit(.minutes(5))) struct ApprovalTests {
    /// A tool that changes something, so that it needs approval.
    private static let write = "fs.write {\"path\":\"new.txt\",\"content\":\"hello\"}"

    @Test(
        "A call that needs approval is announced in the stream and runs after it is allowed",
        arguments: [true, false])
    func answered(allows: Bool) async throws {
        try await withGateway { gateway in
            let project = try await gateway.makeProject()
            let body = asking(Self.write, "test/caller", ["project_id": .string(project), "stream": true])
            let stream = try await gateway.open("/v1/chat/completions", body)
            let session = try #require(stream.headers["X-Session-ID"])
            var result: JSON?
            for try await event in stream.events() where event.text != "[DONE]" {
                let frame = try JSON(parsing: event.text)
                if frame["object"] == "tool_result" { result = frame }
                guard frame["object"] == "approval_request" else { continue }
                #expect(frame["session_id"]?.string == session && frame["tool_id"] == "call-1")
                #expect(frame["name"] == "fs.write" && frame["effect"] == "writes")
                #expect(frame["input"]?["path"] == "new.txt")
                #expect((1...60_000).contains(try #require(frame["expires_in_ms"]?.int)))
                let id = try #require(frame["id"]?.string)
                let path = "/v1/sessions/\(session)/approvals"
                #expect(try await gateway.json(.get, path)["data"]?[0]?["id"]?.string == id)
                let answer: JSON = ["allow": .bool(allows), "scope": "session", "reason": "not today"]
                #expect(
                    try await gateway.json(.post, "\(path)/\(id)", answer)["status"] == (allows ? "allowed" : "denied"))
                let again = try await gateway.json(.post, "\(path)/\(id)", answer, status: 404)
                #expect(again.errorCode == "approval_not_found")
            }
            #expect(result?["is_error"] == .bool(!allows))
            let files = try await gateway.json(.get, "/v1/projects/\(project)/files")["data"]?.array
            #expect(files?.map { $0["path"]?.string } == (allows ? ["new.txt"] : []))
            let audit = try await gateway.json(.get, "/v1/sessions/\(session)/audit")
            let rows = audit["data"]?.array ?? []
            // The audit log has who answered, and the client of the call.
            let answered = rows.filter { $0["action"] == "approval.answered" }
            #expect(
                answered.count == 1 && answered.first?["actor"] == "tester" && answered.first?["subject"] == "fs.write")
            #expect(answered.first?["decision"] == (allows ? "allowed" : "denied"))
            #expect(rows.first { $0["action"] == "tool.call" }?["detail"]?["client"] == "tester")
        }
    }

    @Test("A call is denied at once if the client cannot see the approval request")
    func nobody() async throws {
        try await withGateway { gateway in
            let project = try await gateway.makeProject()
            let body = asking(Self.write, "test/caller", ["project_id": .string(project)])
            let reply = try await gateway.json(.post, "/v1/chat/completions", body)
            #expect(reply["timeline"]?[1]?["is_error"] == true && reply["unapproved"] == true)
        }
    }

    @Test("A client that says it cannot answer is not asked, and is told that the call was not approved")
    func cannotAnswer() async throws {
        var settings = TurnSettings()
        settings.approvalTime = .seconds(3600)
        try await withGateway(settings) { gateway in
            let project = try await gateway.makeProject()
            let body = asking(Self.write, "test/caller", ["project_id": .string(project), "stream": true])
            let frames = try await gateway.frames(body, headers: ["X-Martlet-Approvals": "deny"])
            let kinds = frames.compactMap { $0["object"]?.string }
            #expect(!kinds.contains("approval_request") && kinds.contains("tool_result"))
            let last = frames.last { $0["choices"]?[0]?["finish_reason"]?.string != nil }
            #expect(last?["unapproved"] == true)
            let read = asking("ls {}", "test/caller", ["project_id": .string(project), "stream": true])
            #expect(try await gateway.frames(read).allSatisfy { $0["unapproved"] == nil })
        }
    }

    @Test("An answer needs a session, an open approval request, and a yes or no")
    func refused() async throws {
        try await withGateway { gateway in
            let yes: JSON = ["allow": true]
            let none = try await gateway.json(.post, "/v1/sessions/none/approvals/x", yes, status: 404)
            #expect(none.errorCode == "session_not_found")
            let session = try await gateway.json(.post, "/v1/sessions", [:])["id"]?.string ?? ""
            let path = "/v1/sessions/\(session)/approvals"
            _ = try await gateway.json(.post, "\(path)/x", yes, status: 404)
            for body in [["allow": "yes"], [:], ["allow": true, "scope": "forever"]] as [JSON] {
                _ = try await gateway.json(.post, "\(path)/x", body, status: 422)
            }
            #expect(try await gateway.json(.get, path)["data"] == [])
        }
    }
}
