import Capabilities
import JSON
import StorageKit

/// What a trace is about, by which other features find it: a conversation and its messages, a session or a request of the
/// gateway, a run of a bundle.
enum TraceSubject: String {
    case conversation
    case session
    case message
    case run
    case request

    /// No id of ours is longer. Other programs may send any.
    private static let longest = 128

    /// The attributes of a span that have the ids. Made once, because each span is asked for all of them.
    private static let keys: [(kind: TraceSubject, key: String)] = [
        (.conversation, "\(SpanKey.genAIConversation)"), (.session, "\(SpanKey.genAIConversation)"),
        (.message, "\(SpanKey.message)"), (.run, "\(SpanKey.pipelineRun)"), (.request, "\(SpanKey.requestID)"),
    ]

    /// What a span says of its trace.
    static func all(of span: TraceSpan) -> [(kind: TraceSubject, id: String)] {
        guard !span.attributes.isEmpty else { return [] }
        return keys.compactMap { kind, key in
            guard let value = span.attributes[key] else { return nil }
            // The gateway calls a conversation a session, and has its own ids for them.
            if kind == .conversation || kind == .session, (span.feature == "gateway") != (kind == .session) {
                return nil
            }
            // Messages have numbers, which would be found by accident.
            let id = value.int.map { "\(kind.rawValue):\($0)" } ?? value.string
            return id.flatMap { $0.utf8.count <= longest ? (kind, $0) : nil }
        }
    }
}

extension Connection {
    func addSubjects(of span: TraceSpan, _ trace: [UInt8]) throws {
        for (kind, id) in TraceSubject.all(of: span) {
            try run("INSERT OR IGNORE INTO subjects (trace, kind, id) VALUES (?, ?, ?)", trace, kind.rawValue, id)
        }
    }
}
