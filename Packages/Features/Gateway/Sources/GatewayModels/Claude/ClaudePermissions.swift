import Capabilities
import FileKit
import JSON
import ToolKit
import TurnLoop

/// Handles the command's permission requests.
struct ClaudePermissions {
    struct Step {
        var events: [TurnEvent] = []
        var reply: JSON?
    }

    private struct Open {
        let request: ApprovalRequest
        let tasks: [Task<Void, Never>]
    }

    private let run: ClaudeRun
    /// The limits of its sandbox; nil if it runs without one.
    var walls: ClaudeSandbox.Walls?
    private var open: [String: Open] = [:]
    /// Includes rules from the user's lasting answers.
    private var policy: ApprovalPolicy

    init(_ run: ClaudeRun) {
        self.run = run
        policy = run.policy
    }

    /// Handles a request. Unknown requests get an error, because the command would wait for an answer.
    mutating func take(_ frame: JSON, _ turn: inout ClaudeTurn) -> Step {
        let id = frame["request_id"]?.string ?? ""
        let body = frame["request"]
        if body?["subtype"]?.string == "hook_callback" { return Step(reply: ClaudeReply.hook(id)) }
        guard body?["subtype"]?.string == "can_use_tool", let name = body?["tool_name"]?.string else {
            return Step(reply: ClaudeReply.error(id, "this client does not know such requests"))
        }
        let call = ToolCall(
            id: body?["tool_use_id"]?.string ?? id, name: name, input: body?["input"] ?? [:], isDone: true)
        guard name != "AskUserQuestion" else {
            let words = "the user cannot be asked questions here; decide yourself, or ask in your answer"
            return Step(events: turn.deny(call, by: .nobody), reply: ClaudeReply.deny(id, words))
        }
        let request = ApprovalRequest(
            call: call, tool: name, source: "claude", effect: ClaudeTools.effect(of: call, in: run.order.folder),
            summary: body?["description"]?.string ?? body?["display_name"]?.string ?? "",
            reach: reach(of: call))
        let (ruling, rule) = ruling(for: request)
        let origin = rule.map(ApprovalDecision.Origin.rule) ?? .effect
        let use = request.use(in: policy.mode, ruling: ruling)
        switch (Caller.current?.grant ?? .person).decide(.tool(use)) {
        case .allow: return Step(events: turn.allow(call, by: origin), reply: ClaudeReply.allow(id, call.input))
        case .deny:
            return Step(
                events: turn.deny(call, by: origin), reply: ClaudeReply.deny(id, "a rule of the user denies this"))
        case .ask: break
        }
        guard let approve = run.approve else { return unapproved(id, call, &turn) }
        open[id] = Open(
            request: request,
            tasks: ask(id, request, approve))
        return Step(events: turn.wait(call))
    }

    private func reach(of call: ToolCall) -> ToolReach {
        let command = call.name == "Bash" ? call.input["command"]?.string ?? "" : nil
        let caution = walls.map(\.caution) ?? "claude runs it without a sandbox"
        return ToolReach(
            paths: ClaudeTools.paths(of: call, in: run.order.folder, policy.places),
            command: command.map { ToolReach.Command($0, isSandboxed: caution == nil, caution: caution) })
    }

    /// The ruling of the rules. A path that is denied to Martlet's own tools is denied to the command's too. Other
    /// calls could reach such a path unnoticed, so they need approval unless the sandbox hides the path.
    private func ruling(for request: ApprovalRequest) -> (verdict: ApprovalVerdict?, rule: ApprovalRule?) {
        let ruling = policy.ruling(for: request)
        let known = (ruling?.verdict, ruling?.rule)
        let paths = policy.deniedPaths(of: WorkspaceTools.name, WorkspaceTools.fileDescriptions)
        guard ruling?.verdict != .deny, !paths.isEmpty else { return known }
        let isWriting = request.effect != .reads
        let denied = (paths.reading + (isWriting ? paths.writing : [])).map { PathGlob($0, in: policy.places) }
        if request.reach.paths.contains(where: { path in denied.contains { $0.covers(path) } }) { return (.deny, nil) }
        let isHidden = walls != nil && walls?.gap == nil
        if denied.isEmpty || isHidden || ClaudeTools.opensOneFile(request.tool) { return known }
        return (.ask, nil)
    }

