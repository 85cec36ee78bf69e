import Capabilities
import FileKit
import Glibc
import JSON
import LoopKit
import Registry

/// Parses the words after a command into the action's arguments, based on its declaration alone.
struct ArgumentParser {
    /// Where to read a secret from.
    enum SecretSource: Sendable, Hashable {
        case standardInput
        case descriptor(Int32)
        case variable(String)
    }

    /// The result of parsing.
    struct Parsed: Sendable {
        var arguments = JSONObject()
        var secrets: [String: SecretSource] = [:]
    }

    private let action: Action
    /// The time that `2h` and `yesterday` are relative to.
    private let now: Timestamp?
    private var parsed = Parsed()
    private var problems: [ValueError] = []
    private var places: [ParameterDeclaration]
    private var words: [String]
    private var index = 0

    /// - Parameter now: the time that `2h` and `yesterday` are relative to; without it, only exact times are accepted.
    /// - Throws: `ArgumentsFailure` with all problems.
    static func parse(
        _ words: [String], for action: Action, now: Timestamp? = nil
    ) throws(ArgumentsFailure) -> Parsed {
        var parser = ArgumentParser(action, words, now)
        parser.run()
        var problems = parser.problems
        let blamed = Set(problems.compactMap(\.path.first))
        // A missing secret is asked for later. An argument that already has a problem is not reported as missing too.
        let secret = Set(action.parameters.filter { $0.form == .secret }.map(\.name))
        problems += action.problems(in: parser.parsed.arguments).filter { problem in
            guard let name = problem.path.first else { return true }
            return !secret.contains(name) && !blamed.contains(name) && !blamed.contains("--" + name)
        }
        guard problems.isEmpty else {
            let shown = problems.map { ValueError($0.message, at: action.shown($0.path)) }
            throw ArgumentsFailure(action: action.id, problems: shown)
        }
        return parser.parsed
    }

    private init(_ action: Action, _ words: [String], _ now: Timestamp?) {
        self.action = action
        self.now = now
        self.words = words
        places = action.parameters.filter { $0.form == .positional }
    }

    private mutating func run() {
        var onlyPlaces = false
        while index < words.count {
            let word = words[index]
            index += 1
            if onlyPlaces || word == "-" || !word.hasPrefix("-") || Self.isNegativeNumber(word) {
                place(word)
            } else if word == "--" {
                onlyPlaces = true
            } else if word.hasPrefix("--") {
                long(word)
            } else {
                letters(word)
            }
        }
    }

    /// The arguments in the words of an unfinished command line. Other words are skipped.
    static func given(in words: [String], of action: Action) -> JSONObject {
        var parser = ArgumentParser(action, words, nil)
        parser.run()
        return parser.parsed.arguments
    }

    /// The words that are positional arguments, as far as that is clear without checking any of them.
    static func places(in words: [String], of action: Action) -> [String] {
        var places: [String] = []
        var index = 0
        while index < words.count {
            let word = words[index]
            index += 1
            if word == "--" { return places + words[index...] }
            if word == "-" || !word.hasPrefix("-") || isNegativeNumber(word) {
                places.append(word)
            } else if valueOption(word, action.parameters) != nil {
                index += 1
            }
        }
        return places
    }

    /// The option that takes the next word as its value, if this word is such an option.
    static func valueOption(_ word: String, _ declarations: [ParameterDeclaration]) -> ParameterDeclaration? {
        declarations.first { declaration in
            declaration.form == .option
                && (word == "--" + declaration.name || declaration.short.map { word == "-\($0)" } ?? false)
        }
    }

    /// `-5` and `-.5` are values, because no option has a digit as its letter.
    private static func isNegativeNumber(_ word: String) -> Bool {
        guard let second = word.dropFirst().first, second.isNumber || second == "." else { return false }
        return Double(word) != nil
    }

    // MARK: By place

    private mutating func place(_ word: String) {
        guard let declaration = places.first else {
            if action.parameters.contains(where: { $0.form == .secret }) {
                problems.append(
                    ValueError(
                        "unexpected argument, not shown because it may be a secret; secrets are never taken from the "
                            + "command line, which every user of the machine can see"))
                return
            }
            problems.append(
                ValueError(
                    "unexpected argument \(word.quotedForMessage)"
                        + (action.parameters.contains { $0.form == .positional }
                            ? "" : "; \(action.words) takes no arguments")))
            return
        }
        if !declaration.isRepeated { places.removeFirst() }
        take(word, declaration, declaration.name)
    }

    // MARK: By name

