import Capabilities
import CoreTesting
import FileKit
import HTTPTesting
import JSON
import OfflinePlanner
import Synchronization
import Testing
import ToolKit
import TurnLoop

/// A conversation with the offline model, driven by the real loop with the real tools in a real folder.
final class Conversation {
    let folder: String
    let model = PlannerModel()
    private let tools: WorkspaceTools
    private(set) var messages: [Message] = []
    var policy = ApprovalPolicy(rules: [ApprovalRule(.allow)])
    /// Answers approval requests that the policy does not decide.
    var approve: TurnLoop.Approve?

    init(_ folder: String, offering offer: WorkspaceTools.Offer = .all) throws {
        self.folder = folder
        tools = WorkspaceTools(
            try Workspace(folder), offering: offer,
            shell: ShellOptions(environment: ["PATH": "/usr/bin:/bin"], sandbox: nil))
    }

    /// One turn, which must end without being stopped.
    @discardableResult
    func turn(_ text: String) async throws -> TurnOutcome {
        messages.append(Message(.user, text))
        let loop = TurnLoop(
            sources: [tools], policy: policy, clock: ContinuousClock(), now: { Timestamp(microseconds: 0) },
            approve: approve)
        let request = ChatRequest(model: PlannerModel.model, messages: messages)
        let model = model
        let outcome = try await loop.run(request, asking: { try await model.answer($0, $1) }, emit: { _ in })
        messages += outcome.messages.map(\.message)
        guard case .answered = outcome.end else {
            Issue.record("'\(text)' ended as \(outcome.end)")
            return outcome
        }
        return outcome
    }

    /// Everything that the model said in a turn.
    @discardableResult
    func ask(_ text: String) async throws -> String {
        try await turn(text).messages.filter { $0.message.role == .assistant }.map(\.message.text)
            .joined(separator: "\n\n")
    }

    /// The names of the tools that were called in the last turn.
    var calls: [String] {
        let start = messages.lastIndex { $0.role == .user } ?? 0
        return messages[start...].flatMap(\.calls).map(\.name)
    }

    func write(_ path: String, _ text: String) throws {
        if let slash = path.lastIndex(of: "/") { try Files.makeDirectories("\(folder)/\(path[..<slash])") }
        try Files.writeAtomically(Array(text.utf8), to: "\(folder)/\(path)")
    }

    func text(_ path: String) throws -> String {
        String(decoding: try Files.read("\(folder)/\(path)", limit: 1 << 20), as: UTF8.self)
    }
}

/// Runs `body` with a conversation in a new folder.
func withConversation<T>(
    offering offer: WorkspaceTools.Offer = .all, isolation: isolated (any Actor)? = #isolation,
    _ body: (Conversation) async throws -> T
) async throws -> T {
    try await TemporaryDirectory.run { try await body(Conversation($0, offering: offer)) }
}

/// The places `path:line` that an answer lists, in order.
func places(in answer: String) -> [String] {
    answer.split(separator: "\n").compactMap { row in
        guard let dot = row.firstIndex(of: "."), Int(row[..<dot]) != nil else { return nil }
        let parts = row.split(separator: "`", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count > 1 ? String(parts[1]) : nil
    }
}

/// Sends a request to the model directly, without a loop.
func answer(
    _ text: String, tools: [String] = [], options: ModelOptions = ModelOptions(), model: String = PlannerModel.model
) async throws -> (answer: ChatAnswer, events: [ChatEvent]) {
    let tools = tools.map { ToolDescription(name: $0, summary: "", input: [:], effect: .reads) }
    var request = ChatRequest(model: model, messages: [Message(.user, text)], tools: tools)
    request.options = options
    var events: [ChatEvent] = []
    let answer = try await PlannerModel().answer(request) { events += $0 }
    return (answer, events)
}

extension String {
    func has(_ other: String) -> Bool { utf8.count >= other.utf8.count && contains(other) }
}
