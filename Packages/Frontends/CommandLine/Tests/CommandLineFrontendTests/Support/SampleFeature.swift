import Capabilities
import CoreTesting
import HostKit
import JSON
import Registry
import Settings

@testable import CommandLineFrontend

/// A feature with every kind of command: groups, a default, an alias, a hidden one, and verbs below an action.
struct SampleFeature: Feature {
    static let manifest = Manifest(
        id: "sample", summary: "Something to type at", version: "1.0",
        settings: [
            Setting("depth", "How deep it looks | at most", default: 3).declaration,
            Setting("friend", "Who gets everything", default: String?.none).declaration,
        ])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        for action in [Self.parsed, Self.send, Self.open, Self.opened, Self.secretive, Self.hidden] {
            registry.add(action)
        }
        registry.completes("friend", .like("to", of: "sample.send"))
    }

    enum Shade: String, Choice { case light, dark }

    static let parsed = Action(
        "sample.parse", "Take everything that can be typed", .reads,
        .argument("first", "The first word"),
        .argument("rest", "All other words", as: [Int].self),
        .option("name", "A name", as: String?.self, short: "n"),
        .option("count", "How many", in: 1...9, default: 1, short: "c"),
        .option("tag", "A label", as: [String].self, short: "t"),
        .option("shade", "A shade", as: Shade?.self),
        .flag("all", "Also the hidden ones", short: "a"),
        .flag("brief", "In short", short: "b"),
        .flag("wrap", "Break long lines", default: true)
    ) { _, first, _, _, _, _, _, _, _, _ in first }
    .details("A paragraph that is long enough to need more than one line on every terminal that is narrow.")
    .example("martlet sample parse one 2 3 --name x -ab --no-wrap", "Everything at once")

    static let send = Action(
        "sample.send", "Send a message", .writes,
        .argument(
            "to", "Who gets it", as: String.self,
            completion: .dynamic { @Sendable _, host, _ in
                [
                    Completion.Candidate("anna", "Anna of the\u{1B}[31m north"), Completion.Candidate("bert"),
                    Completion.Candidate(host.name),
                    // None of these can be typed.
                    Completion.Candidate(":files"), Completion.Candidate("--bert"), Completion.Candidate("a\nb"),
                    Completion.Candidate(""),
                ]
            }),
        .option("file", "What is attached", as: ReadPath?.self, short: "f")
    ) { _, to, _ in to }
    .asDefault().alias("post").streaming([])

    static let open = Action(
        "sample.open", "Open it", .reads,
        .argument("where", "Which folder", as: OwnPath?.self, completion: .directories)
    ) { _, _ in Nothing() }

    static let opened = Action("sample.open.again", "Open it again", .destroys) { _ in Nothing() }

    static let secretive = Action(
        "sample.secret", "Take a secret", .reads, .secret("token", "The access token")
    ) { _, token in "\(token)" }

    static let hidden = Action("sample.internal", "Not for people", .reads) { _ in Nothing() }.hidden()
}

/// The whole command line in memory, with the host's own features.
func sampleHost() throws -> TestHost {
    try TestHost([
        BuiltInFeature(essential: HostFeature.self), BuiltInFeature(essential: CommandLineFeature.self),
        BuiltInFeature(SampleFeature.self),
    ])
}
