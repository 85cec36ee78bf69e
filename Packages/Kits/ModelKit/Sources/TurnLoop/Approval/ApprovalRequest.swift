public import Capabilities
import JSON

/// What somebody is asked to agree to.
public struct ApprovalRequest: Sendable, Hashable {
    /// As the model wrote it.
    public var call: ToolCall
    /// What the source calls the tool.
    public var tool: String
    public var source: String
    public var effect: Effect
    /// Whether it reaches others than this machine, or costs something.
    public var sends: Bool
    /// What the tool says of itself.
    public var summary: String
    /// What it would reach, as far as its source can tell.
    public var reach: ToolReach

    public init(
        call: ToolCall, tool: String, source: String, effect: Effect, sends: Bool = false, summary: String,
        reach: ToolReach = ToolReach()
    ) {
        self.call = call
        self.tool = tool
        self.source = source
        self.effect = effect
        self.sends = sends
        self.summary = summary
        self.reach = reach
    }

    /// What a grant decides about.
    ///
    /// - Parameters:
    ///   - mode: how far the model goes where no rule says anything else; nil where it is asked about in any case.
    ///   - ruling: what the rules of the person say; nil where none is about it.
    public func use(in mode: ToolMode?, ruling: ApprovalVerdict?) -> ToolUse {
        ToolUse(tool, of: source, effect, sends: sends, reach: reach, mode: mode, ruling: ruling)
    }

    /// What an answer that counts for longer would be about: the tool, or a pattern for commands. Nil where none can.
    public var remembers: String? {
        rule(.allow, lasting: .conversation).map { $0.arguments["/command"] ?? tool }
    }

    /// The command for a shell in it, if it is one.
    var command: String? {
        if let command = reach.command { return command.text }
        return JSONPointer.commandNames.lazy.compactMap { call.input[$0]?.string }.first
    }

    /// The rule that remembers an answer: for this tool, or for this program where the tool runs commands. Nil for one that
    /// counts once, and where a rule would say more than was asked.
    public func rule(_ verdict: ApprovalVerdict, lasting scope: ApprovalScope) -> ApprovalRule? {
        guard scope != .once else { return nil }
        var rule = ApprovalRule(verdict, tool: Glob.escape(tool), source: Glob.escape(source), scope: scope)
        if let command = reach.command {
            // Outside of a sandbox no rule would allow it.
            guard command.isSandboxed || verdict != .allow,
                let pattern = CommandPattern(remembering: command.text)?.text
            else { return nil }
            rule.arguments = ["/command": pattern]
        }
        return rule
    }
}

/// What a person says to a request.
public struct ApprovalAnswer: Sendable, Hashable {
    public var isAllowed: Bool
    /// For how long it counts.
    public var scope: ApprovalScope
    /// What the model is told of why not.
    public var reason: String?

    public init(isAllowed: Bool, scope: ApprovalScope = .once, reason: String? = nil) {
        self.isAllowed = isAllowed
        self.scope = scope
        self.reason = reason
    }
}

/// What was decided about a call, and by whom.
public struct ApprovalDecision: Sendable, Hashable {
    public var isAllowed: Bool
    public var by: Origin

    public enum Origin: Sendable, Hashable {
        case rule(ApprovalRule)
        /// What holds for all tools of this effect.
        case effect
        case person
        /// It had to be asked, and nobody was there.
        case nobody
    }

    public init(isAllowed: Bool, by origin: Origin) {
        self.isAllowed = isAllowed
        by = origin
    }
}

/// For how long an approval counts.
public enum ApprovalScope: String, Choice, Hashable {
    case once, conversation, project, always
}

/// What somebody can say to a request, and what each of it means.
public struct ApprovalChoices: Sendable {
    private let scopes: [ApprovalScope]
    public let words: [String]

    /// - Parameters:
    ///   - remembered: what an answer that counts for longer would be about; nil where none can.
    ///   - lasting: for how long an answer can count, with the words for that.
    public init(of tool: String, remembering remembered: String?, _ lasting: [(scope: ApprovalScope, words: String)]) {
        let offered = remembered == nil ? [] : lasting
        let object = remembered.flatMap { $0 == tool ? nil : ", '\(PlainText.escape($0))'" } ?? ""
        scopes = [.once] + offered.map(\.scope)
        words = ["Yes, this once"] + offered.map { "Yes\(object), \($0.words)" } + ["No", "No, and say why"]
    }

    /// What was chosen; `reason` is asked for where somebody wants to give one.
    public func answer(_ index: Int, reason: () async throws -> String) async throws -> ApprovalAnswer {
        if scopes.indices.contains(index) { return ApprovalAnswer(isAllowed: true, scope: scopes[index]) }
        return ApprovalAnswer(isAllowed: false, reason: index == scopes.count ? nil : try await reason())
    }
}

extension ToolReach {
    /// What somebody has to see before they agree: what would be changed, a command with what no sandbox keeps it from,
    /// or else the whole input.
    public func preview(of call: ToolCall) -> String {
        var lines = [diff.map(CallText.shown) ?? call.preview]
        if let caution = command?.caution { lines.append("(\(PlainText.escape(caution)))") }
        return lines.joined(separator: "\n")
    }
}
