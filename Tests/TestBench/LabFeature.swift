import Capabilities
import JSON
import Registry
import Settings

/// Actions that show from outside how a host treats them.
struct LabFeature: Feature {
    static let manifest = Manifest(
        id: "lab", summary: "Actions to try a host with", version: "1.0", needs: [.all((any Probe).self)],
        settings: [
            Setting("depth", "How deep it looks", default: 3).declaration,
            Setting("program", "What it runs", default: "true", risk: .runs).declaration,
        ])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        for action in [Self.wait, Self.ignore, Self.count, Self.flood, Self.wipe, Self.login, Self.states, Self.ask] {
            registry.add(action)
        }
    }

    private static let wait = Action("lab.wait", "Wait until it is cancelled", .reads) { context in
        context.progress("waiting for the end")
        context.notice("waiting")
        try await Task.sleep(for: .seconds(600))
        return "slept"
    }

    private static let ignore = Action("lab.ignore", "Never end, whoever cancels it", .reads) { context in
        context.notice("ignoring")
        await withTaskCancellationHandler {
            unsafe await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        } onCancel: {
            context.notice("was cancelled")
        }
        return "never"
    }

    private static let count = Action(
        "lab.count", "Count, an event a number", .reads, .argument("to", "The last number", as: Int.self),
        .flag("fail", "Fail at the end")
    ) { context, last, fails in
        for number in 1...max(1, last) {
            context.progress("counting", completed: number, of: last)
            try await context.emit(ActionEvent("number", ["number": .int(number)], text: "\(number)\n"))
        }
        if fails { throw LabFailure() }
        return last
    }
    .streaming([])

    private static let flood = Action("lab.flood", "Send events until nobody reads them", .reads) {
        context -> Nothing in
        while true { try await context.emit(ActionEvent("drop", text: "drop\n")) }
    }
    .streaming([])

    private static let wipe = Action("lab.wipe", "Wipe the table", .destroys) { _ in "wiped" }

    private static let login = Action("lab.login", "Log in", .reads, .secret("token", "The access token")) {
        context, token in
        context.notice("logging in with \(token)")
        return "\(token) has \(token.withText { $0.count }) characters"
    }

    private static let ask = Action("lab.ask", "Ask for a name", .reads) { context in
        "hello \(try await context.interaction.text("lab.name", "What is your name?"))"
    }

    private static let states = Action("lab.states", "Show every feature's state while this runs", .reads) { context in
        context.registry.all((any Probe).self).map { StateRow(id: $0.name, state: context.host.states[$0.name]) }
    }
}

/// What the lab fails with when it is told to.
struct LabFailure: Failure {
    var code: String { "lab.failed" }
    var message: String { "the count was told to fail\nand it did" }
    var exit: ExitCode { .toolFailed }
}

private struct StateRow: Record {
    let id: String
    let state: FeatureState

    static let fields: [Field<StateRow>] = [
        Field("id", "The feature", .name) { $0.id }, Field("state", "Its state", .state) { $0.state.word },
        Field("reason", "Why") { $0.state.reason },
    ]
}