    private mutating func long(_ word: String) {
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        let attached = parts.count > 1 ? String(parts[1]) : nil
        if let declaration = action.named(name) {
            option(declaration, shown: "--" + name, attached)
        } else if name.hasPrefix("no-"), let flag = action.named(String(name.dropFirst(3))), flag.form == .flag {
            if attached != nil { problems.append(ValueError("takes no value", at: ["--" + name])) }
            set(flag, false, "--" + name)
        } else if !secretSource(name, attached) {
            // Leaves out `--token`, because a secret cannot be given that way, and `--version`, which exists only
            // before a command.
            let own = action.parameters.filter { $0.form == .option || $0.form == .flag }.map(\.name)
            let secrets = action.parameters.filter { $0.form == .secret }.map { "\($0.name)-stdin" }
            let known = own + secrets + CommonOptions.declarations.map(\.name).filter { $0 != "version" }
            let hint = Suggestion.nearest(to: name, among: known).map { "; did you mean '--\($0)'?" } ?? ""
            problems.append(ValueError("is not an option of \(action.words)\(hint)", at: ["--" + name]))
        }
    }

    private mutating func letters(_ word: String) {
        var rest = word.dropFirst()
        while let letter = rest.first {
            rest = rest.dropFirst()
            guard let declaration = action.parameters.first(where: { $0.short == letter }) else {
                let isCommon = CommonOptions.declarations.contains { $0.short == letter }
                problems.append(
                    ValueError(
                        isCommon
                            ? "cannot be part of \(word); write it separately" : "is not an option of \(action.words)",
                        at: ["-\(letter)"]))
                return
            }
            if declaration.form == .flag {
                set(declaration, true, "-\(letter)")
                continue
            }
            let attached = rest.isEmpty ? nil : String(rest.first == "=" ? rest.dropFirst() : rest)
            option(declaration, shown: "-\(letter)", attached)
            return
        }
    }

    private mutating func option(_ declaration: ParameterDeclaration, shown: String, _ attached: String?) {
        switch declaration.form {
        case .flag:
            guard let attached else { return set(declaration, true, shown) }
            do { set(declaration, try Schema.boolean.json(fromWord: attached), shown) } catch {
                problems.append(error.under(shown))
            }
        case .secret:
            if attached == nil, index < words.count, !words[index].hasPrefix("-") { index += 1 }
            problems.append(
                ValueError(
                    "is never taken from the command line, where others can read it; use \(shown)-stdin, "
                        + "\(shown)-env NAME or \(shown)-fd N, or omit it to be asked for it",
                    at: [shown]))
        case .option, .positional:
            if let attached { return take(attached, declaration, shown) }
            guard index < words.count,
                !words[index].hasPrefix("-") || words[index] == "-" || Self.isNegativeNumber(words[index])
            else {
                let hint =
                    index < words.count && words[index] != "--"
                    ? "; write \(shown)=\(words[index]) if this is the value" : ""
                problems.append(ValueError("needs a value: \(declaration.summary)\(hint)", at: [shown]))
                return
            }
            index += 1
            take(words[index - 1], declaration, shown)
        }
    }

    private mutating func take(_ word: String, _ declaration: ParameterDeclaration, _ shown: String) {
        do throws(ValueError) {
            if let element = declaration.schema.element {
                let value = try json(word, element)
                parsed.arguments[declaration.name] = .array((parsed.arguments[declaration.name]?.array ?? []) + [value])
            } else if case .map(let element) = declaration.schema.unwrapped, !word.hasPrefix("{") {
                let (name, value) = try member(word, element)
                var members = parsed.arguments[declaration.name]?.object ?? [:]
                if let before = members[name], before != value {
                    throw ValueError("is given twice", at: [name])
                }
                members[name] = value
                parsed.arguments[declaration.name] = .object(members)
            } else if declaration.joinsWords {
                let before = parsed.arguments[declaration.name]?.string.map { $0 + " " } ?? ""
                parsed.arguments[declaration.name] = .string(before + word)
            } else {
                set(declaration, try json(word, declaration.schema), shown)
            }
        } catch {
            problems.append(error.under(shown))
        }
    }

