import Capabilities
import JSON
import Registry

/// `martlet access show`
enum AccessAction {
    static let show = Action(
        "access.show", "Show which actions may be done, and by which rule", .reads,
        .argument("action", "Only this action, or those whose ids begin with it", as: String?.self),
        .option(
            "as", "Who does them: person, model, bundle:NAME or token:NAME", default: "person", completion: kinds)
    ) { context, prefix, asker in
        let holder = try await holder(asker, context)
        let actions = context.registry.actions.all.filter { holder.doesActions && !$0.isHidden }.map { action in
            AccessRow(
                action.id, action.effect, sends: action.sends,
                holder.grant.decide(.action(action.id, action.effect, action.offer)))
        }
        let requests = holder.requests.map { AccessRow($0.name, nil, sends: nil, holder.grant.decide($0.request)) }
        let rules = asker == "model" ? try await ruleRows(context) : []
        let rows = (actions + requests + rules).filter { row in
            prefix.map { row.name == $0 || row.name.hasPrefix($0.hasSuffix(".") ? $0 : "\($0).") } ?? true
        }
        return context.rows(rows, orSay: "no action's id begins so; 'martlet access show' lists all")
    }
    .always()
    .details(
        "You may do everything. A model is offered few actions: those that read Martlet's own state and name no file and no "
            + "secret. Its tools go by the rules and the mode that hold in this folder, which are listed too, with where each "
            + "is kept; 'martlet chat disallow' takes one back. A bundle (by its file or its name) does what stands under 'permissions' in it; 'martlet run NAME --plan' "
            + "shows what its steps do with it. A token of the gateway opens routes and does no action."
    )
    .example("martlet access show --as model", "What a model may do, and why not the rest")
    .example("martlet access show auth --as bundle:nightly.yaml", "What a bundle may do with servers and secrets")

    /// What was decided about the tools of models in this folder, whoever asked.
    private static func ruleRows(_ context: ActionContext) async throws -> [AccessRow] {
        guard context.caller.isPerson else { return [] }
        return try await context.registry.all((any RuleKeeper).self)
            .keptRules(in: [context.host.locations.current]).map(AccessRow.init)
    }

    private static let kinds = Completion.dynamic { registry, _ in
        ["person", "model"] + registry.all((any GrantHolders).self).map { "\($0.kind):" }
    }

    /// On whose behalf is asked.
    private static func holder(_ asker: String, _ context: ActionContext) async throws -> GrantHolder {
        // A bundle that looks is told of itself.
        if asker == "person" { return GrantHolder(context.caller.grant) }
        if asker == "model" { return GrantHolder(.model) }
        let holders = context.registry.all((any GrantHolders).self)
        let parts = asker.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2, let holders = holders.first(where: { $0.kind == parts[0] }) else {
            let kinds = ["person", "model"] + holders.map { "\($0.kind):NAME" }
            throw ArgumentsFailure(
                action: "access.show",
                problems: [ValueError("needs one of \(kinds.joined(separator: ", "))", at: ["as"])])
        }
        // What the name leads to is read, and may be any file.
        guard context.caller.isPerson else {
            throw AccessFailure(rule: "only you may look at what others may do", mend: "do it yourself")
        }
        return try await holders.holder(named: parts[1])
    }
}

/// What is decided about one action, or something else that is asked for.
private struct AccessRow: Record {
    let name: String
    let effect: Effect?
    let sends: Bool?
    let verdict: String
    let rule: String
    let mend: String?

    init(_ name: String, _ effect: Effect?, sends: Bool?, _ decision: GrantDecision) {
        (self.name, self.effect, self.sends) = (name, effect, sends)
        switch decision {
        case .allow(let rule): (verdict, self.rule, mend) = ("allowed", rule, nil)
        case .ask(let rule): (verdict, self.rule, mend) = ("asked", rule, nil)
        case .deny(let rule, let mend): (verdict, self.rule, self.mend) = ("denied", rule, mend)
        }
    }

    /// A rule of a tool. What cannot be read denies.
    init(_ kept: KeptRule) {
        (effect, sends) = (nil, nil)
        rule = "\(PlainText.escape(kept.place)), \(kept.id)"
        mend = nil
        if let mode = kept.rule["mode"]?.string {
            (name, verdict) = ("tools, where no rule fits", PlainText.escape(mode))
            return
        }
        let arguments = kept.rule["arguments"].map { " \(PlainText.escape($0.text()))" } ?? ""
        name = "tool \(PlainText.escape(kept.rule["tool"]?.string ?? "*"))\(arguments)"
        switch kept.rule["verdict"] {
        case "allow": verdict = "allowed"
        case "ask": verdict = "asked"
        default: verdict = "denied"
        }
    }

    static let fields: [Field<AccessRow>] = [
        Field("action", "Which action, or what else is asked for", .name) { $0.name },
        Field("effect", "What it changes") { $0.effect },
        Field("sends", "Whether it leaves this machine, or costs something") { $0.sends },
        Field("access", "Whether it is allowed, asked or denied", .state) { $0.verdict },
        Field("rule", "The rule that says so") { $0.rule },
        Field("mend", "What would allow it", .detail) { $0.mend },
    ]
}
