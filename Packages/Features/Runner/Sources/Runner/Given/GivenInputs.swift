import Bundles
import Capabilities
import FileKit
import Glibc
import JSON
import LoopKit
import Registry

/// Reads the inputs of a bundle from options, a file and variables.
struct GivenInputs {
    /// `name=value`, as typed.
    var words: [String]
    /// A file, a pipe or `-`.
    var file: String?

    /// The value of every input, or all problems. Secret values are registered with the redactor.
    ///
    /// - Parameter before: the inputs of the run that is resumed.
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
                "the input \(input.name) was a secret, which is not saved; give it again: --input \(input.name)=…")
        }
        let found = BundleInputs.values(for: bundle, words: given, values: values)
        for input in bundle.inputs where input.isSecret {
            if let text = given[input.name] { host.redactor.learn(Secret(text)) }
            // Each text in a list or a map is a secret.
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
                source.problem("a file of inputs must be an object, not \(source.value.kindName)", at: [])
            ])
        }
        return values
    }
}

/// The text of a file of inputs. The file may be a pipe, as in `--inputs <(secrets-tool)`, or `-` for standard input.
enum InputText {
    static let standardInput = "-"

    /// The whole text. Ends at once if the task is cancelled, even if the pipe stays open.
    static func read(_ path: String) async throws -> [UInt8] {
        let (texts, continuation) = AsyncStream<Result<[UInt8], BundleFailure>>.makeStream()
        // A read from a pipe may block for any time and cannot be cancelled. After a cancellation its thread stays
        // until the program ends.
        _ = try OwnThread {
            continuation.yield(Result { () throws(BundleFailure) in try readAll(path) })
            continuation.finish()
        }
        for await text in texts { return try text.get() }
        throw CancellationError()
    }

    private static func readAll(_ path: String) throws(BundleFailure) -> [UInt8] {
        let descriptor = path == standardInput ? fcntl(0, F_DUPFD_CLOEXEC, 0) : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw failure(path, "cannot read it: \(SystemError(errno).description.lowercased())")
        }
        let file = FileDescriptor(owning: descriptor, path: path == standardInput ? "standard input" : path)
        guard isatty(descriptor) == 0 else { throw failure(path, "cannot read from a terminal; use a pipe or a file") }
        var text: [UInt8] = []
        while true {
            let more: [UInt8]
            do throws(FileError) { more = try file.read(upTo: 64 << 10) } catch { throw failure(path, error.reason) }
            if more.isEmpty { return text }
            text += more
            // Checked here and not when parsing, because a pipe may never end.
            guard text.count <= BundleSource.longest else {
                throw failure(path, "the input is larger than \(ByteCount(BundleSource.longest).words)")
            }
        }
    }

    private static func failure(_ path: String, _ message: String) -> BundleFailure {
        BundleFailure([BundleProblem(file: path, message)])
    }
}
