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

    private static let schema = EventKind<JSON>("schema", "The JSON Schema of bundles was requested", [])

    private var start: Action {
        Action(
            Self.id, "Run a bundle", .writes, taking: RunArguments.self
        ) { context, arguments in
            if arguments.printsSchema {
                let schema = BundleFormat.jsonSchema
                try await context.emit(Self.schema.event(schema, text: schema.text(.pretty) + "\n"))
                return RunResult.schema(schema)
            }
            return try await BundleRunner(services, context, try arguments.request(in: context)).run()
        }
        .asDefault()
        .streaming(
            RunEvents.all + [Self.schema.declaration, Replay.outcome.declaration] + BundleRunner.eventsOfChecks
        )
        .details(
            "A bundle is given by its file, or by its name if it is in .martlet/bundles of the project or in bundles beside "
                + "your settings. It is checked before anything runs, and all its problems are reported at once. A run never asks "
                + "questions: --answers gives answers in advance, and whatever the bundle does not permit fails. The "
                + "exit code is that of the first failed step. With --format ndjson each event is a line; 'run events' "
                + "prints the schema. The variable MARTLET_INPUT_NAME sets the input NAME."
        )
        .example("martlet run nightly.yaml --input model=openai/gpt-5", "Run a bundle")
        .example("martlet run nightly.yaml --plan", "Show what would run")
        .example("martlet run --resume last", "Resume a run after a crash, without repeating finished steps")
        .example("martlet run smoke.yaml --junit results.xml", "Write a report for continuous integration")
    }
}

/// The arguments of `run.start`.
struct RunArguments: ActionArguments {
    private(set) var printsSchema = false
    private var request = RunRequest()
    private var bundle, inputs, junit, html, report, record, replay: OwnPath?

    static let bindings = [
        bind(\.bundle, .argument("bundle", "File or name of the bundle", completion: RunCompletion.bundles)),
        bind(\.request.inputs, .option("input", "Input value: name=value", short: "i")),
        bind(
            \.inputs, .option("inputs", "YAML or JSON file, or a pipe, with the inputs by name; - for standard input")),
        bind(\.request.isPlan, .flag("plan", "Show what would run")),
        bind(\.request.isCheck, .flag("check", "Check the bundle without running it")),
        bind(\.printsSchema, .flag("schema", "Print the JSON Schema of bundles")),
        bind(
            \.request.resume,
            .option("resume", "Resume this run; 'last' is the newest", completion: RunCompletion.resumable)),
        bind(\.request.again, .flag("again", "With --resume, also repeat failed steps")),
        bind(
            \.request.isUnkept,
            .flag("no-journal", "Do not save the run; it cannot be resumed")),
        bind(\.request.isAlone, .flag("alone", "Do not start while another run of this bundle is running")),
        bind(\.request.every, .option("every", "Run repeatedly, at this interval")),
        bind(\.junit, .option("junit", "Write a JUnit XML report to this file")),
        bind(\.html, .option("html", "Write an HTML report with a timeline to this file")),
        bind(\.report, .option("report", "Write a JSON report to this file")),
        bind(\.record, .option("record", "Record the run in this file, for --replay")),
        bind(\.replay, .option("replay", "Replay this recording and report the differences")),
    ]

    init() {}

    /// With the paths that the caller may use.
    func request(in context: ActionContext) throws -> RunRequest {
        func text(_ path: OwnPath?) throws -> String? { try path.map { try context.text(of: $0) } }
        var request = request
        (request.bundle, request.inputsFile) = (try text(bundle), try text(inputs))
        (request.junit, request.html, request.report) = (try text(junit), try text(html), try text(report))
        (request.record, request.replay) = (try text(record), try text(replay))
        return request
    }
}

/// The options of a run.
struct RunRequest: Sendable {
    var bundle: String?
    var inputs: [String] = []
    var inputsFile: String?
    /// Shows what would run.
    var isPlan = false
    /// Stops after the check.
    var isCheck = false
    /// The run to resume.
    var resume: String?
    /// Whether failed steps of the resumed run are repeated.
    var again = false
    /// Whether the run is not saved.
    var isUnkept = false
    /// Whether the run must not start while another run of the bundle is running.
    var isAlone = false
    var every: Duration?
    var junit: String?
    var html: String?
    var report: String?
    var record: String?
    var replay: String?

    /// Throws if options contradict each other.
    func check() throws(RunnerError) {
        let others: [(String, Bool)] = [
            ("--plan", isPlan), ("--check", isCheck), ("--resume", resume != nil), ("--every", every != nil),
            ("--replay", replay != nil),
        ]
        let given = others.filter(\.1).map(\.0)
        if given.count > 1 { throw .options("\(given.joined(separator: " and ")) cannot be combined") }
        if record != nil, let first = given.first {
            throw .options("--record cannot be combined with \(first)")
        }
        if isUnkept {
            if resume != nil { throw .options("--resume needs the journal; remove --no-journal") }
            if isAlone { throw .options("--alone needs the journal; remove --no-journal") }
        }
        if again, resume == nil { throw .options("--again needs --resume RUN") }
        if let every, every < .milliseconds(100) { throw .options("--every must be at least 100ms") }
        if replay != nil, !inputs.isEmpty || inputsFile != nil {
            throw .options("a replay takes its inputs from the recording; remove --input and --inputs")
        }
    }
}

/// The result of `martlet run`: a report of the run, or what an option asked for instead.
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

/// Actions for bundles and for the programs around them.
enum StepActions {
    static var all: [Action] { [events, expect, nothing] }

    private static let events = Action(
        "run.events", "Print the JSON Schema of the lines of 'run --format ndjson'", .reads
    ) { _ in
        RunEvents.schema
    }
    .example("martlet run events --json > events.schema.json", "Save the schema for a validator or a code generator")

    private static let expect = Action(
        "run.expect", "Fail unless a condition is true", .reads,
        .option("that", "The condition", as: Bool.self),
        .option("message", "Error message if the condition is false", as: String?.self)
    ) { _, isSo, message in
        guard isSo else { throw RunnerError.notSo(message ?? "the condition is false") }
        return Nothing()
    }
    .instant()
    .details("For steps that test something. If the condition is false, a JUnit report shows a failure, not an error.")

    private static let nothing = Action("run.no-op", "Do nothing, to measure the cost of a step", .reads) { _ in
        Nothing()
    }
    .instant().hidden()
}
