import Capabilities
import Glibc

/// A program to run and everything it gets. Nothing else is passed on.
public struct Command: Sendable {
    /// The program: a name to search in the PATH of `environment`, or a path. A relative path starts from
    /// `workingDirectory`.
    public var executable: String
    /// The arguments, without the program's own name.
    public var arguments: [String]
    /// All of the child's variables.
    public var environment: CommandEnvironment
    /// The working directory of the child. Nil for that of this process.
    public var workingDirectory: String?
    /// The source of the child's input.
    public var input: Input = .null
    /// The target of the child's standard output.
    public var output: Output = .pipe
    /// The target of the child's standard error.
    public var errors: ErrorOutput = .tail()
    /// Whether the child's group is a separate session without a terminal: a password prompt on the terminal fails
    /// then, instead of being stopped as a background job.
    public var hasOwnSession = false
    /// Whether the child's group is killed as soon as this process is gone, even if that was killed.
    public var endsWithParent = false
    /// Whether the child and its descendants cannot leave a core dump, because their memory may contain secrets.
    public var hasNoCore = false
    /// Whether the child of an administrator has only its own group; other users keep theirs.
    public var hasNoGroups = false
    /// Whether descendants continue once the child itself has ended, as `setsid --fork` intends. Otherwise they are
    /// killed with the group. For `Launcher.withChild`: `run` kills them in any case.
    public var leavesOthers = false
    /// Whether all descendants end with the child and with this process, even those that leave its group. A copy of
    /// this process waits in between, so starting takes longer, and SIGKILL alone cannot be forwarded: `send(.kill)`
    /// ends everything.
    public var endsDescendants = false
    /// The number of processes and threads of this user at which the child and its descendants can create no more. Nil
    /// for the limit of this process. An administrator has no limit.
    public var mostTasks: Int?
    /// The limit of private memory in bytes for the child and each descendant. Nil for the limit of this process.
    public var mostData: Int?
    /// Kernel restrictions for the child and its descendants. Without them the child has the permissions of this
    /// process.
    public var restriction: Restriction?
    /// Open descriptors of this process that the child gets in addition to its standard ones, numbered from 4 on. The
    /// caller keeps them open until the child has started.
    public var descriptors: [Int32] = []
    /// The span of the child, if its environment tells of it. Otherwise one is begun when the child starts.
    public var span: ProcessSpan?

    /// A command without input, with its output in a pipe and the tail of its messages kept.
    public init(
        _ executable: String, _ arguments: [String] = [], environment: CommandEnvironment,
        workingDirectory: String? = nil
    ) {
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
        self.workingDirectory = workingDirectory
    }

    /// Where a child reads from.
    public enum Input: Sendable {
        /// Nothing to read.
        case null
        /// The input of this process.
        case inherit
        /// These bytes, then the end.
        case bytes([UInt8])
        /// The data written to the child's `input`.
        case pipe
    }

    /// Where a child's results go.
    public enum Output: Sendable {
        /// Thrown away.
        case null
        /// Where those of this process go.
        case inherit
        /// To the child's `output`. A child that writes more than is read has to wait.
        case pipe
    }

    /// Where a child's messages go.
    public enum ErrorOutput: Sendable {
        /// Thrown away.
        case null
        /// Where those of this process go.
        case inherit
        /// To its standard output, so that both keep their order.
        case output
        /// To the child's `errors`. A child that writes more than is read has to wait.
        case pipe
        /// Read all the time, so that the child never waits. The last `limit` bytes are kept.
        case tail(limit: Int = 1 << 16)
    }
}

extension Command {
    /// Whether there is no such program where it would be looked for. One that is there may still fail to start.
    public var isMissing: Bool {
        do throws(ProcessError) { _ = try locate() } catch { return error.kind == .notFound }
        return false
    }

