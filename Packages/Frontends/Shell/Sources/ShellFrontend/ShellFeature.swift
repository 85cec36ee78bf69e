import Capabilities
import FileKit
import JSON
public import Registry
import Screens
public import Settings

/// The terminal shell: every screen and action of the features on one screen.
public struct ShellFeature: Feature {
    public static let manifest = Manifest(
        id: "shell", summary: "Screens and actions of the features on a full terminal", version: "0.1.0",
        settings: ShellSettings.declarations)

    private let settings: ShellSettings

    public init(_ settings: FeatureSettings) { self.settings = ShellSettings(settings) }

    public func register(in registry: inout RegistryBuilder) {
        let settings = settings
        registry.add(
            Action(
                "shell.open", "Open the shell on this terminal", .reads,
                .argument("screen", "The screen to begin with", as: String?.self, completion: Self.screens),
                .argument("arguments", "The arguments of the screen", as: [String: JSON].self),
                .flag("plain", "Print lines and move no cursor, for screen readers"),
                .option("replay", "Show this recording, which a command wrote with --format ndjson", as: ReadPath?.self)
            ) { context, screen, arguments, isPlain, replay in
                let given = JSONObject(arguments.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
                // A bundle has no terminal, and what a person does here must not be done with its rights.
                guard context.caller.isPerson else { throw ShellFailure.notAPerson }
                if let screen { _ = try context.registry.screens.find(screen) }
                let first = screen.map { ($0, given) }
                let recording = try replay.map { try Self.recording($0, context) }
                if isPlain || settings.plain {
                    try await PlainShell(context: context).run(showing: first, replaying: recording)
                } else {
                    try await ShellProgram(context: context, settings: settings).run(
                        showing: first, replaying: recording)
                }
                return Nothing()
            }
            .asDefault().streaming([PlainShell.printed.declaration]).instant().always().byName()
            .question("shell.command", "With --plain: what to do next")
            .question("shell.choice", "With --plain: which screen, row or action")
            .details(
                """
                Without a command, martlet opens the shell too, if it runs on a terminal. ? shows the keys, and : finds \
                every action and screen. The arguments of a screen are written like those of a command.
                """
            )
            .example("martlet shell", "Begin with the first tab")
            .example("martlet shell chat.conversation 01a2", "Begin with a conversation")
            .example("martlet shell --replay answer.ndjson", "Show what 'ask --format ndjson' has written to a file"))
    }

    private static func recording(
        _ path: ReadPath, _ context: ActionContext
    ) throws -> (name: String, block: Block) {
        let file = try context.path(path)
        let text = String(decoding: try file.read(limit: Recording.mostBytes), as: UTF8.self)
        return (path.shown, Recording(text, context.registry.actions.all).block)
    }

    private static let screens = Completion.dynamic { registry, _, _ in
        registry.screens.all.map { Completion.Candidate($0.id, $0.title) }
    }
}

/// Why there is no shell.
enum ShellFailure: Failure, Hashable {
    case notAPerson

    var code: String { "shell.not-a-person" }
    var exit: ExitCode { .usage }
    var message: String { "only a person at a terminal opens the shell; 'screen show' prints a screen" }
}

/// What the settings say about the shell.
struct ShellSettings: Sendable {
    var mouse = true
    var plain = false
    var keys: [String: String] = [:]

    private static let mouse = Setting("mouse", "Whether the shell uses the mouse: clicks and the wheel", default: true)
    private static let plain = Setting(
        "plain", "Whether the shell prints lines and moves no cursor, for screen readers", default: false)
    private static let keys = Setting(
        "keys",
        "Keys by command, such as {\"quit\": \"ctrl-q\", \"commands\": \": ctrl-p\"}; ? in the shell lists the commands",
        // A project's keys could let a letter that the person knows do something else.
        default: [String: String](), risk: .widens)

    static let declarations = [mouse.declaration, plain.declaration, keys.declaration]

    init(_ settings: FeatureSettings) {
        mouse = settings[Self.mouse]
        plain = settings[Self.plain]
        keys = settings[Self.keys]
    }
}
