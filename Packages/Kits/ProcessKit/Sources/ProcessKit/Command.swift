import Glibc

/// A program to run and everything it is given; nothing is passed on that is not named here.
public struct Command: Sendable {
    /// The program: a name to be looked up in the PATH of `environment`, or a path. A relative path starts from
    /// `workingDirectory`.
    public var executable: String
    /// The arguments, without the program's own name.
    public var arguments: [String]
    /// All of the child's variables.
    public var environment: CommandEnvironment
    /// Where the child starts; nil is where this process is.
    public var workingDirectory: String?
    /// Where the child reads from.
    public var input: Input = .null
    /// Where the child's results go.
    public var output: Output = .pipe
    /// Where the child's messages go.
    public var errors: ErrorOutput = .tail()
    /// Whether the child's group is a session of its own, which has no terminal: what would ask there for a password
    /// fails then, instead of being stopped as a background job.
    public var hasOwnSession = false
    /// Whether the child's group is killed as soon as this process is gone, also when that was killed itself.
    public var endsWithParent = false
    /// Whether neither the child nor what it starts can leave a core dump: its memory may hold what is in no file.
    public var hasNoCore = false
    /// Whether the child of an administrator has no group beside its own; others keep theirs.
    public var hasNoGroups = false
    /// Whether what the child has started goes on once the child itself has ended, as `setsid --fork` means it to.
    /// Otherwise it is killed with the group. For
    /// `Launcher.withChild`: `run` kills it in any case.
    public var leavesOthers = false
    /// Whether all that the child starts ends with the child and with this process, also what leaves its group. A copy
    /// of this process waits between the two for that, so that starting takes longer, and only SIGKILL cannot be handed on
    /// by it: `send(.kill)` ends everything.
    public var endsDescendants = false
    /// How many processes and threads this user may have until the child and what it starts can make no more; nil for no
    /// other limit than this process has. An administrator has none.
    public var mostTasks: Int?
    /// How many bytes of memory of its own the child, and each process that it starts, may have; nil for no other limit
    /// than this process has.
    public var mostData: Int?
    /// What the kernel keeps the child and all that it starts from; without it the child has the rights of this process.
    public var restriction: Restriction?
    /// Open descriptors of this process that the child gets beside its standard ones, as numbers from 4 on. Whoever sets
    /// them keeps them open until the child has started.
    public var descriptors: [Int32] = []

    /// A command with no input, its results in a pipe and the end of its messages kept.
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
        /// What this process reads from.
        case inherit
        /// These bytes, then the end.
        case bytes([UInt8])
        /// What is written to the child's `input`.
        case pipe
    }

    /// Where a child's results go.
    public enum Output: Sendable {
        /// Thrown away.
        case null
        /// Where those of this process go.
        case inherit
        /// To the child's `output`; a child that writes more than is read has to wait.
        case pipe
    }

    /// Where a child's messages go.
    public enum ErrorOutput: Sendable {
        /// Thrown away.
        case null
        /// Where those of this process go.
        case inherit
        /// Where its results go, so that both keep their order.
        case output
        /// To the child's `errors`; a child that writes more than is read has to wait.
        case pipe
        /// Read all the time, so that the child never waits; the last `limit` bytes are kept.
        case tail(limit: Int = 1 << 16)
    }
}

extension Command {
    /// The path to execute, found by the rules of a shell, or an error that says what is wrong.
    func locate() throws(ProcessError) -> String {
        if let directory = workingDirectory, !isDirectory(directory) {
            throw ProcessError(
                .workingDirectory, "cannot run \(executable): there is no directory \(directory)", errno: ENOENT)
        }
        if executable.utf8.contains(UInt8(ascii: "/")) {
            let seen = executable.hasPrefix("/") ? executable : "\(workingDirectory ?? ".")/\(executable)"
            guard unsafe access(seen, F_OK) == 0 else { throw notFound("there is no such file", errno) }
            guard isProgram(seen) else { throw notExecutable("it is not an executable file", EACCES) }
            return executable
        }
        let path = environment.variables["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        var foundButUnusable: String?
        // An empty or relative element would let the working directory decide what runs, so that it does not count.
        for directory in path.split(separator: ":") where directory.hasPrefix("/") {
            let candidate = "\(directory)/\(executable)"
            if isProgram(candidate) { return candidate }
            if unsafe access(candidate, F_OK) == 0, !isDirectory(candidate) { foundButUnusable = candidate }
        }
        if let foundButUnusable { throw notExecutable("\(foundButUnusable) is not executable", EACCES) }
        throw notFound("it is in no directory of PATH (\(path)); install it or give its path", ENOENT)
    }

    /// What the system's refusal to execute a file that `locate` accepted means.
    func refusal(of path: String, errno number: Int32) -> ProcessError {
        switch number {
        case ENOENT: notFound("\(path) or the interpreter that its first line names does not exist", number)
        case ENOEXEC: notExecutable("\(path) is no program, and its first line names no interpreter", number)
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
}

/// The variables of a child process.
public struct CommandEnvironment: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// The values by their names.
    public var variables: [String: String]

    /// Exactly these variables.
    public init(_ variables: [String: String]) {
        self.variables = variables
    }

    /// Exactly the variables of the literal; of a name given twice the last counts.
    public init(dictionaryLiteral elements: (String, String)...) {
        variables = Dictionary(elements) { $1 }
    }

    /// The variables of `base` without those that look like secrets, then those of `adding`.
    ///
    /// A name looks like a secret when it is, or ends in `_` and, one of `suffixes`, in any case of letters.
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

    /// How the names of variables end that commonly hold secrets.
    public static let secretSuffixes = [
        "API_KEY", "ACCESS_KEY", "PRIVATE_KEY", "SECRET_KEY", "TOKEN", "SECRET", "PASSWORD", "PASSPHRASE",
        "CREDENTIALS",
    ]
}

extension Command {
    /// Rules by which the kernel keeps a child and all that it starts from files and system calls, and from ever getting
    /// more rights than this process has: no capability is left to it, and no program gives it one. Where an administrator
    /// starts it, it has no further groups either.
    ///
    /// A child to which they cannot be applied is not started; the error is `ProcessError.Kind.notRestricted`.
    public struct Restriction: Sendable {
        /// The descriptor of a set of rules of Landlock. Whoever makes it keeps it open until the child has started.
        public var ruleset: Int32
        /// The filter of system calls: instructions for seccomp, each of eight bytes. It is obeyed from the call on that
        /// starts the program.
        public var filter: [UInt8]

        /// These rules, all of them.
        public init(ruleset: Int32, filter: [UInt8]) {
            self.ruleset = ruleset
            self.filter = filter
        }
    }
}
