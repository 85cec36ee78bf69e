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
            Self.id, "Run a bundle", .writes,
            .argument("bundle", "The bundle's file, or the name of one of the project's", as: OwnPath?.self),
            .option("input", "A value for an input: name=value", as: [String].self, short: "i"),
            .option("inputs", "A file or a pipe with values for the inputs; - for standard input", as: OwnPath?.self),
            .flag("plan", "Show what would run"),
            .flag("check", "Check it and stop there"),
            .flag("schema", "Print the JSON Schema of bundles"),
            .option("resume", "Go on with this run, or with 'last'", as: String?.self, completion: .words(["last"])),
            .flag("again", "With --resume: do again what failed"),
            .flag("no-journal", "Keep nothing of it, where no data can be kept; it cannot be resumed then"),
            .flag("alone", "Do not begin while another run of this bundle goes on"),
            .option("every", "Run it again and again, at this interval", as: Duration?.self),
            .option("junit", "Write JUnit's XML to this file", as: OwnPath?.self),
            .option("html", "Write a page with the timeline to this file", as: OwnPath?.self),
            .option("report", "Write the report as JSON to this file", as: OwnPath?.self),
            .option("record", "Write everything that happens to this file, for --replay", as: OwnPath?.self),
            .option("replay", "Run it against this recording and say what differs", as: OwnPath?.self)
        ) {
            context, bundle, inputs, inputsFile, plan, check, schema, resume, again, unkept, alone, every, junit, html,
            report, record, replay in
            if schema {
                let schema = BundleFormat.jsonSchema
                try await context.emit(ActionEvent("schema", text: schema.text(.pretty) + "\n"))
                return RunResult.schema(schema)
            }
            var wish = RunWish()
            func text(_ path: OwnPath?) throws -> String? { try path.map { try context.text(of: $0) } }
            (wish.bundle, wish.inputs, wish.inputsFile) = (try text(bundle), inputs, try text(inputsFile))
            (wish.isPlan, wish.isCheck, wish.resume, wish.again) = (plan, check, resume, again)
            (wish.isUnkept, wish.isAlone) = (unkept, alone)
            (wish.every, wish.record, wish.replay) = (every, try text(record), try text(replay))
            (wish.junit, wish.html, wish.report) = (try text(junit), try text(html), try text(report))
            return try await BundleRunning(services, context, wish).run()
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