    /// The path to execute, found by the rules of a shell. Throws the reason otherwise.
    func locate() throws(ProcessError) -> String {
        if let directory = workingDirectory, !isDirectory(directory) {
            throw ProcessError(
                .workingDirectory, "cannot run \(executable): no such directory: \(directory)", errno: ENOENT)
        }
        if executable.utf8.contains(UInt8(ascii: "/")) {
            let seen = AbsolutePath.joined(executable, in: workingDirectory ?? ".")
            guard unsafe access(seen, F_OK) == 0 else { throw notFound("no such file", errno) }
            guard isProgram(seen) else { throw notExecutable("it is not an executable file", EACCES) }
            return executable
        }
        let path = environment.variables["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        var foundButUnusable: String?
        // An empty or relative element is ignored, because the working directory would then decide what runs.
        for directory in path.split(separator: ":") where directory.hasPrefix("/") {
            let candidate = "\(directory)/\(executable)"
            if isProgram(candidate) { return candidate }
            if unsafe access(candidate, F_OK) == 0, !isDirectory(candidate) { foundButUnusable = candidate }
        }
        if let foundButUnusable { throw notExecutable("\(foundButUnusable) is not executable", EACCES) }
        throw notFound("it is not in PATH (\(path)); install it or give its path", ENOENT)
    }

    /// The error for the system's refusal to execute a file that `locate` accepted.
    func refusal(of path: String, errno number: Int32) -> ProcessError {
        switch number {
        case ENOENT: notFound("\(path) or the interpreter in its first line does not exist", number)
        case ENOEXEC: notExecutable("\(path) is not a program, and its first line names no interpreter", number)
        case EACCES, EPERM: notExecutable("permission to run \(path) is denied", number)
        case E2BIG: ProcessError(.invalid, "cannot run \(executable): its arguments are too long", errno: number)
        default: .system("run \(executable)", errno: number)
        }
    }

    private func notFound(_ reason: String, _ number: Int32) -> ProcessError {
        ProcessError(.notFound, "cannot run \(executable): \(reason)", errno: number)
    }

    private func notExecutable(_ reason: String, _ number: Int32) -> ProcessError {
        ProcessError(.notExecutable, "cannot run \(executable): \(reason)", errno: number)
    }

    private func isProgram(_ path: String) -> Bool {
        unsafe access(path, X_OK) == 0 && !isDirectory(path)
    }

    private func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Rejects values that C strings cannot contain, because they would arrive truncated or changed.
    func check() throws(ProcessError) {
        let texts = [executable, workingDirectory ?? ""] + arguments + environment.variables.values
        for text in texts + environment.variables.keys where text.utf8.contains(0) {
            throw ProcessError(.invalid, "cannot run \(executable): an argument or variable contains a zero byte")
        }
        for name in environment.variables.keys where name.isEmpty || name.utf8.contains(UInt8(ascii: "=")) {
            throw ProcessError(.invalid, "cannot run \(executable): \"\(name)\" is not a valid variable name")
        }
    }
}

/// The variables of a child process.
public struct CommandEnvironment: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// The values by their names.
    public var variables: [String: String]

    /// Exactly these variables.
    public init(_ variables: [String: String]) {
        self.variables = variables
    }

    /// Exactly the variables of the literal. If a name occurs twice, the last counts.
    public init(dictionaryLiteral elements: (String, String)...) {
        variables = Dictionary(elements) { $1 }
    }

    /// The variables of `base` without those that look like secrets, then those of `adding`.
    ///
    /// A name looks like a secret when it is one of `suffixes`, or ends in `_` and one of them, in any letter case.
    public static func inheriting(
        _ base: [String: String], removing suffixes: [String] = secretSuffixes, adding: [String: String] = [:]
    ) -> CommandEnvironment {
        let suffixes = suffixes.map { $0.uppercased() }
        let kept = base.filter { !isSecret($0.key, suffixes) }
        return CommandEnvironment(kept.merging(adding) { $1 })
    }

    /// Whether a variable of that name commonly holds a secret.
    public static func isSecret(_ name: String) -> Bool { isSecret(name, secretSuffixes) }

    private static func isSecret(_ name: String, _ suffixes: [String]) -> Bool {
        let name = name.uppercased()
        return suffixes.contains { name == $0 || name.hasSuffix("_\($0)") }
    }

    /// The endings of names of variables that commonly hold secrets.
    public static let secretSuffixes = [
        "API_KEY", "ACCESS_KEY", "PRIVATE_KEY", "SECRET_KEY", "TOKEN", "SECRET", "PASSWORD", "PASSPHRASE",
        "CREDENTIALS",
        // What OpenTelemetry's programs send to a collector: `OTEL_EXPORTER_OTLP_HEADERS` and those of its signals.
        "OTLP_HEADERS", "OTLP_TRACES_HEADERS", "OTLP_METRICS_HEADERS", "OTLP_LOGS_HEADERS",
    ]
}

extension Command {
    /// Rules by which the kernel restricts the files and system calls of a child and its descendants. They can never
    /// gain more permissions than this process: no capability is left, and no program grants one. When an administrator
    /// starts it, the child has no further groups either.
    ///
    /// If the rules cannot be applied, the child is not started; the error is `ProcessError.Kind.notRestricted`.
    public struct Restriction: Sendable {
        /// The descriptor of a Landlock ruleset. Its creator keeps it open until the child has started.
        public var ruleset: Int32
        /// The filter of system calls: seccomp instructions of eight bytes each. It applies from the call that starts
        /// the program.
        public var filter: [UInt8]

        /// These rules, all of them.
        public init(ruleset: Int32, filter: [UInt8]) {
            self.ruleset = ruleset
            self.filter = filter
        }
    }
}