    /// Handles an answer. An answer that comes too late is ignored.
    mutating func answer(_ id: String, _ answer: Result<ApprovalAnswer, any Error>, _ turn: inout ClaudeTurn) -> Step {
        guard let asked = close(id) else { return Step() }
        let call = asked.request.call
        switch answer {
        case .success(let answer):
            var step =
                answer.isAllowed
                ? Step(
                    events: turn.allow(call, by: .person),
                    reply: ClaudeReply.allow(id, call.input))
                : Step(
                    events: turn.deny(call, by: .person), reply: ClaudeReply.deny(id, ClaudeReply.words(answer.reason)))
            if let rule = asked.request.rule(answer.isAllowed ? .allow : .deny, lasting: answer.scope) {
                policy.rules.append(rule)
                step.events.insert(.remember(rule), at: 0)
            }
            return step
        case .failure(InteractionError.unanswered): return unapproved(id, call, &turn)
        case .failure(InteractionError.declined), .failure(is CancellationError):
            return Step(events: turn.deny(call, by: .person), reply: ClaudeReply.deny(id, ClaudeReply.words(nil)))
        case .failure(let error):
            // For example an answer given in advance that does not fit. Nothing was decided, which must be visible.
            let message = AnyFailure(error).message
            if (error as? InteractionError)?.isUnfit == true {
                turn.hasUnfitApproval = true
            } else {
                turn.isUnapproved = true
            }
            return Step(
                events: turn.deny(call, by: .nobody) + [.notice(message)],
                reply: ClaudeReply.deny(id, ClaudeReply.words(message)))
        }
    }

    mutating func expire(_ id: String, _ turn: inout ClaudeTurn) -> Step {
        guard let asked = close(id) else { return Step() }
        return unapproved(id, asked.request.call, &turn)
    }

    /// Handles a request that the command has withdrawn.
    mutating func withdraw(_ id: String, _ turn: inout ClaudeTurn) -> [TurnEvent] {
        close(id).map { turn.deny($0.request.call, by: .nobody) } ?? []
    }

    mutating func cancelAll() {
        for id in open.keys { _ = close(id) }
    }

    private mutating func close(_ id: String) -> Open? {
        let asked = open.removeValue(forKey: id)
        for task in asked?.tasks ?? [] { task.cancel() }
        return asked
    }

    /// Asks for approval, with a time limit so that the command does not wait forever. `close` cancels both tasks.
    private func ask(
        _ id: String, _ request: ApprovalRequest, _ approve: @escaping TurnLoop.Approve
    ) -> [Task<Void, Never>] {
        let (inbox, clock, limit) = (run.inbox, run.claude.clock, run.claude.limits.approval)
        let asking = Task {
            do { inbox.post(.answered(id, .success(try await approve(request)))) } catch {
                inbox.post(.answered(id, .failure(error)))
            }
        }
        let alarm = Task {
            do { try await clock.sleep(for: limit) } catch { return }
            inbox.post(.expired(id))
        }
        return [asking, alarm]
    }

    private func unapproved(_ id: String, _ call: ToolCall, _ turn: inout ClaudeTurn) -> Step {
        turn.isUnapproved = true
        return Step(
            events: turn.deny(call, by: .nobody), reply: ClaudeReply.deny(id, "nobody was there to approve this call"))
    }
}

