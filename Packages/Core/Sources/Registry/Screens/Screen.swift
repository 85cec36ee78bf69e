public import Capabilities
import JSON

/// A screen, described by its feature and drawn by whoever shows it: a terminal, a web page, `martlet screen show`.
///
/// It is declared like an action, with parameters and rights. Its body lasts as long as the screen is open. It shows a
/// value, and another one when something has changed:
///
/// ```swift
/// Screen("weather.today", "Weather", .detail, .argument("city", "City to look up")) { screen, city in
///     repeat {
///         try await screen.show(Block(.values(Values(try await forecast(city)))))
///     } while try await screen.changed(orAfter: .seconds(60))
/// }
/// ```
public struct Screen: Sendable {
    /// Where a frontend offers it.
    public enum Placement: Sendable, Hashable {
        /// On the tab with this title. It needs no arguments, like one of the home screen.
        case tab(String)
        /// On the first screen, as one of its panels.
        case home
        /// Beside a row, or from a link.
        case detail

        /// For a person: `tab Sessions`, `home` or `detail`.
        public var words: String {
            switch self {
            case .tab(let title): "tab \(title)"
            case .home: "home"
            case .detail: "detail"
            }
        }
    }

    /// Its id, title, parameters and rights, as for an action. The effect is always `reads`: what changes something is
    /// an action that the screen links to.
    public let declaration: Action
    /// Where a frontend offers it.
    public let placement: Placement
    /// Whether it goes on while nobody sees it.
    public private(set) var runsHidden = false
    /// What a command line adds to the parameters of a screen.
    static let followOption = "follow"

    private let body: @Sendable (JSONObject, ScreenContext) async throws -> Void

    /// The id, dotted like that of an action.
    public var id: String { declaration.id }
    /// The title: one line, without a final stop.
    public var title: String { declaration.summary }
    /// The parameters.
    public var parameters: [ParameterDeclaration] { declaration.parameters }

    /// - Parameter body: receives the screen and a value for each parameter. It shows values until it is cancelled, or
    ///   returns when the value can never change.
    public init<each Value: InputValue>(
        _ id: String, _ title: String, _ placement: Placement, _ parameter: repeat Parameter<each Value>,
        body: @escaping @Sendable (ScreenContext, repeat each Value) async throws -> Void
    ) {
        var declarations: [ParameterDeclaration] = []
        for one in repeat each parameter { declarations.append(one.declaration) }
        var erased: [ParameterReader] = []
        for one in repeat each parameter { erased.append(one.reader) }
        let readers = erased
        self.init(id, title, placement, parameters: declarations) { arguments, screen in
            var next = 0
            try await body(screen, repeat try (each Value).read(readers, at: &next, in: arguments))
        }
    }

    init(
        _ id: String, _ title: String, _ placement: Placement, parameters: [ParameterDeclaration],
        body: @escaping @Sendable (JSONObject, ScreenContext) async throws -> Void
    ) {
        declaration = Action(id: id, summary: title, parameters: parameters)
        self.placement = placement
        self.body = body
    }

    /// The declaration for a surface that reads arguments as it does for actions, such as a command line.
    public func command(_ id: String, adding parameters: [ParameterDeclaration]) -> Action {
        Action(id: id, summary: title, parameters: self.parameters + parameters).details(declaration.details)
    }

    /// The action that is performed while the screen is open.
    func action(showingIn view: OpenScreen) -> Action {
        declaration.performing { [body] arguments, context in
            view.began.settle(())
            try await body(arguments, ScreenContext(context, view))
            return Nothing()
        }
    }
}

// MARK: What may be said of a screen beyond its declaration

extension Screen {
    private func with(_ change: (Action) -> Action) -> Screen {
        Screen(declaration: change(declaration), placement: placement, runsHidden: runsHidden, body: body)
    }

    private init(
        declaration: Action, placement: Placement, runsHidden: Bool,
        body: @escaping @Sendable (JSONObject, ScreenContext) async throws -> Void
    ) {
        self.declaration = declaration
        self.placement = placement
        self.runsHidden = runsHidden
        self.body = body
    }

    /// Additional paragraphs for the reference.
    public func details(_ text: String) -> Screen { with { $0.details(text) } }
    /// Sends something off this machine, or costs something, as for an action.
    public func sending() -> Screen { with { $0.sending() } }
    /// Available only to bundles that name it.
    public func byName() -> Screen { with { $0.byName() } }
    /// It shows what was said in conversations, or what they are about.
    public func showingConversations() -> Screen { with { $0.showingConversations() } }
    /// Shown even with invalid settings or features.
    public func always() -> Screen { with { $0.always() } }
    /// Goes on while nobody sees it, for screens that must not miss anything.
    public func runningHidden() -> Screen {
        Screen(declaration: declaration, placement: placement, runsHidden: true, body: body)
    }
}
