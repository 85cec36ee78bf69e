import Capabilities
import JSON
import TurnLoop

/// What has reached the caller of an answer.
struct Delivery {
    typealias Receive = ([ChatEvent]) async throws -> Void

    /// Whether a part of the answer was delivered. After that, the question is not asked again.
    private(set) var hasContent = false
    /// Whether the server may be working on the answer now.
    var isAsking = false
    /// Whether an approval question was denied because nobody could answer.
    var isUnapproved = false
    /// Whether an approval question was denied because the prepared answer does not match.
    var hasUnfitApproval = false
    /// The session, for servers that have sessions.
    var session: ServerSession?
    /// The unknown events of the server.
    var skipped = SkippedFrames()
    /// The span of the question.
    var span: ActiveSpan?
    /// How many events of a stream have arrived, and how long the first was waited for.
    private var stream: (events: Int, wait: Duration)?

    /// Counts events of a stream.
    mutating func count(_ events: Int) {
        stream = ((stream?.events ?? 0) + events, stream?.wait ?? span?.elapsed ?? .zero)
    }

    /// Says what was counted.
    func tell() {
        guard let span else { return }
        skipped.tell(span)
        guard let stream else { return }
        span.set(.streamEvents, .int(stream.events))
        span.set(.genAIFirstChunk, .double(stream.wait / .seconds(1)))
    }

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
    /// Whether it is a part of the answer, and not information about it.
    var isContent: Bool {
        switch self {
        case .began, .usage, .notice: false
        default: true
        }
    }
}

/// Counts events that no dialect knows. They do not harm the answer, and a trace shows them.
struct SkippedFrames {
    private var counts: [String: Int] = [:]
    private var looks = 0

    /// A server that sends only such events must cost neither time nor memory.
    private static let most = (looks: 256, names: 16, bytes: 65_536)

    /// Looks at an event from which the reader got nothing.
    mutating func look(at name: String, _ data: [UInt8]) {
        guard looks < Self.most.looks, data.count <= Self.most.bytes else { return }
        looks += 1
        guard let unknown = Self.unknown(name, data) else { return }
        let word = PlainText.escape(String(unknown.prefix(60)))
        guard counts[word] != nil || counts.count < Self.most.names else { return }
        counts[word, default: 0] += 1
    }

    func tell(_ span: ActiveSpan) {
        guard !counts.isEmpty else { return }
        let skipped = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        span.set("martlet.skipped_events", .strings(skipped))
    }

    /// The name of an unknown event.
    private static func unknown(_ name: String, _ data: [UInt8]) -> String? {
        let name = name == "message" ? "" : name
        guard let object = try? JSON(parsing: data, reading: .stream).object else {
            // An end mark, or a named event whose data is not JSON.
            return name.isEmpty || known.contains(name) ? nil : name
        }
        if let type = object["type"]?.string ?? (name.isEmpty ? nil : name) {
            guard known.contains(type) else { return type }
            let inner = object["content_block"]?["type"]?.string ?? object["delta"]?["type"]?.string
            return inner.flatMap { isKnownBlock($0) ? nil : "\(type) \($0)" }
        }
        if object["choices"] != nil || object["usage"] != nil { return nil }
        switch object["object"]?.string {
        case "tool_use"?, "tool_result"?, "usage"?, "approval_request"?, "chat.completion.chunk"?, "chat.completion"?:
            return nil
        case let kind: return kind ?? object.first { _ in true }.map { "{\($0.key)}" }
        }
    }

    private static func isKnownBlock(_ type: String) -> Bool { blocks.contains(type) || type.hasSuffix("_tool_result") }

    /// The events of Anthropic and Responses that are read or deliberately ignored.
    private static let known: Set<String> = [
        "ping", "message_start", "message_delta", "message_stop", "content_block_start", "content_block_delta",
        "content_block_stop", "response.created", "response.queued", "response.in_progress", "response.completed",
        "response.output_item.added", "response.output_item.done", "response.content_part.added",
        "response.content_part.done", "response.output_text.delta", "response.output_text.done",
        "response.refusal.delta", "response.refusal.done", "response.reasoning_summary_part.added",
        "response.reasoning_summary_part.done", "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done", "response.reasoning_text.delta", "response.reasoning_text.done",
        "response.function_call_arguments.delta", "response.function_call_arguments.done",
    ]

    /// The blocks of Anthropic and their pieces.
    private static let blocks: Set<String> = [
        "text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use", "text_delta",
        "thinking_delta", "input_json_delta", "signature_delta",
    ]
}
