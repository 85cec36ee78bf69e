import Capabilities
public import JSON

/// The values that a bundle is given.
public enum BundleInputs {
    /// The value of every input, or everything that is wrong with what was given.
    ///
    /// - Parameters:
    ///   - words: what stood on a command line or in a variable, by the input's name.
    ///   - values: what another bundle or a file gives.
    public static func values(
        for bundle: Bundle, words: [String: String] = [:], values given: JSONObject = [:]
    ) -> (values: JSONObject, problems: [BundleProblem]) {
        var values = JSONObject()
        var problems: [BundleProblem] = []
        let names = bundle.inputs.map(\.name)
        func add(_ message: String, _ name: String) {
            problems.append(bundle.source.problem(message, at: ["inputs", name], key: true))
        }
        for name in Set(words.keys).union(given.map(\.0)).sorted() where !names.contains(name) {
            let known = names.isEmpty ? "; the bundle takes none" : Suggestion.text(for: name, among: names)
            problems.append(bundle.source.problem("there is no input '\(name)'\(known)", at: ["inputs"]))
        }
        for input in bundle.inputs {
            do throws(ValueError) {
                if let word = words[input.name] {
                    let value = try input.schema.json(fromWord: word)
                    if let problem = input.schema.problems(in: value).first { throw problem }
                    values.append(input.name, value)
                } else if let value = given[input.name] {
                    if let problem = input.schema.problems(in: value).first { throw problem }
                    values.append(input.name, value)
                } else if let standard = input.standard {
                    values.append(input.name, standard)
                } else {
                    let summary = input.summary.map { ": \($0)" } ?? ""
                    add(
                        "the input '\(input.name)' is missing\(summary); give it with --input \(input.name)=…",
                        input.name)
                }
            } catch {
                let value = input.isSecret ? "" : " \(error.message)"
                add("the input '\(input.name)'\(value.isEmpty ? " does not have its type" : value)", input.name)
            }
        }
        return (values, problems)
    }
}
