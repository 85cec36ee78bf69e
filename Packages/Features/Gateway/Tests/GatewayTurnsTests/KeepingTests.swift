import Capabilities
import FileKit
import GatewayStore
import JSON
import Testing
import TurnLoop

@testable import GatewayTurns

/// Searches all bytes that a gateway stores of its sessions.
@Suite("Secrets in a session", .timeLimit(.minutes(5)))
struct KeepingTests {
    /// With characters that each encoding writes differently.
    private static let known = #"hunter2 "ünd"/more+1"#
    private static let key = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
    private static let signed =
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
    private static let armour = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
    private static let pem = "-----BEGIN PRIVATE KEY-----\n\(armour)\n-----END PRIVATE KEY-----"

    /// The known secret in the forms that programs write: plain, in JSON, in a URL, in a form, in Base64.
    private static let encodings = [
        known, #"hunter2 \"ünd\"/more+1"#, #"hunter2 \"\u00fcnd\"/more+1"#, "hunter2%20%22%C3%BCnd%22%2Fmore%2B1",
        "hunter2+%22%C3%BCnd%22%2Fmore%2B1", Base64.encode(Array(known.utf8)),
    ]
    private static let secrets = encodings + [key, signed, armour]
    private static let said = (encodings + [key, signed, pem]).joined(separator: " and ")

    private static func redactor() -> Redactor {
        let redactor = Redactor()
        redactor.learn(Secret(known), named: "lab")
        return redactor
    }

    /// Every byte of every file in the folder, including write-ahead logs.
    private func kept(_ folder: String) throws -> String {
        let names = try Files.list(folder).filter { $0.kind == .regular }.map(\.name)
        #expect(names.contains("gateway.db"))
        return try names.map { name in
            String(decoding: try Files.read("\(folder)/\(name)", limit: 1 << 26), as: UTF8.self)
        }.joined()
    }

    /// The secrets found in it, also in the JSON form of a database.
    private func found(in bytes: String) -> [String] {
        Self.secrets.filter { secret in
            bytes.contains(secret) || bytes.contains(JSON.string(secret).text().dropFirst().dropLast())
        }
    }

    /// A model whose text and calls all contain secrets.
    private func model() -> ScriptedModel {
        let said = Self.said
        let call = ToolCall.named("change", [said: .string(said), "deep": [[Self.key: .string(said)]]])
        return ScriptedModel(
            "scripted",
            .custom { request in
                let parts: [Message.Part] = [
                    .reasoning(Reasoning(said)), .reasoning(Reasoning(said, signature: "proof of \(Self.key)")),
                    .text(said), .refusal(said), .call(call),
                    .malformedCall(
                        MalformedCall(id: "call-2", name: Self.key, text: "{\(said)", reason: "no: \(said)")),
                ]
                return ChatAnswer(
                    start: ChatStart(id: Self.key, model: Self.signed), message: Message(.assistant, parts),
                    finish: .calls, usage: Usage(inputTokens: 1, outputTokens: 1))
            }, .say(said))
    }

    /// Returns its input.
    private final class Echo: ToolSource {
        let name = "echo"

        func tools() async throws -> [ToolDescription] {
            [ToolDescription(name: "change", summary: "A tool", input: ["type": "object"], effect: .writes)]
        }

        func run(_ call: ToolCall) async throws -> ToolResult {
            ToolResult(call: call.id, content: "\(call.input.text()) \(KeepingTests.said)")
        }
    }

