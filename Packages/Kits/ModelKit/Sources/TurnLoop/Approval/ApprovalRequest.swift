public import Capabilities
import JSON

/// A call that needs approval.
public struct ApprovalRequest: Sendable, Hashable {
    /// The call as the model wrote it.
    public var call: ToolCall
    /// The source's own name for the tool.
    public var tool: String
    /// The name of the source that offers the tool.
    public var source: String
    /// Whether the source belongs to this program, and not to a server of somebody else.
    public var isBuiltIn: Bool
    /// What the call does to data.
    public var effect: Effect
    /// Whether it sends data to other machines or costs something.
    public var sends: Bool
    /// The summary of the tool.
    public var summary: String
    /// What the server of the tool says of its effects, which only labels a question.
    public var hints: [String]
    /// What the call would reach, as far as its source knows.
    public var reach: ToolReach

    /// - Parameter reach: empty if the source knows no more about the call than it contains.
    public init(
        call: ToolCall, tool: String, source: String, isBuiltIn: Bool = true, effect: Effect, sends: Bool = false,
        summary: String, hints: [String] = [], reach: ToolReach = ToolReach()
    ) {
        self.call = call
        self.tool = tool
        self.source = source
        self.isBuiltIn = isBuiltIn
        self.effect = effect
        self.sends = sends
        self.summary = summary
        self.hints = hints
        self.reach = reach
    }

    /// The request for a grant.
    ///
    /// - Parameters:
    ///   - mode: the mode for calls without a rule; nil if the user is asked in any case.
    ///   - ruling: the verdict of the user's rules; nil if none matches.
    public func use(in mode: ToolMode?, ruling: ApprovalVerdict?) -> ToolUse {
        ToolUse(tool, of: source, effect, sends: sends, reach: reach, mode: mode, ruling: ruling)
    }

    /// What a lasting answer would be about: the tool, or a pattern for commands. Nil if none is possible.
    public var remembers: String? {
        rule(.allow, lasting: .conversation).map { $0.arguments["/command"] ?? tool }
    }

    /// The shell command in it, if there is one.
    var command: String? {
        if let command = reach.command { return command.text }
        return JSONPointer.commandNames.lazy.compactMap { call.input[$0]?.string }.first
    }

    /// The rule that remembers an answer: for this tool, or for this program if the tool runs commands. Nil for an
    /// answer that applies once, and if a rule would cover more than was asked.
    public func rule(_ verdict: ApprovalVerdict, lasting scope: ApprovalScope) -> ApprovalRule? {
        guard scope != .once else { return nil }
        var rule = ApprovalRule(verdict, tool: Glob.escape(tool), source: Glob.escape(source), scope: scope)
        if let command = reach.command {
            // Outside of a sandbox, no rule would allow it.
            guard command.isSandboxed || verdict != .allow,
                let pattern = CommandPattern(remembering: command.text)?.text
            else { return nil }
            rule.arguments = ["/command": pattern]
        }
        return rule
    }
}

/// The user's answer to an approval request.
public struct ApprovalAnswer: Sendable, Hashable {
    /// Whether the call may run.
    public var isAllowed: Bool
    /// How long it applies.
    public var scope: ApprovalScope
    /// The reason for a denial, for the model.
    public var reason: String?

    /// An answer; by default for this call only.
    public init(isAllowed: Bool, scope: ApprovalScope = .once, reason: String? = nil) {
        self.isAllowed = isAllowed
        self.scope = scope
        self.reason = reason
    }
}

/// The decision about a call, and who made it.
public struct ApprovalDecision: Sendable, Hashable {
    /// Whether the call may run.
    public var isAllowed: Bool
    /// Who or what made the decision.
    public var by: Origin

    /// Who or what made a decision.
    public enum Origin: Sendable, Hashable {
        /// A rule of the user, or the user's approval of the bundle that makes the call.
        case rule(ApprovalRule)
        /// The default for all tools of this effect.
        case effect
        /// The user, in answer to a question.
        case person
        /// An answer was needed, but nobody could give it.
        case nobody
    }

    /// A decision of this origin.
    public init(isAllowed: Bool, by origin: Origin) {
        self.isAllowed = isAllowed
        by = origin
    }
}

/// How long an approval applies.
public enum ApprovalScope: String, Choice, Hashable {
    case once, conversation, project, always

    var nearness: Int {
        switch self {
        case .once: 3
        case .conversation: 2
        case .project: 1
        case .always: 0
        }
    }
}

/// The question whether a call may run, for a user at this machine.
public struct ApprovalPrompt: Sendable {
    /// What the user must see before the question.
    public let notice: String
    private let question: String
    private let choices: [String]
    /// The scopes of the choices that allow the call; they come first.
    private let scopes: [ApprovalScope]

    /// - Parameters:
    ///   - tool: the source's own name for the tool.
    ///   - source: the name of the source; nil if there is only one.
    ///   - hints: what the server of the tool says of its effects.
    ///   - remembered: what a lasting answer would be about; nil if none is possible.
    ///   - lasting: the possible scopes of a lasting answer, with their words.
    public init(
        _ call: ToolCall, of tool: String, from source: String? = nil, _ effect: Effect, reach: ToolReach,
        hints: [String] = [], remembering remembered: String?, _ lasting: [(scope: ApprovalScope, words: String)]
    ) {
        let name = PlainText.escape(tool)
        let said = source.flatMap { source in
            hints.isEmpty ? nil : "(\(PlainText.escape(source)) \(PlainText.escape(hints.joined(separator: ", "))))"
        }
        notice = (["The model wants to use \(name):", reach.preview(of: call)] + (said.map { [$0] } ?? []))
            .joined(separator: "\n")
        let origin = source.map { " from \(PlainText.escape($0))" } ?? ""
        question = "Allow \(name) (\(effect.rawValue))\(origin)?"
        let offered = remembered == nil ? [] : lasting
        let object = remembered.flatMap { $0 == tool ? nil : ", '\(PlainText.escape($0))'" } ?? ""
        scopes = [.once] + offered.map(\.scope)
        choices = ["Yes, this once"] + offered.map { "Yes\(object), \($0.words)" } + ["No", "No, and say why"]
    }

    /// Asks the user. Throws what the interaction throws.
    public func answer(from interaction: any Interaction) async throws -> ApprovalAnswer {
        let index = try await interaction.choice("chat.approve", question, among: choices)
        if scopes.indices.contains(index) { return ApprovalAnswer(isAllowed: true, scope: scopes[index]) }
        let reason =
            index == scopes.count
            ? nil : try await interaction.text("chat.approve.reason", "What should the model do instead?")
        return ApprovalAnswer(isAllowed: false, reason: reason)
    }
}

extension ToolReach {
    /// What the user must see before approving: the changes, a command with what no sandbox prevents, or else the whole
    /// input.
    public func preview(of call: ToolCall) -> String {
        var lines = [diff.map(CallText.shown) ?? call.preview]
        if let caution = command?.caution { lines.append("(\(PlainText.escape(caution)))") }
        if let renewal { lines.append(PlainText.escapeLines(renewal)) }
        return lines.joined(separator: "\n")
    }
}
