import Bundles
import Capabilities
import FileKit
import JSON
import ProcessKit
import Registry
import SandboxKit

/// Programs for the steps of bundles.
enum ShellActions {
    static var all: [Action] { [run] }

    /// What `doctor` asks.
    static let check = HealthCheck("runner.sandbox", "the sandbox for programs of bundles") { host in
        do {
            let runner = CommandRunner(variables: standard(host.environment), sandbox: Sandbox())
            let support = try await runner.support()
            guard support.kind == .bubblewrap else {
                return .warning("programs of bundles run under \(support.words)", mend: SandboxError.mend)
            }
            return .ok("\(support.words): programs of bundles run in one")
        } catch let problem as SandboxError {
            return .warning(problem.message, mend: SandboxError.mend)
        } catch {
            return .warning(AnyFailure(error).message, mend: "try again")
        }
    }

    private static func standard(_ environment: [String: String]) -> [String: String] {
        [
            "PATH": environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin", "HOME": environment["HOME"] ?? "/",
            "LANG": environment["LANG"] ?? "C.UTF-8",
        ]
    }

    private static let run = Action(
        "shell.run", "Run a program in a sandbox around a folder", .writes, taking: ShellArguments.self
    ) { context, arguments in
        if arguments.hasNetwork { try context.caller.grant.check(.network) }
        let host = context.host
        let place = try context.path(arguments.folder ?? WritePath(host.locations.current)).folder()
        var sandbox = Sandbox(
            hasNetwork: arguments.hasNetwork, home: host.environment["HOME"],
            hiding: BundleReach.closed(host).filter { $0 != "/proc" })
        sandbox.gitFiles = Sandbox.gitFiles(in: host.environment)
        let runner = CommandRunner(
            variables: standard(host.environment).merging(arguments.variables) { $1 }, sandbox: sandbox)
        let start = ContinuousClock.now
        let result = try await runner.run(
            [arguments.program.text] + arguments.words, input: arguments.input.map { Array($0.utf8) }, in: place,
            of: place
        ) { text in
            // Whoever reads it has gone; the program ends by itself, and its result says how.
            do { try await context.emit(ActionEvent("output", ["text": .string(text)], text: text)) } catch {}
        }
        let run = ProgramRun(program: arguments.program.text, result: result, took: .now - start)
        // A bundle is told by the error of its step.
        if let reason = run.reason, context.caller.isPerson { context.notice(reason) }
        return run
    }
    .streaming()
    .details(
        "It sees the folder and the programs of the system: no other file of yours, no key, no socket, and no network without "
            + "--network. In the folder it changes neither hooks and settings of git nor those of editors and agents. What it "
            + "leaves running is ended with it. An exit code other than 0 fails the step; it is in the result, as is what was "
            + "printed: of more than 64 KiB the beginning and the end. A bundle names the program in permissions.programs, "
            + "and \"*\" in permissions.hosts for --network."
    )
    .example("martlet shell run make test", "In the folder where you are")
    .example("martlet shell run --network npm ci", "With the network")
}

/// What `shell.run` takes.
struct ShellArguments: ActionArguments {
    private(set) var program = ProgramName("")
    private(set) var words: [String] = []
    private(set) var folder: WritePath?
    private(set) var variables: [String: String] = [:]
    private(set) var input: String?
    private(set) var hasNetwork = false

    static let bindings = [
        bind(\.program, .argument("program", "The program")),
        bind(\.words, .argument("arguments", "Its arguments")),
        bind(\.folder, .option("folder", "The folder that it works and may write in; where you are when absent")),
        bind(\.variables, .option("env", "Variables that it gets beside PATH, HOME and LANG")),
        bind(\.input, .option("input", "What it reads from its standard input")),
        bind(\.hasNetwork, .flag("network", "Let it use this machine's network")),
    ]

    init() {}
}

/// How a program went.
struct ProgramRun: Record {
    let program: String
    let result: CommandResult
    let took: Duration

    /// How it ended.
    private enum State: String, Choice { case done, failed }

    var exit: ExitCode { result.status?.isSuccess == true ? .done : .toolFailed }

    /// How it ended, where that was not well.
    var reason: String? {
        let name = PlainText.escape(program)
        switch result.status {
        case .exited(0): return nil
        case .exited(127): return "there is no program \(name) in the sandbox, or it has started one that is not there"
        case .exited(let code): return "\(name) ended with the exit code \(code)\(lastLine)"
        case .signalled(let number): return "\(name) was ended by signal \(number)\(lastLine)"
        case nil: return "\(name) was killed"
        }
    }

    /// What a program says last is often why.
    private var lastLine: String {
        let line = result.output.text.split(whereSeparator: \.isNewline).last { !$0.allSatisfy(\.isWhitespace) }
        return line.map { ": \(PlainText.escape(String($0.prefix(200))))" } ?? ""
    }

    static let fields: [Field<ProgramRun>] = [
        Field("program", "What was run", .name) { $0.program },
        Field("state", "How it ended", .state) { $0.exit == .done ? State.done : .failed },
        Field("exit_code", "Its exit code; 128 and the number for a signal") { $0.result.status.map { Int($0.code) } },
        Field("output", "What it printed", .detail) { $0.result.output.text },
        Field("duration", "How long it took") { $0.took },
        Field("reason", "Why it stands for a failure", .detail) { $0.reason },
    ]
}
