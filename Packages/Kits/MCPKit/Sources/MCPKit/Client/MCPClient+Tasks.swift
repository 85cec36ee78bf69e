import Capabilities
import JSON
import RPCKit

/// A call that a server goes on with after it has answered: its result is asked for later.
struct MCPTask: Sendable, Hashable {
    let id: String
    let status: Status
    /// What the server says of it.
    let message: String?
    /// How long to wait before it is asked for again.
    let pause: Duration

    enum Status: String, Sendable {
        case working, completed, failed, cancelled
        case inputRequired = "input_required"
    }

    private static let pauses = Duration.milliseconds(20)...Duration.seconds(60)

    /// The task that the answer to a call has begun; nil if it is the result. FastMCP 2 keeps it where an earlier draft had
    /// it, beside an empty result.
    static func begun(by answer: JSON) -> JSON? {
        if answer["resultType"] == "task" { return answer }
        return answer["task"]?.unlessNull ?? answer["_meta"]?["modelcontextprotocol.io/task"]
    }

    init(_ json: JSON) throws(MCPMalformed) {
        guard let id = json["taskId"]?.string, !id.isEmpty else { throw MCPMalformed("a task has no id") }
        guard let status = json["status"]?.string.flatMap(Status.init) else {
            throw MCPMalformed("the task \(id) has no known status")
        }
        self.id = id
        self.status = status
        message = json["statusMessage"]?.string
        let wanted = json["pollIntervalMs"]?.double ?? json["pollInterval"]?.double ?? 1_000
        pause = min(max(.milliseconds(wanted), Self.pauses.lowerBound), Self.pauses.upperBound)
    }
}

extension MCPClient {
    /// Waits for the end of a task and returns the result of the call that it stands for. A task whose result is no longer
    /// wanted, or whose time is over, is cancelled.
    func finish(
        _ begun: JSON, ofCall tool: String, within limit: RPCTimeLimit, _ progress: (@Sendable (MCPProgress) -> Void)?
    ) async throws -> JSON {
        let first = try reading { () throws(MCPMalformed) in try MCPTask(begun) }
        do {
            let result = try await withTimeLimit(limit.total, on: ContinuousClock()) {
                try await self.follow(first, begun, tool, progress)
            }
            if let result { return result }
            throw MCPError(
                .timedOut, "\(connection.peer) did not finish the task of \(tool) within \(limit.total.words)")
        } catch let error where error is CancellationError || (error as? MCPError)?.kind == .timedOut {
            await cancel(first)
            throw error
        }
    }

    private func follow(
        _ first: MCPTask, _ begun: JSON, _ tool: String, _ progress: (@Sendable (MCPProgress) -> Void)?
    ) async throws -> JSON {
        let isModern = try await server().version.isModern
        var (task, json) = (first, begun)
        var answered: Set<String> = []
        var steps = 0.0
        while true {
            switch task.status {
            case .completed, .failed:
                if !isModern { return try await ask("tasks/result", ["taskId": .string(task.id)], lasting: true) }
                if let result = json["result"], task.status == .completed { return result }
                // A task may be over before it is asked for, and says how only then.
                if json["error"] == nil, steps == 0 { break }
                throw failure(of: task, tool, json["error"])
            case .cancelled: throw failure(of: task, tool, nil)
            case .inputRequired:
                // In the legacy era the server asks by itself while its result is waited for.
                if !isModern { return try await ask("tasks/result", ["taskId": .string(task.id)], lasting: true) }
                try await answer(json["inputRequests"]?.object ?? [:], of: task, &answered)
                try await ContinuousClock().sleep(for: task.pause)
            case .working:
                steps += 1
                if let progress { progress(MCPProgress(steps, message: task.message)) }
                try await ContinuousClock().sleep(for: task.pause)
            }
            steps = max(steps, 1)
            json = try await ask("tasks/get", ["taskId": .string(task.id)])
            task = try reading { [json] () throws(MCPMalformed) in try MCPTask(json) }
        }
    }

    /// Answers what the task asks for the first time. It may list a question again until it has noticed the answer.
    private func answer(_ questions: JSONObject, of task: MCPTask, _ answered: inout Set<String>) async throws {
        var answers: JSONObject = [:]
        for (key, question) in questions where !answered.contains(key) {
            guard answered.count < limits.rounds else {
                throw MCPError(
                    .limit, "\(connection.peer) asked \(limits.rounds) times in a task, which is the limit")
            }
            answers[key] = try await answer(question["method"]?.string ?? "", question["params"])
            answered.insert(key)
        }
        if answers.isEmpty { return }
        _ = try await ask("tasks/update", ["taskId": .string(task.id), "inputResponses": .object(answers)])
    }

    private func failure(of task: MCPTask, _ tool: String, _ error: JSON?) -> MCPError {
        let reason = error?["message"]?.string ?? task.message ?? task.status.rawValue
        let words = task.status == .cancelled ? "cancelled" : "could not finish"
        return MCPError(.refused, "\(connection.peer) \(words) the task of \(tool): \(PlainText.escape(reason))")
    }

    /// Tells the server, also after this task was cancelled itself. Whether it heeds that is its own affair.
    private func cancel(_ task: MCPTask) async {
        await shielded {
            do { _ = try await self.ask("tasks/cancel", ["taskId": .string(task.id)], within: .seconds(5)) } catch {
                self.handler.tell("it did not cancel the task \(PlainText.escape(task.id))")
            }
        }
    }
}
