import Capabilities
import Testing
import WorkspaceSupport

@testable import GatewayAPI

@Suite("What stands in the sources", .timeLimit(.minutes(10)))
struct SourceTests {
    @Test("errors have the codes of the list, and commands the exit codes")
    func errors() throws {
        var lines = try SourceText.product().flatMap(\.errorCodes).map { found in
            "code \(found.code)\(found.status), in HTTP \(WireCode.text(of: found.code))"
        }
        lines += Self.exits.map { "exit \($0.code.rawValue): \($0.meaning)" }
        lines += [400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504, 507, 529].map { status in
            "HTTP status \(status) is \(ErrorFacts.type(status: status))"
        }
        try FrozenList("errors").expect(lines)
    }

    private static let exits: [(code: ExitCode, meaning: String)] = [
        (.done, "done"), (.failed, "failed, or the person said no"), (.usage, "wrong usage, settings or bundle"),
        (.denied, "credential or trust refused"), (.unreachable, "not reached in time"), (.toolFailed, "a tool failed"),
        (.unanswered, "nobody was there to answer"), (.interrupted, "interrupted"), (.terminated, "terminated"),
    ]

    @Test("a host that the plugin 'compose' writes uses the names of the list")
    func compose() throws {
        var lines: [String] = []
        for file in try Workspace.current.files(in: "Plugins/compose", ending: ".swift") {
            let source = try SourceText(file)
            lines += source.texts(/named: "(\d+)"/).map { "option --\($0)" }
            for type in source.code.matches(of: /\b(?:struct|enum|extension) [^{\n]*\{/) {
                let texts = source.texts(in: source.block(after: type.range))
                // The type that has the manifest has the other files of a host too.
                guard texts.contains(where: { $0.contains("swift-tools-version") }) else { continue }
                lines += texts.flatMap { $0.split(separator: "\n").map(String.init) }
            }
        }
        // A line that consists of interpolations only says nothing; the literals in them are listed themselves.
        try FrozenList("compose").expect(lines.filter { line in line.contains { !$0.isWhitespace && $0 != "…" } })
    }
}

extension SourceText {
    /// The codes of errors that the file declares or gives, with the status of those that have one.
    fileprivate var errorCodes: [(code: String, status: String)] {
        var given: [String] = []
        // `code: "server.host"` where an error is made, `let code = "chat.command"`, `(code, exit) = ("cancelled", …)`.
        for match in code.matches(of: /\bcode: ([^,()\n]*)/) {
            given += texts(in: match.output.1.replacing(/[=]= "\d+"/, with: ""))
        }
        for match in code.matches(of: /\b(?:code|\w+Code) = "\d+"|\(code,[^()]*\) = \("\d+"/) {
            given += texts(in: match.output)
        }
        let all = given.map { (code: $0, status: "") } + declaredCodes
        return all.filter { $0.code.wholeMatch(of: /[a-z][\w\-]*(?:\.[\w…\-]*\w)*/) != nil }
    }

    /// The codes of the error type in the file: the literals in its property `code`, and those of its type `Kind` or `Code`,
    /// to which a literal such as "chat.\(name)" gives the beginning.
    private var declaredCodes: [(code: String, status: String)] {
        guard code.contains(/:[^{\n]*\bFailure\b[^{\n]*\{/) else { return [] }
        var beginning = ""
        var found: [(code: String, status: String)] = []
        func take(_ block: Substring) {
            for match in block.matches(of: /"(\d+)"(?:, (\d+))?/) {
                guard let number = Int(match.output.1) else { continue }
                let text = literals[number]
                if text.hasSuffix(".…") {
                    beginning = String(text.dropLast())
                } else {
                    found.append((code: text, status: match.output.2.map { " (\($0))" } ?? ""))
                }
            }
        }
        for match in code.matches(of: /\bvar code: String \{/) { take(block(after: match.range)) }
        for match in code.matches(of: /\bextension FailureKind<[^{\n]*\{/) { take(block(after: match.range)) }
        for match in code.matches(of: /\b(?:struct|enum) (?:Kind|Code)\b[^{\n]*\{/) {
            let type = block(after: match.range)
            take(type)
            // A case without a literal is called as it is written.
            guard match.output.contains(": String") else { continue }
            for line in type.matches(of: /\bcase ([^\n]+)/) {
                for part in line.output.1.split(separator: ",") {
                    guard let name = part.wholeMatch(of: /\s*(\w+)\s*/)?.output.1 else { continue }
                    found.append((code: String(name), status: ""))
                }
            }
        }
        // A word without a beginning is no code of an error.
        return found.filter { $0.code.contains(".") || !beginning.isEmpty }.map { name, status in
            (code: name.contains(".") ? name : beginning + name, status: status)
        }
    }
}
