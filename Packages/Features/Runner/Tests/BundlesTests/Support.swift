import Bundles
import Capabilities
import JSON

/// A program with a few actions, against which bundles are checked.
struct TestSurroundings: BundleSurroundings {
    var files: [String: String] = [:]
    var reach = BundleReach()

    private static let actions = [
        ActionFacts(
            id: "chat.send", effect: .writes,
            parameters: [
                .init(.init("message", "What to say", .string), isRequired: true),
                .init(.init("model", "Who is asked", .optional(.string)), isRequired: false),
                .init(.init("temperature", "How free", .optional(.number(0...2))), isRequired: false),
            ],
            result: .record([
                .init("text", "What was said", .string),
                .init("usage", "Tokens", .record([.init("input_tokens", "In", .integer(nil))])),
            ])),
        ActionFacts(
            id: "host.version", effect: .reads, parameters: [],
            result: .record([.init("version", "The version", .string)])),
        ActionFacts(
            id: "data.remove", effect: .destroys,
            parameters: [.init(.init("names", "Which", .array(.string)), isRequired: true)], result: .record([])),
        ActionFacts(
            id: "chat.delete", effect: .writes, destroyingFlag: "now",
            parameters: [
                .init(.init("conversation", "Which", .string), isRequired: true),
                .init(.init("now", "For good", .boolean), isRequired: false),
            ], result: .record([])),
        ActionFacts(
            id: "chat.list", effect: .reads,
            parameters: [.init(.init("limit", "How many", .optional(.integer(1...100))), isRequired: false)],
            result: .array(.record([.init("id", "Its id", .string)]))),
        ActionFacts(
            id: "monitor.snapshot", effect: .reads, parameters: [], result: .any, problem: "the feature monitor is off"),
    ]

    func action(_ name: String) -> ActionFacts? {
        let id = ["ask": "chat.send", "version": "host.version"][name] ?? name
        return Self.actions.first { $0.id == id }
    }

    func absence(ofAction name: String) -> String? {
        name.hasPrefix("files.") ? "the feature files is off" : nil
    }

    var actionNames: [String] { Self.actions.map(\.id) + ["ask", "version"] }

    func problem(ofFeature id: String) -> String? {
        ["chat", "host"].contains(id) ? nil : "there is no feature '\(id)'"
    }

    func bundle(_ path: String, besides file: String) throws(BundleFailure) -> BundleSource {
        guard let text = files[path] else {
            throw BundleFailure([BundleProblem(file: path, "the file is not there")])
        }
        return try BundleSource(Array(text.utf8), file: path)
    }
}

/// All problems of a bundle, each as `line:column: message`.
func problems(of text: String, file: String = "b.yaml", others: [String: String] = [:]) -> [String] {
    do throws(BundleFailure) {
        let (bundle, wrong) = Bundle.reading(try BundleSource(Array(text.utf8), file: file))
        let found = BundleCheck.check(bundle, wrong, in: TestSurroundings(files: others)).problems
        return found.map { ($0.file == file ? "" : "\($0.file):") + "\($0.line):\($0.column): \($0.message)" }
    } catch {
        return error.problems.map { "\($0.line):\($0.column): \($0.message)" }
    }
}

/// A bundle with one step, with other text at the top or in place of the step.
func bundle(_ top: String = "", step: String = "action: version") -> String {
    let lines = step.split(separator: "\n").enumerated().map { ($0.offset == 0 ? "  - " : "    ") + $0.element }
    return "name: test\n\(top.isEmpty ? "" : top + "\n")steps:\n\(lines.joined(separator: "\n"))\n"
}

extension BundleReach {
    /// A reach in which every path is a folder.
    static let anywhere = BundleReach(folder: root("/work"), current: "/work") { path in root(path) }

    private static func root(_ path: String) -> FolderRoot {
        FolderRoot(path: path, canonical: path, device: 0, inode: 0)
    }
}
