import Capabilities
import JSON
import Registry
import SSHClient
import SSHCore
import Synchronization

/// A command for hosts, checked.
struct RunCommand: Sendable {
    let command: SSHCommand
    let input: SSHInput
    let limit: Duration?

    init(program: String, words: [String], input: String?, limit: Duration?) throws {
        // As a program it would not be found; most likely it is meant for a shell.
        if words.isEmpty, program.contains(where: { " |;&<>$`".contains($0) }) {
            throw SSHError(
                .command,
                "\(PlainText.escape(program, limit: 80).quotedForMessage) would be looked for as the name of a program; for a line of "
                    + "a shell, run: sh -c \(ShellWords.quoted(program))")
        }
        command = try SSHCommand(words: [program] + words)
        self.input = input.map { .bytes(Array($0.utf8)) } ?? .none
        self.limit = limit
    }
}

/// Runs a command on hosts.
struct RunAction: Sendable {
    let fleet: Fleet
    let command: RunCommand
    let context: ActionContext

    func perform() async throws -> HostOutcomes<RunRow> {
        let targets = fleet.targets
        let isMany = targets.count > 1
        let width = isMany ? min(targets.map(\.name.count).max() ?? 0, 30) : 0
        let clock = ContinuousClock()
        let rows = try await fleet.results { target in
            let start = clock.now
            let printed = Mutex(HostOutput())
            do {
                let exit = try await fleet.withConnection(to: target) { connection in
                    try await within { [command] in
                        try await connection.run(command.command, input: command.input) { piece in
                            if let (stream, lines) = printed.withLock({ $0.take(piece) }) {
                                try await tell(lines, of: stream, target, width)
                            }
                        }
                    }
                }
                for stream in HostOutput.Stream.allCases {
                    if let rest = printed.withLock({ $0.rest(of: stream) }) {
                        try await tell(rest, of: stream, target, width)
                    }
                }
                let failure = exit == nil ? AnyFailure(timedOut(target)) : nil
                return RunRow(target, exit, printed.withLock { $0 }, failure, took: clock.now - start)
            } catch let error where error is SSHError || error is AccessFailure {
                return RunRow(target, nil, printed.withLock { $0 }, AnyFailure(error), took: clock.now - start)
            }
        } ended: { row, count in
            try await context.emit(Self.done.event(row))
            if isMany, let reason = row.reason { context.notice("\(row.host): \(reason)") }
            if isMany { context.progress("running", completed: count, of: targets.count) }
        }
        // Of a single host, the error is that of the action.
        if !isMany, let failure = rows.first?.failure { throw failure }
        let outcomes = HostOutcomes(rows: rows)
        if isMany { context.notice(outcomes.summary) }
        // In a bundle, the error of the step has the reason.
        if !isMany, context.caller.isPerson, let reason = rows.first?.reason { context.notice(reason) }
        return outcomes
    }

    private func within(_ work: @escaping @Sendable () async throws -> SSHExit) async throws -> SSHExit? {
        try await withTimeLimit(command.limit, on: context.host.clock, work)
    }

    private func timedOut(_ target: Target) -> SSHError {
        SSHError(
            .timedOut,
            "the command did not end within \((command.limit ?? .zero).words), and was left; it may still run on \(target.name)"
        )
    }

    // MARK: Events

    private struct Lines: Sendable {
        let host: String
        let stream: HostOutput.Stream
        let text: String
    }

    private static let output = EventKind<Lines>(
        "output", "Lines that a host printed",
        [
            Field("host", "The host") { $0.host }, Field("stream", "output or errors") { $0.stream },
            Field("text", "The lines") { $0.text },
        ], text: "text")
    private static let done = EventKind<RunRow>("host", "A host is done", RunRow.facts)

    static var events: [EventDeclaration] { [output.declaration, done.declaration] }

    /// Sends lines. As text, each begins with its host if there are several.
    private func tell(_ text: String, of stream: HostOutput.Stream, _ target: Target, _ width: Int) async throws {
        let shown = width == 0 ? text : Self.labelled(text, target.name, width)
        try await context.emit(Self.output.event(Lines(host: target.name, stream: stream, text: text), text: shown))
    }

    private static func labelled(_ text: String, _ name: String, _ width: Int) -> String {
        let label = name + String(repeating: " ", count: max(0, width - name.count)) + "  "
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let whole = text.hasSuffix("\n") ? lines.dropLast() : lines[...]
        return whole.map { "\(label)\($0)\n" }.joined()
    }
}

/// How a command ended on a host.
struct RunRow: HostOutcome {
    private let target: Target
    private let exitStatus: SSHExit?
    private let printed: HostOutput
    let failure: AnyFailure?
    private let took: Duration

    init(_ target: Target, _ exit: SSHExit?, _ printed: HostOutput, _ failure: AnyFailure?, took: Duration) {
        self.target = target
        exitStatus = exit
        self.printed = printed
        self.failure = failure
        self.took = took
    }

    var host: String { target.name }
    var state: HostState { failure?.state ?? (exitStatus?.isSuccess == true ? .ok : .failed) }

    var reason: String? {
        if let failure { return failure.message }
        return switch exitStatus {
        case .exited(0), nil: nil
        case .exited(127): "the program was not found there (exit code 127)\(lastLine)"
        case .exited(let code): "the command ended with exit code \(code)\(lastLine)"
        case .signalled(let name): "the command was killed by the signal \(name)\(lastLine)"
        }
    }

    /// The last line of the errors often gives the reason.
    private var lastLine: String {
        let line = printed.text(of: .errors).split(whereSeparator: \.isNewline).last { !$0.allSatisfy(\.isWhitespace) }
        return line.map { ": \(PlainText.escape(String($0.prefix(200))))" } ?? ""
    }

    private var code: Int? {
        if case .exited(let code)? = exitStatus { code } else { nil }
    }

    private var signal: String? {
        if case .signalled(let name)? = exitStatus { name } else { nil }
    }

    /// All but what was printed.
    static let facts: [Field<RunRow>] = [
        Field("host", "The host", .name) { $0.host },
        Field("state", "ok, failed, refused or unreachable", .state) { $0.state },
        Field("exit_code", "Exit code of the command") { $0.code },
        Field("signal", "Name of the signal that ended the command") { $0.signal },
        Field("duration", "How long it took, with the connection") { $0.took },
        Field("reason", "What went wrong") { $0.reason },
        Field("code", "Code of the error", .detail) { $0.failure?.code },
    ]

    static let fields =
        facts + [
            Field("output", "Standard output, the first 1 MiB of both streams", .detail) {
                $0.printed.text(of: .output)
            },
            Field("errors", "Standard error", .detail) { $0.printed.text(of: .errors) },
            Field("dropped", "Bytes that were printed beyond that", .detail) {
                $0.printed.dropped > 0 ? $0.printed.dropped : nil
            },
        ]
}
