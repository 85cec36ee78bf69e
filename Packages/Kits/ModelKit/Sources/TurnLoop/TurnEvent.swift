public import Capabilities

/// An event of a running turn, in order.
public enum TurnEvent: Sendable, Hashable {
    /// The model is asked, for the n-th time in this turn.
    case round(Int)
    /// An event of the model's answer.
    case chat(ChatEvent)
    /// A tool call has changed its state.
    case call(CallUpdate)
    /// Output of a running tool. The result contains all of it again.
    case output(call: String, text: String)
    /// A message that now belongs to the conversation.
    case message(TurnMessage)
    /// The user wants a rule to be remembered. It already applies to the rest of the turn.
    case remember(ApprovalRule)
    /// Not all of the history is sent.
    case context(ContextNotice)
    /// A notice for the user.
    case notice(String)
}

/// A message to be stored, with the facts about its origin.
public struct TurnMessage: Sendable, Hashable {
    /// Tool results are whole here, however much of them the model receives.
    public var message: Message
    /// False for an answer that was stopped or broke off.
    public var isWhole: Bool
    /// What the server reported at the start of the answer; nil for messages that are not the model's.
    public var start: ChatStart?
    /// Why the answer ended; nil for one that was stopped or broke off, and for messages that are not the model's.
    public var finish: ChatAnswer.Finish?
    /// The usage of the answer; nil for messages that are not the model's.
    public var usage: Usage?

    /// - Parameter isWhole: false for an answer that was stopped or broke off.
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

/// A tool call and its state; a row of a timeline.
public struct CallUpdate: Sendable, Hashable {
    /// The call as the model wrote it. The input of a malformed call is its text.
    public var call: ToolCall
    /// The source of the tool; nil if the tool is unknown.
    public var source: String?
    /// The source's own name for the tool, which may differ from the model's.
    public var tool: String?
    /// What the tool does to data; nil if the tool is unknown.
    public var effect: Effect?
    /// How far the call is.
    public var state: State = .waiting
    /// The decision about it, and who made it.
    public var decision: ApprovalDecision?
    /// What it would change, or has changed, as a unified diff.
    public var diff: String?
    /// The whole result, however much of it the model receives.
    public var result: ToolResult?
    /// When it began to run; nil before that, and if it never ran.
    public var started: Timestamp?
    /// When it ended; nil before that.
    public var ended: Timestamp?

    /// The diff for the user, shortened.
    public var shownDiff: String? { diff.map(CallText.shown) }

    /// How far a call is.
    public enum State: String, Choice, Hashable {
        /// It waits for its turn or for approval.
        case waiting
        /// It may run, and does so when its turn comes.
        case approved
        /// It does not run, and the model is told.
        case denied
        /// The tool is working.
        case running
        /// The tool has returned a result that is no error.
        case done
        /// It failed, or could not run.
        case failed
    }

    /// A call that waits.
    public init(_ call: ToolCall, source: String? = nil, tool: String? = nil, effect: Effect? = nil) {
        self.call = call
        self.source = source
        self.tool = tool
        self.effect = effect
    }
}

/// The receiver of the events of a turn.
struct EventSink: Sendable {
    let emit: TurnLoop.Emit

    /// Delivers an event that must not be lost, even if the turn was cancelled: a reader that stores a message would be
    /// cancelled too.
    func deliver(_ events: [TurnEvent]) async throws {
        guard !events.isEmpty else { return }
        try await shielded { try await emit(events) }
    }

    /// Delivers the output of a tool. A reader that is gone does not end the tool: the result contains the output
    /// again, and the next important event ends the turn.
    func tell(_ call: String, _ text: String) async {
        do { try await deliver([.output(call: call, text: text)]) } catch {}
    }
}

/// Merges pieces of text that arrived together, so that there is less to show and store.
public enum EventCoalescer {
    /// The same events in the same order, with neighbouring pieces of one kind joined and empty ones dropped. Of
    /// neighbouring usage counts only the last one matters.
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

    /// Text to which more of its kind may be added.
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
