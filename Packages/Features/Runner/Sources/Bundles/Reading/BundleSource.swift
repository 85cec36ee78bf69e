public import Capabilities
import Cryptography
public import JSON
import YAMLKit

/// The text of a bundle, its value and the positions in it.
public struct BundleSource: Sendable {
    /// The name of the file, as messages show it.
    public let file: String
    /// The text as a value. Expressions in it are still text.
    public let value: JSON
    /// SHA-256 of the text. A resumed run uses it to check that the bundle is unchanged.
    public let digest: String
    private let places: Places
    private let text: [UInt8]

    private enum Places: Sendable {
        case json(JSONDocument)
        case yaml(YAMLDocument)
    }

    /// The folder of the file, from its name.
    public var folder: String { PathParts(file).folder }

    /// The maximum size of the text.
    public static let longest = 4 << 20

    /// Reads JSON5 if the name ends in `.json` or `.json5`, and YAML otherwise.
    public init(_ text: [UInt8], file: String) throws(BundleFailure) {
        func failure(_ line: Int, _ column: Int, _ message: String) -> BundleFailure {
            BundleFailure([BundleProblem(file: file, line: line, column: column, message)])
        }
        guard text.count <= Self.longest else {
            throw failure(1, 1, "the file is larger than \(Self.longest) bytes, the limit for a bundle")
        }
        guard !text.prefix(8_192).contains(0) else { throw failure(1, 1, "this is not text; is it the right file?") }
        if file.hasSuffix(".json") || file.hasSuffix(".json5") {
            do {
                var reading = JSONReading.json5
                reading.maxDepth = 64
                let document = try JSONDocument(parsing: text, reading: reading, name: file)
                (places, value) = (.json(document), document.value)
            } catch {
                throw failure(error.line, error.column, error.message)
            }
        } else {
            do {
                let document = try YAMLDocument(parsing: text, name: file)
                (places, value) = (.yaml(document), document.value)
            } catch {
                throw failure(error.line, error.column, error.message)
            }
        }
        self.file = file
        self.text = text
        digest = Hexadecimal.encode(Digest.sha256(text))
    }

    /// A problem with the value at a path, or with the last key of the path.
    ///
    /// - Parameter offset: the position in a text at that path, in Unicode scalars.
    public func problem(_ message: String, at path: [String], key: Bool = false, offset: Int = 0) -> BundleProblem {
        var path = path
        var place = key ? keyPosition(of: path) : position(of: path)
        // A missing value has no position, so the position of its parent is used.
        while place == nil, !path.isEmpty {
            path.removeLast()
            place = position(of: path)
        }
        guard let place else { return BundleProblem(file: file, line: 1, column: 1, message) }
        let column = place.column + (offset > 0 ? shift(of: offset, line: place.line, column: place.column) : 0)
        return BundleProblem(file: file, line: place.line, column: column, message)
    }

    private func position(of path: [String]) -> (line: Int, column: Int)? {
        switch places {
        case .json(let document): document.position(of: path)
        case .yaml(let document): document.position(of: path)
        }
    }

    private func keyPosition(of path: [String]) -> (line: Int, column: Int)? {
        switch places {
        case .json(let document): document.keyPosition(of: path) ?? document.position(of: path)
        case .yaml(let document): document.keyPosition(of: path)
        }
    }

    /// How far to the right of the value's start a position in its text is. A quote comes before the text, and a block
    /// begins on another line.
    private func shift(of offset: Int, line: Int, column: Int) -> Int {
        let lines = text.split(separator: UInt8(ascii: "\n"), maxSplits: line, omittingEmptySubsequences: false)
        guard lines.indices.contains(line - 1) else { return 0 }
        let scalars = Array(String(decoding: lines[line - 1], as: UTF8.self).unicodeScalars)
        guard scalars.indices.contains(column - 1) else { return 0 }
        switch scalars[column - 1] {
        case "|", ">", "&", "*": return 0
        case "'", "\"": return column + offset < scalars.count ? offset + 1 : 0
        default: return column - 1 + offset < scalars.count ? offset : 0
        }
    }
}

/// A problem of a bundle, and its position.
public struct BundleProblem: Sendable, Hashable {
    /// The name of the file, as messages show it.
    public let file: String
    /// Counted from 1; 0 if the problem concerns the whole file.
    public let line: Int
    /// The column in that line. Counted from 1; 0 if the problem concerns the whole file.
    public let column: Int
    /// What is wrong and how to correct it, without the position.
    public let message: String

    /// Without a line the problem concerns the whole file.
    public init(file: String, line: Int = 0, column: Int = 0, _ message: String) {
        self.file = file
        self.line = line
        self.column = column
        self.message = message
    }

    /// `file:line:column: message`, which editors understand.
    public var text: String { line == 0 ? "\(file): \(message)" : "\(file):\(line):\(column): \(message)" }
}

/// A bundle that cannot be run, with all its problems by line.
public struct BundleFailure: Failure {
    /// Sorted by file and position, each once.
    public let problems: [BundleProblem]

    /// The number of problems that are shown.
    private static let shown = 50

    /// - Parameter problems: in any order. Repeated ones count once.
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
