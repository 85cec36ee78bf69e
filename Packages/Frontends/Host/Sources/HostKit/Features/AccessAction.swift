import Capabilities
import JSON
import Registry

/// `martlet access show`
enum AccessAction {
    static let show = Action(
        "access.show", "Show which actions are allowed, and by which rule", .reads,
        .argument(
            "action", "Only this action, or actions whose id begins with it", as: String?.self, completion: actions),
        .option(
            "as", "Who performs them: person, model, bundle:NAME or token:NAME", default: "person", completion: kinds)
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
        return context.rows(rows, orSay: "no action id begins with that; 'martlet access show' lists all")
    }
    .always()
    .details(
        "You may do everything. A model may perform few actions: those that read Martlet's own state and take no file and "
            + "no secret. Its tools follow the rules and the mode of this folder. These are listed too, with the place where "
            + "each is stored; 'martlet chat disallow' removes one. A bundle, given by its file or its name, may do what its "
            + "'permissions' allow; 'martlet run NAME --plan' shows what its steps do. A gateway token opens routes and "
            + "performs no actions."
    )
    .example("martlet access show --as model", "What a model may do, and why the rest is denied")
    .example("martlet access show auth --as bundle:nightly.yaml", "What a bundle may do with servers and secrets")

    /// The rules about the tools of models in this folder. Only the person sees them.
    private static func ruleRows(_ context: ActionContext) async throws -> [AccessRow] {
        guard context.caller.isPerson else { return [] }
        return try await context.registry.all((any RuleKeeper).self)
            .keptRules(in: [context.host.locations.current]).map(AccessRow.init)
    }

    private static let actions = Completion.dynamic { registry, _, _ in
        registry.actions.all.filter { !$0.isHidden }.map { Completion.Candidate($0.id, $0.summary) }
    }

    private static let kinds = Completion.dynamic { registry, _, _ in
        var found = [Completion.Candidate("person", "You"), Completion.Candidate("model", "The tools of models")]
        for holders in registry.all((any GrantHolders).self) {
            let names = holders.knownNames()
            if names.isEmpty { found.append(Completion.Candidate("\(holders.kind):")) }
            found += names.map { Completion.Candidate("\(holders.kind):\($0.name)", $0.summary) }
        }
        return found
    }

    /// The grant of the requested holder.
    private static func holder(_ asker: String, _ context: ActionContext) async throws -> GrantHolder {
        // A bundle may see its own grant.
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
        // Resolving the name may read any file, so only the person may do it.
        guard context.caller.isPerson else {
            throw AccessFailure(rule: "only you may see what others may do", mend: "do it yourself")
        }
        return try await holders.holder(named: parts[1])
    }
}

/// The decision about one action or another request.
private struct AccessRow: Record {
    let name: String
    private let effect: Effect?
    private let sends: Bool?
    private let verdict: String
    private let rule: String
    let mend: String?

    init(_ name: String, _ effect: Effect?, sends: Bool?, _ decision: GrantDecision) {
        (self.name, self.effect, self.sends) = (name, effect, sends)
        switch decision {
        case .allow(let rule): (verdict, self.rule, mend) = ("allowed", rule, nil)
        case .ask(let rule): (verdict, self.rule, mend) = ("asked", rule, nil)
        case .deny(let rule, let mend): (verdict, self.rule, self.mend) = ("denied", rule, mend)
        }
    }

    /// A rule about a tool. A rule that cannot be read denies.
    init(_ kept: KeptRule) {
        (effect, sends) = (nil, nil)
        rule = "\(PlainText.escape(kept.place)), \(kept.id)"
        mend = nil
        if let mode = kept.rule["mode"]?.string {
            (name, verdict) = ("tools without a matching rule", PlainText.escape(mode))
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
        Field("action", "The action, or another request", .name) { $0.name },
        Field("effect", "Whether it reads, writes or destroys") { $0.effect },
        Field("sends", "Whether it sends something off this machine, or costs something") { $0.sends },
        Field("access", "Whether it is allowed, asked or denied", .state) { $0.verdict },
        Field("rule", "The rule that decides it") { $0.rule },
        Field("mend", "How to allow it", .detail) { $0.mend },
    ]
}
