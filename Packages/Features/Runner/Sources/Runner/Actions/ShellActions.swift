import Bundles
import Capabilities
import FileKit
import JSON
import ProcessKit
import Registry
import SandboxKit

/// Runs programs for the steps of bundles.
enum ShellActions {
    static var all: [Action] { [run] }

    /// The check for `doctor`.
    static let check = HealthCheck("runner.sandbox", "sandbox for programs in bundles") { host in
        do {
            let runner = CommandRunner(variables: standard(host.environment), sandbox: Sandbox())
            let support = try await runner.support()
            guard support.kind == .bubblewrap else {
                return .warning("programs in bundles run under \(support.words)", mend: SandboxError.mend)
            }
            return .ok("programs in bundles run under \(support.words)")
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

    private static let output = EventKind<String>(
        "output", "Output of the program", [Field("text", "Text to append") { $0 }], text: "text")

    private static let run = Action(
        "shell.run", "Run a program in a sandbox limited to a folder", .writes, taking: ShellArguments.self
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
            // If the reader is gone, the program still runs to its end, and the result says how it ended.
            do { try await context.emit(output.event(text)) } catch {}
        }
        let run = ProgramRun(program: arguments.program.text, result: result, took: .now - start)
        // In a bundle, the error of the step has the reason.
        if let reason = run.reason, context.caller.isPerson { context.notice(reason) }
        return run
    }
    .streaming([output.declaration])
    .details(
        "The program sees the folder and the programs of the system. It sees none of your other files, no keys, no "
            + "sockets and, without --network, no network. In the folder it cannot change git hooks and settings, or "
            + "settings of editors and agents. Processes that it leaves behind are killed. An exit code other than 0 "
            + "fails the step. The result has the exit code and the output; of output over 64 KiB it has the beginning "
            + "and the end. A bundle must list the program in permissions.programs, and \"*\" in permissions.hosts for "
            + "--network."
    )
    .example("martlet shell run make test", "Run a command in the current folder")
    .example("martlet shell run --network npm ci", "Run a command with network access")
}

/// The arguments of `shell.run`.
struct ShellArguments: ActionArguments {
    private(set) var program = ProgramName("")
    private(set) var words: [String] = []
    private(set) var folder: WritePath?
    private(set) var variables: [String: String] = [:]
    private(set) var input: String?
    private(set) var hasNetwork = false

    static let bindings = [
        bind(\.program, .argument("program", "The program to run")),
        bind(\.words, .argument("arguments", "Arguments of the program")),
        bind(\.folder, .option("folder", "Folder to work in and write to; default: the current folder")),
        bind(\.variables, .option("env", "Environment variables besides PATH, HOME and LANG")),
        bind(\.input, .option("input", "Text for its standard input")),
        bind(\.hasNetwork, .flag("network", "Allow network access")),
    ]

    init() {}
}

/// How a program ended.
struct ProgramRun: Record {
    let program: String
    let result: CommandResult
    let took: Duration

    /// How it ended.
    private enum State: String, Choice { case done, failed }

    var exit: ExitCode { result.status?.isSuccess == true ? .done : .toolFailed }

    /// Why it counts as a failure; nil if it succeeded.
    var reason: String? {
        let name = PlainText.escape(program)
        switch result.status {
        case .exited(0): return nil
        case .exited(127): return "\(name), or a program that it started, was not found in the sandbox"
        case .exited(let code): return "\(name) ended with exit code \(code)\(lastLine)"
        case .signalled(let number): return "\(name) was killed by signal \(number)\(lastLine)"
        case nil: return "\(name) was killed"
        }
    }

    /// The last line of output often gives the reason.
    private var lastLine: String {
        let line = result.output.text.split(whereSeparator: \.isNewline).last { !$0.allSatisfy(\.isWhitespace) }
        return line.map { ": \(PlainText.escape(String($0.prefix(200))))" } ?? ""
    }

    static let fields: [Field<ProgramRun>] = [
        Field("program", "The program", .name) { $0.program },
        Field("state", "Whether it succeeded", .state) { $0.exit == .done ? State.done : .failed },
        Field("exit_code", "Exit code; 128 plus the number for a signal") { $0.result.status.map { Int($0.code) } },
        Field("output", "Output", .detail) { $0.result.output.text },
        Field("duration", "How long it took") { $0.took },
        Field("reason", "Why it counts as a failure", .detail) { $0.reason },
    ]
}
