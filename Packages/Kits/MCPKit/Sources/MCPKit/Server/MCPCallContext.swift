public import Capabilities
public import JSON
import RPCKit

/// A call while it runs: who calls, and what can be said and asked meanwhile.
///
/// The task of a call is cancelled when its client cancels it or is gone.
public struct MCPCallContext: Sendable {
    /// The client.
    public let peer: MCPPeer
    /// What the client added to the request, such as the context of a trace.
    public let meta: JSONObject
    let call: ServerCall

    /// The client's place in a trace; nil if it has none.
    public var trace: TraceContext? { TraceContext { meta[$0]?.string } }

    /// Tells how far the call has come, if the client wants to know. A value that does not grow is left out.
    public func progress(_ value: Double, of total: Double? = nil, message: String? = nil) {
        call.progress(MCPProgress(value, of: total, message: message))
    }

    /// Sends a log message, if the client wants those of this level.
    public func log(_ level: MCPLogEntry.Level, logger: String? = nil, _ data: JSON) {
        call.log(MCPLogEntry(level, logger: logger, data))
    }

    /// Asks the person at the client.
    ///
    /// - Throws: `MCPError`: `unsupported` if the client cannot be asked in that way, `timedOut` if nobody answers, `limit`
    ///   if too many calls wait for answers. An `RPCError` or `MCPError` if the answer cannot be read. What a call does not
    ///   catch reaches the client.
    public func elicit(_ question: MCPElicitation) async throws -> MCPAnswer {
        let offered = peer.capabilities
        let params: JSON
        switch question {
        case .form:
            if !offered.forms { throw missing("forms", ["elicitation": ["form": [:]]]) }
            params = question.json(peer.version)
        case .address(let message, let address, let id):
            if !offered.addresses { throw missing("visits to addresses", ["elicitation": ["url": [:]]]) }
            // Only one revision has the id, and there it must be.
            let id = peer.version == .november2025 ? id ?? RandomToken.make() : nil
            params = MCPElicitation.address(message: message, address: address, id: id).json(peer.version)
        }
        let answer = try await call.ask("elicitation/create", params.object ?? [:])
        return try read { () throws(MCPMalformed) in try MCPAnswer(answer) }
    }

    /// Asks a model of the client. Throws as `elicit` does.
    public func sample(_ request: MCPSampling) async throws -> MCPSampled {
        if !peer.capabilities.sampling { throw missing("answers of models", ["sampling": [:]]) }
        let answer = try await call.ask("sampling/createMessage", request.json.object ?? [:])
        return try read { () throws(MCPMalformed) in try MCPSampled(answer) }
    }

    /// Asks for the folders that the client works in. Throws as `elicit` does.
    public func roots() async throws -> [MCPRoot] {
        if !peer.capabilities.roots { throw missing("folders", ["roots": [:]]) }
        let answer = try await call.ask("roots/list", [:])
        return try read { () throws(MCPMalformed) in
            var roots: [MCPRoot] = []
            for root in answer["roots"]?.array ?? [] { roots.append(try MCPRoot(root)) }
            return roots
        }
    }

    private func missing(_ words: String, _ capabilities: JSON) -> MCPError {
        let message = "this client does not offer \(words)"
        return MCPError(
            .unsupported, message,
            error: RPCError(
                MCPError.Code.missingCapability, message, data: ["requiredCapabilities": capabilities]))
    }

    private func read<Value>(_ read: () throws(MCPMalformed) -> Value) throws -> Value {
        do throws(MCPMalformed) { return try read() } catch {
            let message = "the client's answer cannot be read: \(error.reason)"
            // In the modern era the answer is part of the request, so that the request is wrong, and not the tool.
            if peer.version.isModern { throw RPCError(RPCError.invalidParams, message) }
            throw MCPError(.malformed, message)
        }
    }
}
