import Capabilities
import GatewayStore
import GatewayTurns
import ToolKit

// The values of Core from what the gateway stores. An empty text is none, as for clients of the routes.

extension AgentProject {
    init(_ row: ProjectRow) {
        let project = row.project
        self.init(
            id: project.id, name: project.name, summary: project.description?.filled, path: project.path,
            created: project.created, updated: project.updated, sessions: row.sessions, tokens: row.usage.tokens,
            cost: row.usage.usage.cost)
    }
}

extension AgentSession {
    init(_ session: Session) {
        self.init(
            id: session.id, project: session.project, title: session.title.filled, model: session.model,
            systemPrompt: session.systemPrompt?.filled, isRunning: session.isRunning, created: session.created,
            updated: session.updated, messages: session.messages, tokens: session.usage.tokens,
            cost: session.usage.usage.cost, tools: session.selection)
    }
}

extension AgentStatus {
    init(_ status: SessionStatus) {
        var session = AgentSession(status.session)
        (session.title, session.systemPrompt, session.isRunning) = (nil, nil, status.isRunning)
        self.init(session: session, isRunning: status.isRunning, openApprovals: status.openApprovals)
    }
}

extension AgentStats {
    init(_ stats: Stats) {
        self.init(
            activeSessions: stats.running.count, running: stats.running, sessions: stats.sessions,
            projects: stats.projects, messages: stats.messages, tokens: stats.usage.tokens,
            cost: stats.usage.usage.cost, models: stats.models)
    }
}

extension AgentFile {
    init(_ entry: Workspace.Entry) {
        let isFile = entry.kind == .file
        self.init(
            path: entry.path, kind: Kind(rawValue: entry.kind.rawValue) ?? .other, size: isFile ? entry.size : nil,
            modified: entry.modified, etag: isFile ? entry.etag : nil)
    }
}

extension AgentToolServer {
    init(_ offer: ToolOffer) {
        self.init(
            id: offer.source, name: offer.source, status: offer.problem == nil ? "running" : "error",
            problem: offer.problem, isEnabled: true, scope: offer.scope, version: offer.version,
            tools: offer.tools.count)
    }
}

extension AgentTool {
    init(_ tool: ToolDescription) {
        self.init(name: tool.name, summary: tool.summary, effect: tool.effect, input: tool.input)
    }
}

extension AgentApproval {
    init(_ ticket: ApprovalTicket, now: Timestamp) {
        var call = ticket.call
        call.isDone = true
        self.init(
            id: ticket.id, session: ticket.session, call: call, source: ticket.source, effect: ticket.effect,
            summary: ticket.summary, paths: ticket.reach.paths.map(\.text), diff: ticket.reach.diff,
            caution: ticket.reach.command?.caution, remembers: ticket.remembers,
            limit: max(.zero, ticket.expires - now))
    }
}

extension String {
    /// Nil for an empty text.
    var filled: String? { isEmpty ? nil : self }
}