    /// Parses `NAME=VALUE`. If the value may have any type it is text, as words are; other types are written as an
    /// object.
    private func member(_ word: String, _ element: Schema) throws(ValueError) -> (name: String, value: JSON) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        // The word may be a secret, so it is not shown.
        guard parts.count == 2, !parts[0].isEmpty else { throw ValueError("needs NAME=VALUE, or an object in JSON") }
        let value = String(parts[1])
        return (String(parts[0]), element.unwrapped == .any ? .string(value) : try json(value, element))
    }

    /// Actions take exact times; people may also give an age or a day.
    private func json(_ word: String, _ schema: Schema) throws(ValueError) -> JSON {
        guard schema.unwrapped == .time, let now else { return try schema.json(fromWord: word) }
        guard let time = Timestamp(words: word, now: now, offset: LocalTime.offset) else {
            throw ValueError(
                "needs a time such as 2h (ago), yesterday, 2026-11-20 or 2026-11-20T09:30:00Z, not "
                    + word.quotedForMessage)
        }
        return time.json
    }

    private mutating func set(_ declaration: ParameterDeclaration, _ value: JSON, _ shown: String) {
        if let before = parsed.arguments[declaration.name], before != value {
            problems.append(ValueError("is given twice", at: [shown]))
        }
        parsed.arguments[declaration.name] = value
    }

    // MARK: Secrets

    /// `--token-stdin`, `--token-env NAME`, `--token-fd N`.
    private mutating func secretSource(_ name: String, _ attached: String?) -> Bool {
        for declaration in action.parameters where declaration.form == .secret && name.hasPrefix(declaration.name + "-")
        {
            let kind = name.dropFirst(declaration.name.count + 1)
            if kind == "stdin", attached == nil {
                parsed.secrets[declaration.name] = .standardInput
                return true
            }
            guard kind == "env" || kind == "fd" else { continue }
            var value = attached
            if value == nil, index < words.count {
                value = words[index]
                index += 1
            }
            if kind == "env", let value, !value.isEmpty {
                parsed.secrets[declaration.name] = .variable(value)
            } else if kind == "fd", let descriptor = value.flatMap({ Int32($0) }), descriptor >= 0 {
                parsed.secrets[declaration.name] = .descriptor(descriptor)
            } else {
                problems.append(
                    ValueError(
                        kind == "env" ? "needs the name of a variable" : "needs the number of a descriptor",
                        at: ["--" + name]))
            }
            return true
        }
        return false
    }
}

extension Action {
    /// The id as it is typed on the command line.
    var words: String { id.split(separator: ".").joined(separator: " ") }

    fileprivate func named(_ name: String) -> ParameterDeclaration? {
        parameters.first { $0.name == name && $0.form != .positional }
    }

    /// The path of a problem as the person typed it: options with their hyphens.
    fileprivate func shown(_ path: [String]) -> [String] {
        guard let first = path.first, named(first) != nil else { return path }
        return ["--" + first] + path.dropFirst()
    }
}

extension ArgumentParser.SecretSource {
    private static let largest = 1 << 16

    /// Reads the secret's text. A line break at the end comes from the pipe and is removed.
    func read(_ environment: [String: String]) throws -> String {
        var text: String
        switch self {
        case .variable(let name):
            guard let value = environment[name], !value.isEmpty else {
                throw UsageError.answers("the environment variable \(name) for the secret is not set")
            }
            return value
        case .standardInput: text = try Self.readAll(0)
        case .descriptor(let descriptor): text = try Self.readAll(descriptor)
        }
        if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
        guard !text.isEmpty else { throw UsageError.answers("the secret is empty") }
        return text
    }

    private static func readAll(_ descriptor: Int32) throws -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= largest {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 {
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw UsageError.answers("the secret is not UTF-8 text")
                }
                return text
            }
            if count > 0 {
                bytes += chunk.prefix(count)
            } else if errno != EINTR {
                throw UsageError.answers(
                    "cannot read the secret from descriptor \(descriptor): \(SystemError(errno).description.lowercased())"
                )
            }
        }
        throw UsageError.answers("the secret is longer than \(ByteCount(largest).words)")
    }
}

/// The input that is piped into the program or redirected from a file.
enum PipedInput {
    private static let largest = 64 << 20

    /// Reads all of it as text and repairs invalid UTF-8; nil if standard input is a terminal, closed or `/dev/null`.
    static func read() async throws -> String? {
        var status = stat()
        guard unsafe fstat(0, &status) == 0 else { return nil }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFIFO || kind == S_IFREG || kind == S_IFSOCK else { return nil }
        return try await onOwnThread { Result { try readAll() } }.get()
    }

    private static func readAll() throws -> String? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe Glibc.read(0, &chunk, chunk.count)
            if count == 0 { return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self) }
            if count < 0 {
                if errno == EINTR { continue }
                throw UsageError.answers(
                    "cannot read standard input: \(SystemError(errno).description.lowercased())")
            }
            bytes += chunk.prefix(count)
            guard bytes.count <= largest else {
                throw UsageError.answers(
                    "standard input is larger than \(ByteCount(largest).words); name a file instead")
            }
        }
    }
}
