package import Capabilities
import GatewayKit
import ModelKit
package import TurnLoop

/// What a caller adds to a question for a server that runs tools.
package struct AgentOptions: Sendable {
    /// Returns what was chosen of the tools for a new session in a project; nil if nothing was.
    package typealias Tools = @Sendable (_ project: String?) async throws -> Offered<NewSessionTools>?

    /// Answers approval questions. Without it the server denies at once what it would ask about.
    package var approve: TurnLoop.Approve?
    /// Asked once by a question that starts a session.
    package var tools: Tools?

    /// By default nobody can approve, and nothing was chosen.
    package init(approve: TurnLoop.Approve? = nil, tools: Tools? = nil) {
        self.approve = approve
        self.tools = tools
    }
}

/// The chosen tools that a question sends along because it starts a session.
struct OpeningTools {
    /// What is sent; nil for nothing.
    var sent: NewSessionTools?
    /// Why nothing is sent although something was chosen.
    var notice: String?
}

extension AgentTalk {
    /// The chosen tools for a new session. A server without a choice of tools would ignore them silently, so it gets none.
    ///
    /// - Throws: if the server does not say what it has, since the session would start with more than was chosen.
    func openingTools(in project: String?, through access: ServerAccess) async throws -> OpeningTools {
        guard let choose = options.tools else { return OpeningTools() }
        do {
            switch try await access.asking({ try await choose(project) }) {
            case nil: return OpeningTools()
            case .value(let tools)?: return OpeningTools(sent: tools)
            case .notOffered?:
                return OpeningTools(
                    notice:
                        "\(access.name) has no choice of tools, so that what you chose for its new sessions was not sent "
                        + "and does not count; \(access.forgetting(project))")
            }
        } catch let error as ChatError {
            // Without the choice the question would not reach it either.
            let forgetting = error.kind == .unreachable ? nil : access.forgetting(project)
            let remedies = [error.remedy, forgetting].compactMap(\.self)
            throw ChatError(
                error.kind, "what you chose of the tools of \(access.name) cannot be sent: \(error.happened)",
                remedy: remedies.isEmpty ? nil : remedies.joined(separator: "; "),
                provider: access.id, status: error.status, retryAfter: error.retryAfter, cause: error.cause)
        }
    }

    /// What the session does not say that it applies; nil if it applies everything that was sent.
    func shortfall(of sent: NewSessionTools, in session: String?, through access: ServerAccess) async -> String? {
        guard !sent.isEmpty else { return nil }
        let chosen = "what you chose of the tools of \(access.name)"
        guard let session else { return "whether \(chosen) counts is not known, because it names no session" }
        let look =
            "'martlet mcp gateway list --gateway \(PlainText.escape(access.id)) --session "
            + "\(PlainText.escape(session, limit: 100))' shows what does"
        do {
            let status = try await gateway.status(ofSession: session)
            let missing = sent.missing(in: status.value?.session.tools)
            guard !missing.isEmpty else { return nil }
            return "\(chosen) does not all count in this session (\(missing.joined(separator: ", "))); \(look)"
        } catch {
            // The answer is complete, whatever a stop cancels now.
            if Task.isCancelled { return nil }
            return "whether \(chosen) counts is not known: \(AnyFailure(error).message); \(look)"
        }
    }
}

extension AnswerFailure {
    /// The members that say which tools a session uses.
    private static let members: Set<String> = ["mcp", "enabled_servers", "enabled_tools", "priority", "audit_log"]

    /// The same failure, about the tools that were sent along if it is those that the server refuses.
    func aboutTools(_ sent: NewSessionTools?, of access: ServerAccess) -> AnswerFailure {
        guard sent != nil, isRefusal, let refusal, let error = chat else { return self }
        let field = refusal.field?.split(separator: ".").last.map(String.init) ?? ""
        guard refusal.code == "unknown_tool" || Self.members.contains(field) else { return self }
        var failure = self
        failure.error = ChatError(
            .invalidRequest,
            "\(access.name) refused what you chose of its tools: \(access.redactor.redact(refusal.message))",
            remedy:
                "'martlet mcp gateway use --default --gateway \(PlainText.escape(access.id))' changes the choice, and "
                + "--reset with it forgets it",
            provider: access.id, status: error.status)
        return failure
    }
}

extension ServerAccess {
    /// How the person forgets what was chosen for new sessions.
    fileprivate func forgetting(_ project: String?) -> String {
        let place = project.map { ", with --project \(PlainText.escape($0, limit: 100)) that of the project" } ?? ""
        return
            "'martlet mcp gateway use --default --gateway \(PlainText.escape(id)) --reset' forgets the choice\(place)"
    }
}
