import AnthropicDialect
import Capabilities
import GatewayTurns
import HTTPCore
import HTTPServer
import JSON
import ModelKit
import OpenAIDialect
import TurnLoop

/// What goes with asking: estimates, how a request is understood, how a turn is, and its end.
extension ChatRoutes {
    var controls: [Route] {
        [
            Route(
                .post, "/v1/messages/count_tokens", "countTokens", "About how many tokens a request would take",
                .body(MessagesBody.self, "What would be asked", unknown: .kept)
            ) { _, body in
                let request = try understood { () throws(DialectError) in
                    try AnthropicRequest(body.json)
                }
                return TokenCount(tokens: TokenEstimate().tokens(of: request.chat))
            }.refusingInputs(with: .badRequest),
            Route(
                .post, "/v1/chat/completions/debug", "debugCompletion", "How a request would be understood", wish,
                .body(CompletionBody.self, "What would be asked", unknown: .kept)
            ) { _, wish, body in try await debug(body, wish) },
            Route(
                .get, "/v1/chat/completions/{session}/status", "getStatus", "How a session is right now",
                .path("session", "The session")
            ) { _, session in
                let status = try await services.turns.status(session: session)
                return WireStatus(
                    session: status.session, isRunning: status.isRunning, approvals: status.openApprovals)
            }.refusing(.notFound),
            Route(
                .delete, "/v1/chat/completions/{session}", "stopTurn",
                "Stops the turn of a session, which keeps what was said and can be used on",
                .path("session", "The session")
            ) { _, session in
                StopReply(session: session, wasRunning: try await services.turns.stop(session: session))
            }.refusing(.notFound),
        ].map { $0.tagged("chat") }
    }

    private func debug(_ body: CompletionBody, _ wish: DialectWish?) async throws -> DebugReply {
        let request = try understood { () throws(DialectError) in try OpenAIRequest(body.json) }
        let asked = try Asked(request.chat, request.native, wish: wish, hasFrames: true, services)
        do {
            let model = try await services.turns.model(named: asked.model)
            return DebugReply(asked: asked, model: "\(model.provider)/\(model.id)")
        } catch is GatewayError {
            // That there is no such model is what somebody may want to find out.
            return DebugReply(asked: asked, model: nil)
        }
    }
}
