public import Capabilities

/// One thing that is wrong with a bundle, and where.
public struct BundleProblem: Sendable, Hashable {
    public let file: String
    /// Both counted from 1; 0 where the file as a whole is meant.
    public let line: Int
    public let column: Int
    public let message: String

    public init(file: String, line: Int = 0, column: Int = 0, _ message: String) {
        self.file = file
        self.line = line
        self.column = column
        self.message = message
    }

    /// As `file:line:column: message`, which editors understand.
    public var text: String { line == 0 ? "\(file): \(message)" : "\(file):\(line):\(column): \(message)" }
}

/// A bundle cannot be run as it is: everything that is wrong with it, in the order of its lines.
public struct BundleFailure: Failure {
    public let problems: [BundleProblem]

    /// How many are shown.
    private static let shown = 50

    public init(_ problems: [BundleProblem]) {
        var seen: Set<BundleProblem> = []
        self.problems = problems.filter { seen.insert($0).inserted }
            .sorted { ($0.file, $0.line, $0.column) < ($1.file, $1.line, $1.column) }
    }

    public var code: String { "bundle.invalid" }
    public var exit: ExitCode { .usage }
    public var message: String {
        let lines = problems.prefix(Self.shown).map(\.text)
        let more = problems.count - lines.count
        return (lines + (more > 0 ? ["and \(more) more"] : [])).joined(separator: "\n")
    }
}
