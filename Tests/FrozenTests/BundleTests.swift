import Bundles
import Capabilities
import JSON
import Testing

@testable import ExpressionKit

@Suite("What a bundle can say", .timeLimit(.minutes(10)))
struct BundleTests {
    @Test("files of bundles have the keys, functions and names of the list")
    func bundle() throws {
        var lines = BundleFormat.schema.lines(at: "bundle")
        lines += Function.all.values.map { function in
            "function \(function.name) takes \(function.count.lowerBound) to \(function.count.upperBound) values"
        }
        for (level, operators) in Operator.levels.enumerated() {
            lines += operators.map { "operator \($0.rawValue) of level \(level)" }
        }
        let literals = try SourceText.product(in: "Packages/Features/Runner/Sources/Bundles").flatMap(\.literals)
        let words = Set(literals.filter { $0.wholeMatch(of: /[a-z_]+/) != nil })
        lines += literals.filter { $0.hasPrefix("@") }.map { "schedule \($0)" }
        lines += words.filter(Self.isSource).map { "env.NAME.\($0)" }
        let steps: [JSONObject] = [["matrix": ["axis": [1]]], ["foreach": [1]]]
        for step in steps { lines += Self.names(among: words, in: step).map { "name \($0)" } }
        try FrozenList("bundle").expect(lines)
    }

    /// The names of two words at most that a step with these members can refer to.
    private static func names(among words: Set<String>, in step: JSONObject) -> [String] {
        let roots = words.filter { isName($0, in: step) }.sorted()
        // A name all of whose members are accepted has members that somebody else names.
        let parents = (roots + ["steps.before"]).filter { !isName("\($0).of_no_such_name", in: step) }
        let members = parents.flatMap { parent in words.map { "\(parent).\($0)" } }
        return roots + members.filter { isName($0, in: step) }
    }

    private static func isName(_ name: String, in members: JSONObject) -> Bool {
        var step: JSONObject = ["id": "frozen", "action": "version", "with": ["value": .string("${{ \(name) }}")]]
        for (key, value) in members { step.append(key, value) }
        return isSound(["name": "frozen", "steps": [["id": "before", "action": "version"], .object(step)]])
    }

    /// Whether a value of the environment can come from what this word names.
    private static func isSource(_ word: String) -> Bool {
        let sources: [JSONObject] = [[word: "NAME"], ["variable": "NAME", word: "text"]]
        return sources.contains { source in
            isSound([
                "name": "frozen", "env": ["NAME": .object(source)], "steps": [["id": "before", "action": "version"]],
            ])
        }
    }

    private static func isSound(_ bundle: JSON) -> Bool {
        do {
            return Bundle.reading(try BundleSource(Array(bundle.text().utf8), file: "frozen.json")).problems.isEmpty
        } catch {
            return false
        }
    }
}
