import Capabilities
import JSON
import TurnLoop

/// What of an answer has reached the caller.
struct Delivery {
    typealias Receive = ([ChatEvent]) async throws -> Void

    /// Whether something of the answer itself has been seen, after which nothing is asked again.
    private(set) var hasContent = false
    /// Whether the server may be at work for us now.
    var isAsking = false
    /// Whether something that the server asked was denied because nobody was there.
    var isUnapproved = false
    /// Whether something that the server asked was denied because the answer given beforehand does not fit.
    var hasUnfitApproval = false
    /// Kept only for servers that have sessions.
    var session: ServerSession?
    /// What the server sent that nobody understands.
    var skipped = SkippedFrames()

    mutating func deliver(_ events: [ChatEvent], to receive: Receive) async throws {
        guard !events.isEmpty else { return }
        var merged = EventCoalescer.coalesce(events)
        session?.complete(&merged)
        if !hasContent { hasContent = merged.contains(where: \.isContent) }
        guard !merged.isEmpty else { return }
        try await receive(merged)
    }
}

extension ChatEvent {
    /// Whether it is a part of the answer, and not something about it.
    var isContent: Bool {
        switch self {
        case .began, .usage, .notice: false
        default: true
        }
    }
}
