import Capabilities
import GatewayTurns
import Synchronization

/// A client that records its events.
final class Heard: Sendable {
    private let noted: Mutex<[GatewayEvent]>

    init(_ events: [GatewayEvent] = []) { noted = Mutex(events) }

    func receive(_ events: [GatewayEvent]) { noted.withLock { $0 += events } }

    var events: [GatewayEvent] { noted.withLock { $0 } }

    /// The events as short texts.
    var words: [String] {
        events.compactMap { event in
            switch event {
            case .began: "began"
            case .answers(let place): "answers \(place.name)"
            case .chat(.text): "text"
            case .chat(.call(let call)): "\(call.isDone ? "done" : "open") call \(call.name)"
            case .chat(.result(let result)): "result \(result.isError ? "error" : "ok")"
            case .chat(.usage(let usage)): "usage \(usage.outputTokens ?? -1)"
            case .chat: nil
            case .output(_, let text): "output \(text)"
            case .approval(let ticket): "approval \(ticket.call.name)"
            case .notice(let text): "notice \(text)"
            }
        }
    }

    var place: TurnPlace? {
        if case .began(let place)? = events.first { place } else { nil }
    }

    var text: String {
        events.compactMap { if case .chat(.text(let text)) = $0 { text } else { nil } }.joined()
    }

    var tickets: [ApprovalTicket] {
        events.compactMap { if case .approval(let ticket) = $0 { ticket } else { nil } }
    }

    var notices: [String] {
        events.compactMap { if case .notice(let text) = $0 { text } else { nil } }
    }
}
