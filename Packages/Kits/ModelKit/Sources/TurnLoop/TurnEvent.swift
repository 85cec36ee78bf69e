public import Capabilities

/// Something that happens while a turn runs, in the order in which it happens.
public enum TurnEvent: Sendable, Hashable {
    /// The model is asked, for the n-th time in this turn.
    case round(Int)
    /// Something that the model's answer brought.
    case chat(ChatEvent)
    /// A tool call has come to another state.
    case call(CallUpdate)
    /// More of what a tool prints while it runs; the result has all of it again.
    case output(call: String, text: String)
    /// A message that belongs to the conversation from now on.
    case message(TurnMessage)
    /// The person wants an approval to last; it already counts for the rest of the turn.
    case remember(ApprovalRule)
    /// Not all of the history is sent.
    case context(ContextNotice)
    /// Something that a person should know.
    case notice(String)
}

/// A message as it has to be stored, with what is known about how it came into being.
public struct TurnMessage: Sendable, Hashable {
    /// Results of tools are whole here, however much of them the model is given.
    public var message: Message
    /// False for an answer that was stopped or broke off.
    public var isWhole: Bool
    public var start: ChatStart?
    public var finish: ChatAnswer.Finish?
    public var usage: Usage?

    public init(
        _ message: Message, isWhole: Bool = true, start: ChatStart? = nil, finish: ChatAnswer.Finish? = nil,
        usage: Usage? = nil
    ) {
        self.message = message
        self.isWhole = isWhole
        self.start = start
        self.finish = finish
        self.usage = usage
    }
}

/// A call of a tool and how far it has come; the row of a timeline.
public struct CallUpdate: Sendable, Hashable {
    /// What the model wrote. The input of a malformed call is its text.
    public var call: ToolCall
    /// Who offers the tool; nil for one that nobody has.
    public var source: String?
    /// What the source calls the tool, which may be another name than the model knows it by.
    public var tool: String?
    public var effect: Effect?
    public var state: State = .waiting
    /// Who agreed to it or did not.
    public var decision: ApprovalDecision?
    /// What it would change, or has changed, as a unified diff.
    public var diff: String?
    /// The whole result, however much of it the model is given.
    public var result: ToolResult?
    public var started: Timestamp?
    public var ended: Timestamp?

    /// The diff, for people; not too long.
    public var shownDiff: String? { diff.map(CallText.shown) }

    public enum State: String, Choice, Hashable {
        /// It waits for its turn, or for somebody's approval.
        case waiting
        case approved
        case denied
        case running
        case done
        /// It was done and went wrong, or could not be done.
        case failed
    }

    public init(_ call: ToolCall, source: String? = nil, tool: String? = nil, effect: Effect? = nil) {
        self.call = call
        self.source = source
        self.tool = tool
        self.effect = effect
    }
}

/// Where the events of a turn go.
struct EventSink: Sendable {
    let emit: TurnLoop.Emit

    /// Hands over what must not get lost, even where the turn has been cancelled: the reader that stores a message would
    /// be cancelled with it. The task is awaited here, so that nothing outlives the turn.
    func deliver(_ events: [TurnEvent]) async throws {
        guard !events.isEmpty else { return }
        try await Task { try await emit(events) }.value
    }

    /// Shows what a tool prints. Output that nobody can take any more is no reason to end the tool: its result has it again,
    /// and the next event that counts ends the turn.
    func tell(_ call: String, _ text: String) async {
        do { try await deliver([.output(call: call, text: text)]) } catch {}
    }
}

/// Merges pieces of text that came together, so that whoever shows or stores them has less to do.
public enum EventCoalescer {
    /// The same events in the same order, with neighbouring pieces of one kind as one and without empty ones. Of
    /// neighbouring counts of usage only the last says anything.
    public static func coalesce(_ events: [ChatEvent]) -> [ChatEvent] {
        guard events.count > 1 else { return events.filter { Piece($0)?.text.isEmpty != true } }
        var merged: [ChatEvent] = []
        merged.reserveCapacity(events.count)
        var open: Piece?
        for event in events {
            if let piece = Piece(event) {
                if piece.text.isEmpty { continue }
                if open?.kind == piece.kind {
                    open?.text += piece.text
                } else {
                    if let open { merged.append(open.event) }
                    open = piece
                }
                continue
            }
            if let ended = open {
                merged.append(ended.event)
                open = nil
            }
            if case .usage = event, case .usage? = merged.last { merged.removeLast() }
            merged.append(event)
        }
        if let open { merged.append(open.event) }
        return merged
    }

    /// Text that more of its kind may be added to.
    private struct Piece {
        enum Kind { case text, reasoning, refusal }

        let kind: Kind
        var text: String

        init?(_ event: ChatEvent) {
            switch event {
            case .text(let text): (kind, self.text) = (.text, text)
            case .reasoning(let text): (kind, self.text) = (.reasoning, text)
            case .refusal(let text): (kind, self.text) = (.refusal, text)
            default: return nil
            }
        }

        var event: ChatEvent {
            switch kind {
            case .text: .text(text)
            case .reasoning: .reasoning(text)
            case .refusal: .refusal(text)
            }
        }
    }
}
