import Capabilities
import JSON
import ToolKit
import TurnLoop

/// What the command asks us, and what it is answered.
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
    /// The limits of its sandbox; nil where it runs without one.
    var walls: ClaudeSandbox.Walls?
    private var open: [String: Open] = [:]
    /// Grows by what the person wants to be remembered.
    private var policy: ApprovalPolicy

    init(_ run: ClaudeRun) {
        self.run = run
        policy = run.policy
    }

    /// Takes a request. What we do not know is answered with an error, because an open one would stop the command.
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

    /// What the rules say. A path that is denied to our own tools is denied to the command's too. Any other call could reach
    /// such a path unseen, so that it is asked about unless the sandbox hides the path.
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

    /// Takes what somebody has said; an answer that comes too late counts for nothing.
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
            // Such as an answer given beforehand that does not fit: nobody has decided, and nobody shall think that all is
            // well.
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

    /// The command does not want to know any more.
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

    /// Asks somebody, and sees to it that the command does not wait for ever. Both tasks are cancelled by `close`.
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
