import Capabilities
import Registry

/// `martlet access show`
enum AccessAction {
    /// On whose behalf is asked.
    private enum Asker: String, Choice, Hashable {
        /// You, at any surface.
        case person
        /// A model that acts for you.
        case model
    }

    static let show = Action(
        "access.show", "Show which actions may be done, and by which rule", .reads,
        .argument("action", "Only this action, or those whose ids begin with it", as: String?.self),
        .option("as", "Who does them", default: Asker.person)
    ) { context, prefix, asker in
        // A bundle that looks is told of itself.
        let grant = asker == .model ? Grant.model : context.caller.grant
        let actions = context.registry.actions.all.filter { action in
            !action.isHidden
                && (prefix.map { action.id == $0 || action.id.hasPrefix($0.hasSuffix(".") ? $0 : "\($0).") } ?? true)
        }
        return context.rows(
            actions.map { AccessRow($0, grant.decide(.action($0.id, $0.effect, $0.offer))) },
            orSay: "no action's id begins so; 'martlet access show' lists all")
    }
    .always().instant()
    .details(
        "You may do everything. A model is offered few actions: those that read Martlet's own state and name no file and no "
            + "secret. What a bundle may do stands under 'permissions' in it."
    )
    .example("martlet access show --as model", "What a model may do, and why not the rest")
}

/// What is decided about one action.
private struct AccessRow: Record {
    let action: Action
    let verdict: String
    let rule: String
    let mend: String?

    init(_ action: Action, _ decision: GrantDecision) {
        self.action = action
        switch decision {
        case .allow(let rule): (verdict, self.rule, mend) = ("allowed", rule, nil)
        case .ask(let rule): (verdict, self.rule, mend) = ("asked", rule, nil)
        case .deny(let rule, let mend): (verdict, self.rule, self.mend) = ("denied", rule, mend)
        }
    }

    static let fields: [Field<AccessRow>] = [
        Field("action", "Which action", .name) { $0.action.id },
        Field("effect", "What it changes") { $0.action.effect },
        Field("access", "Whether it is allowed, asked or denied", .state) { $0.verdict },
        Field("rule", "The rule that says so") { $0.rule },
        Field("mend", "What would allow it", .detail) { $0.mend },
    ]
}
