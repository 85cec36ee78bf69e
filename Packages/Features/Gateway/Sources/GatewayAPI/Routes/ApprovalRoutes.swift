import Capabilities
import GatewayStore
import GatewayTurns
import HTTPCore
import HTTPServer
import JSON
import TurnLoop

/// Calls that wait for somebody's word. A stream in the rich dialect tells of each; whoever may approve can answer. An
/// answer that counts for all of the project is a rule, which only an admin makes.
struct ApprovalRoutes {
    let services: APIServices

    var all: [Route] {
        [
            Route(
                .get, "/v1/sessions/{id}/approvals", "listApprovals", "Calls that wait for somebody's word",
                .path("id", "The session")
            ) { _, id in try await list(id) }.refusing(.notFound),
            Route(
                .post, "/v1/sessions/{id}/approvals/{approval}", "answerApproval", "Allows a call or denies it",
                .path("id", "The session"), .path("approval", "What waits"),
                .body(ApprovalBody.self, "The answer", unknown: .ignored)
            ) { request, id, approval, body in
                if body.answer.scope == .project { try request.principal?.grant.check(.route([.admin])) }
                return try await answer(id, approval, body, by: request.principal)
            }.refusing(.notFound, .conflict),
        ].map { $0.tagged("approvals") }
    }

    private func list(_ session: String) async throws -> WireList<WireApproval> {
        _ = try await services.session(session)
        let now = services.now()
        return WireList(rows: services.turns.openApprovals(of: session).map { WireApproval(ticket: $0, now: now) })
    }

    private func answer(
        _ session: String, _ id: String, _ body: ApprovalBody, by principal: Principal?
    ) async throws -> ApprovalDone {
        let found = try await services.session(session)
        if let ticket = services.turns.openApprovals(of: session).first(where: { $0.id == id }) {
            // First, so that no answer counts of which nobody can tell whose it was.
            try await services.store.audit(
                AuditEntry(
                    project: found.project, session: session, actor: principal?.name ?? "client",
                    action: "approval.answered", subject: ticket.call.name,
                    decision: body.answer.isAllowed ? "allowed" : "denied",
                    detail: ["id": .string(ticket.call.id), "scope": body.answer.scope.json]))
        }
        try services.turns.answer(id, of: session, body.answer)
        return ApprovalDone(id: id, isAllowed: body.answer.isAllowed)
    }
}

/// A call that waits: a frame of the rich dialect, and a row of the list.
struct WireApproval: Record {
    let ticket: ApprovalTicket
    let now: Timestamp

    static let fields: [Field<WireApproval>] = [
        Field("object", "Always approval_request") { _ in "approval_request" },
        Field("id", "By which it is answered") { $0.ticket.id },
        Field("session_id", "The session") { $0.ticket.session },
        Field("tool_id", "The id of the call") { $0.ticket.call.id },
        Field("name", "The tool", .name) { $0.ticket.call.name },
        Field("source", "Who offers the tool") { $0.ticket.source },
        Field("input", "What it is to be given") { $0.ticket.call.input },
        Field("effect", "Whether it reads, writes or destroys") { $0.ticket.effect },
        Field("summary", "What the tool says of itself") { $0.ticket.summary },
        Field("paths", "The files and folders that it is about, with links followed") { wire -> [String]? in
            wire.ticket.reach.paths.isEmpty ? nil : wire.ticket.reach.paths.map(\.text)
        },
        Field("diff", "What it would change") { $0.ticket.reach.diff },
        Field("caution", "What no sandbox keeps a command from") { $0.ticket.reach.command?.caution },
        Field("remembers", "What an answer for the session or project would be about; once only when absent") {
            $0.ticket.remembers
        },
        Field("expires_in_ms", "How long until it is denied because nobody answers") { wire in
            max(0, Int((wire.ticket.expires - wire.now) / .milliseconds(1)))
        },
    ]
}

/// What somebody says to a call.
struct ApprovalBody: InputValue {
    let answer: ApprovalAnswer

    /// For how long an answer counts.
    enum Scope: String, Choice {
        case once, session, project
    }

    static let schema = Schema.record([
        Schema.Property("allow", "Whether it may be done", .boolean),
        Schema.Property("scope", "For how long that counts; once when absent", .optional(Scope.schema)),
        Schema.Property("reason", "What the model is told of why not", .optional(.string)),
    ])

    init(json: JSON) throws(ValueError) {
        let scope: ApprovalScope =
            switch json["scope"]?.string.flatMap(Scope.init) {
            case .once, nil: .once
            case .session: .conversation
            case .project: .project
            }
        answer = ApprovalAnswer(
            isAllowed: json["allow"]?.bool ?? false, scope: scope, reason: json["reason"]?.string)
    }
}

/// That an answer was taken.
struct ApprovalDone: Record {
    let id: String
    let isAllowed: Bool

    static let fields: [Field<ApprovalDone>] = [
        Field("id", "What was answered") { $0.id },
        Field("status", "allowed or denied", .state) { $0.isAllowed ? "allowed" : "denied" },
    ]
}
