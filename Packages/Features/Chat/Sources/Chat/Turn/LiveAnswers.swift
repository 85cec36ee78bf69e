import Capabilities
import ChatHistory
import Synchronization

/// The turns of this program that are running, for the screens of their conversations. They would otherwise see an
/// answer only as far as it is stored, and only when they look again.
///
/// It knows nothing that is not in the history soon, and what the history has is shown instead.
final class LiveAnswers: Sendable {
    private struct Reference {
        weak var conversation: LiveConversation?
    }

    private let known = Mutex<[ConversationID: Reference]>([:])

    /// What happens in a conversation. There is one for each conversation, as long as a turn or a screen has it.
    func conversation(_ id: ConversationID) -> LiveConversation {
        known.withLock { known in
            if let found = known[id]?.conversation { return found }
            known = known.filter { $0.value.conversation != nil }
            let made = LiveConversation()
            known[id] = Reference(conversation: made)
            return made
        }
    }
}

/// What the turns of this program do in a conversation.
final class LiveConversation: Sendable {
    /// Raised when there is more to see, which is with each piece of an answer.
    let signal = Signal()
    private let state = Mutex(State())

    private struct State {
        /// The turns that run, by the object that reports them.
        var turns: [ObjectIdentifier: Turn] = [:]
        var stored = 0
    }

    fileprivate struct Turn {
        var draft: Draft?
        var outputs: [String: LiveOutput] = [:]
        /// A command of the person, with what it has printed so far. It runs without a turn.
        var command: (text: String, output: LiveOutput)?
    }

    /// What there is to see at one moment.
    struct Snapshot: Sendable {
        /// How often something was stored. If it is the same as before, the history has nothing else.
        var stored = 0
        var isAnswering = false
        /// The answers that grow, by their message in the history.
        var answers: [MessageID: Draft.Growth] = [:]
        /// The last output of running tools, by the id of the call.
        var outputs: [String: String] = [:]
        /// A command of the person that is running.
        var command: Command?
    }

    /// A running command, with the end of what it has printed.
    struct Command: Sendable, Hashable {
        let text: String
        let output: String
    }

    var snapshot: Snapshot {
        let (turns, stored) = state.withLock { state in
            for turn in state.turns.keys {
                for call in state.turns[turn]?.outputs.keys.map(\.self) ?? [] {
                    state.turns[turn]?.outputs[call]?.settle()
                }
                state.turns[turn]?.command?.output.settle()
            }
            return (Array(state.turns.values), state.stored)
        }
        var snapshot = Snapshot(stored: stored, isAnswering: turns.contains { $0.command == nil })
        for turn in turns {
            if let growth = turn.draft?.growth { snapshot.answers[growth.message] = growth }
            snapshot.outputs.merge(turn.outputs.mapValues(\.text)) { $1 }
            if let command = turn.command {
                snapshot.command = Command(text: command.text, output: command.output.text)
            }
        }
        return snapshot
    }

    /// - Parameter isStored: whether the history has changed too.
    fileprivate func change(
        _ turn: LiveTurn, isStored: Bool, _ body: (inout Turn?) -> Void = { _ in }
    ) {
        state.withLock { state in
            body(&state.turns[ObjectIdentifier(turn)])
            if isStored { state.stored += 1 }
        }
        signal.raise()
    }
}

/// A running turn, or a command that the person runs in a conversation. It is over when it says so, or when nobody has it any more.
final class LiveTurn: Sendable {
    private let conversation: LiveConversation
    private let redactor: Redactor?

    /// - Parameters:
    ///   - redactor: removes secrets from what tools print; nil if they are stored.
    ///   - command: what the person runs; nil for a turn.
    init(in conversation: LiveConversation, without redactor: Redactor?, running command: String? = nil) {
        self.conversation = conversation
        self.redactor = redactor
        conversation.change(self, isStored: true) { turn in
            turn = LiveConversation.Turn()
            turn?.command = command.map { (redactor?.kept($0) ?? $0, LiveOutput(redactor)) }
        }
    }

    deinit { end() }

    /// An answer begins.
    func begin(_ draft: Draft) {
        conversation.change(self, isStored: false) { $0?.draft = draft }
    }

    /// The draft has more. It costs little, because readers ask for the text only from time to time.
    func grow() { conversation.signal.raise() }

    /// A tool has printed something.
    func add(_ text: String, toOutputOf call: String) {
        conversation.change(self, isStored: false) { [redactor] turn in
            turn?.outputs[call, default: LiveOutput(redactor)].add(text)
        }
    }

    /// The command has printed something.
    func addOutput(_ text: String) {
        conversation.change(self, isStored: false) { turn in turn?.command?.output.add(text) }
    }

    /// The history has something else: a message, a piece of an answer that had none, or a call in another state.
    func stored() { conversation.change(self, isStored: true) }

    /// A call has a result, which the history has.
    func end(call: String) {
        conversation.change(self, isStored: true) { turn in turn?.outputs[call] = nil }
    }

    /// The answer is complete or given up.
    func endAnswer() {
        conversation.change(self, isStored: true) { turn in turn?.draft = nil }
    }

    /// The turn is over.
    func end() {
        conversation.change(self, isStored: true) { turn in turn = nil }
    }
}

/// The end of what a running tool has printed, as it would be stored.
struct LiveOutput: Sendable {
    private let redactor: Redactor?
    private(set) var text = ""
    /// What was not looked at yet, or may be the beginning of a secret.
    private var rest = ""

    /// The longest text.
    private static let longest = 4_000

    init(_ redactor: Redactor?) { self.redactor = redactor }

    mutating func add(_ more: String) {
        rest += more
        // Nobody may ask for a long time.
        if rest.utf8.count > 16 * Self.longest { settle() }
    }

    /// Takes what was added into the text.
    mutating func settle() {
        let (kept, waiting) = redactor?.keptSoFar(rest) ?? (rest, "")
        rest = waiting
        guard !kept.isEmpty else { return }
        text += kept
        guard text.utf8.count > Self.longest else { return }
        let end = text.unicodeScalars.suffix(Self.longest)
        // From the beginning of a line, if there is one.
        let lines = end.drop { $0 != "\n" }.dropFirst()
        text = "…\n" + String(String.UnicodeScalarView(lines.isEmpty ? end : lines))
    }
}