    @Test("Secrets are not stored, known in any encoding or only by shape, with one notice", arguments: [false, true])
    func canary(keeps: Bool) async throws {
        let model = model()
        let said = Self.said
        try await Workshop.run(model, sources: [Echo()], redactor: keeps ? nil : Self.redactor()) { workshop in
            var input = workshop.input(said)
            input.systemPrompt = "Use \(said)"
            let picture = Attachment(name: "\(Self.key).png", mediaType: "image/png", bytes: [0x89, 0xFF])
            let file = Attachment(name: "notes.txt", mediaType: "text/plain", bytes: Array(said.utf8))
            input.chat.messages[0].parts += [.attachment(picture), .attachment(file)]
            input.selection = ToolSelection(servers: ["echo", Self.key], priority: [Self.key], auditLog: true)
            let heard = Heard()
            let report = try await workshop.turns.run(input) { events in
                heard.receive(events)
                for ticket in Heard(events).tickets {
                    // A rule about a call with a secret would have to contain the secret.
                    let answer = ApprovalAnswer(isAllowed: true, scope: .conversation)
                    try workshop.turns.answer(ticket.id, of: ticket.session, answer)
                }
            }
            #expect(report.text.contains(said), "the client is told everything")
            let session = try #require(report.place.session)
            let notices = heard.notices.filter { $0.contains("a secret in this session is not stored") }
            #expect(notices.count == (keeps ? 0 : 1), "\(heard.notices)")
            try await workshop.store.setTitle("about \(Self.key) and \(Self.known)", of: session)
            try await workshop.store.setTools(ToolSelection(tools: [Self.key]), of: session)
            try await workshop.store.account(
                UsageEntry(session: session, provider: "p", model: Self.key, usage: Usage(inputTokens: 1)))
            try await workshop.store.audit(
                AuditEntry(
                    session: session, actor: "gateway", action: "models.left-out", subject: said,
                    detail: [Self.key: .string(said)]))
            let project = NewProject(name: Self.key, description: said, path: "/srv/other")
            let other = try await workshop.store.createProject(project)
            try await workshop.store.updateProject(other.id, ProjectChange(name: Self.signed, description: said))

            let bytes = try kept(workshop.folder)
            #expect(Set(found(in: bytes)) == (keeps ? Set(Self.secrets) : []))
            #expect(bytes.contains("‹redacted:lab›") != keeps && bytes.contains("‹redacted›") != keeps)
            // The model sees everything within the turn, and later turns see what was stored.
            #expect("\(model.requests[1])".contains(Self.key))
            model.add(.say("B"))
            _ = try await workshop.say("Go on", session: session)
            #expect("\(model.requests[2].messages)".contains(Self.key) == keeps)
            #expect(!"\(model.requests[2].messages)".contains("proof of") || keeps, "no altered thought is signed")
            let stored = try await workshop.store.storedMessages(of: session)
            #expect(stored.items.allSatisfy { $0.problem == nil })
            // Members with a secret as their name are kept, and none of them is lost.
            let stays = stored.items.flatMap(\.message.calls).first { $0.name == "change" }
            #expect(stays?.input.object?.count == 2, "\(String(describing: stays))")
        }
    }

    @Test("A lasting approval of a call with a secret counts only once, with a notice")
    func rules() async throws {
        let path = "\(Self.key).txt"
        let call = ToolCall.named("fs_write", ["path": .string(path), "content": "x"])
        let model = ScriptedModel("scripted", .call([call]), .say("done"))
        try await Workshop.run(model, redactor: Self.redactor()) { workshop in
            let heard = Heard()
            let report = try await workshop.turns.run(workshop.input("Go")) { events in
                heard.receive(events)
                for ticket in Heard(events).tickets {
                    let answer = ApprovalAnswer(isAllowed: true, scope: .conversation)
                    try workshop.turns.answer(ticket.id, of: ticket.session, answer)
                }
            }
            #expect(!heard.tickets.isEmpty && report.text.contains("done"), "\(heard.words)")
            #expect(Files.exists("\(workshop.project.path)/\(path)"))
            let id = try #require(report.place.session)
            let session = try #require(try await workshop.store.session(id))
            if heard.tickets.first?.remembers?.contains(Self.key) == true {
                #expect(session.rules == [] && heard.notices.contains { $0.contains("counts only once") })
            }
            #expect(found(in: try kept(workshop.folder)) == [])
        }
    }
}
