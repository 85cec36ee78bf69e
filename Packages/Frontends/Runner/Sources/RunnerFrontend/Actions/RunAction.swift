import Bundles
import Capabilities
import JSON
import Registry

/// `martlet run FILE`.
struct RunAction {
    static let id = "run.start"

    let services: RunnerServices

    init(_ services: RunnerServices) {
        self.services = services
    }

    var all: [Action] { [start] }

    private var start: Action {
        Action(
            Self.id, "Run a bundle", .writes, taking: RunArguments.self
        ) { context, arguments in
            if arguments.printsSchema {
                let schema = BundleFormat.jsonSchema
                try await context.emit(ActionEvent("schema", text: schema.text(.pretty) + "\n"))
                return RunResult.schema(schema)
            }
            return try await BundleRunning(services, context, try arguments.wish(in: context)).run()
        }
        .asDefault().streaming()
        .details(
            "A bundle is checked before anything runs, and everything that is wrong is told at once. A run asks nobody: "
                + "--answers gives answers beforehand, and what the bundle does not permit fails. The exit code is that "
                + "of the first step that failed. With --format ndjson each event is a line; 'run events' has their "
                + "schema. An input is also taken from the variable MARTLET_INPUT_NAME."
        )
        .example("martlet run nightly.yaml --input model=openai/gpt-5", "Run it")
        .example("martlet run nightly.yaml --plan", "Only show what would run")
        .example("martlet run --resume last", "Go on after a crash, without doing anything twice")
        .example("martlet run smoke.yaml --junit results.xml", "For continuous integration")
    }
}

/// What `run.start` takes.
struct RunArguments: ActionArguments {
    private(set) var printsSchema = false
    private var wish = RunWish()
    private var bundle, inputs, junit, html, report, record, replay: OwnPath?

    static let bindings = [
        bind(\.bundle, .argument("bundle", "The bundle's file, or the name of one of the project's")),
        bind(\.wish.inputs, .option("input", "A value for an input: name=value", short: "i")),
        bind(\.inputs, .option("inputs", "A file or a pipe with values for the inputs; - for standard input")),
        bind(\.wish.isPlan, .flag("plan", "Show what would run")),
        bind(\.wish.isCheck, .flag("check", "Check it and stop there")),
        bind(\.printsSchema, .flag("schema", "Print the JSON Schema of bundles")),
        bind(\.wish.resume, .option("resume", "Go on with this run, or with 'last'", completion: .words(["last"]))),
        bind(\.wish.again, .flag("again", "With --resume: do again what failed")),
        bind(
            \.wish.isUnkept,
            .flag("no-journal", "Keep nothing of it, where no data can be kept; it cannot be resumed then")),
        bind(\.wish.isAlone, .flag("alone", "Do not begin while another run of this bundle goes on")),
        bind(\.wish.every, .option("every", "Run it again and again, at this interval")),
        bind(\.junit, .option("junit", "Write JUnit's XML to this file")),
        bind(\.html, .option("html", "Write a page with the timeline to this file")),
        bind(\.report, .option("report", "Write the report as JSON to this file")),
        bind(\.record, .option("record", "Write everything that happens to this file, for --replay")),
        bind(\.replay, .option("replay", "Run it against this recording and say what differs")),
    ]

    init() {}

    /// With the paths that the caller may name.
    func wish(in context: ActionContext) throws -> RunWish {
        func text(_ path: OwnPath?) throws -> String? { try path.map { try context.text(of: $0) } }
        var wish = wish
        (wish.bundle, wish.inputsFile) = (try text(bundle), try text(inputs))
        (wish.junit, wish.html, wish.report) = (try text(junit), try text(html), try text(report))
        (wish.record, wish.replay) = (try text(record), try text(replay))
        return wish
    }
}
