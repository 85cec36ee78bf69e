import Capabilities
import JSON

/// The JSON of a call in a text: `{"name": "read", "arguments": {"path": "a"}}`.
struct TaggedCall: Equatable {
    let name: String
    let input: JSON

    struct Problem: Error {
        let reason: String
        var name = ""
    }

    /// Models write `input` or `parameters` too, or the arguments as a string with JSON in it; all that is understood.
    static func read(_ bytes: [UInt8]) -> Result<TaggedCall, Problem> {
        let json: JSON
        do { json = try JSON(parsing: unfenced(bytes), reading: .stream) } catch {
            return .failure(Problem(reason: "it is no JSON: \(error)"))
        }
        guard let call = json.object else {
            return .failure(Problem(reason: "it has to be a JSON object, not \(json.kindName)"))
        }
        guard let name = call["name"]?.string, !name.isEmpty else {
            return .failure(Problem(reason: "the tool's name is missing; it stands under \"name\""))
        }
        var input = call["arguments"] ?? call["input"] ?? call["parameters"] ?? .object([:])
        if let text = input.string {
            do { input = try JSON(parsing: text, reading: .stream) } catch {
                return .failure(Problem(reason: "the arguments are no JSON: \(error)", name: name))
            }
        }
        if input.isNull { input = .object([:]) }
        guard input.object != nil else {
            let reason = "the arguments have to be a JSON object, not \(input.kindName)"
            return .failure(Problem(reason: reason, name: name))
        }
        return .success(TaggedCall(name: name, input: input))
    }

    static func isJSON(_ bytes: [UInt8]) -> Bool {
        do { _ = try JSON(parsing: unfenced(bytes), reading: .stream) } catch { return false }
        return true
    }

    /// Without the fence that some models put around JSON.
    private static func unfenced(_ bytes: [UInt8]) -> [UInt8] {
        let fence = Array("```".utf8)
        let blank = Array(" \t\r\n".utf8)
        var inside = bytes[...].drop { blank.contains($0) }
        guard inside.starts(with: fence) else { return bytes }
        inside = inside.drop { $0 != UInt8(ascii: "\n") }
        while let last = inside.last, blank.contains(last) { inside.removeLast() }
        if inside.suffix(3).elementsEqual(fence) { inside.removeLast(3) }
        return Array(inside)
    }
}
