import Bundles
import Capabilities
import FileKit
import JSON
import Registry

/// What the inputs of a bundle are given by: options, a file, variables.
struct GivenInputs {
    /// `name=value`, as typed.
    var words: [String]
    /// A file or a pipe, or `-`.
    var file: String?

    /// The value of every input, or all that is wrong. What is secret is known to the redactor then.
    ///
    /// - Parameter before: what the inputs were when the run began that goes on.
    func values(
        for bundle: Bundle, before: JSONObject = [:], _ host: Host, _ finder: BundleFinder
    ) async throws -> (values: JSONObject, problems: [BundleProblem]) {
        var given: [String: String] = [:]
        var values = JSONObject()
        for input in bundle.inputs {
            if let value = before[input.name], !input.isSecret { values[input.name] = value }
            if let word = host.environment[Self.variable(of: input.name)] { given[input.name] = word }
        }
        for (name, value) in try await fileValues(finder) {
            values[name] = value
            given[name] = nil
        }
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw RunnerError.input("--input needs NAME=VALUE, not '\(PlainText.escape(word))'")
            }
            given[String(parts[0])] = String(parts[1])
        }
        for input in bundle.inputs
        where before[input.name] == .string(Redactor.mark) && given[input.name] == nil
            && values[input.name] == .string(Redactor.mark)
        {
            throw RunnerError.input(
                "the input \(input.name) held a secret, which is not stored; give it again: --input \(input.name)=…")
        }
        let found = BundleInputs.values(for: bundle, words: given, values: values)
        for input in bundle.inputs where input.isSecret {
            if let text = given[input.name] { host.redactor.learn(Secret(text)) }
            // Of a list or a map each text is a secret of its own.
            for value in [values[input.name], found.values[input.name]] { value.map(host.redactor.learn(textsOf:)) }
        }
        return found
    }

    /// `MARTLET_INPUT_API_KEY` for `api-key`.
    static func variable(of name: String) -> String {
        "MARTLET_INPUT_" + String(name.map { $0 == "-" ? "_" : $0 }).uppercased()
    }

    private func fileValues(_ finder: BundleFinder) async throws -> JSONObject {
        guard let file else { return [:] }
        let path = file == InputText.standardInput ? file : finder.absolute(file)
        let source = try BundleSource(await InputText.read(path), file: path)
        guard let values = source.value.object else {
            throw BundleFailure([
                source.problem("a file of inputs holds an object, not \(source.value.kindName)", at: [])
            ])
        }
        return values
    }
}
