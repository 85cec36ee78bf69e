import Capabilities
import JSON
import Registry
import Screens
import Settings

/// The feature that shows screens outside of a shell: on a command line, in a bundle, in a test.
struct ScreenFeature: Feature {
    static let manifest = Manifest(
        id: "screen", summary: "The screens of the features, as text or JSON", version: "0.1.0")

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.add(Self.list)
        registry.add(Self.show)
    }

    private static let list = Action("screen.list", "List the screens", .reads) { context in
        context.registry.screens.all.map { screen in
            ScreenSummary(
                id: screen.id, title: screen.title, placement: screen.placement,
                feature: context.registry.screens.owner(of: screen) ?? "")
        }
    }
    .asDefault().instant()

    private static let show = Action(
        "screen.show", "Show a screen once, or follow its changes", .reads,
        .argument("id", "The id of the screen", as: String.self, completion: ids),
        .argument("arguments", "The arguments of the screen", as: [String: JSON].self),
        .flag("follow", "Go on showing what changes, until interrupted")
    ) { context, id, arguments, follows in
        let given = JSONObject(arguments.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        let screen = try context.registry.screens.find(id)
        let shower = ScreenShower(context: context)
        return try await context.session.open(id, given, as: context.caller, output: ScreenNotices(context)) { view in
            if follows { try await shower.follow(view) }
            let block = try await shower.first(of: view)
            return ShownScreen(id: id, title: screen.title, block: block)
        }
    }
    .streaming(ScreenShower.events)
    // Some screens ask a server.
    .sending()
    .details(
        """
        The arguments of a screen are written like those of a command: --limit 5. 'martlet help screen show ID' lists them. \
        In a bundle they are a map. With --follow and --format ndjson there is a line for each change: the blocks that \
        differ, with the ids that lead to them, and the new lines of logs.
        """
    )
    .example("martlet screen show features.states", "The features and their states")
    .example("martlet screen show runs.recent --follow --format ndjson", "Runs as they change, for a program")

    private static let ids = Completion.dynamic { registry, _, _ in
        registry.screens.all.map { Completion.Candidate($0.id, $0.title) }
    }
}

/// A screen in the list.
private struct ScreenSummary: Record {
    let id: String
    let title: String
    let placement: Screen.Placement
    let feature: String

    static let fields: [Field<ScreenSummary>] = [
        Field("id", "The id", .name) { $0.id },
        Field("title", "The title") { $0.title },
        Field("placement", "Where a frontend offers it: a tab, home or detail") { $0.placement.words },
        Field("feature", "The feature that it belongs to", .minor) { $0.feature },
    ]
}

/// What a screen showed.
struct ShownScreen: Record {
    let id: String
    let title: String
    let block: Block

    static let fields: [Field<ShownScreen>] = [
        Field("id", "The id of the screen", .name) { $0.id },
        Field("title", "The title of the screen") { $0.title },
        Field("block", "What it showed; 'martlet docs screens' prints the schema") { $0.block },
    ]
}

/// Passes on what a screen says besides its value. Its events go nowhere, because a screen shows values.
private struct ScreenNotices: ActionOutput {
    private let context: ActionContext

    init(_ context: ActionContext) { self.context = context }

    var isWatched: Bool { context.isWatched }
    var isColored: Bool { context.isColored }
    var isQuiet: Bool { context.isQuiet }
    func event(_ event: ActionEvent) async throws {}
    func progress(_ progress: Progress) {}
    func notice(_ text: String) { context.notice(text) }
}