/// What is known about the command's own tools.
enum ClaudeTools {
    /// Tools that reach neither files nor the network. Calls of a sub-agent are asked about separately.
    private static let harmless: Set<String> = [
        "TodoWrite", "ToolSearch", "ListAgents", "Task", "TaskStop", "EnterPlanMode", "ReportFindings",
    ]

    /// Tools that read files, with the inputs that contain paths.
    private static let reading: [String: [String]] = [
        "Read": ["file_path"], "NotebookRead": ["notebook_path"], "LS": ["path"], "Grep": ["path"],
        "Glob": ["path", "pattern"],
    ]

    /// Returns `.reads` for a call that only reads in the folder of the turn. Reading elsewhere or fetching needs
    /// approval, and an unknown tool may do anything.
    static func effect(of call: ToolCall, in folder: String) -> Effect {
        if harmless.contains(call.name) { return .reads }
        guard let places = reading[call.name] else { return .writes }
        for place in places {
            switch call.input[place] {
            case nil, .null?: continue
            case .string(let path)? where isInside(path, folder): continue
            default: return .writes
            }
        }
        return .reads
    }

    /// Tools that open only the file in this input.
    private static let single: [String: String] = [
        "Read": "file_path", "NotebookRead": "notebook_path", "Edit": "file_path", "MultiEdit": "file_path",
        "Write": "file_path", "NotebookEdit": "notebook_path",
    ]

    static func opensOneFile(_ tool: String) -> Bool { single[tool] != nil || harmless.contains(tool) }

    /// The paths in a call, also with links resolved where possible.
    static func paths(of call: ToolCall, in folder: String, _ places: PathGlob.Places) -> [AbsolutePath] {
        (reading[call.name] ?? single[call.name].map { [$0] } ?? []).compactMap { call.input[$0]?.string }.flatMap {
            path in
            let asked = AbsolutePath.joined(path, in: folder)
            var found = [AbsolutePath(asked), places.path(path)]
            // If a path cannot be resolved, only its name is known.
            do throws(FileError) { found.append(AbsolutePath(try Files.place(asked))) } catch {}
            return found
        }
    }

    private static func isInside(_ path: String, _ folder: String) -> Bool {
        // The command expands `~` to the home folder, and braces and brackets to other paths.
        if path.hasPrefix("~") || path.utf8.contains(where: { "{[\0".utf8.contains($0) }) { return false }
        if path.utf8.split(separator: UInt8(ascii: "/")).contains(where: { $0.elementsEqual("..".utf8) }) {
            return false
        }
        do throws(FileError) {
            let root = try Files.canonical(folder)
            // A path that does not exist yet, or is a pattern, is located by its nearest existing parent folder.
            let place = try Files.place(AbsolutePath.joined(path, in: root))
            return AbsolutePath(place).lies(beneath: AbsolutePath(root))
        } catch {
            return false
        }
    }
}

/// Replies to the command's requests.
enum ClaudeReply {
    static func allow(_ id: String, _ input: JSON) -> JSON {
        success(id, ["behavior": "allow", "updatedInput": input])
    }

    static func deny(_ id: String, _ words: String) -> JSON {
        success(id, ["behavior": "deny", "message": .string(words)])
    }

    /// Makes the command ask for permission for its next call.
    static func hook(_ id: String) -> JSON {
        success(id, ["hookSpecificOutput": ["hookEventName": "PreToolUse", "permissionDecision": "ask"]])
    }

    private static func success(_ id: String, _ response: JSON) -> JSON {
        [
            "type": "control_response",
            "response": ["subtype": "success", "request_id": .string(id), "response": response],
        ]
    }

    static func error(_ id: String, _ words: String) -> JSON {
        [
            "type": "control_response",
            "response": [
                "subtype": "error", "request_id": .string(id), "error": .string(words),
                "error_code": "unsupported_request",
            ],
        ]
    }

    /// The message for a call that the user denied.
    static func words(_ reason: String?) -> String {
        "the user does not allow this call" + (reason.map { ": \($0)" } ?? "")
    }
}
