import Capabilities
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Synchronization

/// The events that a caller of a provider received.
final class Heard: Sendable {
    private let state = Mutex<[ChatEvent]>([])

    var events: [ChatEvent] { state.withLock { $0 } }
    var text: String {
        events.compactMap { if case .text(let text) = $0 { text } else { nil } }.joined()
    }
    var notices: [String] {
        events.compactMap { if case .notice(let words) = $0 { words } else { nil } }
    }
    var start: ChatStart? {
        events.compactMap { if case .began(let start) = $0 { start } else { nil } }.last
    }

    func take(_ events: [ChatEvent]) {
        state.withLock { $0 += events }
    }

    /// Asks, and records the events.
    func ask(_ provider: any ModelProvider, _ request: ChatRequest = .hello) async throws -> ChatAnswer {
        try await provider.answer(request) { take($0) }
    }
}

extension ChatRequest {
    static let hello = ChatRequest(model: "small", messages: [Message(.user, "Hello")])
}
