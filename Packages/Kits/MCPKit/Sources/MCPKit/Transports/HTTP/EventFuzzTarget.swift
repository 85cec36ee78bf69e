import Capabilities
import HTTPClient
import HTTPCore
import JSON
import RPCKit
import Synchronization

/// Feeds any bytes to what reads the events of servers, in both eras and in the older transport. Nothing may crash, the
/// pieces in which bytes come change nothing, a request is answered once at most, and nobody leads messages elsewhere.
@_spi(Fuzzing) public enum MCPEventFuzzTarget {
    public static func read(_ bytes: [UInt8]) {
        guard let whole = events(bytes, pieces: max(1, bytes.count)), let cut = events(bytes, pieces: 3) else { return }
        precondition(whole == cut, "the pieces change the events")
        let modern: JSON = ["_meta": ["io.modelcontextprotocol/protocolVersion": "2026-07-28"]]
        for params in [modern, nil] as [JSON?] { answer(RPCRequest(RPCID(1), "tools/call", params), whole) }
        for event in whole where event.type == "endpoint" { follow(event) }
    }

    /// Nil for a stream that breaks a limit.
    private static func events(_ bytes: [UInt8], pieces: Int) -> [ServerSentEvent]? {
        var parser = EventParser(limits: EventLimits(line: 4_096, event: 4_096))
        var events: [ServerSentEvent] = []
        do {
            for start in stride(from: 0, to: bytes.count, by: pieces) {
                events += try parser.read(Array(bytes[start..<min(start + pieces, bytes.count)]))
            }
        } catch {
            return nil
        }
        return events
    }

    private static func answer(_ request: RPCRequest, _ events: [ServerSentEvent]) {
        let answers = Mutex(0)
        var answer = RequestAnswer(to: request) { event in
            switch event {
            case .message(.response(let response)) where response.id == request.id:
                answers.withLock { $0 += 1 }
                if case .success(let result) = response.result { use(result) }
            case .message(.request(let request)): use(request)
            case .message(.notification(let notification)):
                _ = MCPChange(notification.method, notification.params)
                _ = MCPProgress(notification.params ?? [:])
                _ = MCPLogEntry(notification.params ?? [:])
            default: break
            }
        }
        do {
            for event in events where event.type == ServerSentEvent.defaultType && !event.data.isEmpty {
                if try answer.take(Array(event.data)) { break }
            }
        } catch {
            // Why a stream is given up does not matter.
        }
        precondition(answers.withLock { $0 } <= 1, "a request is answered twice")
    }

    private static func use(_ result: JSON) {
        _ = MCPTask.begun(by: result)
        _ = MCPServerInfo(.newest, MCPIdentity(result["serverInfo"]), result)
        do throws(MCPMalformed) {
            let read = try MCPResult(result)
            _ = read.parts.map { $0.mcp(.newest) }
        } catch {
            _ = PlainText.escape(error.reason)
        }
        for tool in result["tools"]?.array ?? [] {
            do throws(MCPMalformed) { _ = try HeaderMarks(try MCPTool(tool).input) } catch {
                _ = PlainText.escape(error.reason)
            }
        }
    }

    private static func use(_ request: RPCRequest) {
        let params = request.params ?? [:]
        do throws(MCPMalformed) { _ = try MCPElicitation(params).json(.newest) } catch {
            // It asks something else.
        }
        do throws(MCPMalformed) { _ = try MCPSampling(params) } catch {
            // It asks something else.
        }
    }

    private static func follow(_ event: ServerSentEvent) {
        do {
            let stream = try HTTPURL("http://127.0.0.1:8080/sse")
            let url = try MCPEventTransport.address(in: event, from: stream)
            precondition(
                url.isSameOrigin(as: stream) && url.text.hasPrefix("http://127.0.0.1:8080"), "messages go astray")
        } catch {
            // It was refused.
        }
    }
}
