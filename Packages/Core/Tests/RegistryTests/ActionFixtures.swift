import Capabilities
import CoreTesting
import JSON
import Registry
import Synchronization

enum Units: String, Choice { case metric, imperial }

/// Actions of every kind.
struct ActionsFeature: PlainFeature {
    static let manifest = Manifest(
        id: "demo", summary: "Does all sorts of things", version: "1", provides: [.shared((any SpanSink).self)])
    private let sink = RecordingSpanSink()

    func register(in registry: inout RegistryBuilder) {
        registry.provide((any SpanSink).self, sink)
        registry.add(Self.rich)
        registry.add(Self.values)
        registry.add(Action("demo.wipe", "Wipes everything", .destroys) { _ in "wiped" })
        registry.add(
            Action("demo.tidy", "Tidies up", .writes, .flag("all", "Throw everything away")) { _, all in
                all ? "threw all away" : "tidied"
            }
            .destroying(with: "all").losing { _, _ in "Throw all away" })
        registry.add(Self.drop)
        registry.add(
            Action("demo.burn", "Burn things", .destroys, .argument("names", "Which", as: [String].self)) { _, names in
                names.joined()
            })
        registry.add(Action("demo.fail", "Fails", .reads) { _ -> Nothing in throw DemoFailure() })
        registry.add(Action("demo.cancelled", "Gives up", .reads) { _ -> Nothing in throw CancellationError() })
        registry.add(Self.chatty)
        registry.add(Self.nested)
    }

    /// Destroys a thing that it knows by name.
    static let drop = Action("demo.drop", "Drop a thing", .destroys, .argument("name", "Which", as: String.self)) {
        _, name in
        "dropped \(name)"
    }
    .losing { arguments, _ in
        switch arguments["name"]?.string {
        case "stone": "Drop the thing stone, of 3 kg"
        case "nothing": nil
        default: throw DemoFailure()
        }
    }

    /// Has every form of parameter.
    static let rich = Action(
        "demo.rich", "Takes everything", .writes,
        .argument("city", "City to look up"),
        .argument("hosts", "Hosts to ask", as: [String].self),
        .option("units", "Units of measure", default: Units.metric, short: "u"),
        .option("limit", "At most so many", as: Int?.self),
        .option("rounds", "How often", in: 1...9, default: 3),
        .option("share", "Part of all", in: 0...1, default: 0.5),
        .option("tags", "Words for it", as: [String].self),
        .option("labels", "Labels by name", as: [String: Int].self),
        .flag("all", "Also the hidden ones", short: "a"),
        .flag("check", "Look twice", default: true),
        .secret("token", "Access token") as Parameter<Secret?>
    ) { _, city, hosts, units, limit, rounds, share, tags, labels, all, check, token in
        [
            "city": city.json, "hosts": hosts.json, "units": units.json, "limit": limit.json, "rounds": rounds.json,
            "share": share.json, "tags": tags.json, "labels": labels.json, "all": all.json, "check": check.json,
            "token": (token?.withText { $0.count }).json,
        ] as JSON
    }

    /// Takes every kind of value that `rich` does not take.
    static let values = Action(
        "demo.values", "Takes values", .reads,
        .option("path", "A path", as: ReadPath.self),
        .option("wait", "A duration", as: Duration.self),
        .option("size", "A size", as: ByteCount.self),
        .option("since", "A time", as: Timestamp.self),
        .option("ratio", "A number", as: Double.self),
        .option("extra", "Anything", as: JSON?.self),
        .secret("key", "A key") as Parameter<Secret>
    ) { _, path, wait, size, since, ratio, extra, key in
        [
            "path": path.json, "wait": .int(wait.milliseconds), "size": size.json,
            "since": .int(Int(since.microseconds)),
            "ratio": ratio.json, "extra": extra.json, "key": key.withText { .int($0.count) },
        ] as JSON
    }

    private static let chatty = Action("demo.chatty", "Says a lot", .reads) { context in
        try await context.emit(number.event(1, text: "one "))
        context.progress("counting", completed: 1, of: 2)
        try await context.emit(number.event(2, text: "two"))
        context.notice("that was all")
        return 2
    }.streaming([number.declaration])

    private static let number = EventKind<Int>("message", "A number", [Field("n", "The number") { $0 }])

    private static let nested = Action("demo.nested", "Does another", .reads) { context in
        let chatty = try context.registry.actions.find("demo.chatty")
        return try await context.perform(chatty, output: RecordingOutput()).json
    }
}
