import Bundles
import Capabilities
import JSON
import Registry
import RunReports

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

/// What a person wants of a run.
struct RunWish: Sendable {
    var bundle: String?
    var inputs: [String] = []
    var inputsFile: String?
    /// Shows what would run.
    var isPlan = false
    /// Stops after the check.
    var isCheck = false
    /// The run that goes on.
    var resume: String?
    /// Whether steps of it that failed are done again.
    var again = false
    /// Whether nothing of it is written down.
    var isUnkept = false
    /// Whether it is not begun while another run of the bundle goes on.
    var isAlone = false
    var every: Duration?
    var junit: String?
    var html: String?
    var report: String?
    var record: String?
    var replay: String?

    /// Refuses what contradicts itself.
    func check() throws(RunnerError) {
        let others: [(String, Bool)] = [
            ("--plan", isPlan), ("--check", isCheck), ("--resume", resume != nil), ("--every", every != nil),
            ("--replay", replay != nil),
        ]
        let given = others.filter(\.1).map(\.0)
        if given.count > 1 { throw .options("\(given.joined(separator: " and ")) do not go together") }
        if record != nil, let first = given.first {
            throw .options("--record does not go together with \(first)")
        }
        if isUnkept {
            if resume != nil { throw .options("--resume needs the journal, and --no-journal does without") }
            if isAlone { throw .options("--alone needs the journal, and --no-journal does without") }
        }
        if again, resume == nil { throw .options("--again needs --resume, with the run that goes on") }
        if let every, every < .milliseconds(100) { throw .options("--every needs at least 100ms") }
        if replay != nil, !inputs.isEmpty || inputsFile != nil {
            throw .options("a replay takes its inputs from the recording")
        }
    }
}

/// What `martlet run` gives: a report of the run, or what was asked for instead of it.
enum RunResult: OutputValue {
    case report(RunReport)
    case plan([PlannedStep])
    case schema(JSON)
    case replay(ReplayReport)

    static var schema: Schema { .any }

    var json: JSON {
        switch self {
        case .report(let report): report.json
        case .plan(let steps): steps.json
        case .schema(let schema): schema
        case .replay(let report): report.json
        }
    }

    var exit: ExitCode {
        switch self {
        case .report(let report): report.exit
        case .replay(let report): report.exit
        case .plan, .schema: .done
        }
    }
}

/// What bundles and the programs around them need beside the actions of features.
enum StepActions {
    static var all: [Action] { [events, expect, nothing] }

    private static let events = Action(
        "run.events", "Print the JSON Schema of the lines of 'run --format ndjson'", .reads
    ) { _ in
        RunEventSchema.json
    }
    .example("martlet run events --json > events.schema.json", "For a validator, or for making types")

    private static let expect = Action(
        "run.expect", "Fail unless something is so", .reads,
        .option("that", "What has to be true", as: Bool.self),
        .option("message", "What is wrong when it is not", as: String?.self)
    ) { _, isSo, message in
        guard isSo else { throw RunnerError.notSo(message ?? "what was expected is not so") }
        return Nothing()
    }
    .instant()
    .details("A step of a bundle that tests something: as a JUnit report it is a failure, and not an error.")

    private static let nothing = Action("run.no-op", "Do nothing, to measure what a step costs", .reads) { _ in
        Nothing()
    }
    .instant().hidden()
}
